//! Instructions that access memory, as events; and how they are divided into locations.

use super::semantics::{Done, Interruption, ReferenceEnvironment, Step};
use crate::source::{Action, FaultKind, Location};
use program::interpreter::thread::Thread;
use program::interpreter::{Cas, Environment, ExternCall, Flow, RunEnd};
use program::ir::arithmetic::rmw;
use program::ir::bits::mask;
use program::ir::{Access, Order, RmwOp, SiteId};
use program::library::call;
use program::memory::{
    is_wholly, Byte, Dep, Memory, Named, NewLocal, ResolvedAddress, Val, Visibility,
};
use std::sync::Arc;

/// Objects are aligned to at most a page when the lifetime of a local begins again.
const MAX_ALIGN: u32 = 12;

/// The memory that an access is to.
#[derive(Clone, Copy)]
pub struct Target {
    pub address: u64,
    pub size: u32,
    pub site: SiteId,
}

/// How a location is read.
#[derive(Clone, Copy)]
pub struct ReadMode {
    pub order: Order,
    pub rmw: bool,
    pub uninitialised_ok: bool,
}

pub const PLAIN: ReadMode = ReadMode {
    order: Order::Na,
    rmw: false,
    uninitialised_ok: false,
};

fn target(address: Val, access: &Access) -> Target {
    Target {
        address: address.bits,
        size: access.size,
        site: access.site,
    }
}

fn bytes_of(value: Val, size: u32) -> Vec<Byte> {
    let bytes = value.bits.to_le_bytes();
    let byte = |k: usize| Byte {
        value: bytes[k],
        dep: value.dep,
        undefined: value.undefined >> k & 1 == 1,
    };
    (0..size as usize).map(byte).collect()
}

fn value_of(bytes: &[Byte]) -> Val {
    let mut value = Val::default();
    for (k, byte) in bytes.iter().enumerate() {
        value.bits |= u64::from(byte.value) << (8 * k);
        value.undefined |= u8::from(byte.undefined) << k;
        value.dep = value.dep.max(byte.dep);
    }
    value
}

impl ReferenceEnvironment<'_, '_> {
    /// Where an access is that is no event: of a constant, or of a local variable whose address does
    /// not escape. None: it is an event.
    pub fn find(
        &self,
        t: &Thread,
        to: Target,
        size: u64,
        write: bool,
    ) -> Done<Option<ResolvedAddress>> {
        let memory = &self.local.memory;
        match memory.access(self.semantics.program, to.address, size, write) {
            Ok(place) => {
                let object = memory.object(place);
                let own = self.local.alone || object.private || object.constant;
                Ok(own.then_some(place))
            }
            Err(message) => {
                if let Some(global) = self.semantics.program.declared_at(to.address) {
                    return Err(Interruption::Unsupported(global.undefined(), to.site));
                }
                // whether an object of another thread exists, the graph says
                let foreign =
                    Memory::is_of_thread(to.address) && Memory::thread_of(to.address) != t.id;
                match foreign {
                    true => Ok(None),
                    false => Err(Interruption::Fault(FaultKind::Memory, message, to.site)),
                }
            }
        }
    }

    fn read_location(
        &mut self,
        t: &mut Thread,
        at: Location,
        how: ReadMode,
        site: SiteId,
    ) -> Done<Val> {
        let action = Action::Read {
            at,
            order: how.order,
            rmw: how.rmw,
            uninitialised_ok: how.uninitialised_ok,
            ignored: false,
        };
        let (answer, new) = self.ask(action, site)?;
        if new {
            self.record(t, Step::Read(at, answer.value));
        }
        let plain = how.order == Order::Na && !how.rmw;
        let mut value = Val::new(answer.value, self.answered(plain));
        value.undefined = answer.undefined;
        Ok(value)
    }

    pub fn write_location(
        &mut self,
        t: &mut Thread,
        at: Location,
        (order, rmw): (Order, bool),
        value: Val,
        site: SiteId,
    ) -> Done<()> {
        let action = Action::Write {
            at,
            order,
            value: value.bits,
            rmw,
            undefined: value.undefined,
        };
        if self.ask(action, site)?.1 {
            self.record(t, Step::Write(at, value.bits));
        }
        Ok(())
    }

    pub fn read(&mut self, t: &mut Thread, from: Target, how: ReadMode) -> Done<Val> {
        let Target { size, site, .. } = from;
        if let Some(place) = self.find(t, from, size.into(), false)? {
            let value = self.local.memory.read(place, size, |a, b| a.max(b));
            if is_wholly(value.undefined, 8 * size) && !how.uninitialised_ok {
                let message = "read of uninitialised memory".to_owned();
                return Err(Interruption::Fault(FaultKind::Uninitialised, message, site));
            }
            return Ok(value);
        }
        if how.order == Order::Na && !how.rmw {
            if size > 8 {
                let message = "the reference does not support accesses of 16 bytes".to_owned();
                return Err(Interruption::Unsupported(message, site));
            }
            return Ok(value_of(&self.read_range(t, from, size.into(), how)?));
        }
        let pieces = self
            .semantics
            .divide(from.address, size.into(), true, site)?;
        self.read_location(t, pieces[0], how, site)
    }

