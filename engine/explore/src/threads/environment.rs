//! The environment of an explored thread: objects that it alone uses are read and written directly;
//! each access of shared memory is an event, which the explorer answers.
use crate::semantics::dependencies::DependencySets;
use crate::semantics::environment::{AccessTarget, Events, Interruption, KernelVersion};
use crate::source::{Action, EventLabel, FaultKind};
use crate::threads::ledger::User;
use crate::threads::local_state::LocalState;
use crate::threads::sharing::{LearnedSharing, SharingChanged};
use crate::threads::thread_symmetry::ThreadSymmetry;
use program::interpreter::thread::Thread;
use program::ir::{Program, SiteId};
use program::library::threads::thread_of_handle;
use program::memory::Dep;
use program::memory::{Memory, ResolvedAddress, Visibility};
use std::sync::Arc;

impl From<SharingChanged> for Interruption {
    fn from(_: SharingChanged) -> Interruption {
        Interruption::Restart
    }
}

/// What threads may do, and which of their rounds are left out, under a model.
#[derive(Clone, Copy)]
pub struct Settings {
    /// The model says what asymmetric fences order.
    pub asymmetric_fences: bool,
    pub kernel_version: KernelVersion,
    /// The model orders what follows a compare-exchange as after a branch on what it compares.
    pub branches: bool,
    /// A weak compare-exchange fails for no reason at most once per site and thread.
    pub fails_once: bool,
    /// Of a loop that looks a limited number of times, the first and the last of the rounds that
    /// change nothing are performed.
    pub looks_once: bool,
    /// Rounds that change nothing are explored, since the model may need their reads.
    pub every_round: bool,
    /// Rounds that are undone are left out.
    pub undoes: bool,
    /// Read-modify-writes continue release sequences.
    pub updates_continue: bool,
    /// A write that does not release may order what precedes it before events of other threads.
    pub relaxed_order: bool,
    /// Atomic accesses of several sizes may overlap.
    pub mixed_sizes: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            asymmetric_fences: false,
            kernel_version: KernelVersion::default(),
            branches: true,
            fails_once: false,
            looks_once: false,
            every_round: false,
            undoes: false,
            updates_continue: true,
            relaxed_order: true,
            mixed_sizes: true,
        }
    }
}

pub struct ThreadEnvironment<'a> {
    pub program: &'a Program,
    pub sharing: &'a LearnedSharing,
    pub sets: &'a DependencySets,
    pub local: &'a mut LocalState,
    /// Events of the instruction so far.
    pub(super) asked: usize,
    /// In a library function, which branches on everything that it reads.
    pub in_library: bool,
    /// The number of the last event that other threads may have synchronised with.
    pub synchronised: usize,
    /// Writes do not count as progress of the thread.
    pub still: bool,
    /// It waits at a barrier.
    pub at_barrier: bool,
    pub settings: Settings,
}

