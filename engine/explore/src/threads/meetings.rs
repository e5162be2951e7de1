//! Barriers whose threads arrive in a fixed order.
//!
//! What a thread does before a barrier happens before what every other does after it, in whatever
//! order they arrive. If a barrier has as many users as it is for, each of them takes part in each
//! round, so nothing else depends on that order either: of the n! orders of each round the explorer
//! takes one, by the numbers of the threads. (Not to order arrivals is from Kokologiannakis,
//! Vafeiadis, "BAM: Efficient model checking for barriers", NETYS 2021.) In each round the threads
//! increment a location of its own, one after the other, and then read the last increment of it:
//! what a thread does between two events of the program, which no other thread observes.
//!
//! That holds for any model under which a barrier orders what threads do ([`guarantee`] asks it), and
//! in which a read-modify-write is one event: an increment releases and acquires, so what precedes
//! it in its thread is ordered before what follows it in any thread, its own included, whoever is
//! last. Models of machines order the two halves of the last increment: they may let its thread
//! execute what follows it before what precedes it, but not the other threads. To tell that from the
//! opposite takes a cycle of dependencies, reads-from, coherence and from-reads from what follows a barrier
//! back to what precedes it. No two users have one: what one does before the barrier is ordered
//! before what the other does after it. So other threads have to have accesses in between: a first
//! one, to which the cycle leads from what follows the barrier, and a last one, from which it leads
//! to what precedes it. The creation of a user after an access orders the access before what follows
//! the barrier, and a join of a user orders what precedes the barrier before an access after it:
//! either contradicts the cycle, or closes it without the order in question. So neither of the two
//! is ordered with any user by its creation or by joining it.
//!
//! Which threads use a barrier is learned while exploring. When as many have come as it is for, the
//! exploration starts again and takes one order of arrivals, until an execution shows that
//!
//! - another thread uses the barrier, or it is for another number of threads,
//! - what `pthread_barrier_wait` returns, which depends on the order, is used,
//! - it is initialised, destroyed, freed or accessed, and that is not ordered with all its users by
//!   their creation or by joining them,
//! - under a model that orders by dependencies: some other thread accesses memory, and that is not
//!   ordered with any of its users.
//!
//! Then all orders are explored. If no execution shows one of these, there is none: consider the
//! first event that does, of an execution that is left out. The rounds before it are complete, with
//! the same users, so with their arrivals in the fixed order the same event follows.
//!
//! [`guarantee`]: crate::consistency::guarantee
use crate::source::{Action, ThreadId};
use crate::threads::location_uses::User;
use borsh::{BorshDeserialize, BorshSerialize};
use program::library::barrier;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// In which orders the threads of a barrier arrive.
#[derive(Clone, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
enum Arrivals {
    /// In this one, in each round: the order of the threads' numbers.
    Fixed(Vec<ThreadId>),
    Any,
}

/// What is known of the barriers of a program, by their addresses.
#[derive(Default)]
pub struct Meetings {
    /// All orders of arrivals are explored.
    all_orders: bool,
    /// What this exploration assumes.
    known: FxHashMap<u64, Arrivals>,
    learned: Mutex<KnownMeetings>,
}

/// What executions have shown.
#[derive(Clone, Default, BorshSerialize, BorshDeserialize)]
pub struct KnownMeetings {
    users: FxHashMap<u64, BTreeSet<ThreadId>>,
    arrivals: FxHashMap<u64, Arrivals>,
}

impl Meetings {
    /// What was learned, and adopted.
    pub fn known(&self) -> KnownMeetings {
        KnownMeetings {
            users: self.learned().users.clone(),
            arrivals: self.known.clone(),
        }
    }

    /// Meetings as an earlier exploration has left them.
    pub fn resumed(known: KnownMeetings) -> Meetings {
        let mut meetings = Meetings {
            learned: Mutex::new(known),
            ..Meetings::default()
        };
        meetings.restart();
        meetings
    }

    fn learned(&self) -> MutexGuard<'_, KnownMeetings> {
        self.learned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets whether all orders of arrivals are explored.
    pub fn explore_all_orders(&mut self, all: bool) {
        self.all_orders = all;
    }

    /// Adopts what was learned.
    pub fn restart(&mut self) {
        let learned = std::mem::take(&mut self.learned().arrivals);
        self.known.extend(learned);
    }

    /// The order in which threads arrive at a barrier, if it is fixed.
    pub fn order(&self, barrier: u64) -> Option<&[ThreadId]> {
        match self.known.get(&barrier) {
            Some(Arrivals::Fixed(threads)) if !self.all_orders => Some(threads),
            _ => None,
        }
    }

    /// Records that a thread arrives at a barrier for so many threads, in some order. Returns whether
    /// it is to be fixed from now on.
    pub fn arrives(&self, barrier: u64, thread: ThreadId, threads: u64) -> bool {
        if self.all_orders || self.known.contains_key(&barrier) {
            return false;
        }
        let mut learned = self.learned();
        let users = learned.users.entry(barrier).or_default();
        users.insert(thread);
        let complete = users.len() as u64 == threads;
        let order = users.iter().copied().collect();
        if complete {
            learned.arrivals.insert(barrier, Arrivals::Fixed(order));
        }
        complete
    }

