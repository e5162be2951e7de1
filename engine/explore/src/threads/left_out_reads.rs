//! Races of reads in rounds of a loop that are left out.
//!
//! A thread whose loop is in the same state after a round as before stops there: in executions
//! without that round it is in the same state ([`take`]). But a read of that round may race with what
//! another thread does only after it has after_calls from this one, past the loop. The execution that ends
//! at the round does not show the race, nor do those without the round.
//!
//! So the thread continues after one such round, if a read in it may race: one of plain memory that
//! another thread writes, or of any that another thread writes plainly or frees, while the thread
//! runs. One suffices: what an execution shows of a round, the execution without the other rounds
//! does. Whether another thread does that is not known before everything was explored. The explorer
//! assumes that none does, until an execution shows otherwise; exploration then starts again. If none
//! shows it, there is none: an access that would show it is also in the execution without the round.
//!
//! [`take`]: program::interpreter
use crate::source::{Location, ThreadId};
use crate::threads::ledger::{Assumptions, ThreadNumbers, User};
use borsh::{BorshDeserialize, BorshSerialize};
use rustc_hash::FxHashMap;

/// A read in a round that is left out, and the thread whose round it is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, BorshSerialize, BorshDeserialize,
)]
pub struct LeftOutRead {
    pub at: Location,
    pub thread: ThreadId,
    /// Only a plain write, or a free, races with a read that is atomic.
    pub plain: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
struct Change {
    by: User,
    plain: bool,
}

#[derive(Clone, Default, BorshSerialize, BorshDeserialize)]
pub struct LeftOutReads {
    writes: FxHashMap<Location, Vec<Change>>,
    /// The ranges of addresses that are freed.
    frees: Vec<((u64, u64), Change)>,
    /// These reads race with nothing.
    race_free: Assumptions<LeftOutRead>,
}

impl Change {
    /// Whether it may race with a read in whose object or location it is.
    fn may_race(&self, read: &LeftOutRead, threads: &ThreadNumbers) -> bool {
        (self.plain || read.plain) && threads.is_beside(self.by, read.thread)
    }

    fn is_known(&self, known: &[Change]) -> bool {
        let mut known = known.iter();
        known.any(|seen| seen.plain >= self.plain && seen.by.is_then(&self.by))
    }
}

fn is_inside(at: Location, range: (u64, u64)) -> bool {
    (range.0..range.1).contains(&at.address)
}

impl LeftOutReads {
    /// Discards what is not known for certain.
    pub fn restart(&mut self) {
        self.writes.clear();
        self.frees.clear();
        self.race_free.restart();
    }

    /// Records a write; returns whether it contradicts an assumption.
    pub fn write(&mut self, at: Location, by: User, plain: bool, threads: &ThreadNumbers) -> bool {
        let write = Change { by, plain };
        let known = self.writes.entry(at).or_default();
        if write.is_known(known) {
            return false;
        }
        known.push(write);
        let races = |read: &LeftOutRead| read.at == at && write.may_race(read, threads);
        self.race_free.refute_where(races, ())
    }

    /// As `write`, for the free of an object.
    pub fn free(&mut self, range: (u64, u64), by: User, threads: &ThreadNumbers) -> bool {
        let free = Change { by, plain: true };
        if self.frees.contains(&(range, free)) {
            return false;
        }
        self.frees.push((range, free));
        let races = |read: &LeftOutRead| is_inside(read.at, range) && free.may_race(read, threads);
        self.race_free.refute_where(races, ())
    }

    /// Adds what another exploration of the same tree assumes and has shown. Returns whether what one
    /// has shown contradicts what the other assumes.
    pub fn join(&mut self, other: LeftOutReads, threads: &ThreadNumbers) -> bool {
        self.race_free.join(other.race_free);
        for (at, writes) in other.writes {
            for write in writes {
                self.write(at, write.by, write.plain, threads);
            }
        }
        for (range, free) in other.frees {
            self.free(range, free.by, threads);
        }
        for read in self.race_free.assumed() {
            self.may_race(read, threads);
        }
        self.race_free.are_contradicted()
    }

    /// Whether a read may race with what other threads do. If not, the exploration assumes that from
    /// then on.
    pub fn may_race(&mut self, read: LeftOutRead, threads: &ThreadNumbers) -> bool {
        let mut writes = self.writes.get(&read.at).into_iter().flatten();
        let mut frees = self.frees.iter();
        if writes.any(|write| write.may_race(&read, threads))
            || frees
                .any(|(range, free)| is_inside(read.at, *range) && free.may_race(&read, threads))
        {
            self.race_free.refute(read, ());
        }
        !self.race_free.assume(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_contradicts_that_a_read_of_another_exploration_races_with_nothing() {
        let at = Location {
            address: 64,
            size: 4,
        };
        let threads = &ThreadNumbers::of_main(2);
        let read = LeftOutRead {
            at,
            thread: 1,
            plain: true,
        };
        let assumes = || {
            let mut reads = LeftOutReads::default();
            assert!(!reads.may_race(read, threads));
            reads
        };
        let by = |thread| User {
            thread,
            created: 0,
            joined: 0,
            site: 0,
        };
        for (thread, contradicts) in [(0, false), (1, false), (2, true)] {
            let (mut written, mut freed) = (LeftOutReads::default(), LeftOutReads::default());
            assert!(!written.write(at, by(thread), false, threads));
            assert!(!freed.free((64, 80), by(thread), threads));
            for mut other in [written, freed] {
                assert_eq!(assumes().join(other.clone(), threads), contradicts);
                assert_eq!(other.join(assumes(), threads), contradicts);
                other.restart();
                assert_eq!(other.may_race(read, threads), contradicts);
            }
        }
    }

    #[test]
    fn a_change_contradicts_the_reads_that_it_may_race_with() {
        let at = |address| Location { address, size: 4 };
        let threads = &ThreadNumbers::of_main(3);
        let by = |thread| User {
            thread,
            created: 0,
            joined: 0,
            site: 0,
        };
        let reads = |plain| {
            let mut reads = LeftOutReads::default();
            let (at, thread) = (at(64), 1);
            assert!(!reads.may_race(LeftOutRead { at, thread, plain }, threads));
            reads
        };
        // an atomic read races with plain writes alone
        assert!(!reads(false).write(at(64), by(2), false, threads));
        assert!(reads(false).write(at(64), by(2), true, threads));
        assert!(reads(false).free((60, 68), by(2), threads));
        assert!(!reads(true).free((68, 80), by(2), threads));
        // what is known is no reason to overlook more
        let mut more = reads(false);
        assert!(!more.write(at(64), by(2), false, threads));
        assert!(more.write(at(64), by(2), true, threads));
        let mut others = reads(true);
        assert!(!others.write(at(64), by(1), false, threads));
        assert!(others.write(at(64), by(2), false, threads));
        let mut freed = LeftOutReads::default();
        assert!(!freed.free((68, 80), by(2), threads));
        let (at, thread, plain) = (at(64), 1, true);
        assert!(!freed.may_race(LeftOutRead { at, thread, plain }, threads));
    }
}
