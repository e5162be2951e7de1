//! Memory as an explored thread meets it: what it has for itself is at hand, what it shares is
//! asked for, an event at a time.
//!
//! An instruction stops at each event that has no answer yet, and is run again from its beginning
//! when there is one; the answers so far are at hand then.
use super::program::ProgramSource;
use super::sharing::Grown;
use super::source::{Action, Kind, Location, Told, Wait};
use crate::program::compute::{mask, rmw};
use crate::program::interp::{self, Cas, End, ExternCall, Flow, NewLocal};
use crate::program::ir::{Access, Extern, FuncId, Op, Order, Program, RmwOp, SiteId};
use crate::program::memory::{mixed, Memory, Named, Place, Sharing};
use crate::program::thread::Thread;
use crate::program::value::{Dep, Val};
use std::sync::Arc;

/// What a value that comes from shared memory depends on. Which reads does not matter here, but
/// for the one that is marked when a thread is run again.
pub const SHARED: Dep = 1;
pub const MARKED: Dep = 2;

#[derive(Clone, Copy)]
pub struct Held {
    mutex: u64,
    count: u32,
    free: u64,
}

/// What an explored thread has beside its frames.
#[derive(Clone)]
pub struct Own {
    pub memory: Arc<Memory>,
    /// Answers to the events of the instruction that is under way.
    pub answers: Vec<u64>,
    /// Mutexes held, how often, and what they are when they are free.
    pub held: Vec<Held>,
    /// Threads created so far.
    pub created: u32,
    /// Threads joined so far.
    pub joined: u64,
    /// Weak compare-exchanges that have failed for no reason.
    pub spurious: Vec<SiteId>,
    /// When the last of them did: the epoch, and how many reads there were in it.
    pub failed: Option<(u64, usize)>,
    /// No other thread has been started.
    pub alone: bool,
    /// The write that is told leaves what the thread has just read there.
    pub unchanged: bool,
    /// A write is to leave no trace: it is being found out whether it does.
    pub quiet: bool,
    /// Events of the instructions that are over.
    pub told: usize,
    /// The event whose answer is marked.
    pub mark: Option<usize>,
    /// What the instruction under way depends on.
    pub uses: Dep,
}

impl Own {
    pub fn new(memory: Arc<Memory>) -> Own {
        Own {
            memory,
            answers: Vec::new(),
            held: Vec::new(),
            created: 0,
            joined: 0,
            spurious: Vec::new(),
            failed: None,
            alone: false,
            unchanged: false,
            quiet: false,
            told: 0,
            mark: None,
            uses: 0,
        }
    }

    /// How often the thread has taken a mutex that it has not given back.
    pub fn holds(&self, mutex: u64) -> u32 {
        self.held
            .iter()
            .find(|h| h.mutex == mutex)
            .map_or(0, |h| h.count)
    }

    /// What a mutex that the thread holds is when it is free.
    pub fn free_state(&self, mutex: u64) -> u64 {
        self.held
            .iter()
            .find(|h| h.mutex == mutex)
            .map_or(0, |h| h.free)
    }
}

/// Why an instruction is not over.
pub enum Stop {
    Asked(Told),
    Blocked(Wait, SiteId),
    Fault(Kind, String, SiteId),
    Unsupported(String, SiteId),
    End(End),
    /// More is shared than was known.
    Grown,
    /// The thread was alone, and is not any more.
    NotAlone,
}

impl From<End> for Stop {
    fn from(end: End) -> Stop {
        Stop::End(end)
    }
}

impl From<Grown> for Stop {
    fn from(_: Grown) -> Stop {
        Stop::Grown
    }
}

/// A read: its order, whether it is half of a read-modify-write, whether padding may be read.
#[derive(Clone, Copy)]
pub struct How {
    pub order: Order,
    pub exclusive: bool,
    pub lax: bool,
}

/// Where an access goes, and whose it is.
#[derive(Clone, Copy)]
pub struct Spot {
    pub address: u64,
    pub size: u32,
    pub site: SiteId,
}

pub struct World<'a> {
    pub source: &'a ProgramSource<'a>,
    pub own: &'a mut Own,
    /// Events of the instruction so far.
    asked: usize,
    /// Writes change nothing that a loop could wait for.
    pub still: bool,
}

