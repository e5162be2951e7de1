//! Accesses of memory, as events, and how they are divided into locations.

use super::semantics::ReferenceEnvironment;
use crate::semantics::dependencies::DependencySets;
use crate::semantics::environment::{AccessTarget, Accesses, Done, Events, Interruption, ReadMode};
use crate::semantics::rounds::Step;
use crate::source::{Action, FaultKind, Location};
use program::interpreter::thread::Thread;
use program::ir::bits::mask;
use program::ir::Order;
use program::memory::{is_wholly, Byte, Dep, Memory, ResolvedAddress, Val};
use std::sync::Arc;

fn bytes_of(value: Val, size: u32) -> Vec<Byte> {
    let bytes = value.bits.to_le_bytes();
    let byte = |k: usize| Byte {
        value: bytes[k],
        dep: value.dep,
        undefined: value.undefined >> k & 1 == 1,
    };
    (0..size as usize).map(byte).collect()
}

fn value_of(sets: &DependencySets, bytes: &[Byte]) -> Val {
    let dep = bytes.iter().fold(0, |all, byte| sets.union(all, byte.dep));
    let mut value = Val::new(0, dep);
    for (k, byte) in bytes.iter().enumerate() {
        value.bits |= u64::from(byte.value) << (8 * k);
        value.undefined |= u8::from(byte.undefined) << k;
    }
    value
}

impl ReferenceEnvironment<'_, '_> {
    /// Where an access is that is no event: of a constant, or of a local variable whose address does
    /// not escape. None: it is an event.
    pub fn find(
        &self,
        t: &Thread,
        to: AccessTarget,
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

    /// What a value depends on that an access to the thread's own memory finds there: also on the
    /// address. Later events depend on that as they would through the access (`addr; po`).
    fn own(&self, t: &mut Thread, access: AccessTarget, value: Dep) -> Dep {
        match self.semantics.sets.tracked && access.addr != 0 {
            true => {
                if !self.is_kernel() {
                    self.add_control(t, access.addr);
                }
                self.union(value, access.addr)
            }
            false => value,
        }
    }

    fn read_location(
        &mut self,
        t: &mut Thread,
        (of, at): (AccessTarget, Location),
        how: ReadMode,
        continues: bool,
    ) -> Done<Val> {
        let action = Action::Read {
            at,
            order: how.order,
            rmw: how.rmw,
            uninitialised_ok: how.uninitialised_ok,
            ignored: false,
        };
        let (answer, new) = self.answer_to(t, action, of.site, (of.addr, 0), continues)?;
        if new {
            self.record(t, Step::Read(at, answer.value));
        }
        let plain = how.order.is_plain(how.rmw);
        let mut value = Val::new(answer.value, self.answered(t, plain));
        value.undefined = answer.undefined;
        Ok(value)
    }

    pub fn write_location(
        &mut self,
        t: &mut Thread,
        (of, at): (AccessTarget, Location),
        (order, rmw): (Order, bool),
        value: Val,
        continues: bool,
    ) -> Done<()> {
        let action = Action::Write {
            at,
            order,
            value: value.bits,
            rmw,
            undefined: value.undefined,
        };
        let depends = (of.addr, value.dep);
        if self.answer_to(t, action, of.site, depends, continues)?.1 {
            self.record(t, Step::Write(at, value.bits));
        }
        Ok(())
    }

    /// Reads the locations that an access is divided into. Those of a plain one are accesses of their own.
    fn read_parts(
        &mut self,
        t: &mut Thread,
        (from, parts): (AccessTarget, &[Location]),
        how: ReadMode,
    ) -> Done<Vec<Byte>> {
        let atomic = !how.order.is_plain(how.rmw);
        let how = ReadMode {
            uninitialised_ok: how.uninitialised_ok || parts.len() > 1,
            ..how
        };
        let mut bytes = Vec::new();
        for (k, at) in parts.iter().enumerate() {
            let value = self.read_location(t, (from, *at), how, atomic && k > 0)?;
            bytes.extend(bytes_of(value, at.size));
        }
        Ok(bytes)
    }

    /// Writes the locations that an access is divided into.
    fn write_parts(
        &mut self,
        t: &mut Thread,
        (to, parts): (AccessTarget, &[Location]),
        (order, rmw): (Order, bool),
        bytes: &[Byte],
    ) -> Done<()> {
        let atomic = !order.is_plain(rmw);
        for (k, at) in parts.iter().enumerate() {
            let from = (at.address - to.address) as usize;
            let bytes = &bytes[from..from + at.size as usize];
            let value = value_of(&self.semantics.sets, bytes);
            self.write_location(t, (to, *at), (order, rmw), value, atomic && k > 0)?;
        }
        Ok(())
    }
}

impl Accesses for ReferenceEnvironment<'_, '_> {
    fn is_event(&self, t: &Thread, to: AccessTarget, write: bool) -> Done<bool> {
        Ok(self.find(t, to, to.size.into(), write)?.is_none())
    }

