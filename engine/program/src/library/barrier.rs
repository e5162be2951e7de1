//! Barriers. Arriving is an acquire-release increment and leaving an acquire read of it: what a
//! thread does before a barrier happens before what any other does after it.
use super::Misuse;
use crate::ir::instruction::Order;

/// The size of the state, in bytes.
pub const SIZE: u32 = 8;
/// The read-modify-write of a thread that arrives.
pub const ARRIVE: Order = Order::AcqRel;
/// The read of a thread that leaves.
pub const LEAVE: Order = Order::Acq;
/// What a thread that has arrived waits for.
pub const AWAITED: &str = "a barrier";
/// What `pthread_barrier_wait` returns to one of the threads: `PTHREAD_BARRIER_SERIAL_THREAD`.
pub const SERIAL_THREAD: u64 = 0xffff_ffff;

const ROUND: u64 = 0xff_ffff;
/// In the state since the barrier was initialised.
const INITIALISED: u64 = 0xb1 << 24;
const MARK: u64 = 0xff << 24;
const DESTROYED: u64 = 0xffff_ffff << 32;

/// The state of a barrier in this state when it is destroyed.
pub fn destroyed(state: u64) -> u64 {
    state | DESTROYED
}

pub fn is_destroyed(state: u64) -> bool {
    state >= DESTROYED
}

/// Whether the barrier was initialised, and not destroyed since.
pub fn is_initialised(state: u64) -> bool {
    state & MARK == INITIALISED && threads(state) != 0 && !is_destroyed(state)
}

/// Whether some thread waits; not for memory that never was a barrier.
pub fn is_awaited(state: u64) -> bool {
    (1..threads(state)).contains(&arrived(state))
}

/// The state of a new barrier for so many threads, in memory with these contents before. Threads may
/// not have left a barrier that was destroyed: to them, this is its next round.
pub fn initial(threads: u64, before: u64) -> u64 {
    let round = match is_destroyed(before) {
        true => (before + 1) & ROUND,
        false => 0,
    };
    (threads & 0xffff) << 48 | INITIALISED | round
}

/// For how many threads the barrier is.
pub fn threads(state: u64) -> u64 {
    state >> 48
}

/// How many threads have arrived in this round.
pub fn arrived(state: u64) -> u64 {
    state >> 32 & 0xffff
}

/// Whether a thread may leave that has arrived in another state.
pub fn has_opened(arrived: u64, now: u64) -> Result<bool, Misuse> {
    match (arrived ^ now) & MARK {
        0 => Ok((arrived ^ now) & ROUND != 0),
        _ => Err(Misuse("barrier overwritten before a thread has left it")),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    /// All threads are there: the state of the next round.
    Opens(u64),
    /// The state after; the thread waits until the round is another one.
    Waits(u64),
}

pub fn arrive(state: u64) -> Result<Arrival, Misuse> {
    if is_destroyed(state) {
        return Err(Misuse("use of a destroyed barrier"));
    }
    if threads(state) == 0 {
        return Err(Misuse("barrier initialised for 0 threads"));
    }
    if arrived(state) + 1 < threads(state) {
        return Ok(Arrival::Waits(state + (1 << 32)));
    }
    let round = state & MARK | (state + 1) & ROUND;
    Ok(Arrival::Opens(threads(state) << 48 | round))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_thread_opens_the_barrier_for_the_next_round() {
        let state = initial(2, 0);
        let Ok(Arrival::Waits(one)) = arrive(state) else {
            panic!("another thread is to come");
        };
        assert_eq!((arrived(one), has_opened(state, one)), (1, Ok(false)));
        let Ok(Arrival::Opens(next)) = arrive(one) else {
            panic!("both are there");
        };
        assert_eq!((threads(next), arrived(next)), (2, 0));
        assert_eq!(has_opened(one, next), Ok(true));
        assert!(arrive(initial(0, 0)).is_err());
        let gone = destroyed(next);
        assert!(arrive(gone).is_err() && !is_awaited(gone) && is_destroyed(gone));
        assert!(is_awaited(one) && !is_awaited(next) && !is_destroyed(next));
    }

    #[test]
    fn a_thread_leaves_after_a_destruction_and_before_its_barrier_is_overwritten() {
        let one = initial(2, 0) + (1 << 32);
        let Ok(Arrival::Opens(next)) = arrive(one) else {
            panic!("both are there");
        };
        assert!(has_opened(one, 0).is_err());
        let gone = destroyed(next);
        assert_eq!(has_opened(one, gone), Ok(true));
        assert_eq!(has_opened(one, initial(2, gone)), Ok(true));
    }
}
