//! What explorations of a program learn of it: which objects threads share, and what refutes what they
//! assume ([`ledger`](super::ledger)). It is fixed during one exploration.
//!
//! An access of an object that one thread uses is no event, and overlapping accesses must be split
//! into the same pieces each time. Neither is known in advance. So each exploration starts with
//! what earlier ones have learned, and is restarted when it learns more.
mod barriers;
mod pieces;
pub mod stored;
mod undone;

use crate::consistency::ordering_accesses::OrderingAccesses;
use crate::reductions::{Reduction, Reductions};
use crate::source::{Action, Location, ThreadId, Writes};
use crate::threads::failed_rounds::FailedRounds;
use crate::threads::later_writes::LaterWrites;
use crate::threads::ledger::{Assumptions, ThreadNumbers, User};
use crate::threads::left_out_accesses::{AccessKind, LeftOutAccess, LeftOutAccesses};
use crate::threads::location_uses::LocationUses;
use crate::threads::ranges::{insert, insert_whole, overlaps};
use crate::threads::thread_symmetry::ThreadSymmetry;
use borsh::{BorshDeserialize, BorshSerialize};
use program::ir::SiteId;
use program::memory::Named;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Debug, Clone, Copy, BorshSerialize, BorshDeserialize)]
pub struct Extent {
    pub size: u64,
    pub named: Named,
}

/// An object is shared that was not known to be: the exploration is restarted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharingChanged;

#[derive(Clone, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
struct Known {
    /// Address ranges that several threads use: start → end, disjoint.
    shared: BTreeMap<u64, u64>,
    /// Addresses at which every access is split.
    splits: BTreeSet<u64>,
    /// Ranges that atomic accesses have whole and plain ones in part, start → end, disjoint: they are
    /// not split, and a plain load of a part of one reads all of it.
    wholes: BTreeMap<u64, u64>,
    /// Ranges of which atomic accesses have parts, start → end, disjoint.
    divided: BTreeMap<u64, u64>,
    /// An access that has another size than an atomic one that it overlaps.
    mixed: Option<SiteId>,
    /// Locations of objects that one thread uses that are written by updates
    /// ([`Access::update`](program::ir::Access::update)).
    updated: BTreeSet<Location>,
    /// Locations of rounds that are undone: what these add, and subtract again. None if all rounds
    /// are explored.
    undone: BTreeMap<Location, Option<u64>>,
    /// In which orders the threads of barriers arrive.
    arrivals: BTreeMap<u64, Arrivals>,
}

/// In which orders the threads of a barrier arrive.
#[derive(Clone, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
enum Arrivals {
    /// In this one, in each round: the order of the threads' numbers.
    Fixed(Vec<ThreadId>),
    Any,
}

/// What one exploration has seen of a program, and what it assumes.
#[derive(Clone, Default, BorshSerialize, BorshDeserialize)]
struct Facts {
    /// All objects of all threads seen so far, by their base.
    extents: BTreeMap<u64, Extent>,
    /// The pieces that accesses were split into: start → end, disjoint.
    pieces: BTreeMap<u64, u64>,
    threads: ThreadNumbers,
    uses: LocationUses,
    /// Writes at these sites directly follow their thread's last write, of the same value.
    rewrites: Assumptions<SiteId>,
    left_out: LeftOutAccesses,
    failed_rounds: FailedRounds,
    later_writes: LaterWrites,
    symmetry: ThreadSymmetry,
    /// The assertions that threads have come to.
    asserted: BTreeSet<SiteId>,
    /// The threads that use each barrier.
    barrier_users: BTreeMap<u64, BTreeSet<ThreadId>>,
}

/// How many of these there may be: each starts the exploration again.
const MAX_UPDATED: usize = 16;

#[derive(Default)]
pub struct LearnedSharing {
    pub reductions: Reductions,
    known: Known,
    /// For each object of the initial memory that only one thread uses so far, the number of that
    /// thread plus one.
    owners: Vec<AtomicU8>,
    changed: AtomicBool,
    learned: Mutex<Known>,
    facts: Mutex<Facts>,
    /// The model flags races.
    pub flags_races: bool,
    /// All orders of arrivals at barriers are explored.
    pub all_arrivals: bool,
    /// The accesses that are events even where no other thread uses what they access.
    pub ordering: OrderingAccesses,
    /// How operation calls are written, by their numbers.
    calls: Mutex<BTreeMap<u32, String>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl LearnedSharing {
    fn facts(&self) -> MutexGuard<'_, Facts> {
        lock(&self.facts)
    }

