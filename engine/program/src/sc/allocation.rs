//! Library calls on sequentially consistent memory ([`Library`]), with allocation and copies of
//! memory.
use crate::interpreter::environment::{Environment, ExternCall, Flow};
use crate::interpreter::event::{Event, EventKind};
use crate::interpreter::outcome::{Outcome, RunEnd};
use crate::interpreter::thread::Thread;
use crate::ir::instruction::{Access, Annotation, Order, SiteId, SyncObject};
use crate::ir::program::Program;
use crate::library::mutex::{self, Lock};
use crate::library::operations::Library;
use crate::memory::address_space::ResolvedAddress;
use crate::memory::value::{Byte, Dep, Val};
use crate::sc::machine::{event, StepEnvironment};
use crate::sc::synchronisation::misused;

impl StepEnvironment<'_, '_> {
    fn log_range(
        &mut self,
        t: &mut Thread,
        place: ResolvedAddress,
        address: Val,
        size: u64,
        private: bool,
        mut e: Event,
    ) -> Option<u32> {
        let object = self.shared.memory.object(place);
        if private || object.private || object.constant {
            return None;
        }
        let size = u32::try_from(size).unwrap_or(u32::MAX);
        self.locate(&mut e, place, address, size);
        self.touch(t, address.bits, size, e.kind == EventKind::Write);
        t.log.push(e);
        Some(t.log.len() as u32 - 1)
    }

    fn put_bytes(&mut self, t: &mut Thread, place: ResolvedAddress, address: u64, bytes: &[Byte]) {
        let old = self.shared.memory.bytes(place, bytes.len() as u64);
        let object = self.shared.memory.object(place);
        if object.private {
            let idle = object.idle;
            for (k, (before, after)) in old.iter().zip(bytes).enumerate() {
                t.mix(idle, address + k as u64, before.value);
                t.mix(idle, address + k as u64, after.value);
            }
        } else {
            t.progress();
        }
        self.shared.memory.write_bytes(place, bytes);
    }
}

impl<'p> Library<'p> for StepEnvironment<'_, 'p> {
    fn field(&mut self, _: &mut Thread, _: &ExternCall, at: u64, size: u32) -> Result<u64, RunEnd> {
        Ok(self.shared.memory.word(at, size))
    }

    fn set_field(
        &mut self,
        t: &mut Thread,
        call: &ExternCall,
        at: u64,
        size: u32,
        value: u64,
    ) -> Result<(), RunEnd> {
        let place = self.find(at, size.into(), call.site, true)?;
        if self.shared.memory.word(at, size) != value {
            t.progress();
        }
        self.shared.memory.write(place, size, Val::constant(value));
        Ok(())
    }

    fn choose(&mut self, t: &mut Thread, call: &ExternCall, _: u32) -> Result<u64, RunEnd> {
        let choice = self.context.variant;
        t.log.note((call.site, choice));
        t.progress();
        Ok(choice.into())
    }

    fn called(&mut self, _: &mut Thread, _: &ExternCall) -> Result<(), RunEnd> {
        Ok(())
    }

    fn returned(&mut self, _: &mut Thread, _: &ExternCall) -> Result<(), RunEnd> {
        Ok(())
    }

    fn discard(&mut self, call: &ExternCall) -> Result<Flow, RunEnd> {
        Err(RunEnd::new(Outcome::Complete, "", Some(call.site)))
    }

    // A thread that sleeps may wake at any time, so that it reads until the value changes: whether
    // it is woken is the explorer's question.
    fn begin_sleep(&mut self, _: &mut Thread, _: &ExternCall) -> Result<bool, RunEnd> {
        Ok(false)
    }

    fn sleep(&mut self, _: &mut Thread, _: &ExternCall) -> Result<(), RunEnd> {
        Ok(())
    }

    fn end_sleep(&mut self, _: &mut Thread, _: &ExternCall) -> Result<bool, RunEnd> {
        Ok(true)
    }

    fn wake(&mut self, _: &mut Thread, _: &ExternCall) -> Result<u64, RunEnd> {
        Ok(0)
    }

    fn sleepers(&mut self, _: &mut Thread, _: &ExternCall) -> Result<u64, RunEnd> {
        Ok(0)
    }

    fn requeue(&mut self, _: &mut Thread, _: &ExternCall) -> Result<u64, RunEnd> {
        Ok(0)
    }

    fn misuse(&mut self, call: &ExternCall) -> Result<Flow, RunEnd> {
        let message = self.shared.memory.text(call.arg(0).bits);
        Err(RunEnd::new(Outcome::Memory, message, Some(call.site)))
    }

