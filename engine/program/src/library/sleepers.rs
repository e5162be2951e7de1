//! Threads that sleep at an address until another wakes them: futexes, `std::atomic::wait`.
//!
//! A thread that is about to sleep enters itself among the sleepers, compares the word, and sleeps
//! until somebody has removed it. The two operations are totally ordered, so that a comparison sees
//! what was written before a wake that did not find the thread (futex(2); [atomics.wait]). That is all
//! the order there is: a thread that does not sleep has looked at the word alone, and one that sleeps
//! forever does nothing afterwards that the order could affect.
use crate::ir::instruction::Order;

/// The order in which a thread enters itself.
pub const ENTER: Order = Order::Acq;
/// The order of a wake.
pub const WAKE: Order = Order::Rel;
/// The order in which a thread finds out whether it was removed.
pub const LOOK: Order = Order::Rlx;
/// What a sleeping thread waits for, in a futex and in an atomic object.
pub const AWAITED: [&str; 2] = ["a wake-up", "a notification"];

fn bit(thread: usize) -> u64 {
    1 << thread
}

pub fn enter(sleepers: u64, thread: usize) -> u64 {
    sleepers | bit(thread)
}

pub fn leave(sleepers: u64, thread: usize) -> u64 {
    sleepers & !bit(thread)
}

pub fn is_asleep(sleepers: u64, thread: usize) -> bool {
    sleepers & bit(thread) != 0
}

/// In how many ways `count` of `all` can be chosen.
fn ways(all: u32, count: u32) -> u128 {
    let ways = (0..u128::from(count)).fold(1, |ways, k| ways * (u128::from(all) - k) / (k + 1));
    ways * u128::from(count <= all)
}

/// In how many ways `count` of the sleepers can be woken.
pub fn alternatives(sleepers: u64, count: u32) -> u32 {
    let all = sleepers.count_ones();
    u32::try_from(ways(all, count.min(all))).unwrap_or(u32::MAX)
}

/// The sleepers that are left when `count` of them were woken, in this alternative.
pub fn wake(sleepers: u64, count: u32, alternative: u64) -> u64 {
    let mut left = sleepers;
    let mut count = count.min(sleepers.count_ones());
    let mut alternative = u128::from(alternative);
    for thread in (0..u64::BITS).filter(|thread| sleepers >> thread & 1 == 1) {
        let others = (sleepers >> thread).count_ones() - 1;
        let with = match count {
            0 => break,
            count => ways(others, count - 1),
        };
        match alternative.checked_sub(with) {
            Some(rest) => alternative = rest,
            None => {
                left &= !(1 << thread);
                count -= 1;
            }
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_of_the_woken_threads_is_an_alternative() {
        let sleepers = [1, 4, 9].into_iter().fold(0, enter);
        assert_eq!(alternatives(sleepers, 2), 3);
        let mut left: Vec<_> = (0..3).map(|way| wake(sleepers, 2, way)).collect();
        left.sort_unstable();
        assert_eq!(left, [1 << 1, 1 << 4, 1 << 9]);
        assert_eq!((alternatives(sleepers, 5), wake(sleepers, 5, 0)), (1, 0));
        assert_eq!((alternatives(0, 1), wake(0, 1, 0)), (1, 0));
        assert!(is_asleep(sleepers, 4) && !is_asleep(leave(sleepers, 4), 4));
    }
}
