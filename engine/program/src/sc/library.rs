//! The library: threads, locks, allocation, memory copies, the ways to end.
//!
//! A mutex holds its owner's number plus one in its first four bytes, a count in the next, its
//! type in the third: zeros, which every static initialiser is, are a free plain mutex.
use crate::interpreter::event::{Event, Kind, Update};
use crate::interpreter::step::{End, ExternCall, Flow, Outcome};
use crate::interpreter::thread::{State, Thread};
use crate::ir::program::*;
use crate::memory::address_space::{Place, MAX_THREADS};
use crate::memory::value::Val;
use crate::sc::machine::{event, thread_handle, View, LOCK_SIZE};

const RECURSIVE: u64 = 1;

impl View<'_, '_> {
    pub fn library(&mut self, t: &mut Thread, call: &ExternCall) -> Result<Flow, End> {
        let arg = |k: usize| call.arg(k);
        let number = |bits: u64| Ok(Flow::Value(Val::constant(bits)));
        match call.function {
            Extern::ThreadCreate => self.create(t, call),
            Extern::ThreadJoin => self.join(t, call),
            Extern::MutexInit => {
                let kind = match arg(1).bits {
                    0 => arg(2).bits & RECURSIVE,
                    attributes => self.shared.memory.word(attributes, 4),
                };
                self.set(t, call, arg(0).bits, 0)?;
                self.set(t, call, arg(0).bits + 4, 0)?;
                self.set(t, call, arg(0).bits + 8, kind)?;
                number(0)
            }
            Extern::AttrSetType => {
                self.set(t, call, arg(0).bits, arg(1).bits)?;
                number(0)
            }
            Extern::MutexLock => {
                self.lock(t, call.site, arg(0))?;
                number(0)
            }
            Extern::MutexTrylock => self.trylock(t, call),
            Extern::MutexUnlock => {
                self.unlock(t, call.site, arg(0))?;
                number(0)
            }
            Extern::CondSignal => {
                let condition = arg(0).bits;
                self.touch(t, condition, LOCK_SIZE, true);
                let wanted = self.context.variant as usize;
                let waiters = self.shared.waiters.iter().enumerate();
                let found = waiters
                    .filter(|(_, w)| w.0 == condition)
                    .map(|(k, _)| k)
                    .nth(wanted);
                t.log.note((call.site, wanted));
                if let Some(index) = found {
                    self.shared.waiters.remove(index);
                    t.progress();
                }
                number(0)
            }
            Extern::CondBroadcast => {
                let condition = arg(0).bits;
                self.touch(t, condition, LOCK_SIZE, true);
                t.log.note(call.site);
                let before = self.shared.waiters.len();
                self.shared.waiters.retain(|w| w.0 != condition);
                if self.shared.waiters.len() != before {
                    t.progress();
                }
                number(0)
            }
            Extern::CondWait => self.wait(t, call),
            Extern::BarrierInit => {
                self.set(t, call, arg(0).bits, arg(1).bits)?;
                self.set(t, call, arg(0).bits + 4, 0)?;
                self.set(t, call, arg(0).bits + 8, 0)?;
                number(0)
            }
            Extern::BarrierWait => self.barrier(t, call),
            Extern::Once => self.once(t, call),
            Extern::Malloc | Extern::Calloc | Extern::AlignedAlloc => {
                number(self.allocate(t, call)?)
            }
            Extern::PosixMemalign => {
                let address = Val::constant(self.allocate(t, call)?);
                let place = self.find(arg(0).bits, 8, call.site, true)?;
                self.shared.memory.write(place, 8, address);
                number(0)
            }
            Extern::Realloc => self.reallocate(t, call),
            Extern::Free => {
                if arg(0).bits == 0 {
                    return number(0);
                }
                match self.free(t, call, arg(0).bits) {
                    Ok(()) => number(0),
                    Err(end) => Err(end),
                }
            }
            Extern::Memcpy => {
                self.copy(t, call)?;
                Ok(Flow::Value(arg(0)))
            }
            Extern::Memset => {
                let size = call.copied()?;
                if size > 0 {
                    let place = self.access(t, arg(0).bits, size as u32, call.site, true)?;
                    let value = arg(1);
                    let bytes = vec![(value.bits as u8, value.dep); size as usize];
                    let mut e = event(t, call.site, Kind::Write, Order::Na);
                    if size <= 8 {
                        let byte = u64::from(value.bits as u8);
                        e.written = Some((0..size).fold(0, |bits, _| bits << 8 | byte));
                    }
                    e.data = value.dep;
                    self.log_range(t, place, arg(0), size, call.private.0, e);
                    self.put_bytes(t, place, arg(0).bits, &bytes);
                }
                Ok(Flow::Value(arg(0)))
            }
            Extern::ThreadSelf
            | Extern::ThreadEqual
            | Extern::ThreadExit
            | Extern::AssertFail
            | Extern::Abort(_)
            | Extern::Trap
            | Extern::Exit
            | Extern::Ignored(_) => call.alone(t.id, |at| self.shared.memory.text(at)),
        }
    }

