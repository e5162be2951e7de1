//! Which threads behave alike: they start with the same function and argument, and nothing that they
//! do or that is done with them distinguishes them.
//!
//! That is assumed until an execution shows otherwise, and the exploration is then started again. In
//! an execution of which one only differs by an exchange of threads, the first event that
//! distinguishes them is there too.

use crate::source::ThreadId;
use crate::threads::ledger::Assumptions;
use borsh::{BorshDeserialize, BorshSerialize};
use program::ir::FuncId;
use rustc_hash::{FxHashMap, FxHashSet};

#[derive(Clone, Default, BorshSerialize, BorshDeserialize)]
pub struct ThreadSymmetry {
    /// The function that each thread starts with.
    starts: FxHashMap<ThreadId, FuncId>,
    /// The threads that start with a function behave alike.
    alike: Assumptions<FuncId>,
    /// Threads that something distinguished before they were started.
    early: FxHashSet<ThreadId>,
}

impl ThreadSymmetry {
    /// Discards what is not known for certain.
    pub fn restart(&mut self) {
        self.alike.restart();
    }

    pub fn starts(&mut self, thread: ThreadId, start: FuncId) {
        self.starts.insert(thread, start);
    }

    pub fn start(&self, thread: ThreadId) -> Option<FuncId> {
        self.starts.get(&thread).copied()
    }

    /// Whether all threads are joined that start with the same function as this one.
    pub fn are_all_joined(&self, thread: ThreadId, joined: u64) -> bool {
        let start = self.start(thread);
        let mut starts = self.starts.iter();
        starts.all(|(other, its)| Some(*its) != start || joined >> other & 1 == 1)
    }

    /// Takes two threads that start with a function to behave alike, as all that do, unless it is
    /// known that they do not. Returns whether it does.
    pub fn assume_symmetric(&mut self, start: FuncId, threads: [ThreadId; 2]) -> bool {
        if threads.iter().any(|thread| self.early.contains(thread)) {
            self.alike.refute(start, ());
        }
        self.alike.assume(start)
    }

    /// Adds what another exploration of the same tree assumes and has shown. Returns whether threads
    /// were taken to behave alike in one of them that the other has distinguished.
    pub fn join(&mut self, other: ThreadSymmetry) -> bool {
        for (thread, start) in other.starts {
            self.starts.entry(thread).or_insert(start);
        }
        for thread in self.early.symmetric_difference(&other.early) {
            if let Some(start) = self.starts.get(thread) {
                self.alike.refute(*start, ());
            }
        }
        self.early.extend(other.early);
        self.alike.join(other.alike);
        self.alike.are_contradicted()
    }

    /// Records that something distinguishes a thread from others that start with the same function.
    /// Returns whether they were taken to behave alike.
    pub fn distinguish(&mut self, thread: ThreadId) -> bool {
        let Some(start) = self.start(thread) else {
            self.early.insert(thread);
            return false;
        };
        let taken = self.alike.refute_where(|other| *other == start, ());
        self.alike.refute(start, ());
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_was_distinguished_before_it_started_is_like_no_other() {
        let mut symmetry = ThreadSymmetry::default();
        assert!(!symmetry.distinguish(2));
        assert!(symmetry.assume_symmetric(5, [1, 3]));
        assert!(!symmetry.assume_symmetric(6, [1, 2]));
    }

    #[test]
    fn all_are_joined_that_start_with_the_same_function() {
        let mut symmetry = ThreadSymmetry::default();
        for (thread, start) in [(1, 5), (2, 5), (3, 6)] {
            symmetry.starts(thread, start);
        }
        assert!(symmetry.are_all_joined(1, 0b0110) && symmetry.are_all_joined(3, 0b1000));
        assert!(!symmetry.are_all_joined(1, 0b1010) && !symmetry.are_all_joined(3, 0b0110));
    }

    #[test]
    fn threads_that_one_exploration_distinguishes_are_not_alike_in_another() {
        let started = || {
            let mut symmetry = ThreadSymmetry::default();
            symmetry.starts(1, 5);
            symmetry.starts(2, 5);
            symmetry
        };
        let alike = || {
            let mut symmetry = started();
            assert!(symmetry.assume_symmetric(5, [1, 2]));
            symmetry
        };
        let mut distinguished = started();
        assert!(!distinguished.distinguish(2));
        let mut early = ThreadSymmetry::default();
        assert!(!early.distinguish(2));
        for mut other in [distinguished, early] {
            let mut one = alike();
            assert!(one.join(other.clone()));
            assert!(!one.assume_symmetric(5, [1, 2]));
            assert!(other.join(alike()));
            assert!(!other.assume_symmetric(5, [1, 2]));
        }
        assert!(!alike().join(alike()) && !started().join(alike()));
    }
}
