//! The environment of an explored thread: objects that it alone uses are read and written directly;
//! each access of shared memory is an event, which the explorer answers.
//!
//! An instruction is interrupted at each event without an answer, and runs again from its beginning
//! when there is one, with all answers so far.
use crate::source::{Action, Dependencies, EventLabel, FaultKind, Location, Wait};
use crate::threads::dependencies::DependencySets;
use crate::threads::local_state::LocalState;
use crate::threads::location_uses::User;
use crate::threads::sharing::{LearnedSharing, SharingChanged};
use program::interpreter::thread::Thread;
use program::interpreter::RunEnd;
use program::ir::bits::mask;
use program::ir::{Access, Extern, FuncId, Op, Order, Program, SiteId};
use program::library::threads::thread_of_handle;
use program::memory::{mixed, Memory, ResolvedAddress, Visibility};
use program::memory::{Dep, Val};
use std::sync::Arc;

/// Why an instruction is interrupted.
pub enum Interruption {
    Query(EventLabel),
    Blocked(Wait, SiteId),
    Fault(FaultKind, String, SiteId),
    Unsupported(String, SiteId),
    RunEnd(RunEnd),
    /// The values of these reads are not known yet.
    Needs(Dep),
    /// An object is shared that was not known to be.
    SharingChanged,
    /// The thread ran alone so far, and no longer does.
    NotAlone,
}

impl From<RunEnd> for Interruption {
    fn from(end: RunEnd) -> Interruption {
        Interruption::RunEnd(end)
    }
}

impl From<SharingChanged> for Interruption {
    fn from(_: SharingChanged) -> Interruption {
        Interruption::SharingChanged
    }
}

/// How a location is read: the memory order, whether the read is that of a read-modify-write,
/// whether uninitialised memory is allowed.
#[derive(Clone, Copy)]
pub struct ReadMode {
    pub order: Order,
    pub rmw: bool,
    pub uninitialised_ok: bool,
}

/// The memory that an access is to, and its site.
#[derive(Clone, Copy)]
pub struct AccessTarget {
    pub address: u64,
    /// The dependencies of the address.
    pub addr: Dep,
    pub size: u32,
    pub site: SiteId,
    /// See [`Access`].
    pub update: bool,
}

/// How many of the values that it has written a thread remembers, to find that it writes one again.
const MAX_WRITTEN: usize = 8;

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
    pub meets: bool,
}

