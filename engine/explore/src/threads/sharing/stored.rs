//! What explorations learn of sharing, as it is stored and joined.
use super::{lock, Extent, Known, LearnedSharing};
use crate::reductions::Reductions;
use crate::source::ThreadId;
use crate::threads::failed_rounds::FailedRounds;
use crate::threads::left_out_reads::LeftOutReads;
use crate::threads::likeness::{KnownLikeness, Likeness};
use crate::threads::location_uses::LocationUses;
use crate::threads::meetings::{KnownMeetings, Meetings};
use borsh::{BorshDeserialize, BorshSerialize};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::sync::Mutex;

/// What an exploration has learned, and what it assumes: an exploration of the same program that
/// starts with it has the same search tree.
#[derive(Clone, Default, BorshSerialize, BorshDeserialize)]
pub struct Learned {
    pub reductions: Reductions,
    known: Known,
    owners: Vec<u8>,
    extents: BTreeMap<u64, Extent>,
    pieces: BTreeMap<u64, u64>,
    threads: FxHashMap<(ThreadId, u32), ThreadId>,
    uses: LocationUses,
    conflicts: LocationUses,
    left_out: LeftOutReads,
    failed_rounds: FailedRounds,
    likeness: KnownLikeness,
    meetings: KnownMeetings,
}

impl LearnedSharing {
    /// What was learned and is assumed, if nothing was learned since the last restart.
    pub fn learned(&self) -> Learned {
        // whoever adds a field decides whether the search tree depends on it
        let LearnedSharing {
            reductions,
            known,
            owners,
            changed: _,
            ordering: _,
            calls: _,
            learned: _,
            extents,
            pieces,
            near: _,
            threads,
            uses,
            conflicts,
            left_out,
            failed_rounds,
            likeness,
            meetings,
        } = self;
        Learned {
            reductions: *reductions,
            known: known.clone(),
            owners: owners.iter().map(|owner| owner.load(Relaxed)).collect(),
            extents: lock(extents).clone(),
            pieces: lock(pieces).clone(),
            threads: lock(threads).clone(),
            uses: lock(uses).clone(),
            conflicts: lock(conflicts).clone(),
            left_out: lock(left_out).clone(),
            failed_rounds: lock(failed_rounds).clone(),
            likeness: likeness.learned(),
            meetings: meetings.known(),
        }
    }

    /// Sharing as an earlier exploration has left it; none if that was not of a program with as many
    /// objects in its initial memory.
    pub fn resumed(learned: Learned, owned: usize) -> Option<LearnedSharing> {
        (learned.owners.len() == owned).then(|| LearnedSharing {
            reductions: learned.reductions,
            known: learned.known,
            owners: learned.owners.into_iter().map(AtomicU8::new).collect(),
            extents: Mutex::new(learned.extents),
            pieces: Mutex::new(learned.pieces),
            threads: Mutex::new(learned.threads),
            uses: Mutex::new(learned.uses),
            conflicts: Mutex::new(learned.conflicts),
            left_out: Mutex::new(learned.left_out),
            failed_rounds: Mutex::new(learned.failed_rounds),
            likeness: Likeness::resumed(learned.likeness),
            meetings: Meetings::resumed(learned.meetings),
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
            && self.meetings.assumes(&other.meetings)
            && self.owners.len() == other.owners.len();
        if !same {
            return false;
        }
        if !self.join_threads(other.threads) {
            self.change(); // the numbers of threads in the rest mean others
            return true;
        }
        for (at, extent) in other.extents {
            lock(&self.extents).entry(at).or_insert(extent);
        }
        for (object, owner) in other.owners.into_iter().enumerate() {
            if owner != 0 && !self.owns(object as u32, usize::from(owner) - 1) {
                let (start, end) = objects[object];
                self.learn_shared(start, end);
            }
        }
        for (start, end) in other.pieces {
            let _ = self.piece(start, end); // the change is recorded
        }
        let creator = |thread| self.creator(thread);
        let mut changed = lock(&self.uses).join(other.uses, creator);
        changed |= lock(&self.conflicts).join(other.conflicts, creator);
        changed |= lock(&self.left_out).join(other.left_out, creator);
        changed |= lock(&self.failed_rounds).join(other.failed_rounds, creator);
        changed |= self.likeness.join(other.likeness);
        changed |= self.meetings.join(other.meetings);
        if changed {
            self.change();
        }
        true
    }

    /// Adds the numbers of more threads. Returns whether they agree with the known ones.
    fn join_threads(&self, other: FxHashMap<(ThreadId, u32), ThreadId>) -> bool {
        let mut threads = lock(&self.threads);
        let mut agree = true;
        let mut other: Vec<_> = other.into_iter().collect();
        other.sort_unstable_by_key(|(_, number)| *number);
        for (by, number) in other {
            let next = threads.len() + 1;
            let same = *threads.entry(by).or_insert(next) == number;
            // a thread that one exploration has not seen may undo rounds
            agree &= same && (number != next || self.known.undone.is_empty());
        }
        agree
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::pieces;
    use super::*;

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
        assert!(both.join(owned(2).learned(), &objects) && both.has_changed());
        both.restart(1);
        assert!(both.is_shared(64, 72));
        assert!(!both.join(owned(2).learned(), &objects), "of another tree");

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