    fn refuse(&mut self, call: &ExternCall) -> Result<Flow, RunEnd> {
        let message = self.shared.memory.text(call.arg(0).bits);
        Err(RunEnd::new(Outcome::Unsupported, message, Some(call.site)))
    }

    fn program(&self) -> &'p Program {
        self.context.program
    }

    fn either(&mut self, _: &mut Thread, call: &ExternCall) -> Result<bool, RunEnd> {
        let again = self.shared.spurious.contains(&call.site);
        Ok(self.context.variant == 1 && !again)
    }

    fn chosen(&mut self, t: &mut Thread, call: &ExternCall, choice: bool) -> Dep {
        t.log.note((call.site, choice));
        if choice {
            self.shared.spurious.push(call.site);
            t.progress();
        }
        0
    }

    fn byte(&mut self, t: &mut Thread, call: &ExternCall, at: u64) -> Result<Val, RunEnd> {
        let access = Access {
            site: call.site,
            order: Order::Na,
            size: 1,
            bits: 8,
            volatile: false,
            private: call.private.0,
            update: false,
            partial: false,
        };
        self.load(t, Val::constant(at), &access)
    }

    fn begin_life(
        &mut self,
        t: &mut Thread,
        call: &ExternCall,
        object: SyncObject,
        value: u64,
    ) -> Result<(), RunEnd> {
        let old = self.state_of(t, call, object)?;
        let state = object
            .initialise(old, value)
            .map_err(|misuse| misused(misuse, call.site))?;
        self.set_field(t, call, call.arg(0).bits, object.size(), state)
    }

    fn end_life(
        &mut self,
        t: &mut Thread,
        call: &ExternCall,
        object: SyncObject,
    ) -> Result<(), RunEnd> {
        let old = self.state_of(t, call, object)?;
        let destroyed = object
            .destroy(old)
            .map_err(|misuse| misused(misuse, call.site))?;
        self.set_field(t, call, call.arg(0).bits, object.size(), destroyed)
    }

    fn text(&self, address: u64) -> String {
        self.shared.memory.text(address)
    }

    fn create(&mut self, t: &mut Thread, call: &ExternCall) -> Result<Flow, RunEnd> {
        self.create_thread(t, call)
    }

    fn join(&mut self, t: &mut Thread, call: &ExternCall) -> Result<Flow, RunEnd> {
        self.join_thread(t, call)
    }

    fn detach(&mut self, t: &mut Thread, call: &ExternCall) -> Result<(), RunEnd> {
        self.detach_thread(t, call)
    }

    fn try_lock(&mut self, t: &mut Thread, call: &ExternCall) -> Result<(Lock, Val), RunEnd> {
        let mutex = call.args[0];
        let held = t.holds(mutex.bits);
        let lock = self.lock_mutex(t, call.site, mutex, held)?;
        if let Lock::Busy | Lock::Deadlock = lock {
            self.note_busy(t, call.site, mutex.bits);
        }
        Ok((lock, Val::default()))
    }

    fn lock(&mut self, t: &mut Thread, call: &ExternCall) -> Result<Flow, RunEnd> {
        let mutex = call.args[0];
        let held = t.holds(mutex.bits);
        match self.lock_mutex(t, call.site, mutex, held)? {
            Lock::Acquire(_) | Lock::Again => Ok(Flow::Value(Val::constant(0))),
            Lock::Deadlock => Ok(Flow::Value(Val::constant(mutex::EDEADLK))),
            Lock::Busy => Ok(Flow::Wait),
        }
    }

    fn unlock(&mut self, t: &mut Thread, call: &ExternCall) -> Result<u64, RunEnd> {
        self.unlock_mutex(t, call)
    }

    fn wait(&mut self, t: &mut Thread, call: &ExternCall) -> Result<Flow, RunEnd> {
        self.wait_for_condition(t, call)
    }

    fn signal(&mut self, t: &mut Thread, call: &ExternCall) -> Result<(), RunEnd> {
        self.signal_condition(t, call)
    }

    fn broadcast(&mut self, t: &mut Thread, call: &ExternCall) -> Result<(), RunEnd> {
        self.broadcast_condition(t, call)
    }

    /// Threads take turns: no grace period has to end.
    fn srcu(
        &mut self,
        t: &mut Thread,
        call: &ExternCall,
        annotation: Annotation,
    ) -> Result<Val, RunEnd> {
        self.fence(t, annotation.into(), false, call.site)?;
        Ok(Val::constant(0))
    }

    fn wait_at_barrier(&mut self, t: &mut Thread, call: &ExternCall) -> Result<Flow, RunEnd> {
        self.meet_at_barrier(t, call)
    }

    fn once(&mut self, t: &mut Thread, call: &ExternCall) -> Result<Flow, RunEnd> {
        self.call_once(t, call)
    }

    fn allocate(&mut self, t: &mut Thread, call: &ExternCall) -> Result<u64, RunEnd> {
        let new = call.wanted(&self.shared.memory, t.id)?;
        t.progress();
        let memory = &mut self.shared.memory;
        Ok(memory.allocate(t.id, new.size, new.align, new.zeroed, call.site))
    }

    fn posix_memalign(&mut self, t: &mut Thread, call: &ExternCall) -> Result<(), RunEnd> {
        let address = Val::constant(self.allocate(t, call)?);
        let place = self.find(call.arg(0).bits, 8, call.site, true)?;
        self.shared.memory.write(place, 8, address);
        Ok(())
    }

    fn reallocate(&mut self, t: &mut Thread, call: &ExternCall) -> Result<u64, RunEnd> {
        let (old, size) = (call.args[0].bits, call.args[1].bits);
        let new = self.allocate(t, call)?;
        if old == 0 {
            return Ok(new);
        }
        let from = self.find(old, 0, call.site, true)?;
        let copied = self.shared.memory.object(from).size.min(size);
        let bytes = self.shared.memory.bytes(from, copied);
        let to = self.find(new, copied, call.site, true)?;
        self.shared.memory.write_bytes(to, &bytes);
        self.free(t, call.site, old)?;
        Ok(new)
    }

    fn free(&mut self, t: &mut Thread, site: SiteId, address: u64) -> Result<(), RunEnd> {
        if let Some((base, size)) = self.shared.memory.extent(address) {
            self.touch(t, base, size, true);
        }
        t.log.note((site, address));
        t.progress();
        let freed = self.shared.memory.free(address);
        freed.map_err(|message| RunEnd::new(Outcome::Memory, message, Some(site)))
    }

    /// One read event and one write event, whatever the size.
    fn copy(&mut self, t: &mut Thread, call: &ExternCall, size: u64) -> Result<(), RunEnd> {
        let (to, from) = (call.args[0], call.args[1]);
        let source = self.access(t, from.bits, size as u32, call.site, false)?;
        let target = self.access(t, to.bits, size as u32, call.write_site, true)?;
        let mut bytes = self.shared.memory.bytes(source, size);
        let number = (size <= 8).then(|| {
            let low_first = bytes.iter().rev();
            low_first.fold(0, |bits, b| bits << 8 | u64::from(b.value))
        });
        let mut all = from.dep;
        for byte in &bytes {
            all = self.context.deps.union(all, byte.dep);
        }
        let mut e = event(t, call.site, EventKind::Read, Order::Na);
        e.read = number;
        e.via = all;
        if let Some(read) = self.log_range(t, source, from, size, call.private.1, e) {
            all = self.context.deps.single(read);
            bytes.iter_mut().for_each(|b| b.dep = all);
            for (k, byte) in bytes.iter().enumerate() {
                t.saw(from.bits + k as u64, 1, Some(byte.value.into()), true);
            }
        } else if from.dep != 0 {
            for byte in &mut bytes {
                byte.dep = self.context.deps.union(byte.dep, from.dep);
            }
        }
        let mut e = event(t, call.write_site, EventKind::Write, Order::Na);
        e.written = number;
        e.data = all;
        self.log_range(t, target, to, size, call.private.0, e);
        self.put_bytes(t, target, to.bits, &bytes);
        Ok(())
    }

    fn fill(&mut self, t: &mut Thread, call: &ExternCall, size: u64) -> Result<(), RunEnd> {
        let (to, value) = (call.args[0], call.args[1]);
        let place = self.access(t, to.bits, size as u32, call.site, true)?;
        let byte = Byte {
            value: value.bits as u8,
            dep: value.dep,
            undefined: false,
        };
        let bytes = vec![byte; size as usize];
        let mut e = event(t, call.site, EventKind::Write, Order::Na);
        if size <= 8 {
            let byte = u64::from(value.bits as u8);
            e.written = Some((0..size).fold(0, |bits, _| bits << 8 | byte));
        }
        e.data = value.dep;
        self.log_range(t, place, to, size, call.private.0, e);
        self.put_bytes(t, place, to.bits, &bytes);
        Ok(())
    }
}