    /// Discards that more is shared: no execution has shown it.
    pub fn forget_change(&self) {
        self.changed.store(false, Relaxed);
    }

    pub fn has_changed(&self) -> bool {
        self.changed.load(Relaxed)
    }

    /// Adopts what was learned, and discards the rest of the last exploration.
    pub fn restart(&mut self, owned: usize) {
        let learned = self.learned.get_mut();
        let learned = std::mem::take(learned.unwrap_or_else(PoisonError::into_inner));
        for (start, end) in learned.shared {
            insert(&mut self.known.shared, start, end);
        }
        self.known.splits.extend(learned.splits);
        for (start, end) in learned.wholes {
            insert_whole(&mut self.known.wholes, start, end);
        }
        for (start, end) in learned.divided {
            insert(&mut self.known.divided, start, end);
        }
        let divided = &self.known.divided;
        let is_whole = |start: &u64, end: &mut u64| !overlaps(divided, *start, *end);
        self.known.wholes.retain(is_whole);
        self.known.mixed = self.known.mixed.or(learned.mixed);
        self.known.updated.extend(learned.updated);
        for (at, amount) in learned.undone {
            let known = self.known.undone.entry(at).or_insert(amount);
            *known = known.filter(|known| Some(*known) == amount);
        }
        self.owners = (0..owned).map(|_| AtomicU8::new(0)).collect();
        self.known.arrivals.extend(learned.arrivals);
        self.changed = AtomicBool::new(false);
        let mut facts = self.facts();
        facts.pieces.clear();
        facts.uses.restart();
        facts.rewrites.restart();
        facts.left_out.restart();
        facts.failed_rounds.restart();
        facts.later_writes.restart();
        facts.symmetry.restart();
    }

    /// Whether several threads use some byte of `start..end`.
    pub fn is_shared(&self, start: u64, end: u64) -> bool {
        if !self.reductions.has(Reduction::UnsharedObjects) {
            return true;
        }
        overlaps(&self.known.shared, start, end.max(start + 1))
    }

    /// Whether a thread may use an object of the initial memory as its own: no other thread has
    /// used it.
    pub fn owns(&self, object: u32, thread: ThreadId) -> bool {
        let me = thread as u8 + 1;
        let owner = &self.owners[object as usize];
        match owner.load(Relaxed) {
            0 => match owner.compare_exchange(0, me, Relaxed, Relaxed) {
                Ok(_) => true,
                Err(other) => other == me,
            },
            other => other == me,
        }
    }

    /// Something was learned that the exploration has to start again with.
    fn change(&self) -> SharingChanged {
        self.changed.store(true, Relaxed);
        SharingChanged
    }

    /// Starts again if what was learned contradicts what is assumed.
    fn change_if(&self, contradicts: bool) -> Result<(), SharingChanged> {
        match contradicts {
            true => Err(self.change()),
            false => Ok(()),
        }
    }

    /// Something distinguishes the threads that start with the same function as this one. Fails if
    /// they were taken to behave alike.
    pub fn distinguish(&self, thread: ThreadId) -> Result<(), SharingChanged> {
        let taken = self.facts().symmetry.distinguish(thread);
        self.change_if(taken)
    }

    /// Which threads behave alike.
    pub fn with_symmetry<T>(&self, by: impl FnOnce(&mut ThreadSymmetry) -> T) -> T {
        by(&mut self.facts().symmetry)
    }

    pub fn learn_shared(&self, start: u64, end: u64) -> SharingChanged {
        insert(&mut lock(&self.learned).shared, start, end.max(start + 1));
        self.change()
    }

    /// As `learn_shared`, for an address in an object of another thread.
    pub fn learn_foreign(&self, start: u64, end: u64) -> SharingChanged {
        let (mut start, mut end) = (start, end);
        if let Some((base, extent)) = self.extent(start) {
            start = start.min(base);
            end = end.max(base + extent.size);
        }
        self.learn_shared(start, end)
    }