impl<'a> World<'a> {
    pub fn new(source: &'a ProgramSource<'a>, own: &'a mut Own) -> World<'a> {
        World {
            source,
            own,
            asked: 0,
            still: false,
        }
    }

    /// The answer to an event, and whether it is new; stops where there is none yet.
    pub fn ask(&mut self, action: Action, site: SiteId) -> Result<(u64, bool), Stop> {
        if self.own.alone {
            return Err(Stop::NotAlone);
        }
        let now = self.asked;
        self.asked += 1;
        match self.own.answers.get(now) {
            Some(value) => Ok((*value, now + 1 == self.own.answers.len())),
            None => Err(Stop::Asked(Told { action, site })),
        }
    }

    /// Finds an access in the thread's own memory; None when it is to be asked for.
    pub fn find(
        &self,
        t: &Thread,
        spot: Spot,
        size: u64,
        write: bool,
    ) -> Result<Option<Place>, Stop> {
        let memory = &self.own.memory;
        match memory.access(self.source.program, spot.address, size, write) {
            Ok(place) => {
                let object = memory.object(place);
                let end = object.base + object.size;
                match object.sharing {
                    _ if self.own.alone => Ok(Some(place)),
                    Sharing::Own => Ok(Some(place)),
                    Sharing::Alone(k) if self.source.sharing.owns(k, t.id) => Ok(Some(place)),
                    Sharing::Alone(_) => {
                        Err(self.source.sharing.learn_shared(object.base, end).into())
                    }
                    Sharing::Shared => Ok(None),
                }
            }
            Err(message) => {
                if !foreign(t, spot.address) {
                    return Err(Stop::Fault(Kind::Memory, message, spot.site));
                }
                let end = spot.address.saturating_add(size.max(1));
                if !self.source.sharing.is_shared(spot.address, end) {
                    return Err(self.source.sharing.learn_foreign(spot.address, end).into());
                }
                Ok(None)
            }
        }
    }

    /// What the last answer depends on.
    pub fn answered(&self) -> Dep {
        match self.own.mark {
            Some(mark) if mark + 1 == self.own.told + self.asked => SHARED | MARKED,
            _ => SHARED,
        }
    }

    fn settle(&self, t: &mut Thread) {
        let held = self.own.held.iter();
        t.private = held.fold(self.own.memory.hash, |hash, held| {
            hash ^ mixed(held.mutex, held.count as u8)
        });
    }

    /// Says how often the thread holds a mutex from now on.
    pub fn hold(&mut self, t: &mut Thread, mutex: u64, count: u32, free: u64) {
        self.own.held.retain(|h| h.mutex != mutex);
        if count > 0 {
            self.own.held.push(Held { mutex, count, free });
        }
        self.settle(t);
    }

    /// Something was written: no loop of the thread waits on what it saw before.
    fn progress(&mut self, t: &mut Thread) {
        if !self.own.quiet && !self.still {
            t.progress();
        }
    }

    /// An access of one piece: what is not plain is never split.
    fn whole(&self, spot: Spot) -> Result<Location, Stop> {
        let mut pieces = Vec::new();
        let Spot {
            address,
            size,
            site,
        } = spot;
        self.source
            .sharing
            .pieces(address, size.into(), &mut pieces)?;
        match pieces[..] {
            [(address, size)] => Ok(Location { address, size }),
            _ => Err(Stop::Unsupported(
                "an atomic access to memory that is also accessed in other sizes".to_string(),
                site,
            )),
        }
    }

    pub fn read(&mut self, t: &mut Thread, spot: Spot, how: How) -> Result<Val, Stop> {
        let Spot {
            address,
            size,
            site,
        } = spot;
        if let Some(place) = self.find(t, spot, size.into(), false)? {
            let memory = &self.own.memory;
            if !how.lax && !memory.written(place, size) {
                return Err(unwritten(site));
            }
            return Ok(memory.read(place, size, |a, b| a | b));
        }
        if how.order == Order::Na && !how.exclusive {
            let bytes = self.read_range(t, spot, size.into(), how.lax)?;
            let bits = bytes
                .iter()
                .rev()
                .fold(0, |bits, b| bits << 8 | u64::from(b.0));
            let dep = bytes.iter().fold(SHARED, |dep, b| dep | b.1);
            return Ok(Val { bits, dep });
        }
        let at = self.whole(spot)?;
        let How {
            order,
            exclusive,
            lax,
        } = how;
        let action = Action::Read {
            at,
            order,
            exclusive,
            lax,
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
        spot: Spot,
        order: Order,
        exclusive: bool,
        value: Val,
    ) -> Result<(), Stop> {
        let Spot { size, site, .. } = spot;
        if let Some(place) = self.find(t, spot, size.into(), true)? {
            Arc::make_mut(&mut self.own.memory).write(place, size, value);
            self.settle(t);
            return Ok(());
        }
        if order == Order::Na && !exclusive {
            let bytes = value.bits.to_le_bytes().map(|b| (b, value.dep));
            return self.write_range(t, spot, &bytes[..size as usize]);
        }
        let value = mask(value.bits, 8 * size);
        let at = self.whole(spot)?;
        let action = Action::Write {
            at,
            order,
            value,
            exclusive,
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
        spot: Spot,
        size: u64,
        lax: bool,
    ) -> Result<Vec<(u8, Dep)>, Stop> {
        if let Some(place) = self.find(t, spot, size, false)? {
            return Ok(self.own.memory.bytes(place, size));
        }
        let mut pieces = Vec::new();
        self.source
            .sharing
            .pieces(spot.address, size, &mut pieces)?;
        let lax = lax || pieces.len() > 1;
        let mut bytes = Vec::with_capacity(size as usize);
        for (address, size) in pieces {
            let action = Action::Read {
                at: Location { address, size },
                order: Order::Na,
                exclusive: false,
                lax,
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
        spot: Spot,
        bytes: &[(u8, Dep)],
    ) -> Result<(), Stop> {
        if let Some(place) = self.find(t, spot, bytes.len() as u64, true)? {
            Arc::make_mut(&mut self.own.memory).write_bytes(place, bytes);
            self.settle(t);
            return Ok(());
        }
        let mut pieces = Vec::new();
        self.source
            .sharing
            .pieces(spot.address, bytes.len() as u64, &mut pieces)?;
        for (address, size) in pieces {
            let from = (address - spot.address) as usize;
            let part = bytes[from..from + size as usize].iter().rev();
            let action = Action::Write {
                at: Location { address, size },
                order: Order::Na,
                value: part.fold(0, |bits, b| bits << 8 | u64::from(b.0)),
                exclusive: false,
            };
            if self.ask(action, spot.site)?.1 {
                self.progress(t);
            }
        }
        Ok(())
    }

    /// One of so many ways to go on.
    pub fn choose(&mut self, ways: u32, site: SiteId) -> Result<u64, Stop> {
        Ok(self.ask(Action::Choose { ways }, site)?.0)
    }

    fn spot(&self, address: Val, access: &Access) -> Spot {
        Spot {
            address: address.bits,
            size: access.size,
            site: access.site,
        }
    }
}

pub fn unwritten(site: SiteId) -> Stop {
    let message = "a read of memory that was never written".to_string();
    Stop::Fault(Kind::Uninitialised, message, site)
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

impl interp::World for World<'_> {
    type Stop = Stop;

    fn union(&mut self, a: Dep, b: Dep) -> Dep {
        a | b
    }

    fn load(&mut self, t: &mut Thread, address: Val, access: &Access) -> Result<Val, Stop> {
        self.own.uses = address.dep;
        let how = How {
            order: access.order,
            exclusive: false,
            lax: false,
        };
        let mut value = self.read(t, self.spot(address, access), how)?;
        value.dep |= address.dep;
        Ok(value)
    }

    fn store(
        &mut self,
        t: &mut Thread,
        address: Val,
        value: Val,
        access: &Access,
    ) -> Result<(), Stop> {
        self.own.uses = address.dep | value.dep;
        self.write(t, self.spot(address, access), access.order, false, value)
    }

    fn rmw(
        &mut self,
        t: &mut Thread,
        address: Val,
        op: RmwOp,
        operand: Val,
        access: &Access,
    ) -> Result<Val, Stop> {
        self.own.uses = address.dep | operand.dep;
        let spot = self.spot(address, access);
        let how = How {
            order: access.order,
            exclusive: true,
            lax: false,
        };
        let mut old = self.read(t, spot, how)?;
        old.bits = mask(old.bits, access.bits);
        let new = rmw(op, access.bits, old.bits, operand.bits);
        let value = Val {
            bits: new,
            dep: old.dep | operand.dep,
        };
        self.own.unchanged = new == old.bits;
        self.write(t, spot, access.order, true, value)?;
        self.own.unchanged = false;
        old.dep |= address.dep;
        Ok(old)
    }

    fn cas(&mut self, t: &mut Thread, cas: &Cas, access: &Access) -> Result<(Val, bool), Stop> {
        self.own.uses = cas.address.dep | cas.expected.dep | cas.desired.dep;
        let spot = self.spot(cas.address, access);
        let how = How {
            order: cas.failure,
            exclusive: true,
            lax: false,
        };
        let mut old = self.read(t, spot, how)?;
        old.bits = mask(old.bits, access.bits);
        old.dep |= cas.address.dep;
        if old.bits != cas.expected.bits {
            return Ok((old, false));
        }
        let shared = self.find(t, spot, access.size.into(), true)?.is_none();
        let may_fail = cas.weak && shared && !self.own.spurious.contains(&access.site);
        if may_fail && self.choose(2, access.site)? == 1 {
            self.own.spurious.push(access.site);
            self.own.failed = Some((t.epoch, t.reads.len().saturating_sub(1)));
            return Ok((old, false));
        }
        self.own.unchanged = cas.desired.bits == old.bits;
        self.write(t, spot, access.order, true, cas.desired)?;
        self.own.unchanged = false;
        Ok((old, true))
    }

    fn fence(
        &mut self,
        _: &mut Thread,
        order: Order,
        signal: bool,
        site: SiteId,
    ) -> Result<(), Stop> {
        self.own.uses = 0;
        if !signal && !self.own.alone {
            self.ask(Action::Fence { order }, site)?;
        }
        Ok(())
    }

    fn external(&mut self, t: &mut Thread, call: &ExternCall) -> Result<Flow, Stop> {
        self.own.uses = call.args.iter().fold(0, |dep, arg| dep | arg.dep);
        self.library(t, call)
    }

    fn once_done(&mut self, t: &mut Thread, flag: u64, site: SiteId) -> Result<(), Stop> {
        self.finish_once(t, flag, site)
    }

    fn alloca(&mut self, t: &mut Thread, local: &NewLocal) -> Result<u64, Stop> {
        let base = self.own.memory.next_local(t.id, local.align);
        let shared = !local.private && self.source.sharing.is_shared(base, base + local.size);
        if shared && !self.own.alone {
            let action = Action::Allocate {
                base,
                size: local.size,
                zeroed: false,
            };
            self.ask(action, local.site)?;
        }
        let memory = Arc::make_mut(&mut self.own.memory);
        memory.push_local(t.id, local);
        if shared {
            memory.share(base, Sharing::Shared);
        }
        if !local.private {
            let named = Named::Local(local.local);
            self.source.sharing.met(base, local.size, named);
        }
        Ok(base)
    }

    fn locals(&self, t: &Thread) -> usize {
        self.own.memory.locals(t.id)
    }

    fn leave(&mut self, t: &mut Thread, mark: usize) -> Result<(), Stop> {
        if self.own.memory.locals(t.id) <= mark {
            return Ok(());
        }
        // main's own locals end with the process
        let whole_process = t.id == 0 && t.frames.len() == 1;
        if !whole_process && !self.own.alone {
            let locals = self.own.memory.locals_from(t.id, mark);
            let shared = locals.filter(|o| o.sharing == Sharing::Shared);
            let ends: Vec<_> = shared.map(|o| (o.base, o.site)).collect();
            for (base, site) in ends {
                self.ask(Action::Free { base }, site)?;
            }
        }
        Arc::make_mut(&mut self.own.memory).pop_locals(t.id, mark, |_, _| {});
        self.settle(t);
        Ok(())
    }

    fn thread_local(&mut self, t: &Thread, global: u32) -> u64 {
        self.own.memory.thread_local(t.id, global)
    }
}
