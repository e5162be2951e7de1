//! What explorations learn of rounds that are undone, see
//! [`undone_rounds`](crate::threads::undone_rounds).
use super::{lock, LearnedSharing, SharingChanged};
use crate::source::{Action, Location};
use crate::threads::ledger::User;

impl LearnedSharing {
    /// What undone rounds add to a location, and subtract again; none if all of its rounds are
    /// explored.
    pub fn undone(&self, at: Location) -> Option<u64> {
        self.known.undone.get(&at).copied().flatten()
    }

    /// Whether rounds that add so much to a location, and subtract it again, are left out. Fails if
    /// they are from now on.
    pub fn leaves_out(&self, at: Location, amount: u64) -> Result<bool, SharingChanged> {
        match self.known.undone.get(&at) {
            Some(known) if known.is_none_or(|known| known == amount) => Ok(known.is_some()),
            // two amounts are none, as soon as both are known
            _ => {
                lock(&self.learned).undone.insert(at, Some(amount));
                Err(self.change())
            }
        }
    }

    /// All rounds that are undone there are explored from now on.
    pub fn explore_rounds(&self, at: Location) -> SharingChanged {
        lock(&self.learned).undone.insert(at, None);
        self.change()
    }

    /// How many other threads may run while this one is there.
    pub fn concurrent(&self, by: User) -> u64 {
        let threads = &self.facts().threads;
        let others = 0..threads.len() + 1;
        others.filter(|other| threads.is_beside(by, *other)).count() as u64
    }

    /// Fails if an event shows that rounds that are left out may matter: an access of their location
    /// that is no atomic read and no read-modify-write of it, while other threads run.
    pub fn check_undone(&self, action: Action, by: User) -> Result<(), SharingChanged> {
        if self.known.undone.is_empty() {
            return Ok(());
        }
        let Some((start, end)) = self.bytes(action) else {
            return Ok(());
        };
        let whole = match action {
            Action::Read { at, order, rmw, .. } if !order.is_plain(rmw) => Some(at),
            Action::Write { at, rmw: true, .. } => Some(at),
            _ => None,
        };
        for (at, amount) in &self.known.undone {
            let overlaps = at.address < end && start < at.address + u64::from(at.size);
            if overlaps && amount.is_some() && whole != Some(*at) && self.concurrent(by) > 0 {
                return Err(self.explore_rounds(*at));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::user;
    use super::*;
    use program::ir::Order;
    use program::memory::Named;

    const AT: Location = Location {
        address: 64,
        size: 4,
    };

    /// Main creates two threads, and rounds are left out that add this to a location.
    fn undoes(amount: u64) -> LearnedSharing {
        let mut sharing = LearnedSharing::default();
        (0..2).for_each(|count| assert!(sharing.thread(0, count) > 0));
        assert!(sharing.leaves_out(AT, amount).is_err());
        sharing.restart(0);
        sharing
    }

    fn by(thread: usize, created: u32) -> User {
        user(thread, created, 0)
    }

    #[test]
    fn rounds_of_one_amount_are_left_out() {
        let mut sharing = undoes(1);
        assert_eq!(sharing.undone(AT), Some(1));
        assert_eq!(sharing.leaves_out(AT, 1), Ok(true));
        assert!(sharing.leaves_out(AT, 2).is_err());
        sharing.restart(0);
        assert_eq!(sharing.undone(AT), None);
        assert_eq!(sharing.leaves_out(AT, 1), Ok(false));
        assert_eq!(sharing.leaves_out(AT, 2), Ok(false));
    }

    #[test]
    fn main_runs_beside_the_threads_that_it_has_created() {
        let sharing = undoes(1);
        let counts = [by(0, 0), by(0, 1), by(0, 2), by(1, 0)].map(|by| sharing.concurrent(by));
        assert_eq!(counts, [0, 1, 2, 2]);
    }

    #[test]
    fn another_access_while_threads_run_shows_that_rounds_matter() {
        let at = |address, size| Location { address, size };
        let read = Action::read;
        let write = |at, rmw| Action::write(at, Order::Rlx, 1, rmw);
        let shows = |action, by| {
            let sharing = undoes(1);
            sharing.met(64, 8, Named::Nothing);
            sharing.check_undone(action, by).is_err()
        };
        let thread = by(1, 0);
        assert!(!shows(read(AT, Order::Rlx, false), thread) && !shows(write(AT, true), thread));
        assert!(!shows(read(AT, Order::Na, true), thread));
        assert!(shows(read(AT, Order::Na, false), thread) && shows(write(AT, false), thread));
        assert!(!shows(write(AT, false), by(0, 0)), "no other thread runs");
        assert!(!shows(write(at(60, 4), false), thread) && !shows(write(at(68, 4), false), thread));
        assert!(shows(write(at(66, 4), true), thread) && shows(write(at(62, 4), true), thread));
        assert!(
            shows(Action::Free { base: 64 }, thread) && !shows(Action::Free { base: 96 }, thread)
        );
        let mut sharing = undoes(1);
        sharing.explore_rounds(AT);
        sharing.restart(0);
        assert!(sharing.check_undone(write(AT, false), thread).is_ok());
    }
    #[test]
    fn a_thread_that_was_not_known_may_undo_rounds_too() {
        let one = undoes(1);
        assert_eq!(one.thread(0, 1), 2);
        assert!(one.join(undoes(1).learned(), &[]) && !one.has_changed());
        let other = undoes(1);
        assert_eq!(other.thread(0, 2), 3);
        assert!(other.has_changed());
        assert!(one.join(other.learned(), &[]) && one.has_changed());
    }
}