    pub fn met(&self, base: u64, size: u64, named: Named) {
        self.facts().extents.insert(base, Extent { size, named });
    }

    /// Records how an operation call is written.
    pub fn name_call(&self, number: u32, written: String) {
        lock(&self.calls).insert(number, written);
    }

    /// How an operation call is written, if it was reached.
    pub fn call(&self, number: u32) -> String {
        lock(&self.calls).get(&number).cloned().unwrap_or_default()
    }

    pub fn record_assertion(&self, site: SiteId) {
        self.facts().asserted.insert(site);
    }

    /// The assertions that threads have come to, in whichever exploration.
    pub fn asserted(&self) -> BTreeSet<SiteId> {
        self.facts().asserted.clone()
    }

    /// The object at an address, as last recorded.
    pub fn extent(&self, address: u64) -> Option<(u64, Extent)> {
        let facts = self.facts();
        let (base, extent) = facts.extents.range(..=address).next_back()?;
        (address - base <= extent.size).then_some((*base, *extent))
    }

    /// The bytes that an action reads, writes or frees, from and to.
    fn bytes(&self, action: Action) -> Option<(u64, u64)> {
        if let Action::Free { base } = action {
            let extent = self.extent(base);
            let whole = extent.map(|(start, extent)| (start, start + extent.size.max(1)));
            return whole.or(Some((base, base + 1)));
        }
        let at = action.at()?;
        Some((at.address, at.address + u64::from(at.size)))
    }

    /// The number of the thread that `creator` starts as its `count`th.
    pub fn thread(&self, creator: ThreadId, count: u32) -> ThreadId {
        let (number, is_new) = self.facts().threads.number(creator, count);
        if is_new && !self.known.undone.is_empty() {
            self.change(); // it may undo rounds, too
        }
        number
    }

    /// Records an access of a shared location. `observes`: something may depend on what it reads.
    pub fn record_use(&self, at: Location, by: User, observes: bool) {
        let facts = &mut *self.facts();
        let contradicts = facts.uses.record(at, by, observes, &facts.threads);
        let _ = self.change_if(contradicts);
    }

    /// Whether a write of the value that its thread has written there before may be taken to directly
    /// follow the first one in coherence order. From then on the exploration assumes it of all such
    /// writes at this site.
    pub fn rewrites_directly(&self, site: SiteId) -> bool {
        self.reductions.has(Reduction::UnnoticedWrites) && self.facts().rewrites.assume(site)
    }

    /// Such a write does not.
    pub fn separate_rewrite(&self, site: SiteId) {
        self.facts().rewrites.refute(site, ());
        self.change();
    }

    /// Records what may race with an access in a round that is left out, and calls that return.
    pub fn record_event(&self, action: Action, by: User) {
        let bytes = self.bytes(action);
        let facts = &mut *self.facts();
        let threads = &facts.threads;
        let contradicts = match action {
            Action::Read { at, order, rmw, .. } | Action::Write { at, order, rmw, .. } => {
                let kind = AccessKind {
                    plain: self.flags_races && order.is_plain(rmw),
                    writes: action.is_write(),
                    again: false,
                };
                let counts = self.flags_races || kind.writes;
                let races = counts && facts.left_out.access(at, by, kind, threads);
                let returns = match at.call() {
                    Some((number, true)) => facts.failed_rounds.returns(number, by, threads),
                    _ => false,
                };
                races || returns
            }
            Action::Free { .. } => {
                bytes.is_some_and(|range| facts.left_out.free(range, by, threads))
            }
            _ => false,
        };
        let _ = self.change_if(contradicts);
    }

    /// See [`LeftOutAccesses::may_race`].
    pub fn may_race(&self, access: LeftOutAccess) -> bool {
        let facts = &mut *self.facts();
        facts.left_out.may_race(access, &facts.threads)
    }

    /// See [`FailedRounds::continues`].
    pub fn continues(&self, thread: ThreadId, rounds: u32) -> bool {
        let facts = &mut *self.facts();
        facts
            .failed_rounds
            .continues(thread, rounds, &facts.threads)
    }

    /// See [`LaterWrites::expected`].
    pub fn expected_writes(&self, thread: ThreadId, at: Location) -> Option<Writes> {
        let expects = self.reductions.has(Reduction::LaterWrites);
        expects.then(|| self.facts().later_writes.expected(thread, at))
    }

