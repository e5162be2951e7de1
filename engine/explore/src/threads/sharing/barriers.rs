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
use super::{lock, Arrivals, LearnedSharing, SharingChanged};
use crate::source::{Action, ThreadId};
use crate::threads::ledger::User;
use program::library::barrier;

impl LearnedSharing {
    /// The order in which threads arrive at a barrier, if it is fixed.
    pub fn order(&self, barrier: u64) -> Option<&[ThreadId]> {
        match self.known.arrivals.get(&barrier) {
            Some(Arrivals::Fixed(threads)) if !self.all_arrivals => Some(threads),
            _ => None,
        }
    }

    /// Records that a thread arrives at a barrier for so many threads, in some order. Fails if the order
    /// of arrivals is fixed from now on.
    pub fn arrives(
        &self,
        barrier: u64,
        thread: ThreadId,
        threads: u64,
    ) -> Result<(), SharingChanged> {
        if self.all_arrivals || self.known.arrivals.contains_key(&barrier) {
            return Ok(());
        }
        let facts = &mut *self.facts();
        let users = facts.barrier_users.entry(barrier).or_default();
        users.insert(thread);
        if users.len() as u64 != threads {
            return Ok(());
        }
        let order = Arrivals::Fixed(users.iter().copied().collect());
        lock(&self.learned).arrivals.insert(barrier, order);
        Err(self.change())
    }

    /// The order of arrivals at a barrier, which was fixed, may matter.
    pub fn order_matters(&self, barrier: u64) -> SharingChanged {
        let arrivals = &mut lock(&self.learned).arrivals;
        arrivals.insert(barrier, Arrivals::Any);
        self.change()
    }

    /// Fails if an event shows that the order of arrivals at a barrier, which was fixed, may matter.
    /// `by_dependencies`: the model orders events by their dependencies.
    pub fn check_barriers(
        &self,
        action: Action,
        by: User,
        by_dependencies: bool,
    ) -> Result<(), SharingChanged> {
        if self.fixed().next().is_none() {
            return Ok(());
        }
        let at = action.at();
        let is_round = at.is_some_and(|at| at.barrier().is_some());
        let Some((start, end)) = self.bytes(action).filter(|_| !is_round) else {
            return Ok(());
        };
        let threads = &self.facts().threads;
        let disturbed = self.fixed().find(|(barrier, users)| {
            let touched = start < barrier + u64::from(barrier::SIZE) && *barrier < end;
            let elsewhere = by_dependencies && at.is_some() && !users.contains(&by.thread);
            let mut others = users.iter().filter(|user| **user != by.thread);
            let is_unordered = |user: &&ThreadId| !threads.is_ordered(by, **user);
            touched && others.clone().any(|user| is_unordered(&user))
                || elsewhere && others.all(|user| is_unordered(&user))
        });
        match disturbed {
            Some((barrier, _)) => Err(self.order_matters(barrier)),
            None => Ok(()),
        }
    }

