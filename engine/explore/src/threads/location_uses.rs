//! How threads use each shared location, as far as executions have shown.
//!
//! An iteration of a loop that leaves its thread in the same state can be left out of an execution,
//! with its writes, if no read outside it can tell, nor any order between threads. That is so for a
//! write of the value that is already there, if no other thread accesses the location while this
//! one runs: the read of the cached index in a queue for one producer and one consumer, for
//! example. And it is so for any write of a location on whose value nothing depends: a counter of
//! attempts that nobody reads but to increment it. An iteration of a loop that does nothing else
//! waits. (Leaving out iterations that only read is the spin-assume transformation of GenMC:
//! Kokologiannakis, Ren, Vafeiadis, "Dynamic partial order reductions for spinloops", FMCAD 2021.)
//!
//! Neither is known before everything was explored. So the explorer assumes both of each location,
//! until an execution shows otherwise; exploration then starts again without the assumption. If
//! none shows it, there is none: in the first access that would show it, of an execution that is
//! left out, the iterations before it can be left out, and what results is explored.
use crate::source::{Location, ThreadId};
use borsh::{BorshDeserialize, BorshSerialize};
use program::ir::SiteId;
use rustc_hash::{FxHashMap, FxHashSet};

/// Who accesses a location, and when: how many threads it has created, and which it has joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct User {
    pub thread: ThreadId,
    pub created: u32,
    pub joined: u64,
    pub site: SiteId,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
struct Use {
    by: User,
    /// Something may depend on the value read.
    observes: bool,
}

#[derive(Clone, Default, BorshSerialize, BorshDeserialize)]
pub struct LocationUses {
    uses: FxHashMap<Location, Vec<Use>>,
    /// What this exploration assumes.
    own: FxHashSet<(Location, ThreadId)>,
    unobserved: FxHashSet<Location>,
    /// What executions have shown: that a location is not a thread's own, and that it is observed,
    /// each with the access that shows it.
    shared: FxHashMap<(Location, ThreadId), User>,
    observed: FxHashMap<Location, User>,
}

impl LocationUses {
    /// Discards what is not known for certain.
    pub fn restart(&mut self) {
        self.uses.clear();
        self.own.clear();
        self.unobserved.clear();
    }

    /// Records an access; returns whether it contradicts an assumption. `creator` gives the thread
    /// that creates a thread, and how many it created before.
    pub fn record(
        &mut self,
        at: Location,
        by: User,
        observes: bool,
        creator: impl Fn(ThreadId) -> Option<(ThreadId, u32)>,
    ) -> bool {
        let uses = self.uses.entry(at).or_default();
        let same = |seen: &Use| {
            let (known, new) = (seen.by, by);
            seen.observes >= observes
                && (known.thread, known.created, known.joined)
                    == (new.thread, new.created, new.joined)
        };
        if uses.iter().any(same) {
            return false;
        }
        uses.push(Use { by, observes });
        let mut changed = false;
        if observes && self.unobserved.contains(&at) {
            changed |= self.observed.insert(at, by).is_none();
        }
        let owners = self.own.iter().filter(|(location, thread)| {
            *location == at && *thread != by.thread && !is_ordered(by, *thread, &creator)
        });
        for (_, thread) in owners {
            changed |= self.shared.insert((at, *thread), by).is_none();
        }
        changed
    }

    /// Whether no other thread accesses the location while `thread` runs. From then on the
    /// exploration assumes it.
    pub fn is_own(
        &mut self,
        at: Location,
        thread: ThreadId,
        creator: impl Fn(ThreadId) -> Option<(ThreadId, u32)>,
    ) -> bool {
        if let Some(other) = self.other_user(at, thread, creator) {
            self.shared.insert((at, thread), other);
        }
        !self.shared.contains_key(&(at, thread)) && {
            self.own.insert((at, thread));
            true
        }
    }

    /// Whether another thread is known to access the location while `thread` runs.
    pub fn is_known_shared(
        &self,
        at: Location,
        thread: ThreadId,
        creator: impl Fn(ThreadId) -> Option<(ThreadId, u32)>,
    ) -> bool {
        self.shared.contains_key(&(at, thread)) || self.other_user(at, thread, creator).is_some()
    }

    /// An access of the location by another thread while `thread` runs, of those that are known.
    fn other_user(
        &self,
        at: Location,
        thread: ThreadId,
        creator: impl Fn(ThreadId) -> Option<(ThreadId, u32)>,
    ) -> Option<User> {
        let uses = self.uses.get(&at).into_iter().flatten();
        let mut users = uses.map(|known| known.by);
        users.find(|by| by.thread != thread && !is_ordered(*by, thread, &creator))
    }

