//! Accesses of sequentially consistent memory, and the events they record.
use crate::interpreter::environment::{Cas, Environment, ExternCall, Flow};
use crate::interpreter::event::{EventKind, Update};
use crate::interpreter::outcome::{Outcome, RunEnd};
use crate::interpreter::thread::Thread;
use crate::ir::arithmetic;
use crate::ir::bits::mask;
use crate::ir::instruction::*;
use crate::library::call;
use crate::memory::address_space::ResolvedAddress;
use crate::memory::object::NewLocal;
use crate::memory::value::{Dep, Val};
use crate::sc::machine::{event, StepEnvironment};

impl StepEnvironment<'_, '_> {
    pub fn find(
        &self,
        address: u64,
        size: u64,
        site: SiteId,
        write: bool,
    ) -> Result<ResolvedAddress, RunEnd> {
        let memory = &self.shared.memory;
        let found = memory.access(self.context.program, address, size, write);
        found.map_err(|message| match self.context.program.declared_at(address) {
            Some(global) => RunEnd::new(Outcome::Unsupported, global.undefined(), Some(site)),
            None => RunEnd::new(Outcome::Memory, message, Some(site)),
        })
    }

    /// Finds the object of an access; a failed access is recorded in the footprint, as its order
    /// relative to others may be the error.
    pub fn access(
        &mut self,
        t: &Thread,
        address: u64,
        size: u32,
        site: SiteId,
        write: bool,
    ) -> Result<ResolvedAddress, RunEnd> {
        let found = self.find(address, size.into(), site, write);
        if found.is_err() {
            self.touch(t, address, size, write);
        }
        found
    }

    /// Records an access in the footprint, unless joins order it after all others: a thread that
    /// has ended could have run later.
    pub fn touch(&mut self, thread: &Thread, address: u64, size: u32, write: bool) {
        let joined = self.shared.joined.count_ones() as usize;
        if self.shared.done.len() - joined.min(self.shared.done.len()) > 1 {
            self.context
                .footprint
                .touch(address, size, thread.id, write);
        }
    }

    /// Writes, and records whether the thread makes progress.
    fn put(&mut self, t: &mut Thread, place: ResolvedAddress, address: u64, size: u32, value: Val) {
        let old = self.shared.memory.word(address, size);
        let object = self.shared.memory.object(place);
        if object.private {
            let idle = object.idle;
            // of 16 bytes, the number that stands for them
            for k in 0..size.min(8) {
                t.mix(idle, address + u64::from(k), (old >> (8 * k)) as u8);
                t.mix(idle, address + u64::from(k), (value.bits >> (8 * k)) as u8);
            }
        } else if old == mask(value.bits, 8 * size) {
            // writing the value that is already there is no progress, until another thread changes
            // it
            t.saw(address, size, Some(old), false);
        } else {
            t.progress();
        }
        self.shared.memory.write(place, size, value);
    }

    /// Whether accesses of this object are not events.
    fn unlogged(&self, place: ResolvedAddress, access: &Access) -> bool {
        let object = self.shared.memory.object(place);
        access.private || object.private || object.constant
    }

    fn log_access(
        &mut self,
        t: &mut Thread,
        place: ResolvedAddress,
        address: Val,
        access: &Access,
        mut e: crate::interpreter::event::Event,
    ) -> u32 {
        let object = self.shared.memory.object(place);
        e.object = object.base;
        e.named = object.named;
        e.address = address.bits;
        e.size = access.size;
        e.volatile = access.volatile;
        e.addr = address.dep;
        t.log.push(e);
        t.log.len() as u32 - 1
    }
}

impl Environment for StepEnvironment<'_, '_> {
    type Interruption = RunEnd;

    fn union(&mut self, a: Dep, b: Dep) -> Dep {
        self.context.deps.union(a, b)
    }

    fn now(&self, t: &Thread) -> u32 {
        t.log.len() as u32
    }

    /// A test of the Linux kernel's must not depend on more than the program does.
    fn branches_end(&self) -> bool {
        self.context.program.of_kernel
    }

    /// Looking more often shows no other accesses.
    fn looks_once(&self, t: &Thread, since: u32) -> bool {
        let round = t.log.iter().skip(since as usize);
        round.filter(|e| e.kind != EventKind::SignalFence).count() == 1
    }

    fn refuses_undefined(&self) -> bool {
        false
    }

    fn precedes(&self, dep: Dep, now: u32) -> bool {
        let events = self.context.deps.get(dep);
        events.iter().all(|event| event < now as usize)
    }

    fn load(&mut self, t: &mut Thread, address: Val, access: &Access) -> Result<Val, RunEnd> {
        let place = self.access(t, address.bits, access.size, access.site, false)?;
        let mut value = self
            .shared
            .memory
            .read(place, access.size, |a, b| self.context.deps.union(a, b));
        if self.unlogged(place, access) {
            value.dep = self.context.deps.union(value.dep, address.dep);
            return Ok(value);
        }
        self.touch(t, address.bits, access.size, false);
        t.saw(
            address.bits,
            access.size,
            Some(value.bits),
            access.order == Order::Na,
        );
        let mut e = event(t, access.site, EventKind::Read, access.order);
        e.read = Some(value.bits);
        e.via = value.dep;
        let index = self.log_access(t, place, address, access, e);
        value.dep = self.context.deps.single(index);
        Ok(value)
    }