    /// Writes one of the library's own fields.
    fn set(&mut self, t: &mut Thread, call: &ExternCall, at: u64, value: u64) -> Result<(), End> {
        let place = self.find(at, 4, call.site, true)?;
        if self.shared.memory.word(at, 4) != value {
            t.progress();
        }
        self.shared.memory.write(place, 4, Val::constant(value));
        Ok(())
    }

    /// A field without effect on what the thread is taken to have seen: locks and their hash say
    /// that by themselves.
    fn field(&mut self, site: SiteId, at: u64, value: u64) -> Result<(), End> {
        let place = self.find(at, 4, site, true)?;
        self.shared.memory.write(place, 4, Val::constant(value));
        Ok(())
    }

    fn locate(&self, e: &mut Event, place: Place, address: Val, size: u32) {
        let object = self.shared.memory.object(place);
        e.object = object.base;
        e.named = object.named;
        e.address = address.bits;
        e.addr = address.dep;
        e.size = size;
    }

    fn create(&mut self, t: &mut Thread, call: &ExternCall) -> Result<Flow, End> {
        let (handle, function, argument) = (call.args[0], call.args[1], call.args[2]);
        let index = self.shared.done.len();
        if index >= MAX_THREADS {
            let message = format!("more than {MAX_THREADS} threads");
            return Err(End::new(Outcome::Bound, message, Some(call.site)));
        }
        let program = self.context.program;
        let id = call.started(program)?;
        let place = self.find(handle.bits, 8, call.site, true)?;
        let value = Val::constant(thread_handle(index));
        self.shared.memory.write(place, 8, value);
        let mut e = event(t, call.site, Kind::Create, Order::Rel);
        e.other = Some(index as u32);
        e.data = self.context.deps.union(function.dep, argument.dep);
        t.log.push(e);
        t.progress();
        self.shared.memory.add_thread(program);
        self.shared.done.push(None);
        self.shared.live += 1;
        // the new thread's dependencies are on its own reads
        self.shared.born.push((id, Val::constant(argument.bits)));
        Ok(Flow::Value(Val::constant(0)))
    }

    fn join(&mut self, t: &mut Thread, call: &ExternCall) -> Result<Flow, End> {
        let (out, size) = (call.args[1], call.args[2]);
        let other = call.joined(t.id, self.shared.done.len(), self.shared.joined)?;
        // it has ended, or nobody would have run the call
        let result = self.shared.done[other].unwrap_or(0);
        self.shared.joined |= 1 << other;
        if out.bits != 0 {
            let place = self.find(out.bits, size.bits, call.site, true)?;
            let size = size.bits as u32;
            self.shared.memory.write(place, size, Val::constant(result));
        }
        let mut e = event(t, call.site, Kind::Join, Order::Acq);
        e.other = Some(other as u32);
        t.log.push(e);
        t.progress();
        Ok(Flow::Value(Val::constant(0)))
    }

    fn log_lock(
        &mut self,
        t: &mut Thread,
        site: SiteId,
        mutex: Val,
        kind: Kind,
    ) -> Result<(), End> {
        let place = self.find(mutex.bits, LOCK_SIZE.into(), site, true)?;
        self.touch(t, mutex.bits, LOCK_SIZE, true);
        let order = match kind {
            Kind::Lock => Order::Acq,
            _ => Order::Rel,
        };
        let mut e = event(t, site, kind, order);
        self.locate(&mut e, place, mutex, LOCK_SIZE);
        t.log.push(e);
        Ok(())
    }

    /// Takes a mutex that is free, or that the thread may take again.
    fn lock(&mut self, t: &mut Thread, site: SiteId, mutex: Val) -> Result<(), End> {
        let at = mutex.bits;
        self.find(at, 12, site, true)?;
        let me = t.id as u64 + 1;
        let count = self.shared.memory.word(at + 4, 4);
        self.log_lock(t, site, mutex, Kind::Lock)?;
        self.field(site, at, me)?;
        self.field(site, at + 4, count + 1)?;
        t.mix(at, count as u8 + 1);
        Ok(())
    }