impl<'a> ThreadEnvironment<'a> {
    pub fn new(
        program: &'a Program,
        sharing: &'a LearnedSharing,
        sets: &'a DependencySets,
        local: &'a mut LocalState,
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
            meets: false,
        }
    }

    /// As `ask_with`, for an event whose location and value depend on no read.
    pub fn ask(
        &mut self,
        t: &Thread,
        action: Action,
        site: SiteId,
    ) -> Result<(u64, bool), Interruption> {
        self.ask_with(t, action, site, (0, 0))
    }

    /// The answer to an event, and whether it is new; interrupts the instruction if there is none
    /// yet. 0 for a read that is postponed. `addr`, `data`: what its location and value depend on.
    pub fn ask_with(
        &mut self,
        t: &Thread,
        action: Action,
        site: SiteId,
        (addr, data): (Dep, Dep),
    ) -> Result<(u64, bool), Interruption> {
        if self.local.alone {
            return Err(Interruption::NotAlone);
        }
        let now = self.asked;
        self.asked += 1;
        if action.may_synchronise() {
            self.synchronised = self.events();
        }
        self.distinguish_threads(t, action)?;
        if !self.meets {
            let by = self.user(t, site);
            self.sharing.check_meetings(action, by, self.sets.tracked)?;
        }
        match self.local.answers.get(now) {
            Some(value) => {
                let new = now + 1 == self.local.answers.len();
                if new {
                    self.sharing.record_change(action, self.user(t, site));
                }
                Ok((value.unwrap_or_default(), new))
            }
            None => Err(Interruption::Query(EventLabel {
                action,
                site,
                dependencies: match self.sets.tracked {
                    true => Dependencies {
                        addr: self.sets.unmarked(addr),
                        data: self.sets.unmarked(data),
                        ctrl: self.sets.unmarked(t.ctrl),
                    },
                    false => Dependencies::default(),
                },
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
                if !self
                    .sharing
                    .likeness
                    .are_all_joined(thread, self.local.joined)
                {
                    self.sharing.distinguish(thread)?;
                }
            }
        }
        Ok(())
    }

    /// Whether a write there is an event.
    pub fn is_event(&self, t: &Thread, spot: AccessTarget) -> Result<bool, Interruption> {
        Ok(self.find(t, spot, spot.size.into(), true)?.is_none())
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

    /// The number of the thread's events so far.
    pub fn events(&self) -> usize {
        self.local.events_before + self.asked
    }

    pub(super) fn settle(&self, t: &mut Thread) {
        let held = t.held.iter();
        let memory = &self.local.memory;
        let state = memory.hash ^ memory.idle ^ self.local.ignored;
        t.private = held.fold(state, |hash, held| {
            hash ^ mixed(held.mutex, held.count as u8)
        });
        t.idle = memory.idle;
    }

    /// The thread's own memory was written, with a value that depends on these reads.
    fn has_stored(&self, t: &mut Thread, reads: Dep) {
        self.settle(t);
        if self.require(reads).is_err() {
            // the value is not known: the state of memory must not be taken for another one
            t.progress();
        }
    }

    /// Sets how often the thread holds a mutex.
    pub fn hold(&mut self, t: &mut Thread, mutex: u64, count: u32, free: u64) {
        t.hold(mutex, count, free);
        self.settle(t);
    }

    fn user(&self, t: &Thread, site: SiteId) -> User {
        User {
            thread: t.id,
            created: self.local.created,
            joined: self.local.joined,
            site,
        }
    }

    /// A shared location was read, for the first time by this instruction.
    pub(super) fn has_read(
        &self,
        t: &mut Thread,
        at: Location,
        bits: u64,
        spot: AccessTarget,
        (ignored, plain): (bool, bool),
    ) {
        self.sharing
            .record_use(at, self.user(t, spot.site), !spot.update);
        if !ignored {
            let known = (!self.is_postponed()).then_some(bits);
            t.saw(at.address, at.size, known, plain);
        }
    }

    /// A shared location was written, for the first time by this instruction. That is progress, and
    /// none of the thread's loops waits for a change of what it has read so far, unless the write
    /// may be left out with the iteration of a loop that it is in ([`location_uses`]). The write of
    /// a read-modify-write that changes nothing may be, too: what reads from it could read from the
    /// write before it, with the same order between threads, as read-modify-writes continue release
    /// sequences.
    ///
    /// [`location_uses`]: crate::threads::location_uses
    pub(super) fn has_written(
        &mut self,
        t: &mut Thread,
        at: Location,
        value: Val,
        spot: AccessTarget,
    ) {
        self.sharing.record_use(at, self.user(t, spot.site), false);
        if self.local.quiet || self.still || self.local.unchanged {
            return;
        }
        if spot.update && self.sharing.is_unobserved(at) {
            return;
        }
        let mut reads = t.reads.iter().rev();
        let read = reads.find(|read| (read.address, read.size) == (at.address, at.size));
        let mut written = self.local.written.iter().rev();
        let known = match read {
            Some(read) => read.bits,
            None => written.find(|known| known.0 == at).map(|known| known.1),
        };
        let is_known = self.require(value.dep).is_ok();
        if is_known && known == Some(value.bits) && self.sharing.is_own(at, t.id) {
            return;
        }
        self.local.written.retain(|known| known.0 != at);
        if self.local.written.len() == MAX_WRITTEN {
            self.local.written.remove(0);
        }
        if is_known {
            self.local.written.push((at, value.bits));
        }
        self.local.progress = Some(at);
        t.changed = Some(spot.site);
        t.progress();
    }

    /// The thread's own memory was read.
    fn has_read_own(&self, t: &Thread, spot: AccessTarget, size: u64) {
        if spot.update || self.local.alone {
            return;
        }
        for at in self.sharing.updated(spot.address, size) {
            self.sharing.record_use(*at, self.user(t, spot.site), true);
        }
    }

    /// Whether nothing depends on the value that an update is about to write to the thread's own
    /// memory.
    fn is_ignored(&self, spot: AccessTarget) -> Result<bool, SharingChanged> {
        let at = Location {
            address: spot.address,
            size: spot.size,
        };
        match spot.update && !self.local.alone {
            true => self.sharing.is_unobserved_update(at),
            false => Ok(false),
        }
    }

    /// The location of an access that must not be split, since it is atomic.
    fn whole(&self, spot: AccessTarget) -> Result<Location, Interruption> {
        let mut pieces = Vec::new();
        let AccessTarget {
            address,
            size,
            site,
            ..
        } = spot;
        self.sharing.pieces(address, size.into(), 16, &mut pieces)?;
        match pieces[..] {
            [(address, size)] => Ok(Location { address, size }),
            _ => Err(Interruption::Unsupported(
                "an atomic access to memory that is also accessed with other sizes is not supported".to_string(),
                site,
            )),
        }
    }

    pub fn read(
        &mut self,
        t: &mut Thread,
        spot: AccessTarget,
        how: ReadMode,
    ) -> Result<Val, Interruption> {
        let AccessTarget { size, site, .. } = spot;
        self.require(spot.addr)?;
        if let Some(place) = self.find(t, spot, size.into(), false)? {
            self.has_read_own(t, spot, size.into());
            let memory = &self.local.memory;
            if !how.uninitialised_ok && !memory.written(place, size) {
                return Err(unwritten(site));
            }
            let mut value = memory.read(place, size, |a, b| self.sets.union(a, b));
            value.dep = self.read_own(value.dep, spot.addr);
            self.own_address(t, spot);
            if self.in_library {
                self.require(value.dep)?;
                self.add_control(t, value.dep);
            }
            return Ok(value);
        }
        if how.order == Order::Na && !how.rmw {
            let bytes = self.read_range(t, spot, size.into(), how.uninitialised_ok)?;
            let bits = bytes
                .iter()
                .rev()
                .fold(0, |bits, b| bits << 8 | u64::from(b.0));
            let dep = self.union_of(&bytes);
            return Ok(Val::new(bits, dep));
        }
        let at = self.whole(spot)?;
        let ReadMode {
            order,
            rmw,
            uninitialised_ok,
        } = how;
        let ignored = spot.update && self.sharing.is_unobserved(at);
        let action = Action::Read {
            at,
            order,
            rmw,
            uninitialised_ok,
            ignored,
        };
        let (bits, new) = self.ask_with(t, action, site, (spot.addr, 0))?;
        if new {
            self.has_read(t, at, bits, spot, (ignored, false));
        }
        let dep = self.answered(t, false);
        Ok(Val::new(bits, dep))
    }

    pub fn write(
        &mut self,
        t: &mut Thread,
        spot: AccessTarget,
        order: Order,
        rmw: bool,
        value: Val,
    ) -> Result<(), Interruption> {
        let AccessTarget { size, site, .. } = spot;
        self.require(spot.addr)?;
        if let Some(place) = self.find(t, spot, size.into(), true)? {
            self.own_address(t, spot);
            let ignored = self.is_ignored(spot)?;
            let changed = Arc::make_mut(&mut self.local.memory).write(place, size, value);
            if changed != 0 && ignored {
                self.local.ignored ^= changed;
            } else if changed != 0 {
                t.changed = Some(site);
                self.local.progress = None;
            }
            self.has_stored(t, value.dep);
            return Ok(());
        }
        if order == Order::Na && !rmw {
            let bytes = value.bits.to_le_bytes().map(|b| (b, value.dep));
            let undefined: Vec<bool> = match value.undefined {
                0 => Vec::new(),
                set => (0..size).map(|k| set >> k & 1 == 1).collect(),
            };
            return self.write_range(t, spot, &bytes[..size as usize], &undefined);
        }
        let bits = mask(value.bits, 8 * size);
        let at = self.whole(spot)?;
        let action = Action::Write {
            at,
            order,
            value: bits,
            rmw,
            unknown: false,
        };
        if self.ask_with(t, action, site, (spot.addr, value.dep))?.1 {
            self.has_written(t, at, Val::new(bits, value.dep), spot);
        }
        Ok(())
    }

    /// Reads plain bytes, in pieces.
    pub fn read_range(
        &mut self,
        t: &mut Thread,
        spot: AccessTarget,
        size: u64,
        uninitialised_ok: bool,
    ) -> Result<Vec<(u8, Dep)>, Interruption> {
        self.require(spot.addr)?;
        if let Some(place) = self.find(t, spot, size, false)? {
            self.has_read_own(t, spot, size);
            self.own_address(t, spot);
            let mut bytes = self.local.memory.bytes(place, size);
            if spot.addr != 0 {
                for byte in &mut bytes {
                    byte.1 = self.read_own(byte.1, spot.addr);
                }
            }
            return Ok(bytes);
        }
        let mut pieces = Vec::new();
        self.sharing.pieces(spot.address, size, 8, &mut pieces)?;
        let uninitialised_ok = uninitialised_ok || pieces.len() > 1;
        let mut bytes = Vec::with_capacity(size as usize);
        for (address, size) in pieces {
            let at = Location { address, size };
            let ignored = spot.update && self.sharing.is_unobserved(at);
            let action = Action::Read {
                at,
                order: Order::Na,
                rmw: false,
                uninitialised_ok,
                ignored,
            };
            let (bits, new) = self.ask_with(t, action, spot.site, (spot.addr, 0))?;
            if new {
                self.has_read(t, at, bits, spot, (ignored, true));
            }
            let dep = self.answered(t, true);
            bytes.extend(
                bits.to_le_bytes()[..size as usize]
                    .iter()
                    .map(|b| (*b, dep)),
            );
        }
        Ok(bytes)
    }

    /// Writes plain bytes, in pieces. `undefined` says which are indeterminate; it is empty if none
    /// is.
    pub fn write_range(
        &mut self,
        t: &mut Thread,
        spot: AccessTarget,
        bytes: &[(u8, Dep)],
        undefined: &[bool],
    ) -> Result<(), Interruption> {
        self.require(spot.addr)?;
        if let Some(place) = self.find(t, spot, bytes.len() as u64, true)? {
            self.own_address(t, spot);
            let stored = self.union_of(bytes);
            let memory = Arc::make_mut(&mut self.local.memory);
            memory.write_bytes(place, bytes);
            memory.unset_bytes(place, undefined);
            t.changed = Some(spot.site);
            self.local.progress = None;
            self.has_stored(t, stored);
            return Ok(());
        }
        let mut pieces = Vec::new();
        self.sharing
            .pieces(spot.address, bytes.len() as u64, 8, &mut pieces)?;
        for (address, size) in pieces {
            let from = (address - spot.address) as usize;
            let part = &bytes[from..from + size as usize];
            let at = Location { address, size };
            let low_first = part.iter().rev();
            let bits = low_first.fold(0, |bits, b| bits << 8 | u64::from(b.0));
            let dep = self.union_of(part);
            let own = undefined.get(from..from + size as usize);
            let action = Action::Write {
                at,
                order: Order::Na,
                value: bits,
                rmw: false,
                unknown: own.is_some_and(|own| own.iter().all(|unset| *unset)),
            };
            let new = self.ask_with(t, action, spot.site, (spot.addr, dep))?.1;
            if new {
                self.has_written(t, at, Val::new(bits, dep), spot);
            }
        }
        Ok(())
    }

    /// Chooses among so many alternatives.
    pub fn choose_one(
        &mut self,
        t: &Thread,
        alternatives: u32,
        site: SiteId,
    ) -> Result<u64, Interruption> {
        Ok(self.ask(t, Action::Choose { alternatives }, site)?.0)
    }

    pub(super) fn spot(&self, address: Val, access: &Access) -> AccessTarget {
        AccessTarget {
            address: address.bits,
            addr: address.dep,
            size: access.size,
            site: access.site,
            update: access.update,
        }
    }
}

pub fn unwritten(site: SiteId) -> Interruption {
    let message = "read of uninitialised memory".to_string();
    Interruption::Fault(FaultKind::Uninitialised, message, site)
}

/// Whether an address belongs to another thread's heap, stack or thread-local variables.
fn foreign(t: &Thread, address: u64) -> bool {
    Memory::is_of_thread(address) && Memory::thread_of(address) != t.id
}

/// The start function and the argument of the thread that a thread is about to create.
pub fn thread_start(program: &Program, creator: &Thread) -> Option<(FuncId, Val)> {
    match &creator.inst(program)?.op {
        Op::Extern {
            function: Extern::ThreadCreate,
            args,
            ..
        } => {
            let start = program.function_at(creator.get(args[1]).bits)?;
            Some((start, creator.get(args[2])))
        }
        _ => None,
    }
}
