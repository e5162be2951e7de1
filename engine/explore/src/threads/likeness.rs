//! Which threads behave alike: they start with the same function and argument, and nothing that they
//! do or that is done with them distinguishes them.
//!
//! That is assumed until an execution shows otherwise, and the exploration is then started again. In
//! an execution of which one only differs by an exchange of threads, the first event that
//! distinguishes them is there too.

use borsh::{BorshDeserialize, BorshSerialize};
use program::ir::FuncId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::source::ThreadId;

#[derive(Default)]
pub struct Likeness {
    known: Mutex<KnownLikeness>,
}

/// What is known of it.
#[derive(Clone, Default, BorshSerialize, BorshDeserialize)]
pub struct KnownLikeness {
    /// The function that each thread starts with.
    starts: FxHashMap<ThreadId, FuncId>,
    /// Functions whose threads were taken to behave alike.
    alike: FxHashSet<FuncId>,
    /// Functions whose threads do not.
    different: FxHashSet<FuncId>,
    /// Threads that something distinguished before they were started.
    early: FxHashSet<ThreadId>,
}

impl Likeness {
    pub fn learned(&self) -> KnownLikeness {
        self.known().clone()
    }

    /// Likeness as an earlier exploration has left it.
    pub fn resumed(learned: KnownLikeness) -> Likeness {
        Likeness {
            known: Mutex::new(learned),
        }
    }

    fn known(&self) -> MutexGuard<'_, KnownLikeness> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn starts(&self, thread: ThreadId, start: FuncId) {
        self.known().starts.insert(thread, start);
    }

    pub fn start(&self, thread: ThreadId) -> Option<FuncId> {
        self.known().starts.get(&thread).copied()
    }

    /// Whether all threads are joined that start with the same function as this one.
    pub fn are_all_joined(&self, thread: ThreadId, joined: u64) -> bool {
        let known = self.known();
        let start = known.starts.get(&thread);
        let mut same = known
            .starts
            .iter()
            .filter(|(_, other)| Some(*other) == start);
        same.all(|(other, _)| joined >> other & 1 == 1)
    }

    /// Takes two threads that start with a function to behave alike, as all that do, unless it is
    /// known that they do not. Returns whether it does.
    pub fn take_alike(&self, start: FuncId, threads: [ThreadId; 2]) -> bool {
        let mut known = self.known();
        if threads.iter().any(|thread| known.early.contains(thread)) {
            known.different.insert(start);
        }
        let alike = !known.different.contains(&start);
        if alike {
            known.alike.insert(start);
        }
        alike
    }

    /// Adds what another exploration of the same tree assumes and has shown. Returns whether threads
    /// were taken to behave alike in one of them that the other has distinguished.
    pub fn join(&self, other: KnownLikeness) -> bool {
        let mut known = self.known();
        for (thread, start) in other.starts {
            known.starts.entry(thread).or_insert(start);
        }
        let early = known.early.symmetric_difference(&other.early);
        let distinguished: Vec<FuncId> = early
            .filter_map(|thread| known.starts.get(thread).copied())
            .filter(|start| known.alike.contains(start) || other.alike.contains(start))
            .collect();
        known.early.extend(other.early);
        known.different.extend(other.different);
        known.different.extend(distinguished);
        known.alike.extend(other.alike);
        let KnownLikeness {
            alike, different, ..
        } = &mut *known;
        let before = alike.len();
        alike.retain(|start| !different.contains(start));
        alike.len() < before
    }

    /// Records that something distinguishes a thread from others that start with the same function.
    /// Returns whether they were taken to behave alike.
    pub fn distinguish(&self, thread: ThreadId) -> bool {
        let mut known = self.known();
        let Some(start) = known.starts.get(&thread).copied() else {
            known.early.insert(thread);
            return false;
        };
        known.different.insert(start);
        known.alike.remove(&start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_one_exploration_distinguishes_are_not_alike_in_another() {
        let started = || {
            let likeness = Likeness::default();
            likeness.starts(1, 5);
            likeness.starts(2, 5);
            likeness
        };
        let alike = || {
            let likeness = started();
            assert!(likeness.take_alike(5, [1, 2]));
            likeness
        };
        let distinguished = started();
        assert!(!distinguished.distinguish(2));
        let early = Likeness::default();
        assert!(!early.distinguish(2));
        for other in [distinguished, early] {
            let one = alike();
            assert!(one.join(other.learned()));
            assert!(!one.take_alike(5, [1, 2]));
            assert!(other.join(alike().learned()));
            assert!(!other.take_alike(5, [1, 2]));
        }
        assert!(!alike().join(alike().learned()) && !started().join(alike().learned()));
    }
}
