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
//! A write that may race is explored in one iteration ([`left_out_accesses`]).
//!
//! Two more writes W of the value that the thread's last write W0 there has are left out, whoever
//! accesses the location. One is plain, as is W0, where the model flags races, and the thread does nothing
//! between them by which it happens before what others do: neither an atomic write nor a fence. An access X
//! of another thread there then races with W0, without W too, or is ordered with W as with W0: if W0 happens
//! before X, it does because of something that follows W, and so does W.
//!
//! The other one is of the same order and kind as W0, is atomic where the model flags races, and follows it
//! without progress between them: a node that is linked again before each attempt to publish it.
//!
//! ```text
//! do node->next = head;
//! while (!compare_exchange_weak(&top, &head, node));
//! ```
//!
//! If W directly follows W0 in coherence order, what reads from W in G reads from W0 in G', with the same
//! order between threads. Another thread may write the location before and after, as it does where nodes are
//! reused. That it never does between W0 and W is assumed of all such writes at a site; sites are the same
//! where threads or elements are exchanged. If another thread writes the location while this one runs, one round
//! is explored ([`left_out_accesses`]), since that write may come after the loop, and yet precede W in coherence order.
//!
//! Let G be left out, with writes of others between such W and their W0. Let V be one of them, and W the next
//! such write of a thread, for which the common prefix P of both by po and rf is smallest. Of another
//! pair in P, the prefix is P, too, so one event is in both pairs, and no thread has two such W: each V is between one W
//! of a thread and its W0. All rounds in P with other such writes can be left out. What remains has one
//! round of a thread at most, so it is visited, and contradicts the assumption. Under models that order by
//! dependencies, events have no such prefixes: there, W is progress if another thread writes the location.
//!
//! [`left_out_accesses`]: super::left_out_accesses
//!
//! Neither of the first two is known before everything was explored. So the explorer assumes them of each location,
//! until an execution shows otherwise; exploration then starts again without the assumption. If
//! none shows it, there is none: in the first access that would show it, of an execution that is
//! left out, the iterations before it can be left out, and what results is explored.
use crate::source::{Location, ThreadId};
use crate::threads::ledger::{Assumptions, ThreadNumbers, User};
use borsh::{BorshDeserialize, BorshSerialize};
use rustc_hash::FxHashMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
struct Use {
    by: User,
    /// Something may depend on the value read.
    observes: bool,
}

#[derive(Clone, Default, BorshSerialize, BorshDeserialize)]
pub struct LocationUses {
    uses: FxHashMap<Location, Vec<Use>>,
    /// No other thread accesses a location while one runs; refuted by an access.
    own: Assumptions<(Location, ThreadId), User>,
    /// Nothing depends on the value of a location; refuted by an access that observes it.
    unobserved: Assumptions<Location, User>,
}

impl LocationUses {
    /// Discards what is not known for certain.
    pub fn restart(&mut self) {
        self.uses.clear();
        self.own.restart();
        self.unobserved.restart();
    }

    /// Records an access; returns whether it contradicts an assumption.
    pub fn record(
        &mut self,
        at: Location,
        by: User,
        observes: bool,
        threads: &ThreadNumbers,
    ) -> bool {
        let uses = self.uses.entry(at).or_default();
        if uses
            .iter()
            .any(|seen| seen.observes >= observes && seen.by.is_then(&by))
        {
            return false;
        }
        uses.push(Use { by, observes });
        let observed = observes && self.unobserved.refute_where(|seen| *seen == at, by);
        let beside =
            |(seen, owner): &(Location, ThreadId)| *seen == at && threads.is_beside(by, *owner);
        self.own.refute_where(beside, by) || observed
    }

    /// Whether no other thread accesses the location while `thread` runs. From then on the
    /// exploration assumes it.
    pub fn is_own(&mut self, at: Location, thread: ThreadId, threads: &ThreadNumbers) -> bool {
        if let Some(other) = self.other_user(at, thread, threads) {
            self.own.refute((at, thread), other);
        }
        self.own.assume((at, thread))
    }

    /// Whether another thread is known to access the location while `thread` runs.
    pub fn is_known_shared(&self, at: Location, thread: ThreadId, threads: &ThreadNumbers) -> bool {
        self.own.refutation((at, thread)).is_some()
            || self.other_user(at, thread, threads).is_some()
    }

    /// An access of the location by another thread while `thread` runs, of those that are known.
    fn other_user(&self, at: Location, thread: ThreadId, threads: &ThreadNumbers) -> Option<User> {
        let mut users = self.users(at).map(|known| known.by);
        users.find(|by| threads.is_beside(*by, thread))
    }

    fn users(&self, at: Location) -> impl Iterator<Item = &Use> {
        self.uses.get(&at).into_iter().flatten()
    }

