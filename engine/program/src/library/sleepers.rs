//! Threads that sleep at an address until another wakes them: futexes, `std::atomic::wait`.
//!
//! A thread that is about to sleep enters itself among the sleepers, compares the word, and sleeps
//! until somebody has removed it. The two operations are totally ordered, so that a comparison sees
//! what was written before a wake that did not find the thread (futex(2); [atomics.wait]). That is all
//! the order there is: a thread that does not sleep has looked at the word alone, and one that sleeps
//! forever does nothing afterwards that the order could affect.
//!
//! A set of sleepers is a number with four bits per thread: 0 for one that does not sleep, otherwise
//! the bits of the mask with which it waits (FUTEX_WAIT_BITSET), 8 for all bits, or 9 for one that
//! has been moved and sleeps at another address (FUTEX_REQUEUE).
use crate::ir::instruction::Order;

/// The order in which a thread enters itself.
pub const ENTER: Order = Order::Acq;
/// The order of a wake.
pub const WAKE: Order = Order::Rel;
/// The order in which a thread finds out whether it was removed.
pub const LOOK: Order = Order::Rlx;
/// What a sleeping thread waits for, in a futex and in an atomic object.
pub const AWAITED: [&str; 2] = ["a wake-up", "a notification"];

/// Threads with greater numbers cannot sleep.
pub const THREADS: usize = 16;
const BITS: usize = 4;
const ALL: u64 = 8;
const SOME: u64 = 7;
const MOVED: u64 = 9;
const OF_THREAD: u64 = 15;

fn of_thread(sleepers: u64, thread: usize) -> u64 {
    sleepers >> (BITS * thread) & OF_THREAD
}

/// A mask in a set of sleepers; 0 stands for all bits. None if it is not one of those that are
/// distinguished: all bits, and the three lowest.
pub fn mask(bits: u64) -> Option<u64> {
    match bits as u32 {
        0 | u32::MAX => Some(ALL),
        bits => Some(u64::from(bits)).filter(|bits| *bits <= SOME),
    }
}

pub fn enter(sleepers: u64, thread: usize, mask: u64) -> u64 {
    leave(sleepers, thread) | mask << (BITS * thread)
}

pub fn leave(sleepers: u64, thread: usize) -> u64 {
    sleepers & !(OF_THREAD << (BITS * thread))
}

pub fn is_asleep(sleepers: u64, thread: usize) -> bool {
    !matches!(of_thread(sleepers, thread), 0 | MOVED)
}

pub fn is_moved(sleepers: u64, thread: usize) -> bool {
    of_thread(sleepers, thread) == MOVED
}

/// How many threads sleep.
pub fn number(sleepers: u64) -> u32 {
    reached(sleepers, 0).count() as u32
}

/// The threads that a wake with this mask reaches; with 0, all.
fn reached(sleepers: u64, mask: u64) -> impl Iterator<Item = usize> {
    (0..THREADS).filter(move |thread| match of_thread(sleepers, *thread) {
        0 | MOVED => false,
        ALL => true,
        bits => mask == 0 || bits & mask != 0,
    })
}

/// In how many ways `count` of `all` can be chosen.
fn ways(all: u32, count: u32) -> u128 {
    let ways = (0..u128::from(count)).fold(1, |ways, k| ways * (u128::from(all) - k) / (k + 1));
    ways * u128::from(count <= all)
}

/// In how many ways `count` of the sleepers that the mask reaches can be woken.
pub fn alternatives(sleepers: u64, count: u32, mask: u64) -> u32 {
    let all = reached(sleepers, mask).count() as u32;
    u32::try_from(ways(all, count.min(all))).unwrap_or(u32::MAX)
}

/// The sleepers that are left when `count` of them were woken, in this alternative.
pub fn wake(sleepers: u64, count: u32, mask: u64, alternative: u64) -> u64 {
    let reached: Vec<usize> = reached(sleepers, mask).collect();
    let mut left = sleepers;
    let mut count = count.min(reached.len() as u32);
    let mut alternative = u128::from(alternative);
    for (at, thread) in reached.iter().enumerate() {
        let others = (reached.len() - at - 1) as u32;
        let with = match count {
            0 => break,
            count => ways(others, count - 1),
        };
        match alternative.checked_sub(with) {
            Some(rest) => alternative = rest,
            None => {
                left = leave(left, *thread);
                count -= 1;
            }
        }
    }
    left
}

/// The sets at two addresses when the threads that sleep in `before` and no longer in `after` are
/// moved from the first to the second.
pub fn moved(before: u64, after: u64, target: u64) -> (u64, u64) {
    let gone = |thread: &usize| is_asleep(before, *thread) && !is_asleep(after, *thread);
    let gone = (0..THREADS).filter(gone);
    gone.fold((after, target), |(after, target), thread| {
        let mask = of_thread(before, thread);
        (enter(after, thread, MOVED), enter(target, thread, mask))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_of_the_woken_threads_is_an_alternative() {
        let sleepers = [1, 4, 9].into_iter().fold(0, |s, t| enter(s, t, ALL));
        assert_eq!((number(sleepers), alternatives(sleepers, 2, 0)), (3, 3));
        let mut left: Vec<_> = (0..3).map(|way| wake(sleepers, 2, 0, way)).collect();
        left.sort_unstable();
        assert_eq!(left, [1, 4, 9].map(|thread| enter(0, thread, ALL)));
        assert_eq!(
            (alternatives(sleepers, 5, 0), wake(sleepers, 5, 0, 0)),
            (1, 0)
        );
        assert_eq!((alternatives(0, 1, 0), wake(0, 1, 0, 0)), (1, 0));
        assert!(is_asleep(sleepers, 4) && !is_asleep(leave(sleepers, 4), 4));
    }

    #[test]
    fn a_moved_thread_sleeps_at_the_other_address() {
        let before = enter(enter(0, 0, 1), 3, ALL);
        let (here, there) = moved(before, leave(before, 3), enter(0, 5, ALL));
        assert!(is_asleep(here, 0) && is_moved(here, 3) && !is_asleep(here, 3));
        assert_eq!((number(here), number(there)), (1, 2));
        assert!(is_asleep(there, 3) && is_asleep(there, 5));
        assert_eq!(enter(here, 3, 2), enter(enter(0, 0, 1), 3, 2));
    }

    #[test]
    fn a_wake_reaches_the_threads_whose_masks_share_a_bit() {
        let one = enter(0, 0, 1);
        let sleepers = enter(enter(one, 1, 6), 2, ALL);
        assert_eq!(wake(sleepers, 3, 2, 0), one);
        assert_eq!(wake(sleepers, 3, 8, 0), leave(sleepers, 2));
        assert_eq!(alternatives(sleepers, 1, 1), 2);
        assert_eq!(
            (mask(0), mask(0xffff_ffff), mask(5), mask(9)),
            (Some(8), Some(8), Some(5), None)
        );
    }
}
