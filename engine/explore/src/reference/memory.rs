//! Accesses of memory, as events, and how they are divided into locations.

use super::semantics::ReferenceEnvironment;
use crate::semantics::environment::{AccessTarget, Accesses, Done, Events, Interruption, ReadMode};
use crate::semantics::rounds::Step;
use crate::source::{Action, FaultKind, Location};
use program::interpreter::thread::Thread;
use program::ir::bits::mask;
use program::ir::{Order, SiteId};
use program::memory::{is_wholly, Byte, Memory, ResolvedAddress, Val};
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
        let (answer, new) = self.answer_to(action, site)?;
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
        if self.answer_to(action, site)?.1 {
            self.record(t, Step::Write(at, value.bits));
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
            return Ok(value_of(&self.read_range(
                t,
                from,
                size.into(),
                how.uninitialised_ok,
            )?));
        }
        let pieces = self
            .semantics
            .divide(from.address, size.into(), true, site)?;
        self.read_location(t, pieces[0], how, site)
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
        Ok(self.read_location(t, at, how, of.site)?.bits)
    }

    fn write_outside(
        &mut self,
        t: &mut Thread,
        (of, at): (AccessTarget, Location),
        order: Order,
        (_, value): (u64, u64),
    ) -> Done<()> {
        self.write_location(t, at, (order, true), Val::constant(value), of.site)
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
    fn read_range(
        &mut self,
        t: &mut Thread,
        from: AccessTarget,
        size: u64,
        uninitialised_ok: bool,
    ) -> Done<Vec<Byte>> {
        if let Some(place) = self.find(t, from, size, false)? {
            return Ok(self.local.memory.bytes(place, size));
        }
        let pieces = self
            .semantics
            .divide(from.address, size, false, from.site)?;
        let how = ReadMode {
            uninitialised_ok: uninitialised_ok || pieces.len() > 1,
            ..ReadMode::PLAIN
        };
        let mut bytes = Vec::with_capacity(size as usize);
        for at in pieces {
            let value = self.read_location(t, at, how, from.site)?;
            bytes.extend(bytes_of(value, at.size));
        }
        Ok(bytes)
    }

    /// Writes plain bytes.
    fn write_range(&mut self, t: &mut Thread, to: AccessTarget, bytes: &[Byte]) -> Done<()> {
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
