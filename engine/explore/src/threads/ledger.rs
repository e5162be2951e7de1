//! What an exploration assumes of a program, and what refutes it. An assumption is made when
//! something relies on it. An exploration that refutes one starts again without it, as do two that are
//! joined where one has refuted what the other assumes.
use crate::source::ThreadId;
use borsh::{BorshDeserialize, BorshSerialize};
use program::ir::SiteId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::hash::Hash;

/// Assumptions of one kind, about something each.
#[derive(Clone, BorshSerialize, BorshDeserialize)]
pub struct Assumptions<K: Eq + Hash + Ord, E = ()> {
    /// What this exploration assumes.
    assumed: FxHashSet<K>,
    /// What executions have refuted, each with what does.
    refuted: FxHashMap<K, E>,
}

impl<K: Eq + Hash + Ord, E> Default for Assumptions<K, E> {
    fn default() -> Assumptions<K, E> {
        Assumptions {
            assumed: FxHashSet::default(),
            refuted: FxHashMap::default(),
        }
    }
}

impl<K: Eq + Hash + Ord + Copy, E> Assumptions<K, E> {
    /// Discards what is not known for certain.
    pub fn restart(&mut self) {
        self.assumed.clear();
    }

    /// Assumes something from now on, unless it is refuted. Returns whether it does.
    pub fn assume(&mut self, what: K) -> bool {
        !self.refuted.contains_key(&what) && {
            self.assumed.insert(what);
            true
        }
    }

    /// Records that something does not hold.
    pub fn refute(&mut self, what: K, by: E) {
        self.refuted.entry(what).or_insert(by);
    }

    /// As `refute`, for each of what is assumed for which it is so. Returns whether there is one that
    /// was not known.
    pub fn refute_where(&mut self, holds_not: impl Fn(&K) -> bool, by: E) -> bool
    where
        E: Copy,
    {
        let before = self.refuted.len();
        for what in self.assumed.iter().filter(|what| holds_not(what)) {
            self.refuted.entry(*what).or_insert(by);
        }
        self.refuted.len() > before
    }

    pub fn refutation(&self, what: K) -> Option<&E> {
        self.refuted.get(&what)
    }

    /// Adds what another exploration of the same tree assumes and has refuted.
    pub fn join(&mut self, other: Assumptions<K, E>) {
        self.assumed.extend(other.assumed);
        self.refuted.extend(other.refuted);
    }

    pub fn assumed(&self) -> Vec<K> {
        self.assumed.iter().copied().collect()
    }

    /// Whether something is assumed that is refuted.
    pub fn are_contradicted(&self) -> bool {
        let mut assumed = self.assumed.iter();
        assumed.any(|what| self.refuted.contains_key(what))
    }
}

/// Who accesses memory, and when: how many threads it has created, and which it has joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct User {
    pub thread: ThreadId,
    pub created: u32,
    pub joined: u64,
    pub site: SiteId,
}

impl User {
    /// Whether two accesses are by one thread, and the same threads exist while they are made.
    pub fn is_then(&self, other: &User) -> bool {
        (self.thread, self.created, self.joined) == (other.thread, other.created, other.joined)
    }
}

/// The number of each thread, by its creator and how many threads that had created before.
#[derive(Clone, Default, BorshSerialize, BorshDeserialize)]
pub struct ThreadNumbers(FxHashMap<(ThreadId, u32), ThreadId>);

impl ThreadNumbers {
    /// The number of threads so far, without main.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The number of the thread that `creator` starts as its `count`th, and whether it is a new one.
    pub fn number(&mut self, creator: ThreadId, count: u32) -> (ThreadId, bool) {
        let next = self.0.len() + 1;
        let number = *self.0.entry((creator, count)).or_insert(next);
        (number, number == next)
    }

    /// The threads, in the order of their numbers, by their creators.
    pub fn by_number(self) -> Vec<((ThreadId, u32), ThreadId)> {
        let mut threads: Vec<_> = self.0.into_iter().collect();
        threads.sort_unstable_by_key(|(_, number)| *number);
        threads
    }

    /// Whether an access is before the creation of a thread, or after it was joined.
    pub fn is_ordered(&self, by: User, thread: ThreadId) -> bool {
        let mut threads = self.0.iter();
        let created = threads.find(|(_, number)| **number == thread);
        let later = created
            .is_some_and(|((creator, count), _)| *creator == by.thread && *count >= by.created);
        by.joined >> thread & 1 == 1 || later
    }

    /// Whether another thread makes an access while a thread runs.
    pub fn is_beside(&self, by: User, thread: ThreadId) -> bool {
        by.thread != thread && !self.is_ordered(by, thread)
    }

    /// Main creates so many threads, and no other thread creates one.
    #[cfg(test)]
    pub fn of_main(count: u32) -> ThreadNumbers {
        let mut numbers = ThreadNumbers::default();
        (0..count).for_each(|number| {
            numbers.number(0, number);
        });
        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn main_is_ordered_with_the_threads_that_it_has_not_created_yet_or_has_joined() {
        let threads = ThreadNumbers::of_main(3);
        let main = |created, joined| User {
            thread: 0,
            created,
            joined,
            site: 0,
        };
        let ordered = |by| [1, 2, 3].map(|thread| threads.is_ordered(by, thread));
        assert_eq!(ordered(main(0, 0)), [true, true, true]);
        assert_eq!(ordered(main(2, 0)), [false, false, true]);
        assert_eq!(ordered(main(3, 0b0100)), [false, true, false]);
    }
}
