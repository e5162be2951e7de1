//! What explorations learn of sharing, as it is stored and joined.
use super::{Facts, Known, LearnedSharing};
use crate::reductions::Reductions;
use crate::threads::ledger::ThreadNumbers;
use borsh::{BorshDeserialize, BorshSerialize};
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::sync::Mutex;

/// What an exploration has learned, and what it assumes: an exploration of the same program that
/// starts with it has the same search tree.
#[derive(Clone, Default, BorshSerialize, BorshDeserialize)]
pub struct Learned {
    pub reductions: Reductions,
    known: Known,
    owners: Vec<u8>,
    facts: Facts,
}

impl LearnedSharing {
    /// What was learned and is assumed, if nothing was learned since the last restart.
    pub fn learned(&self) -> Learned {
        Learned {
            reductions: self.reductions,
            known: self.known.clone(),
            owners: self
                .owners
                .iter()
                .map(|owner| owner.load(Relaxed))
                .collect(),
            facts: self.facts().clone(),
        }
    }

    /// Sharing as an earlier exploration has left it; none if that was not of a program with as many
    /// objects in its initial memory.
    pub fn resumed(learned: Learned, owned: usize) -> Option<LearnedSharing> {
        (learned.owners.len() == owned).then(|| LearnedSharing {
            reductions: learned.reductions,
            known: learned.known,
            owners: learned.owners.into_iter().map(AtomicU8::new).collect(),
            facts: Mutex::new(learned.facts),
            ..LearnedSharing::default()
        })
    }

    /// Adds what another exploration of the same tree has learned; `objects` are those of the initial
    /// memory, from and to. What one has shown may contradict what the other assumes: then the
    /// exploration has to start again ([`has_changed`](Self::has_changed)). Returns whether the
    /// other's tree is the same at all: that it has started with the same.
    pub fn join(&self, other: Learned, objects: &[(u64, u64)]) -> bool {
        let same = self.reductions == other.reductions
            && self.known == other.known
            && self.owners.len() == other.owners.len();
        if !same {
            return false;
        }
        let facts = other.facts;
        if !self.join_threads(facts.threads) {
            self.change(); // the numbers of threads in the rest mean others
            return true;
        }
        for (object, owner) in other.owners.into_iter().enumerate() {
            if owner != 0 && !self.owns(object as u32, usize::from(owner) - 1) {
                let (start, end) = objects[object];
                self.learn_shared(start, end);
            }
        }
        for (start, end) in facts.pieces {
            let _ = self.piece(start, end); // the change is recorded
        }
        let own = &mut *self.facts();
        for (at, extent) in facts.extents {
            own.extents.entry(at).or_insert(extent);
        }
        own.asserted.extend(facts.asserted);
        let threads = &own.threads;
        let mut changed = own.uses.join(facts.uses, threads);
        own.rewrites.join(facts.rewrites);
        changed |= own.rewrites.are_contradicted();
        changed |= own.left_out.join(facts.left_out, threads);
        changed |= own.failed_rounds.join(facts.failed_rounds, threads);
        changed |= own.later_writes.join(facts.later_writes);
        changed |= own.symmetry.join(facts.symmetry);
        // more threads use a barrier than either has shown: their order may have to be fixed
        for (barrier, users) in facts.barrier_users {
            let known = own.barrier_users.entry(barrier).or_default();
            let (before, new) = (known.len(), users.len());
            known.extend(users);
            changed |= known.len() > before && known.len() > new;
        }
        let _ = self.change_if(changed);
        true
    }

    /// Adds the numbers of more threads. Returns whether they agree with the known ones.
    fn join_threads(&self, other: ThreadNumbers) -> bool {
        let threads = &mut self.facts().threads;
        let mut agree = true;
        for ((creator, count), number) in other.by_number() {
            let (known, is_new) = threads.number(creator, count);
            // a thread that one exploration has not seen may undo rounds
            agree &= known == number && (!is_new || self.known.undone.is_empty());
        }
        agree
    }
}

#[cfg(test)]
mod tests {
    use super::super::pieces::tests::pieces;
    use super::*;
    use crate::source::ThreadId;

    #[test]
    fn what_two_explorations_have_learned_may_contradict() {
        let started = || {
            let mut sharing = LearnedSharing::default();
            sharing.restart(1);
            sharing
        };
        let objects = [(64, 72)];
        let owned = |thread| {
            let sharing = started();
            assert!(sharing.owns(0, thread));
            sharing
        };
        let mut both = owned(1);
        assert!(both.join(owned(1).learned(), &objects) && !both.has_changed());
        assert!(both.join(started().learned(), &objects) && !both.has_changed());
        assert!(both.join(owned(2).learned(), &objects) && both.has_changed());
        both.restart(1);
        assert!(both.is_shared(64, 72));
        assert!(!both.join(owned(2).learned(), &objects), "of another tree");
        assert!(!started().join(LearnedSharing::default().learned(), &objects));
        let reductions = Reductions::NONE;
        let other = Learned {
            reductions,
            ..started().learned()
        };
        assert!(!started().join(other, &objects), "by another search");

        let accessed = |address, size| {
            let sharing = started();
            assert!(pieces(&sharing, address, size).is_ok());
            sharing
        };
        let mut both = accessed(64, 8);
        assert!(both.join(accessed(72, 8).learned(), &objects) && !both.has_changed());
        assert!(both.join(accessed(68, 4).learned(), &objects) && both.has_changed());
        both.restart(1);
        assert_eq!(pieces(&both, 64, 8), Ok(vec![(64, 4), (68, 4)]));

        let numbered = |creators: &[(ThreadId, u32)]| {
            let sharing = started();
            for (by, count) in creators {
                sharing.thread(*by, *count);
            }
            sharing
        };
        let both = numbered(&[(0, 0)]);
        assert!(both.join(numbered(&[(0, 0), (0, 1)]).learned(), &objects));
        assert!(!both.has_changed());
        assert_eq!(both.thread(0, 1), 2);
        assert!(both.join(numbered(&[(0, 0), (1, 0)]).learned(), &objects));
        assert!(both.has_changed(), "thread 2 is another one");
        assert_eq!(both.thread(1, 0), 3);
    }
}