    /// Adds what another exploration with the same assumptions has shown. Returns whether more threads
    /// use a barrier than either has shown, so that their order may have to be fixed.
    pub fn join(&self, other: KnownMeetings) -> bool {
        let mut learned = self.learned();
        let mut more = false;
        for (barrier, users) in other.users {
            let known = learned.users.entry(barrier).or_default();
            let before = known.len();
            let new = users.len();
            known.extend(users);
            more |= known.len() > before && known.len() > new;
        }
        more
    }

    /// Whether another exploration assumes the same.
    pub fn assumes(&self, other: &KnownMeetings) -> bool {
        self.known == other.arrivals
    }

    /// Records that the order of arrivals at a barrier may matter.
    pub fn matters(&self, barrier: u64) {
        self.learned().arrivals.insert(barrier, Arrivals::Any);
    }

    /// Whether no barrier has a fixed order of arrivals.
    pub fn are_all_unordered(&self) -> bool {
        self.fixed().next().is_none()
    }

    /// The barriers for whose arrivals the order is fixed, and the threads that use them.
    fn fixed(&self) -> impl Iterator<Item = (u64, &[ThreadId])> {
        let known = self.known.iter().filter(|_| !self.all_orders);
        known.filter_map(|(barrier, arrivals)| match arrivals {
            Arrivals::Fixed(threads) => Some((*barrier, &threads[..])),
            Arrivals::Any => None,
        })
    }

    /// The first barrier for which an event may show that the order of arrivals matters. `is_ordered`:
    /// whether a thread starts after the event, or was joined before it. `freed`: the object that it
    /// frees, from and to. `by_dependencies`: the model orders events by their dependencies.
    pub fn disturbed(
        &self,
        action: Action,
        by: User,
        freed: Option<(u64, u64)>,
        by_dependencies: bool,
        is_ordered: impl Fn(ThreadId) -> bool,
    ) -> Option<u64> {
        let (at, accesses) = match action {
            Action::Read { at, .. } | Action::Write { at, .. } if at.barrier().is_none() => {
                ((at.address, at.address + u64::from(at.size)), true)
            }
            Action::Free { .. } => (freed?, false),
            _ => return None,
        };
        let found = self.fixed().find(|(barrier, users)| {
            let touched = at.0 < barrier + u64::from(barrier::SIZE) && *barrier < at.1;
            let elsewhere = by_dependencies && accesses && !users.contains(&by.thread);
            let mut others = users.iter().filter(|user| **user != by.thread);
            let is_unordered = |user: &&ThreadId| !is_ordered(**user);
            touched && others.clone().any(|user| is_unordered(&user))
                || elsewhere && others.all(|user| is_unordered(&user))
        });
        found.map(|(barrier, _)| barrier)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Location;
    use program::ir::Order;

    const BARRIER: u64 = 64;

    fn fixed() -> Meetings {
        let mut meetings = Meetings::default();
        assert!(!meetings.arrives(BARRIER, 2, 2) && !meetings.arrives(BARRIER, 2, 2));
        assert!(meetings.order(BARRIER).is_none() && meetings.arrives(BARRIER, 1, 2));
        meetings.restart();
        meetings
    }

    #[test]
    fn the_order_is_fixed_when_all_have_come_until_it_matters() {
        let mut meetings = fixed();
        assert_eq!(meetings.order(BARRIER), Some(&[1, 2][..]));
        meetings.matters(BARRIER);
        meetings.restart();
        assert!(meetings.order(BARRIER).is_none() && !meetings.arrives(BARRIER, 3, 2));
    }

    #[test]
    fn an_access_that_is_not_ordered_with_the_users_disturbs() {
        let meetings = fixed();
        let write = |address: u64| Action::Write {
            at: Location { address, size: 4 },
            order: Order::Rlx,
            value: 1,
            rmw: false,
            undefined: 0,
        };
        let by = |thread: ThreadId| User {
            thread,
            created: 0,
            joined: 0,
            site: 0,
        };
        let disturbed = |address, thread, by_dependencies, ordered| {
            let is_ordered = |_| ordered;
            meetings.disturbed(
                write(address),
                by(thread),
                None,
                by_dependencies,
                is_ordered,
            )
        };
        assert_eq!(disturbed(68, 1, false, false), Some(BARRIER));
        assert_eq!(disturbed(68, 0, false, true), None);
        assert_eq!(disturbed(96, 0, false, false), None);
        assert_eq!(disturbed(96, 0, true, false), Some(BARRIER));
        assert_eq!(disturbed(96, 1, true, false), None);
        let free = Action::Free { base: 32 };
        let freed = meetings.disturbed(free, by(0), Some((32, 96)), false, |_| false);
        assert_eq!(freed, Some(BARRIER));
    }

    #[test]
    fn threads_that_two_explorations_have_seen_at_a_barrier_fix_its_order() {
        let seen = |thread| {
            let meetings = Meetings::default();
            assert!(!meetings.arrives(BARRIER, thread, 2));
            meetings
        };
        assert!(!seen(1).join(seen(1).known()));
        let mut both = seen(1);
        assert!(both.join(seen(2).known()));
        assert!(!both.join(seen(2).known()), "known");
        both.restart();
        assert!(both.arrives(BARRIER, 1, 2));
        assert!(!fixed().assumes(&both.known()) && fixed().assumes(&fixed().known()));
    }
}
