//! Memory as an explored thread meets it: what it has for itself is at hand, what it shares is
//! asked for, an event at a time.
//!
//! An instruction stops at each event that has no answer yet, and is run again from its beginning
//! when there is one; the answers so far are at hand then.
use crate::source::{Action, EventLabel, FaultKind, Location, Wait};
use crate::threads::sharing::{LearnedSharing, SharingChanged};
use crate::threads::thread_state::LocalState;
use program::interpreter::thread::Thread;
use program::interpreter::RunEnd;
use program::ir::arithmetic::mask;
use program::ir::{Access, Extern, FuncId, Op, Order, Program, SiteId};
use program::memory::{mixed, Memory, ResolvedAddress, Visibility};
use program::memory::{Dep, Val};
use std::sync::Arc;

/// Property a value that comes from shared memory depends on. Which reads does not matter here, but
/// for the one that is marked when a thread is run again.
pub const SHARED: Dep = 1;
pub const MARKED: Dep = 2;

/// Why an instruction is not over.
pub enum Interruption {
    Query(EventLabel),
    Blocked(Wait, SiteId),
    Fault(FaultKind, String, SiteId),
    Unsupported(String, SiteId),
    RunEnd(RunEnd),
    /// More is shared than was known.
    SharingChanged,
    /// The thread was alone, and is not any more.
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

/// A read: its order, whether it is half of a read-modify-write, whether padding may be read.
#[derive(Clone, Copy)]
pub struct ReadMode {
    pub order: Order,
    pub rmw: bool,
    pub uninitialised_ok: bool,
}

/// Where an access goes, and whose it is.
#[derive(Clone, Copy)]
pub struct AccessTarget {
    pub address: u64,
    pub size: u32,
    pub site: SiteId,
}

pub struct ThreadEnvironment<'a> {
    pub program: &'a Program,
    pub sharing: &'a LearnedSharing,
    pub local: &'a mut LocalState,
    /// Events of the instruction so far.
    asked: usize,
    /// Writes change nothing that a loop could wait for.
    pub still: bool,
}

