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

const ROUND: u64 = 0xffff_ffff;
/// The state of a destroyed barrier.
pub const DESTROYED: u64 = u64::MAX;

/// Whether some thread waits; not for memory that never was a barrier.
pub fn is_awaited(state: u64) -> bool {
    (1..threads(state)).contains(&arrived(state))
}

/// The state of a new barrier for so many threads.
pub fn initial(threads: u64) -> u64 {
    (threads & 0xffff) << 48
}

/// For how many threads the barrier is.
pub fn threads(state: u64) -> u64 {
    state >> 48
}

/// How many threads have arrived in this round.
pub fn arrived(state: u64) -> u64 {
    state >> 32 & 0xffff
}

/// How often, modulo 2³², the barrier has opened.
pub fn round(state: u64) -> u64 {
    state & ROUND
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    /// All threads are there: the state of the next round.
    Opens(u64),
    /// The state after; the thread waits until the round is another one.
    Waits(u64),
}

pub fn arrive(state: u64) -> Result<Arrival, Misuse> {
    if state == DESTROYED {
        return Err(Misuse("use of a destroyed barrier"));
    }
    if threads(state) == 0 {
        return Err(Misuse("barrier initialised for 0 threads"));
    }
    if arrived(state) + 1 < threads(state) {
        return Ok(Arrival::Waits(state + (1 << 32)));
    }
    Ok(Arrival::Opens(
        initial(threads(state)) | (round(state) + 1) & ROUND,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_thread_opens_the_barrier_for_the_next_round() {
        let state = initial(2);
        let Ok(Arrival::Waits(one)) = arrive(state) else {
            panic!("another thread is to come");
        };
        assert_eq!((arrived(one), round(one)), (1, 0));
        let Ok(Arrival::Opens(next)) = arrive(one) else {
            panic!("both are there");
        };
        assert_eq!((threads(next), arrived(next), round(next)), (2, 0, 1));
        assert!(arrive(initial(0)).is_err());
        assert!(arrive(DESTROYED).is_err() && !is_awaited(DESTROYED));
        assert!(is_awaited(one) && !is_awaited(next));
    }
}