    fn read(&mut self, t: &mut Thread, from: AccessTarget, how: ReadMode) -> Done<Val> {
        let AccessTarget { size, site, .. } = from;
        if let Some(place) = self.find(t, from, size.into(), false)? {
            let sets = &self.semantics.sets;
            let mut value = self.local.memory.read(place, size, |a, b| sets.union(a, b));
            if is_wholly(value.undefined, 8 * size) && !how.uninitialised_ok {
                let message = "read of uninitialised memory".to_owned();
                return Err(Interruption::Fault(FaultKind::Uninitialised, message, site));
            }
            value.dep = self.own(t, from, value.dep);
            if self.in_library {
                self.add_control(t, value.dep);
            }
            return Ok(value);
        }
        if how.order.is_plain(how.rmw) {
            if size > 8 {
                let message = "the reference does not support accesses of 16 bytes".to_owned();
                return Err(Interruption::Unsupported(message, site));
            }
            let bytes = self.read_range(t, from, size.into(), how.uninitialised_ok)?;
            return Ok(value_of(&self.semantics.sets, &bytes));
        }
        let parts = self
            .semantics
            .divide(from.address, size.into(), true, site)?;
        let bytes = self.read_parts(t, (from, &parts), how)?;
        Ok(value_of(&self.semantics.sets, &bytes))
    }

    fn read_outside(
        &mut self,
        t: &mut Thread,
        (of, at): (AccessTarget, Location),
        order: Order,
        rmw: bool,
    ) -> Done<u64> {
        let how = ReadMode {
            order,
            rmw,
            uninitialised_ok: true,
        };
        Ok(self.read_location(t, (of, at), how, false)?.bits)
    }

    fn write_outside(
        &mut self,
        t: &mut Thread,
        (of, at): (AccessTarget, Location),
        order: Order,
        (_, value): (u64, u64),
    ) -> Done<()> {
        self.write_location(t, (of, at), (order, true), Val::constant(value), false)
    }

    fn write(
        &mut self,
        t: &mut Thread,
        to: AccessTarget,
        order: Order,
        rmw: bool,
        value: Val,
    ) -> Done<()> {
        let AccessTarget { size, site, .. } = to;
        if let Some(place) = self.find(t, to, size.into(), true)? {
            self.own(t, to, 0);
            let dep = self.left_here(t, value.dep);
            let value = Val { dep, ..value };
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
        if order.is_plain(rmw) {
            return self.write_range(t, to, &bytes_of(value, size));
        }
        let parts = self.semantics.divide(to.address, size.into(), true, site)?;
        self.write_parts(t, (to, &parts), (order, rmw), &bytes_of(value, size))
    }

    /// Reads plain bytes.
    fn read_range(
        &mut self,
        t: &mut Thread,
        from: AccessTarget,
        size: u64,
        uninitialised_ok: bool,
    ) -> Done<Vec<Byte>> {
        if let Some(place) = self.find(t, from, size, false)? {
            let mut bytes = self.local.memory.bytes(place, size);
            for byte in &mut bytes {
                byte.dep = self.own(t, from, byte.dep);
            }
            return Ok(bytes);
        }
        let pieces = self
            .semantics
            .divide(from.address, size, false, from.site)?;
        let how = ReadMode {
            uninitialised_ok,
            ..ReadMode::PLAIN
        };
        self.read_parts(t, (from, &pieces), how)
    }

    /// Writes plain bytes.
    fn write_range(&mut self, t: &mut Thread, to: AccessTarget, bytes: &[Byte]) -> Done<()> {
        let size = bytes.len() as u64;
        if let Some(place) = self.find(t, to, size, true)? {
            self.own(t, to, 0);
            let mut bytes = bytes.to_vec();
            for byte in &mut bytes {
                byte.dep = self.left_here(t, byte.dep);
            }
            Arc::make_mut(&mut self.local.memory).write_bytes(place, &bytes);
            self.settle(t);
            return Ok(());
        }
        let parts = self.semantics.divide(to.address, size, false, to.site)?;
        self.write_parts(t, (to, &parts), (Order::Na, false), bytes)
    }
}