impl<'a> ThreadEnvironment<'a> {
    pub fn new(
        program: &'a Program,
        sharing: &'a LearnedSharing,
        local: &'a mut LocalState,
    ) -> ThreadEnvironment<'a> {
        ThreadEnvironment {
            program,
            sharing,
            local,
            asked: 0,
            still: false,
        }
    }

    /// The answer to an event, and whether it is new; stops where there is none yet.
    pub fn ask(&mut self, action: Action, site: SiteId) -> Result<(u64, bool), Interruption> {
        if self.local.alone {
            return Err(Interruption::NotAlone);
        }
        let now = self.asked;
        self.asked += 1;
        match self.local.answers.get(now) {
            Some(value) => Ok((*value, now + 1 == self.local.answers.len())),
            None => Err(Interruption::Query(EventLabel { action, site })),
        }
    }

    /// Finds an access in the thread's own memory; None when it is to be asked for.
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

    /// Property the last answer depends on.
    pub fn answered(&self) -> Dep {
        match self.local.mark {
            Some(mark) if mark + 1 == self.local.events_before + self.asked => SHARED | MARKED,
            _ => SHARED,
        }
    }

    pub(super) fn settle(&self, t: &mut Thread) {
        let held = t.held.iter();
        t.private = held.fold(self.local.memory.hash, |hash, held| {
            hash ^ mixed(held.mutex, held.count as u8)
        });
    }

    /// From now on the thread holds a mutex so many times.
    pub fn hold(&mut self, t: &mut Thread, mutex: u64, count: u32, free: u64) {
        t.hold(mutex, count, free);
        self.settle(t);
    }

    /// Something was written: no loop of the thread waits on what it saw before.
    fn progress(&mut self, t: &mut Thread) {
        if !self.local.quiet && !self.still {
            t.progress();
        }
    }

    /// An access of one piece: what is not plain is never split.
    fn whole(&self, spot: AccessTarget) -> Result<Location, Interruption> {
        let mut pieces = Vec::new();
        let AccessTarget {
            address,
            size,
            site,
        } = spot;
        self.sharing.pieces(address, size.into(), &mut pieces)?;
        match pieces[..] {
            [(address, size)] => Ok(Location { address, size }),
            _ => Err(Interruption::Unsupported(
                "an atomic access to memory that is also accessed in other sizes".to_string(),
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
        let AccessTarget {
            address,
            size,
            site,
        } = spot;
        if let Some(place) = self.find(t, spot, size.into(), false)? {
            let memory = &self.local.memory;
            if !how.uninitialised_ok && !memory.written(place, size) {
                return Err(unwritten(site));
            }
            return Ok(memory.read(place, size, |a, b| a | b));
        }
        if how.order == Order::Na && !how.rmw {
            let bytes = self.read_range(t, spot, size.into(), how.uninitialised_ok)?;
            let bits = bytes
                .iter()
                .rev()
                .fold(0, |bits, b| bits << 8 | u64::from(b.0));
            let dep = bytes.iter().fold(SHARED, |dep, b| dep | b.1);
            return Ok(Val { bits, dep });
        }
        let at = self.whole(spot)?;
        let ReadMode {
            order,
            rmw,
            uninitialised_ok,
        } = how;
        let action = Action::Read {
            at,
            order,
            rmw,
            uninitialised_ok,
        };
        let (bits, new) = self.ask(action, site)?;
        if new {
            t.saw(address, size, bits);
        }
        let dep = self.answered();
        Ok(Val { bits, dep })
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
        if let Some(place) = self.find(t, spot, size.into(), true)? {
            Arc::make_mut(&mut self.local.memory).write(place, size, value);
            self.settle(t);
            return Ok(());
        }
        if order == Order::Na && !rmw {
            let bytes = value.bits.to_le_bytes().map(|b| (b, value.dep));
            return self.write_range(t, spot, &bytes[..size as usize]);
        }
        let value = mask(value.bits, 8 * size);
        let at = self.whole(spot)?;
        let action = Action::Write {
            at,
            order,
            value,
            rmw,
        };
        if self.ask(action, site)?.1 {
            self.progress(t);
        }
        Ok(())
    }

    /// Plain bytes, read in pieces.
    pub fn read_range(
        &mut self,
        t: &mut Thread,
        spot: AccessTarget,
        size: u64,
        uninitialised_ok: bool,
    ) -> Result<Vec<(u8, Dep)>, Interruption> {
        if let Some(place) = self.find(t, spot, size, false)? {
            return Ok(self.local.memory.bytes(place, size));
        }
        let mut pieces = Vec::new();
        self.sharing.pieces(spot.address, size, &mut pieces)?;
        let uninitialised_ok = uninitialised_ok || pieces.len() > 1;
        let mut bytes = Vec::with_capacity(size as usize);
        for (address, size) in pieces {
            let action = Action::Read {
                at: Location { address, size },
                order: Order::Na,
                rmw: false,
                uninitialised_ok,
            };
            let (bits, new) = self.ask(action, spot.site)?;
            if new {
                t.saw(address, size, bits);
            }
            let dep = self.answered();
            bytes.extend(
                bits.to_le_bytes()[..size as usize]
                    .iter()
                    .map(|b| (*b, dep)),
            );
        }
        Ok(bytes)
    }

    /// Plain bytes, written in pieces.
    pub fn write_range(
        &mut self,
        t: &mut Thread,
        spot: AccessTarget,
        bytes: &[(u8, Dep)],
    ) -> Result<(), Interruption> {
        if let Some(place) = self.find(t, spot, bytes.len() as u64, true)? {
            Arc::make_mut(&mut self.local.memory).write_bytes(place, bytes);
            self.settle(t);
            return Ok(());
        }
        let mut pieces = Vec::new();
        self.sharing
            .pieces(spot.address, bytes.len() as u64, &mut pieces)?;
        for (address, size) in pieces {
            let from = (address - spot.address) as usize;
            let part = bytes[from..from + size as usize].iter().rev();
            let action = Action::Write {
                at: Location { address, size },
                order: Order::Na,
                value: part.fold(0, |bits, b| bits << 8 | u64::from(b.0)),
                rmw: false,
            };
            if self.ask(action, spot.site)?.1 {
                self.progress(t);
            }
        }
        Ok(())
    }

    /// One of so many ways to go on.
    pub fn choose(&mut self, alternatives: u32, site: SiteId) -> Result<u64, Interruption> {
        Ok(self.ask(Action::Choose { alternatives }, site)?.0)
    }

    pub(super) fn spot(&self, address: Val, access: &Access) -> AccessTarget {
        AccessTarget {
            address: address.bits,
            size: access.size,
            site: access.site,
        }
    }
}

pub fn unwritten(site: SiteId) -> Interruption {
    let message = "a read of memory that was never written".to_string();
    Interruption::Fault(FaultKind::Uninitialised, message, site)
}

/// Whether an address belongs to another thread's heap, stack or thread-local variables.
fn foreign(t: &Thread, address: u64) -> bool {
    Memory::is_of_thread(address) && Memory::thread_of(address) != t.id
}

/// The function and the argument of the thread that a thread is about to create.
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