    /// The address may be that of the beginning of one of the sets of sleeping threads.
    pub fn read_outside(
        &mut self,
        t: &mut Thread,
        at: Location,
        (order, rmw): (Order, bool),
        site: SiteId,
    ) -> Done<u64> {
        let how = ReadMode {
            order,
            rmw,
            uninitialised_ok: true,
        };
        Ok(self.read_location(t, at, how, site)?.bits)
    }

    pub fn write(
        &mut self,
        t: &mut Thread,
        to: Target,
        (order, rmw): (Order, bool),
        value: Val,
    ) -> Done<()> {
        let Target { size, site, .. } = to;
        if let Some(place) = self.find(t, to, size.into(), true)? {
            Arc::make_mut(&mut self.local.memory).write(place, size, value);
            self.settle(t);
            return Ok(());
        }
        if size > 8 {
            let message = "the reference does not support accesses of 16 bytes".to_owned();
            return Err(Interruption::Unsupported(message, site));
        }
        let value = Val {
            bits: mask(value.bits, 8 * size),
            ..value
        };
        if order == Order::Na && !rmw {
            return self.write_range(t, to, &bytes_of(value, size));
        }
        let pieces = self.semantics.divide(to.address, size.into(), true, site)?;
        self.write_location(t, pieces[0], (order, rmw), value, site)
    }

    /// Reads plain bytes.
    pub fn read_range(
        &mut self,
        t: &mut Thread,
        from: Target,
        size: u64,
        how: ReadMode,
    ) -> Done<Vec<Byte>> {
        if let Some(place) = self.find(t, from, size, false)? {
            return Ok(self.local.memory.bytes(place, size));
        }
        let pieces = self
            .semantics
            .divide(from.address, size, false, from.site)?;
        let how = ReadMode {
            uninitialised_ok: how.uninitialised_ok || pieces.len() > 1,
            ..how
        };
        let mut bytes = Vec::with_capacity(size as usize);
        for at in pieces {
            let value = self.read_location(t, at, how, from.site)?;
            bytes.extend(bytes_of(value, at.size));
        }
        Ok(bytes)
    }

    /// Writes plain bytes.
    pub fn write_range(&mut self, t: &mut Thread, to: Target, bytes: &[Byte]) -> Done<()> {
        let size = bytes.len() as u64;
        if let Some(place) = self.find(t, to, size, true)? {
            Arc::make_mut(&mut self.local.memory).write_bytes(place, bytes);
            self.settle(t);
            return Ok(());
        }
        for at in self.semantics.divide(to.address, size, false, to.site)? {
            let from = (at.address - to.address) as usize;
            let value = value_of(&bytes[from..from + at.size as usize]);
            self.write_location(t, at, (Order::Na, false), value, to.site)?;
        }
        Ok(())
    }
}

impl Environment for ReferenceEnvironment<'_, '_> {
    type Interruption = Interruption;

    fn union(&mut self, a: Dep, b: Dep) -> Dep {
        a.max(b)
    }

    fn now(&self, _: &Thread) -> u32 {
        self.events() as u32
    }

    fn refuses_undefined(&self) -> bool {
        true
    }

    fn precedes(&self, dep: Dep, now: u32) -> bool {
        dep <= now + 1
    }

    fn load(&mut self, t: &mut Thread, address: Val, access: &Access) -> Done<Val> {
        let how = ReadMode {
            order: access.order,
            rmw: false,
            uninitialised_ok: access.partial,
        };
        let mut value = self.read(t, target(address, access), how)?;
        value.dep = value.dep.max(address.dep);
        Ok(value)
    }

    fn store(&mut self, t: &mut Thread, address: Val, value: Val, access: &Access) -> Done<()> {
        self.write(t, target(address, access), (access.order, false), value)
    }

    fn rmw(
        &mut self,
        t: &mut Thread,
        address: Val,
        op: RmwOp,
        operand: Val,
        access: &Access,
    ) -> Done<Val> {
        let how = ReadMode {
            order: access.order,
            rmw: true,
            uninitialised_ok: false,
        };
        let mut old = self.read(t, target(address, access), how)?;
        old.bits = mask(old.bits, access.bits);
        let new = rmw(op, access.bits, old.bits, operand.bits);
        let mut value = Val::new(new, old.dep.max(operand.dep));
        if let RmwOp::Xchg = op {
            value.undefined = operand.undefined;
        }
        self.write(t, target(address, access), (access.order, true), value)?;
        old.dep = old.dep.max(address.dep);
        Ok(old)
    }