    fn store(
        &mut self,
        t: &mut Thread,
        address: Val,
        value: Val,
        access: &Access,
    ) -> Result<(), RunEnd> {
        let place = self.access(t, address.bits, access.size, access.site, true)?;
        if !self.unlogged(place, access) {
            self.touch(t, address.bits, access.size, true);
            let mut e = event(t, access.site, EventKind::Write, access.order);
            e.written = Some(value.bits);
            e.data = value.dep;
            self.log_access(t, place, address, access, e);
        }
        self.put(t, place, address.bits, access.size, value);
        Ok(())
    }

    fn rmw(
        &mut self,
        t: &mut Thread,
        address: Val,
        op: RmwOp,
        operand: Val,
        access: &Access,
    ) -> Result<Val, RunEnd> {
        let place = self.access(t, address.bits, access.size, access.site, true)?;
        let mut old = self
            .shared
            .memory
            .read(place, access.size, |a, b| self.context.deps.union(a, b));
        old.bits = mask(old.bits, access.bits);
        let new = arithmetic::rmw(op, access.bits, old.bits, operand.bits);
        if self.unlogged(place, access) {
            old.dep = self.context.deps.union(old.dep, address.dep);
        } else {
            self.touch(t, address.bits, access.size, true);
            let mut e = event(t, access.site, EventKind::Rmw, access.order);
            e.update = Update::Rmw(op);
            e.read = Some(old.bits);
            e.written = Some(new);
            e.operand = Some(operand.bits);
            e.data = operand.dep;
            e.via = old.dep;
            let index = self.log_access(t, place, address, access, e);
            old.dep = self.context.deps.single(index);
        }
        let dep = match op {
            RmwOp::Xchg => operand.dep,
            _ => self.context.deps.union(old.dep, operand.dep),
        };
        let new = Val::new(new, dep);
        self.put(t, place, address.bits, access.size, new);
        Ok(old)
    }

    fn cas(&mut self, t: &mut Thread, cas: &Cas, access: &Access) -> Result<(Val, bool), RunEnd> {
        let address = cas.address;
        let place = self.access(t, address.bits, access.size, access.site, true)?;
        let mut old = self
            .shared
            .memory
            .read(place, access.size, |a, b| self.context.deps.union(a, b));
        old.bits = mask(old.bits, access.bits);
        let equal = cas.succeeds(old.bits, access.bits);
        let spurious = equal && cas.weak && self.context.variant == 1;
        if spurious {
            self.shared.spurious.push(access.site);
        }
        let success = equal && !spurious;
        if self.unlogged(place, access) {
            old.dep = self.context.deps.union(old.dep, address.dep);
        } else {
            self.touch(t, address.bits, access.size, success);
            let (kind, order) = match success {
                true => (EventKind::Rmw, access.order),
                false => (EventKind::CasFailed, cas.failure),
            };
            let mut e = event(t, access.site, kind, order);
            e.update = match cas.weak {
                true => Update::CasWeak,
                false => Update::Cas,
            };
            e.read = Some(old.bits);
            e.written = success.then_some(cas.written_bits(old.bits, access.bits));
            e.operand = Some(match cas.writes {
                CasWrite::Desired => cas.expected.bits,
                // what an exchange would have compared with
                _ => old.bits.wrapping_add((!success).into()),
            });
            e.data = self.context.deps.union(cas.expected.dep, cas.desired.dep);
            e.via = old.dep;
            let index = self.log_access(t, place, address, access, e);
            old.dep = self.context.deps.single(index);
        }
        if success {
            let desired = cas.written(old, access.bits, |a, b| self.context.deps.union(a, b));
            self.put(t, place, address.bits, access.size, desired);
        } else if spurious {
            t.progress();
        } else {
            t.saw(address.bits, access.size, Some(old.bits), false);
        }
        Ok((old, success))
    }

    fn fence(
        &mut self,
        t: &mut Thread,
        order: Order,
        signal: bool,
        site: SiteId,
    ) -> Result<(), RunEnd> {
        let kind = if signal {
            EventKind::SignalFence
        } else {
            EventKind::Fence
        };
        let e = event(t, site, kind, order);
        t.log.push(e);
        Ok(())
    }

    fn external(&mut self, t: &mut Thread, call: &ExternCall) -> Result<Flow, RunEnd> {
        call::call(self, t, call)
    }

    fn once_done(&mut self, t: &mut Thread, flag: u64, site: SiteId) -> Result<(), RunEnd> {
        self.finish_once(t, flag, site)
    }

    fn alloca(&mut self, t: &mut Thread, local: &NewLocal) -> Result<u64, RunEnd> {
        Ok(self.shared.memory.push_local(t.id, local))
    }

    fn locals(&self, t: &Thread) -> usize {
        self.shared.memory.locals(t.id)
    }

    fn leave(&mut self, t: &mut Thread, mark: usize, _ends: bool) -> Result<(), RunEnd> {
        let memory = &mut self.shared.memory;
        memory.pop_locals(t.id, mark, |object, address, byte| {
            t.mix(object.idle, address, byte);
        });
        Ok(())
    }

    fn thread_local(&mut self, t: &Thread, global: u32) -> u64 {
        self.shared.memory.thread_local(t.id, global)
    }
}