    /// See [`LaterWrites::record`].
    pub fn wrote(&self, thread: ThreadId, at: Location, writes: Writes) -> bool {
        self.facts().later_writes.record(thread, at, writes)
    }

    /// Starts again if there were writes that were not expected.
    pub fn look_at_writes(&self) {
        let contradicts = self.facts().later_writes.are_contradicted();
        let _ = self.change_if(contradicts);
    }

    /// See [`LocationUses::is_own`].
    pub fn is_own(&self, at: Location, thread: ThreadId) -> bool {
        let facts = &mut *self.facts();
        self.reductions.has(Reduction::UnnoticedWrites)
            && facts.uses.is_own(at, thread, &facts.threads)
    }

    /// See [`LocationUses::is_known_shared`].
    pub fn is_known_shared(&self, at: Location, thread: ThreadId) -> bool {
        let facts = self.facts();
        facts.uses.is_known_shared(at, thread, &facts.threads)
    }

    /// See [`LocationUses::is_unobserved`].
    pub fn is_unobserved(&self, at: Location) -> bool {
        self.reductions.has(Reduction::UnnoticedWrites) && self.facts().uses.is_unobserved(at)
    }

    /// The locations of a thread's own memory that updates write and that these bytes overlap.
    pub fn updated(&self, address: u64, size: u64) -> impl Iterator<Item = &Location> {
        let over = move |at: &&Location| {
            at.address < address + size && address < at.address + u64::from(at.size)
        };
        self.known.updated.iter().filter(over)
    }

    /// As `is_unobserved`, for the update of a location of a thread's own memory. Reads of such
    /// memory are not recorded before it is known that updates write it.
    pub fn is_unobserved_update(&self, at: Location) -> Result<bool, SharingChanged> {
        if !self.reductions.has(Reduction::UnnoticedWrites) {
            return Ok(false);
        }
        if self.known.updated.contains(&at) {
            return Ok(self.is_unobserved(at));
        }
        let mut learned = lock(&self.learned);
        if self.known.updated.len() + learned.updated.len() >= MAX_UPDATED {
            return Ok(false);
        }
        learned.updated.insert(at);
        Err(self.change())
    }

    /// See [`LocationUses::obstacle`].
    pub fn obstacle(&self, at: Location, thread: ThreadId) -> Option<User> {
        self.facts().uses.obstacle(at, thread)
    }

    /// The number of threads so far, including main.
    pub fn threads(&self) -> usize {
        self.facts().threads.len() + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use program::ir::Order;

    pub fn user(thread: ThreadId, created: u32, joined: u64) -> User {
        User {
            thread,
            created,
            joined,
            site: 0,
        }
    }

    #[test]
    fn ranges_that_meet_are_one() {
        let mut sharing = LearnedSharing::default();
        for (start, end) in [(10, 20), (40, 50), (15, 45), (60, 70)] {
            sharing.learn_shared(start, end);
        }
        sharing.restart(0);
        assert!(sharing.is_shared(30, 31) && sharing.is_shared(5, 11));
        assert!(!sharing.is_shared(50, 60) && !sharing.is_shared(0, 10));
        assert!(sharing.is_shared(55, 61));
    }

    #[test]
    fn an_object_is_the_first_threads_that_uses_it() {
        let mut sharing = LearnedSharing::default();
        sharing.restart(2);
        assert!(sharing.owns(1, 3) && sharing.owns(1, 3) && sharing.owns(0, 2));
        assert!(!sharing.owns(1, 2));
    }

    #[test]
    fn a_call_that_returns_after_a_thread_has_stopped_starts_the_exploration_again() {
        let mut sharing = LearnedSharing::default();
        sharing.restart(0);
        let (waits, other) = (sharing.thread(0, 0), sharing.thread(0, 1));
        assert!(!sharing.continues(waits, 0));
        for (thread, again) in [(waits, false), (other, true)] {
            let at = Location::of_call(thread as u32, true);
            let returns = Action::write(at, Order::Na, 0, false);
            let by = user(thread, 0, 0);
            sharing.record_event(returns, by);
            assert_eq!(sharing.has_changed(), again);
        }
    }
}