    /// Whether nothing depends on the value of the location. From then on the exploration assumes
    /// it.
    pub fn is_unobserved(&mut self, at: Location) -> bool {
        if let Some(by) = self.observer(at) {
            self.unobserved.refute(at, by);
        }
        self.unobserved.assume(at)
    }

    fn observer(&self, at: Location) -> Option<User> {
        let observer = self.users(at).find(|known| known.observes);
        observer.map(|known| known.by)
    }

    /// Adds what another exploration of the same tree assumes and has shown. Returns whether what one
    /// has shown contradicts what the other assumes.
    pub fn join(&mut self, other: LocationUses, threads: &ThreadNumbers) -> bool {
        self.own.join(other.own);
        self.unobserved.join(other.unobserved);
        for (at, uses) in other.uses {
            let known = self.uses.entry(at).or_default();
            for new in uses {
                if !known.contains(&new) {
                    known.push(new);
                }
            }
        }
        for (at, thread) in self.own.assumed() {
            if let Some(other) = self.other_user(at, thread, threads) {
                self.own.refute((at, thread), other);
            }
        }
        for at in self.unobserved.assumed() {
            if let Some(by) = self.observer(at) {
                self.unobserved.refute(at, by);
            }
        }
        self.own.are_contradicted() || self.unobserved.are_contradicted()
    }

    /// An access that prevents a write of the location by a thread from being left out.
    pub fn obstacle(&self, at: Location, thread: ThreadId) -> Option<User> {
        let shared = self.own.refutation((at, thread));
        let observed = || self.unobserved.refutation(at);
        let other = || {
            let mut users = self.users(at).map(|known| &known.by);
            users.find(|by| by.thread != thread)
        };
        shared.or_else(observed).or_else(other).copied()
    }
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

    fn threads() -> ThreadNumbers {
        ThreadNumbers::of_main(2)
    }

    #[test]
    fn main_may_use_what_is_a_threads_own_before_and_after_it() {
        let mut uses = LocationUses::default();
        assert!(!uses.record(AT, user(0, 0, 0), true, &threads()));
        assert!(uses.is_own(AT, 1, &threads()));
        assert!(!uses.record(AT, user(0, 1, 0b10), true, &threads()));
        assert!(uses.is_own(AT, 1, &threads()));
        assert!(uses.record(AT, user(0, 1, 0), true, &threads()));
        uses.restart();
        assert!(!uses.is_own(AT, 1, &threads()));
    }

    #[test]
    fn a_use_contradicts_what_another_exploration_assumes() {
        let assumes = || {
            let mut uses = LocationUses::default();
            assert!(uses.is_own(AT, 1, &threads()) && uses.is_unobserved(AT));
            uses
        };
        let used = |by, observes| {
            let mut uses = LocationUses::default();
            assert!(!uses.record(AT, by, observes, &threads()));
            uses
        };
        for (by, observes, contradicts) in [
            (user(0, 0, 0), false, false),
            (user(1, 0, 0), false, false),
            (user(1, 0, 0), true, true),
            (user(2, 0, 0), false, true),
        ] {
            assert_eq!(assumes().join(used(by, observes), &threads()), contradicts);
            let mut both = used(by, observes);
            assert_eq!(both.join(assumes(), &threads()), contradicts);
            both.restart();
            assert_eq!(!both.is_own(AT, 1, &threads()), by.thread == 2);
            assert_eq!(!both.is_unobserved(AT), observes);
        }
    }

    #[test]
    fn what_is_only_incremented_is_unobserved() {
        let mut uses = LocationUses::default();
        assert!(!uses.record(AT, user(1, 0, 0), false, &threads()));
        assert!(uses.is_unobserved(AT));
        assert!(!uses.record(AT, user(2, 0, 0), false, &threads()));
        assert!(uses.record(AT, user(2, 0, 0), true, &threads()));
        uses.restart();
        assert!(!uses.is_unobserved(AT));
    }

    #[test]
    fn nothing_is_assumed_against_what_is_known() {
        let threads = &threads();
        let mut uses = LocationUses::default();
        assert!(!uses.is_known_shared(AT, 1, threads));
        assert!(!uses.record(AT, user(1, 0, 0), false, threads));
        assert!(uses.obstacle(AT, 1).is_none());
        assert!(!uses.record(AT, user(2, 0, 0), true, threads));
        assert!(uses.is_known_shared(AT, 1, threads));
        assert_eq!(uses.obstacle(AT, 1), Some(user(2, 0, 0)));
        assert!(!uses.is_own(AT, 1, threads) && !uses.is_unobserved(AT));
        uses.restart();
        assert!(uses.is_known_shared(AT, 1, threads));
    }
}
