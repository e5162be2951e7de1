//! Condition variables. A thread that waits unlocks the mutex, sets its bit in the state, waits until
//! a signal or a broadcast has cleared it, and locks the mutex: no thread wakes without one.
use super::Misuse;
use crate::ir::instruction::Order;

/// The size of the state, in bytes.
pub const SIZE: u32 = 8;
/// Every access of the state: a condition variable orders nothing, its mutex does.
pub const ORDER: Order = Order::Rlx;
/// What a waiting thread waits for.
pub const AWAITED: &str = "a condition variable";

fn bit(thread: usize) -> u64 {
    1 << thread
}

/// The state of a destroyed condition variable.
pub const DESTROYED: u64 = u64::MAX;

/// Whether some thread waits.
pub fn is_awaited(state: u64) -> bool {
    state != NO_WAITERS && state != DESTROYED
}

/// Whether the condition variable may be used.
pub fn check_use(state: u64) -> Result<(), Misuse> {
    match state {
        DESTROYED => Err(Misuse("use of a destroyed condition variable")),
        _ => Ok(()),
    }
}

/// A thread begins to wait: the state after.
pub fn begin_wait(state: u64, thread: usize) -> u64 {
    state | bit(thread)
}

pub fn is_waiting(state: u64, thread: usize) -> bool {
    state != DESTROYED && state & bit(thread) != 0
}

/// How many threads wait: which of them a signal wakes is a choice.
pub fn waiters(state: u64) -> u32 {
    match state {
        DESTROYED => 0,
        state => state.count_ones(),
    }
}

/// The state after a signal that wakes the waiting thread of this number, counted from 0 in the
/// order of threads; none when fewer wait.
pub fn signal(state: u64, choice: u64) -> Option<u64> {
    let mut others = state;
    for _ in 0..choice {
        others &= others.wrapping_sub(1);
    }
    let woken = others & others.wrapping_neg();
    (woken != 0).then_some(state & !woken)
}

/// The state after a broadcast.
pub const NO_WAITERS: u64 = 0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_wakes_the_chosen_waiter_and_no_other() {
        let state = [1, 4, 9].into_iter().fold(NO_WAITERS, begin_wait);
        assert_eq!(waiters(state), 3);
        let after = signal(state, 1).expect("three wait");
        assert!(is_waiting(after, 1) && !is_waiting(after, 4) && is_waiting(after, 9));
        assert_eq!((signal(state, 3), signal(NO_WAITERS, 0)), (None, None));
    }
}
