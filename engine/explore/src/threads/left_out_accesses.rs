//! Races of accesses in rounds of a loop that are left out.
//!
//! A thread whose loop is in the same state after a round as before stops there: in executions
//! without that round it is in the same state ([`take`]). But an access of that round may race with what
//! another thread does only after it has learned from this one, past the loop; or before it lets this one
//! leave the loop. The execution that ends at the round does not show the race, nor do those without the
//! round.
//!
//! So the thread continues after one such round, if an access in it may race with another thread's while
//! the thread runs: one of both is plain, and one of both writes. It does as well if a write that stores again
//! what is there may meet another thread's write of any kind ([`location_uses`](super::location_uses)). A free counts as a plain write of each
//! location of the object. The accesses of a round are its reads, and its writes that are no progress: that
//! change nothing, or on whose values nothing depends. One round suffices: what an execution shows of a
//! round, the execution without the other rounds does. Whether another thread does that is not known
//! before everything was explored. The explorer assumes that none does, until an execution shows otherwise;
//! exploration then starts again. If none shows it, there is none: an access that would show it is also in
//! the execution without the round.
//!
//! [`take`]: program::interpreter
use crate::source::{Location, ThreadId};
use crate::threads::ledger::{Assumptions, ThreadNumbers, User};
use borsh::{BorshDeserialize, BorshSerialize};
use rustc_hash::FxHashMap;

/// What decides whether an access may race with another one of its location.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, BorshSerialize, BorshDeserialize,
)]
pub struct AccessKind {
    /// It is not atomic, and the model flags races.
    pub plain: bool,
    pub writes: bool,
    /// It stores again what its thread has stored there ([`location_uses`](super::location_uses)).
    pub again: bool,
}

/// An access in a round that is left out, and the thread whose round it is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, BorshSerialize, BorshDeserialize,
)]
pub struct LeftOutAccess {
    pub at: Location,
    pub thread: ThreadId,
    pub kind: AccessKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
struct Access {
    by: User,
    kind: AccessKind,
}

#[derive(Clone, Default, BorshSerialize, BorshDeserialize)]
pub struct LeftOutAccesses {
    /// The accesses of each location, by all threads.
    accesses: FxHashMap<Location, Vec<Access>>,
    /// The ranges of addresses that are freed.
    frees: Vec<((u64, u64), Access)>,
    /// These accesses race with nothing.
    race_free: Assumptions<LeftOutAccess>,
}

impl AccessKind {
    const FREE: AccessKind = AccessKind {
        plain: true,
        writes: true,
        again: false,
    };

    /// Whether an access in a round that is left out may race with this one, or this one may come
    /// between it and the write before it.
    fn may_race(self, left_out: AccessKind) -> bool {
        (self.plain || left_out.plain) && (self.writes || left_out.writes)
            || self.writes && left_out.again
    }

    /// Whether it may race with all that another one may.
    fn covers(self, other: AccessKind) -> bool {
        self.plain >= other.plain && self.writes >= other.writes
    }
}

impl Access {
    /// Whether it may race with an access in whose object or location it is.
    fn may_race(&self, left_out: &LeftOutAccess, threads: &ThreadNumbers) -> bool {
        self.kind.may_race(left_out.kind) && threads.is_beside(self.by, left_out.thread)
    }

    fn is_known(&self, known: &[Access]) -> bool {
        let mut known = known.iter();
        known.any(|seen| seen.kind.covers(self.kind) && seen.by.is_then(&self.by))
    }
}

fn is_inside(at: Location, range: (u64, u64)) -> bool {
    (range.0..range.1).contains(&at.address)
}

impl LeftOutAccesses {
    /// Discards what is not known for certain.
    pub fn restart(&mut self) {
        self.accesses.clear();
        self.frees.clear();
        self.race_free.restart();
    }

    /// Records an access; returns whether it contradicts an assumption.
    pub fn access(
        &mut self,
        at: Location,
        by: User,
        kind: AccessKind,
        threads: &ThreadNumbers,
    ) -> bool {
        let access = Access { by, kind };
        let known = self.accesses.entry(at).or_default();
        if access.is_known(known) {
            return false;
        }
        known.push(access);
        let races = |other: &LeftOutAccess| other.at == at && access.may_race(other, threads);
        self.race_free.refute_where(races, ())
    }

    /// As `access`, for the free of an object.
    pub fn free(&mut self, range: (u64, u64), by: User, threads: &ThreadNumbers) -> bool {
        let kind = AccessKind::FREE;
        let free = Access { by, kind };
        if self.frees.contains(&(range, free)) {
            return false;
        }
        self.frees.push((range, free));
        let races =
            |other: &LeftOutAccess| is_inside(other.at, range) && free.may_race(other, threads);
        self.race_free.refute_where(races, ())
    }

