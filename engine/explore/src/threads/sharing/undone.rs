//! What explorations learn of rounds that are undone, see
//! [`undone_rounds`](crate::threads::undone_rounds).
use super::{lock, LearnedSharing, SharingChanged};
use crate::source::{Action, Location};
use crate::threads::ledger::User;
use program::ir::Order;

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
            known => {
                let amount = known.is_none().then_some(amount);
                lock(&self.learned).undone.insert(at, amount);
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
        let (start, end, whole) = match action {
            Action::Read { at, order, rmw, .. } => {
                let atomic = rmw || order != Order::Na;
                (
                    at.address,
                    at.address + u64::from(at.size),
                    atomic.then_some(at),
                )
            }
            Action::Write { at, rmw, .. } => (
                at.address,
                at.address + u64::from(at.size),
                rmw.then_some(at),
            ),
            Action::Free { base } => match self.extent(base) {
                Some((start, extent)) => (start, start + extent.size.max(1), None),
                None => (base, base + 1, None),
            },
            _ => return Ok(()),
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