impl<'a> ThreadEnvironment<'a> {
    pub fn new(
        program: &'a Program,
        sharing: &'a LearnedSharing,
        sets: &'a DependencySets,
        local: &'a mut LocalState,
        settings: Settings,
    ) -> ThreadEnvironment<'a> {
        ThreadEnvironment {
            program,
            sharing,
            sets,
            synchronised: local.synchronised,
            local,
            asked: 0,
            in_library: false,
            still: false,
            at_barrier: false,
            settings,
        }
    }

    /// The answer to an event, and whether it is new; interrupts the instruction if there is none
    /// yet. 0 for a read that is postponed. `addr`, `data`: what its location and value depend on.
    /// `continues`: see [`EventLabel`].
    pub fn ask_with(
        &mut self,
        t: &Thread,
        action: Action,
        site: SiteId,
        (addr, data): (Dep, Dep),
        continues: bool,
    ) -> Result<(u64, bool), Interruption> {
        let now = self.asked;
        self.asked += 1;
        if self.local.alone {
            let decided = self.local.answers.get(now).copied().flatten();
            let decided = decided.ok_or(Interruption::NotAlone(site))?;
            return Ok((decided.value, false));
        }
        if action.may_synchronise() {
            self.synchronised = self.events();
        }
        self.distinguish_threads(t, action)?;
        if !self.at_barrier {
            let by = self.user(t, site);
            self.sharing.check_barriers(action, by, self.sets.tracked)?;
        }
        self.sharing.check_undone(action, self.user(t, site))?;
        match self.local.answers.get(now) {
            Some(value) => {
                let new = now + 1 == self.local.answers.len();
                if new && action.may_publish() {
                    let written = self.local.written.iter_mut();
                    written.for_each(|known| known.unpublished = false);
                }
                let answer = value.unwrap_or_default();
                if new {
                    self.sharing.record_event(action, self.user(t, site));
                    if self.sets.tracked {
                        let position = (self.local.events_before + now) as u32;
                        let dependencies = self.sets.label(addr, data, t.ctrl);
                        let past = Arc::make_mut(&mut self.local.past);
                        past.add(position, action, dependencies, answer);
                    }
                }
                Ok((answer.value, new))
            }
            None => Err(Interruption::Query(EventLabel {
                action,
                site,
                dependencies: self.sets.label(addr, data, t.ctrl),
                continues,
            })),
        }
    }

    /// Records what distinguishes threads that would behave alike: an event that carries the address
    /// of a thread's memory, a thread's number, or that only some of the threads happen before.
    fn distinguish_threads(&mut self, t: &Thread, action: Action) -> Result<(), Interruption> {
        let (address, value) = match action {
            Action::Read { at, .. } => (at.address, 0),
            Action::Write { at, value, .. } => (at.address, value),
            Action::Allocate { base, .. } | Action::Free { base } => (base, 0),
            _ => (0, 0),
        };
        for address in [address, value] {
            if Memory::names_thread(address) {
                self.sharing.distinguish(Memory::thread_of(address))?;
            }
        }
        if let Some(thread) = thread_of_handle(value) {
            self.sharing.distinguish(thread)?;
        }
        if matches!(action, Action::Create { .. }) {
            self.sharing.distinguish(t.id)?;
        }
        if !matches!(action, Action::Join { .. }) {
            for (thread, _) in std::mem::take(&mut self.local.joining) {
                let joined = self.local.calls.joined;
                let all = |symmetry: &mut ThreadSymmetry| symmetry.are_all_joined(thread, joined);
                if !self.sharing.with_symmetry(all) {
                    self.sharing.distinguish(thread)?;
                }
            }
        }
        Ok(())
    }

    /// Finds the object of an access if the thread may access it directly; None if the access is an
    /// event.
    pub fn find(
        &self,
        t: &Thread,
        spot: AccessTarget,
        size: u64,
        write: bool,
    ) -> Result<Option<ResolvedAddress>, Interruption> {
        let memory = &self.local.memory;
        match memory.access(self.program, spot.address, size, write) {
            Ok(place) => {
                let object = memory.object(place);
                let end = object.base + object.size;
                match object.visibility {
                    _ if self.local.alone => Ok(Some(place)),
                    // a thread-local variable of a thread that was created before this one
                    Visibility::ThisThread if foreign(t, object.base) => {
                        Err(self.sharing.learn_shared(object.base, end).into())
                    }
                    Visibility::ThisThread => Ok(Some(place)),
                    Visibility::OneThread(k) if self.sharing.owns(k, t.id) => Ok(Some(place)),
                    Visibility::OneThread(_) => {
                        Err(self.sharing.learn_shared(object.base, end).into())
                    }
                    Visibility::Shared => Ok(None),
                }
            }
            Err(message) => {
                if let Some(global) = self.program.declared_at(spot.address) {
                    return Err(Interruption::Unsupported(global.undefined(), spot.site));
                }
                if !foreign(t, spot.address) {
                    return Err(Interruption::Fault(FaultKind::Memory, message, spot.site));
                }
                let end = spot.address.saturating_add(size.max(1));
                if !self.sharing.is_shared(spot.address, end) {
                    return Err(self.sharing.learn_foreign(spot.address, end).into());
                }
                Ok(None)
            }
        }
    }

    pub(super) fn user(&self, t: &Thread, site: SiteId) -> User {
        User {
            thread: t.id,
            created: self.local.calls.created,
            joined: self.local.calls.joined,
            site,
        }
    }
}

/// Whether an address belongs to another thread's heap, stack or thread-local variables.
fn foreign(t: &Thread, address: u64) -> bool {
    Memory::is_of_thread(address) && Memory::thread_of(address) != t.id
}