    fn unlock(&mut self, t: &mut Thread, site: SiteId, mutex: Val) -> Result<(), End> {
        let at = mutex.bits;
        self.find(at, 12, site, true)?;
        if self.shared.memory.word(at, 4) != t.id as u64 + 1 {
            let message = "unlock of a mutex that the thread does not hold";
            return Err(End::new(Outcome::Memory, message, Some(site)));
        }
        let count = self.shared.memory.word(at + 4, 4);
        self.log_lock(t, site, mutex, Kind::Unlock)?;
        t.mix(at, count as u8);
        self.field(site, at + 4, count.saturating_sub(1))?;
        if count <= 1 {
            self.field(site, at, 0)?;
        }
        Ok(())
    }

    fn trylock(&mut self, t: &mut Thread, call: &ExternCall) -> Result<Flow, End> {
        let (mutex, busy) = (call.args[0], call.args[1]);
        self.find(mutex.bits, 12, call.site, true)?;
        let owner = self.shared.memory.word(mutex.bits, 4);
        let recursive = self.shared.memory.word(mutex.bits + 8, 4) == RECURSIVE;
        if owner == 0 || (recursive && owner == t.id as u64 + 1) {
            self.lock(t, call.site, mutex)?;
            return Ok(Flow::Value(Val::constant(0)));
        }
        // a failure synchronises with nothing and leaves no event
        self.touch(t, mutex.bits, LOCK_SIZE, false);
        t.saw(mutex.bits, LOCK_SIZE, owner);
        t.log.note((call.site, owner));
        Ok(Flow::Value(busy))
    }

    /// An unlock, a wait for the signal, a lock; there are no spurious wake-ups.
    fn wait(&mut self, t: &mut Thread, call: &ExternCall) -> Result<Flow, End> {
        let (condition, mutex) = (call.args[0], call.args[1]);
        if t.state == State::Running {
            self.touch(t, condition.bits, LOCK_SIZE, true);
            self.unlock(t, call.write_site, mutex)?;
            self.shared.waiters.push((condition.bits, t.id));
            t.progress();
            t.state = State::Waiting {
                condition: condition.bits,
                mutex: mutex.bits,
            };
            return Ok(Flow::Wait);
        }
        t.state = State::Running;
        self.lock(t, call.site, mutex)?;
        Ok(Flow::Value(Val::constant(0)))
    }

    /// Arrival is an acq_rel increment, leaving an acquire read: a barrier orders what is before
    /// it in any thread before what is after it in any other.
    fn barrier(&mut self, t: &mut Thread, call: &ExternCall) -> Result<Flow, End> {
        const SERIAL: u64 = 0xffff_ffff;
        let barrier = call.args[0];
        let at = barrier.bits;
        let place = self.find(at, 12, call.site, true)?;
        let arrived = self.shared.memory.word(at + 4, 4);
        if t.state != State::Running {
            t.state = State::Running;
            self.leave_barrier(t, call, place);
            return Ok(Flow::Value(Val::constant(0)));
        }
        self.touch(t, at, LOCK_SIZE, true);
        let mut e = event(t, call.write_site, Kind::Rmw, Order::AcqRel);
        self.locate(&mut e, place, barrier, LOCK_SIZE);
        e.update = Update::Rmw(RmwOp::Add);
        e.operand = Some(1);
        e.read = Some(arrived);
        e.written = Some(arrived + 1);
        t.log.push(e);
        t.progress();
        let generation = self.shared.memory.word(at + 8, 4);
        if arrived + 1 < self.shared.memory.word(at, 4) {
            self.field(call.site, at + 4, arrived + 1)?;
            t.state = State::AtBarrier {
                address: at,
                generation,
            };
            return Ok(Flow::Wait);
        }
        self.field(call.site, at + 4, 0)?;
        self.field(call.site, at + 8, (generation + 1) & 0xffff_ffff)?;
        self.leave_barrier(t, call, place);
        Ok(Flow::Value(Val::constant(SERIAL)))
    }

    fn leave_barrier(&mut self, t: &mut Thread, call: &ExternCall, place: Place) {
        let mut e = event(t, call.site, Kind::Read, Order::Acq);
        self.locate(&mut e, place, call.args[0], LOCK_SIZE);
        e.read = Some(self.shared.memory.word(call.args[0].bits, 4));
        t.log.push(e);
    }