    /// A compare-exchange that is weak, or that compares indeterminate bytes, may fail spuriously.
    fn cas(&mut self, t: &mut Thread, cas: &Cas, access: &Access) -> Done<(Val, bool)> {
        let to = target(cas.address, access);
        let how = ReadMode {
            order: cas.failure,
            rmw: true,
            uninitialised_ok: false,
        };
        let mut old = self.read(t, to, how)?;
        old.bits = mask(old.bits, access.bits);
        old.dep = old.dep.max(cas.address.dep);
        if old.bits != cas.expected.bits {
            return Ok((old, false));
        }
        let weak = cas.weak || (old.undefined | cas.expected.undefined) != 0;
        let may_fail = weak && !self.local.alone;
        if may_fail && self.choose_one(t, 2, access.site)? == 1 {
            t.failures += 1;
            return Ok((old, false));
        }
        self.write(t, to, (access.order, true), cas.desired)?;
        Ok((old, true))
    }

    fn fence(&mut self, _: &mut Thread, order: Order, signal: bool, site: SiteId) -> Done<()> {
        if signal || self.local.alone {
            return Ok(());
        }
        let asymmetric = matches!(order, Order::Light | Order::Heavy);
        if asymmetric && !self.semantics.asymmetric_fences {
            let message = "the model gives no meaning to an asymmetric fence";
            return Err(RunEnd::at_limit("model", message, Some(site)).into());
        }
        self.perform(Action::Fence { order }, site)
    }

    fn external(&mut self, t: &mut Thread, call: &ExternCall) -> Done<Flow> {
        call::call(self, t, call)
    }

    fn once_done(&mut self, t: &mut Thread, flag: u64, site: SiteId) -> Done<()> {
        self.finish_once(t, flag, site)
    }

    fn alloca(&mut self, t: &mut Thread, local: &NewLocal) -> Done<u64> {
        let base = self.local.memory.next_local(t.id, local.align);
        let shared = !local.private && !self.local.alone;
        if shared {
            let action = Action::Allocate {
                base,
                size: local.size,
                zeroed: false,
            };
            self.perform(action, local.site)?;
        }
        let memory = Arc::make_mut(&mut self.local.memory);
        memory.push_local(t.id, local);
        if shared {
            memory.share(base, Visibility::Shared);
        }
        Ok(base)
    }

    /// A local variable whose address may have escaped is another object each time that its lifetime
    /// begins.
    fn begin_local(&mut self, t: &mut Thread, address: u64) -> Done<u64> {
        let ended = match self.local.memory.object_at(address) {
            Some(object) if object.freed => object,
            _ => return Ok(address),
        };
        let (false, false, Named::Local(local)) = (ended.private, self.local.alone, ended.named)
        else {
            Arc::make_mut(&mut self.local.memory).begin_local(address);
            return Ok(address);
        };
        let again = NewLocal {
            size: ended.size,
            align: 1 << ended.base.trailing_zeros().min(MAX_ALIGN),
            local,
            private: false,
            idle: ended.idle,
            site: ended.site,
        };
        self.alloca(t, &again)
    }

    fn end_local(&mut self, t: &mut Thread, address: u64, site: SiteId) -> Done<()> {
        match self.local.memory.object_at(address) {
            Some(object) if !object.freed => {
                let base = object.base;
                if !object.private && !self.local.alone {
                    self.perform(Action::Free { base }, site)?;
                }
            }
            _ => return Ok(()),
        }
        Arc::make_mut(&mut self.local.memory).end_local(address);
        self.settle(t);
        Ok(())
    }

    fn locals(&self, t: &Thread) -> usize {
        self.local.memory.locals(t.id)
    }

    fn leave(&mut self, t: &mut Thread, mark: usize, ends: bool) -> Done<()> {
        // the locals of main live until the process ends
        let whole_process = t.id == 0 && t.frames.len() == 1;
        if !whole_process && !self.local.alone {
            let memory = self.local.memory.clone();
            let own = ends.then(|| memory.thread_locals(t.id));
            let objects = memory
                .locals_from(t.id, mark)
                .chain(own.into_iter().flatten());
            for object in objects.filter(|object| !object.freed && !object.private) {
                self.perform(Action::Free { base: object.base }, object.site)?;
            }
        }
        Arc::make_mut(&mut self.local.memory).pop_locals(t.id, mark, |_, _, _| {});
        self.settle(t);
        Ok(())
    }

    fn thread_local(&mut self, t: &Thread, global: u32) -> u64 {
        self.local.memory.thread_local(t.id, global)
    }
}
