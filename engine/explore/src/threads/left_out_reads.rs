//! Races of reads in rounds of a loop that are left out.
//!
//! A thread whose loop is in the same state after a round as before stops there: in executions
//! without that round it is in the same state ([`take`]). But a read of that round may race with what
//! another thread does only after it has heard from this one, past the loop. The execution that ends
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
use crate::threads::location_uses::{is_ordered, User};
use borsh::{BorshDeserialize, BorshSerialize};
use rustc_hash::{FxHashMap, FxHashSet};

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
    /// The model flags races; without it, frees alone matter.
    pub flags: bool,
    writes: FxHashMap<Location, Vec<Change>>,
    /// The ranges of addresses that are freed.
    frees: Vec<((u64, u64), Change)>,
    /// The reads that this exploration assumes to race with nothing.
    assumed: FxHashSet<LeftOutRead>,
    /// Those that may race, as executions have shown.
    racing: FxHashSet<LeftOutRead>,
}

impl Change {
    /// Whether it may race with a read in whose object or location it is. `creator` gives the thread
    /// that creates a thread, and how many it created before.
    fn may_race(
        &self,
        read: &LeftOutRead,
        creator: impl Fn(ThreadId) -> Option<(ThreadId, u32)>,
    ) -> bool {
        let conflicts = self.plain || read.plain;
        conflicts && self.by.thread != read.thread && !is_ordered(self.by, read.thread, creator)
    }

    fn is_known(&self, known: &[Change]) -> bool {
        let when = |by: &User| (by.thread, by.created, by.joined);
        let same = |seen: &Change| seen.plain >= self.plain && when(&seen.by) == when(&self.by);
        known.iter().any(same)
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
        self.assumed.clear();
    }

    /// Records a write; returns whether it contradicts an assumption.
    pub fn write(
        &mut self,
        at: Location,
        by: User,
        plain: bool,
        creator: impl Fn(ThreadId) -> Option<(ThreadId, u32)>,
    ) -> bool {
        if !self.flags {
            return false;
        }
        let write = Change { by, plain };
        let known = self.writes.entry(at).or_default();
        if write.is_known(known) {
            return false;
        }
        known.push(write);
        self.contradict(|read| read.at == at && write.may_race(read, &creator))
    }

    /// As `write`, for the free of an object.
    pub fn free(
        &mut self,
        range: (u64, u64),
        by: User,
        creator: impl Fn(ThreadId) -> Option<(ThreadId, u32)>,
    ) -> bool {
        let free = Change { by, plain: true };
        if self.frees.contains(&(range, free)) {
            return false;
        }
        self.frees.push((range, free));
        self.contradict(|read| is_inside(read.at, range) && free.may_race(read, &creator))
    }

    fn contradict(&mut self, may_race: impl Fn(&LeftOutRead) -> bool) -> bool {
        let racing: Vec<LeftOutRead> = self.assumed.iter().copied().filter(may_race).collect();
        let before = self.racing.len();
        self.racing.extend(racing);
        self.racing.len() > before
    }

    /// Adds what another exploration of the same tree assumes and has shown. Returns whether what one
    /// has shown contradicts what the other assumes.
    pub fn join(
        &mut self,
        other: LeftOutReads,
        creator: impl Fn(ThreadId) -> Option<(ThreadId, u32)>,
    ) -> bool {
        self.assumed.extend(other.assumed);
        self.racing.extend(other.racing);
        let before = self.assumed.len();
        self.assumed.retain(|read| !self.racing.contains(read));
        let mut contradicts = self.assumed.len() < before;
        for (at, writes) in other.writes {
            for write in writes {
                contradicts |= self.write(at, write.by, write.plain, &creator);
            }
        }
        for (range, free) in other.frees {
            contradicts |= self.free(range, free.by, &creator);
        }
        let assumed: Vec<LeftOutRead> = self.assumed.iter().copied().collect();
        for read in assumed {
            contradicts |= self.may_race(read, &creator);
        }
        contradicts
    }

    /// Whether a read may race with what other threads do. If not, the exploration assumes that from
    /// then on.
    pub fn may_race(
        &mut self,
        read: LeftOutRead,
        creator: impl Fn(ThreadId) -> Option<(ThreadId, u32)>,
    ) -> bool {
        let mut writes = self.writes.get(&read.at).into_iter().flatten();
        let mut frees = self.frees.iter();
        if writes.any(|write| write.may_race(&read, &creator))
            || frees
                .any(|(range, free)| is_inside(read.at, *range) && free.may_race(&read, &creator))
        {
            self.racing.insert(read);
        }
        self.racing.contains(&read) || {
            self.assumed.insert(read);
            false
        }
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
        let creator = |thread: ThreadId| (thread > 0).then(|| (0, thread as u32 - 1));
        let read = LeftOutRead {
            at,
            thread: 1,
            plain: true,
        };
        let flags = || LeftOutReads {
            flags: true,
            ..LeftOutReads::default()
        };
        let assumes = || {
            let mut reads = flags();
            assert!(!reads.may_race(read, creator));
            reads
        };
        let by = |thread| User {
            thread,
            created: 0,
            joined: 0,
            site: 0,
        };
        for (thread, contradicts) in [(0, false), (1, false), (2, true)] {
            let (mut written, mut freed) = (flags(), flags());
            assert!(!written.write(at, by(thread), false, creator));
            assert!(!freed.free((64, 80), by(thread), creator));
            for mut other in [written, freed] {
                assert_eq!(assumes().join(other.clone(), creator), contradicts);
                assert_eq!(other.join(assumes(), creator), contradicts);
                other.restart();
                assert_eq!(other.may_race(read, creator), contradicts);
            }
        }
    }
}