    /// The flag is a lock that the function runs under: 0 new, 1 taken, 2 over.
    fn once(&mut self, t: &mut Thread, call: &ExternCall) -> Result<Flow, End> {
        let flag = call.args[0];
        let over = self.shared.memory.word(flag.bits, 4) == 2;
        self.log_lock(t, call.site, flag, Kind::Lock)?;
        t.progress();
        if over {
            self.log_lock(t, call.site, flag, Kind::Unlock)?;
            return Ok(Flow::Value(Val::constant(0)));
        }
        let id = call.started(self.context.program)?;
        self.field(call.site, flag.bits, 1)?;
        Ok(Flow::Once(id, flag.bits))
    }

    pub fn finish_once(&mut self, t: &mut Thread, flag: u64, site: SiteId) -> Result<(), End> {
        self.log_lock(t, site, Val::constant(flag), Kind::Unlock)?;
        self.field(site, flag, 2)
    }

    fn allocate(&mut self, t: &mut Thread, call: &ExternCall) -> Result<u64, End> {
        let new = call.wanted()?;
        t.progress();
        let memory = &mut self.shared.memory;
        Ok(memory.allocate(t.id, new.size, new.align, new.zeroed))
    }

    fn free(&mut self, t: &mut Thread, call: &ExternCall, address: u64) -> Result<(), End> {
        if let Some((base, size)) = self.shared.memory.extent(address) {
            self.touch(t, base, size, true);
        }
        t.log.note((call.site, address));
        t.progress();
        let freed = self.shared.memory.free(address);
        freed.map_err(|message| End::new(Outcome::Memory, message, Some(call.site)))
    }

    fn reallocate(&mut self, t: &mut Thread, call: &ExternCall) -> Result<Flow, End> {
        let (old, size) = (call.args[0].bits, call.args[1].bits);
        let new = self.allocate(t, call)?;
        let flow = Flow::Value(Val::constant(new));
        if old == 0 {
            return Ok(flow);
        }
        let from = self.find(old, 0, call.site, true)?;
        let kept = self.shared.memory.object(from).size.min(size);
        let bytes = self.shared.memory.bytes(from, kept);
        let to = self.find(new, kept, call.site, true)?;
        self.shared.memory.write_bytes(to, &bytes);
        self.free(t, call, old)?;
        Ok(flow)
    }

    fn log_range(
        &mut self,
        t: &mut Thread,
        place: Place,
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
        self.touch(t, address.bits, size, e.kind == Kind::Write);
        t.log.push(e);
        Some(t.log.len() as u32 - 1)
    }

    fn put_bytes(&mut self, t: &mut Thread, place: Place, address: u64, bytes: &[(u8, u32)]) {
        let old = self.shared.memory.bytes(place, bytes.len() as u64);
        if self.shared.memory.object(place).private {
            for (k, ((before, _), (after, _))) in old.iter().zip(bytes).enumerate() {
                t.mix(address + k as u64, *before);
                t.mix(address + k as u64, *after);
            }
        } else {
            t.progress();
        }
        self.shared.memory.write_bytes(place, bytes);
    }

    /// One read and one write event, however long.
    fn copy(&mut self, t: &mut Thread, call: &ExternCall) -> Result<(), End> {
        let (to, from, size) = (call.args[0], call.args[1], call.copied()?);
        if size == 0 {
            return Ok(());
        }
        let source = self.access(t, from.bits, size as u32, call.site, false)?;
        let target = self.access(t, to.bits, size as u32, call.write_site, true)?;
        let mut bytes = self.shared.memory.bytes(source, size);
        let number = (size <= 8).then(|| {
            let low_first = bytes.iter().rev();
            low_first.fold(0, |bits, b| bits << 8 | u64::from(b.0))
        });
        let mut all = from.dep;
        for (_, dep) in &bytes {
            all = self.context.deps.union(all, *dep);
        }
        let mut e = event(t, call.site, Kind::Read, Order::Na);
        e.read = number;
        e.via = all;
        if let Some(read) = self.log_range(t, source, from, size, call.private.1, e) {
            all = self.context.deps.single(read);
            bytes.iter_mut().for_each(|b| b.1 = all);
            for (k, byte) in bytes.iter().enumerate() {
                t.saw(from.bits + k as u64, 1, byte.0.into());
            }
        } else if from.dep != 0 {
            for byte in &mut bytes {
                byte.1 = self.context.deps.union(byte.1, from.dep);
            }
        }
        let mut e = event(t, call.write_site, Kind::Write, Order::Na);
        e.written = number;
        e.data = all;
        self.log_range(t, target, to, size, call.private.0, e);
        self.put_bytes(t, target, to.bits, &bytes);
        Ok(())
    }
}