    /// Adds what another exploration of the same tree assumes and has shown. Returns whether what one
    /// has shown contradicts what the other assumes.
    pub fn join(&mut self, other: LeftOutAccesses, threads: &ThreadNumbers) -> bool {
        self.race_free.join(other.race_free);
        for (at, accesses) in other.accesses {
            for access in accesses {
                self.access(at, access.by, access.kind, threads);
            }
        }
        for (range, free) in other.frees {
            self.free(range, free.by, threads);
        }
        for access in self.race_free.assumed() {
            self.may_race(access, threads);
        }
        self.race_free.are_contradicted()
    }

    /// Whether an access may race with what other threads do. If not, the exploration assumes that from
    /// then on.
    pub fn may_race(&mut self, access: LeftOutAccess, threads: &ThreadNumbers) -> bool {
        let mut others = self.accesses.get(&access.at).into_iter().flatten();
        let mut frees = self.frees.iter();
        if others.any(|other| other.may_race(&access, threads))
            || frees.any(|(range, free)| {
                is_inside(access.at, *range) && free.may_race(&access, threads)
            })
        {
            self.race_free.refute(access, ());
        }
        !self.race_free.assume(access)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(thread: ThreadId) -> User {
        User {
            thread,
            created: 0,
            joined: 0,
            site: 0,
        }
    }

    fn kind(plain: bool, writes: bool) -> AccessKind {
        AccessKind {
            plain,
            writes,
            again: false,
        }
    }

    /// An access of the location at 64 by thread 1.
    fn left_out(kind: AccessKind) -> LeftOutAccess {
        LeftOutAccess {
            at: at(64),
            thread: 1,
            kind,
        }
    }

    fn at(address: u64) -> Location {
        Location { address, size: 4 }
    }

    #[test]
    fn a_write_contradicts_that_a_read_of_another_exploration_races_with_nothing() {
        let threads = &ThreadNumbers::of_main(2);
        let read = left_out(kind(true, false));
        let assumes = || {
            let mut accesses = LeftOutAccesses::default();
            assert!(!accesses.may_race(read, threads));
            accesses
        };
        for (thread, contradicts) in [(0, false), (1, false), (2, true)] {
            let mut written = LeftOutAccesses::default();
            let mut freed = LeftOutAccesses::default();
            assert!(!written.access(at(64), by(thread), kind(false, true), threads));
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
    fn an_access_contradicts_the_accesses_that_it_may_race_with() {
        let threads = &ThreadNumbers::of_main(3);
        let assumes = |plain, writes| {
            let mut accesses = LeftOutAccesses::default();
            assert!(!accesses.may_race(left_out(kind(plain, writes)), threads));
            accesses
        };
        // one of both is plain, and one of both writes
        for ours in [(false, false), (false, true), (true, false), (true, true)] {
            for theirs in [(false, false), (false, true), (true, false), (true, true)] {
                let other = kind(theirs.0, theirs.1);
                let races = (ours.0 || theirs.0) && (ours.1 || theirs.1);
                let mut accesses = assumes(ours.0, ours.1);
                assert!(!accesses.access(at(64), by(1), other, threads));
                assert_eq!(accesses.access(at(64), by(2), other, threads), races);
            }
            assert!(assumes(ours.0, ours.1).free((60, 68), by(2), threads));
            assert!(!assumes(ours.0, ours.1).free((68, 80), by(2), threads));
        }
        // what is known is no reason to overlook more
        for more in [kind(true, true), kind(true, false), kind(false, true)] {
            let mut accesses = assumes(true, true);
            assert!(!accesses.access(at(64), by(1), kind(false, false), threads));
            assert!(accesses.access(at(64), by(2), more, threads));
        }
        for less in [kind(false, true), kind(true, false)] {
            let mut accesses = assumes(false, false);
            assert!(!accesses.access(at(64), by(2), less, threads));
            assert!(accesses.access(at(64), by(2), kind(true, true), threads));
        }
        let mut read = assumes(false, true);
        assert!(!read.access(at(64), by(2), kind(false, false), threads));
        assert!(read.access(at(64), by(2), kind(true, false), threads));
        let mut freed = LeftOutAccesses::default();
        assert!(!freed.free((68, 80), by(2), threads));
        assert!(!freed.may_race(left_out(kind(true, false)), threads));
    }
}