    /// The barriers for whose arrivals the order is fixed, and the threads that use them.
    fn fixed(&self) -> impl Iterator<Item = (u64, &[ThreadId])> {
        let known = self.known.arrivals.iter();
        let known = known.filter(|_| !self.all_arrivals);
        known.filter_map(|(barrier, arrivals)| match arrivals {
            Arrivals::Fixed(threads) => Some((*barrier, &threads[..])),
            Arrivals::Any => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::user;
    use super::*;
    use crate::source::Location;
    use program::ir::Order;
    use program::memory::Named;

    const BARRIER: u64 = 64;

    fn at(address: u64) -> Location {
        Location { address, size: 4 }
    }

    /// Threads 1 and 2 use the barrier; main creates them and another one.
    fn fixed() -> LearnedSharing {
        let mut sharing = LearnedSharing::default();
        (0..3).for_each(|count| assert!(sharing.thread(0, count) > 0));
        let arrives = |thread| sharing.arrives(BARRIER, thread, 2).is_err();
        assert!(!arrives(2) && !arrives(2));
        assert!(sharing.order(BARRIER).is_none() && arrives(1));
        sharing.restart(0);
        sharing
    }

    #[test]
    fn the_order_is_fixed_when_all_have_come_until_it_matters() {
        let mut sharing = fixed();
        assert_eq!(sharing.order(BARRIER), Some(&[1, 2][..]));
        sharing.order_matters(BARRIER);
        sharing.restart(0);
        assert!(sharing.order(BARRIER).is_none() && sharing.arrives(BARRIER, 3, 2).is_ok());
    }

    #[test]
    fn an_access_that_is_not_ordered_with_the_users_disturbs() {
        let write = |address| Action::write(at(address), Order::Rlx, 1, false);
        let by = |thread, created| user(thread, created, 0);
        let disturbs = |action, by, by_dependencies| {
            let sharing = fixed();
            sharing.met(32, 64, Named::Nothing);
            sharing.check_barriers(action, by, by_dependencies).is_err()
        };
        // main has created the users, or has not yet
        let (late, early) = (by(0, 2), by(0, 0));
        assert!(disturbs(write(68), by(1, 0), false));
        assert!(!disturbs(write(68), early, false) && disturbs(write(68), late, false));
        assert!(!disturbs(write(96), late, false) && disturbs(write(96), late, true));
        assert!(!disturbs(write(96), by(1, 0), true));
        assert!(disturbs(Action::Free { base: 32 }, late, false));
    }

    #[test]
    fn threads_that_two_explorations_have_seen_at_a_barrier_fix_its_order() {
        let seen = |thread| {
            let sharing = LearnedSharing::default();
            assert!(sharing.arrives(BARRIER, thread, 2).is_ok());
            sharing
        };
        let join = |one: &LearnedSharing, other: &LearnedSharing| {
            assert!(one.join(other.learned(), &[]));
            one.has_changed()
        };
        assert!(!join(&seen(1), &seen(1)) && !join(&LearnedSharing::default(), &seen(1)));
        let mut both = seen(1);
        assert!(join(&both, &seen(2)));
        both.restart(0);
        assert!(!join(&both, &seen(2)), "known");
        assert!(both.arrives(BARRIER, 1, 2).is_err());
        assert!(!fixed().join(both.learned(), &[]), "of another tree");
    }

    #[test]
    fn no_order_is_fixed_where_all_are_explored() {
        let mut sharing = fixed();
        assert!(sharing.arrives(BARRIER, 1, 2).is_ok(), "known");
        sharing.all_arrivals = true;
        assert!(sharing.order(BARRIER).is_none());
        let write = Action::write(at(BARRIER), Order::Rlx, 1, false);
        assert!(sharing.check_barriers(write, user(1, 0, 0), false).is_ok());
        let sharing = LearnedSharing {
            all_arrivals: true,
            ..LearnedSharing::default()
        };
        assert!(sharing.arrives(BARRIER, 1, 1).is_ok());
    }

    #[test]
    fn what_is_ordered_with_all_users_does_not_disturb() {
        let by = |created, joined| user(0, created, joined);
        let read = |at| Action::read(at, Order::Rlx, false);
        let disturbs = |action, by| {
            let sharing = fixed();
            sharing.met(16, 8, Named::Nothing);
            sharing.check_barriers(action, by, true).is_err()
        };
        let round = Location::of_round(BARRIER, 0);
        assert!(!disturbs(read(round), by(2, 0)), "the barrier's own");
        assert!(!disturbs(Action::Free { base: 16 }, by(2, 0)), "no access");
        // one of the users has been created, and one has been joined
        assert!(!disturbs(read(at(32)), by(1, 0)) && !disturbs(read(at(32)), by(2, 0b010)));
        assert!(disturbs(read(at(64)), by(2, 0b010)) && !disturbs(read(at(64)), by(2, 0b110)));
        assert!(!disturbs(read(at(60)), by(2, 0b110)) && disturbs(read(at(32)), by(2, 0)));
        assert!(!disturbs(read(at(64)), user(1, 0, 0b100)), "itself a user");
    }
}