    /// Whether nothing depends on the value of the location. From then on the exploration assumes
    /// it.
    pub fn is_unobserved(&mut self, at: Location) -> bool {
        let mut uses = self.uses.get(&at).into_iter().flatten();
        if let Some(observer) = uses.find(|known| known.observes) {
            self.observed.insert(at, observer.by);
        }
        !self.observed.contains_key(&at) && {
            self.unobserved.insert(at);
            true
        }
    }

    /// Adds what another exploration of the same tree assumes and has shown. Returns whether what one
    /// has shown contradicts what the other assumes.
    pub fn join(
        &mut self,
        other: LocationUses,
        creator: impl Fn(ThreadId) -> Option<(ThreadId, u32)>,
    ) -> bool {
        self.own.extend(other.own);
        self.unobserved.extend(other.unobserved);
        self.shared.extend(other.shared);
        self.observed.extend(other.observed);
        for (at, uses) in other.uses {
            let known = self.uses.entry(at).or_default();
            for new in uses {
                if !known.contains(&new) {
                    known.push(new);
                }
            }
        }
        let uses = &self.uses;
        let used = |at: &Location| uses.get(at).into_iter().flatten();
        for (at, thread) in &self.own {
            let by_other = |known: &&Use| {
                known.by.thread != *thread && !is_ordered(known.by, *thread, &creator)
            };
            if let Some(other) = used(at).find(by_other) {
                self.shared.insert((*at, *thread), other.by);
            }
        }
        for at in &self.unobserved {
            if let Some(observer) = used(at).find(|known| known.observes) {
                self.observed.insert(*at, observer.by);
            }
        }
        let mut own = self.own.iter();
        let mut unobserved = self.unobserved.iter();
        own.any(|own| self.shared.contains_key(own))
            || unobserved.any(|at| self.observed.contains_key(at))
    }

    /// An access that prevents a write of the location by a thread from being left out.
    pub fn obstacle(&self, at: Location, thread: ThreadId) -> Option<User> {
        let shared = self.shared.get(&(at, thread));
        let uses = self.uses.get(&at).into_iter().flatten();
        let mut others = uses.filter(|known| known.by.thread != thread);
        shared
            .or(self.observed.get(&at))
            .copied()
            .or_else(|| others.next().map(|known| known.by))
    }
}

/// Whether an access is before the creation of a thread, or after it was joined.
pub fn is_ordered(
    by: User,
    thread: ThreadId,
    creator: impl Fn(ThreadId) -> Option<(ThreadId, u32)>,
) -> bool {
    let joined = by.joined >> thread & 1 == 1;
    let later =
        creator(thread).is_some_and(|(creator, count)| creator == by.thread && count >= by.created);
    joined || later
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Location = Location {
        address: 64,
        size: 4,
    };

    fn user(thread: ThreadId, created: u32, joined: u64) -> User {
        User {
            thread,
            created,
            joined,
            site: 0,
        }
    }

    /// Main creates the other threads, in their order.
    fn creator(thread: ThreadId) -> Option<(ThreadId, u32)> {
        Some((0, thread.checked_sub(1)? as u32))
    }

    #[test]
    fn main_may_use_what_is_a_threads_own_before_and_after_it() {
        let mut uses = LocationUses::default();
        assert!(!uses.record(AT, user(0, 0, 0), true, creator));
        assert!(uses.is_own(AT, 1, creator));
        assert!(!uses.record(AT, user(0, 1, 0b10), true, creator));
        assert!(uses.is_own(AT, 1, creator));
        assert!(uses.record(AT, user(0, 1, 0), true, creator));
        uses.restart();
        assert!(!uses.is_own(AT, 1, creator));
    }

    #[test]
    fn a_use_contradicts_what_another_exploration_assumes() {
        let assumes = || {
            let mut uses = LocationUses::default();
            assert!(uses.is_own(AT, 1, creator) && uses.is_unobserved(AT));
            uses
        };
        let used = |by, observes| {
            let mut uses = LocationUses::default();
            assert!(!uses.record(AT, by, observes, creator));
            uses
        };
        for (by, observes, contradicts) in [
            (user(0, 0, 0), false, false),
            (user(1, 0, 0), false, false),
            (user(1, 0, 0), true, true),
            (user(2, 0, 0), false, true),
        ] {
            assert_eq!(assumes().join(used(by, observes), creator), contradicts);
            let mut both = used(by, observes);
            assert_eq!(both.join(assumes(), creator), contradicts);
            both.restart();
            assert_eq!(!both.is_own(AT, 1, creator), by.thread == 2);
            assert_eq!(!both.is_unobserved(AT), observes);
        }
    }

    #[test]
    fn what_is_only_incremented_is_unobserved() {
        let mut uses = LocationUses::default();
        assert!(!uses.record(AT, user(1, 0, 0), false, creator));
        assert!(uses.is_unobserved(AT));
        assert!(!uses.record(AT, user(2, 0, 0), false, creator));
        assert!(uses.record(AT, user(2, 0, 0), true, creator));
        uses.restart();
        assert!(!uses.is_unobserved(AT));
    }
}
