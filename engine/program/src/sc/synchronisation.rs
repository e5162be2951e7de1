//! Threads, mutexes, condition variables, barriers and once flags on sequentially consistent
//! memory.
//!
//! A step of the machine is a call, or the part of it up to where it waits. It records the events
//! of litmus tests, a lock and an unlock, instead of the accesses of an object's state.
use crate::interpreter::environment::{ExternCall, Flow};
use crate::interpreter::event::{Event, EventKind, Update};
use crate::interpreter::outcome::{Outcome, RunEnd};
use crate::interpreter::thread::{State, Thread};
use crate::ir::instruction::{Extern, Order, RmwOp, SiteId, SyncObject};
use crate::library::mutex::{Lock, OwnersUse};
use crate::library::operations::Library;
use crate::library::threads::{self, thread_handle};
use crate::library::{barrier, condition, mutex, once, Misuse};
use crate::memory::address_space::{ResolvedAddress, MAX_THREADS};
use crate::memory::value::Val;
use crate::sc::machine::{event, StepEnvironment, LOCK_SIZE};

pub fn misused(misuse: Misuse, site: SiteId) -> RunEnd {
    RunEnd::new(Outcome::Memory, misuse.0, Some(site))
}

impl StepEnvironment<'_, '_> {
    fn state(&self, address: u64, size: u32) -> u64 {
        self.shared.memory.word(address, size)
    }

    /// Writes an object's state. This is not progress of the thread: the mutexes that it holds are
    /// part of its own state.
    fn set_state(&mut self, site: SiteId, at: u64, size: u32, state: u64) -> Result<(), RunEnd> {
        let place = self.find(at, size.into(), site, true)?;
        self.shared.memory.write(place, size, Val::constant(state));
        Ok(())
    }

    /// The state of the object at a call's first argument, which the call changes.
    pub fn state_of(
        &mut self,
        t: &Thread,
        call: &ExternCall,
        object: SyncObject,
    ) -> Result<u64, RunEnd> {
        let (at, size) = (call.arg(0).bits, object.size());
        self.find(at, size.into(), call.site, true)?;
        self.touch(t, at, size, true);
        Ok(self.state(at, size))
    }

    pub fn locate(&self, e: &mut Event, place: ResolvedAddress, address: Val, size: u32) {
        let object = self.shared.memory.object(place);
        e.object = object.base;
        e.named = object.named;
        e.address = address.bits;
        e.addr = address.dep;
        e.size = size;
    }

    pub fn create_thread(&mut self, t: &mut Thread, call: &ExternCall) -> Result<Flow, RunEnd> {
        let (handle, function, argument) = (call.args[0], call.args[1], call.args[2]);
        let attributes = call.args[3].bits;
        let index = self.shared.done.len();
        if index >= MAX_THREADS {
            let message = format!("more than {MAX_THREADS} threads");
            return Err(RunEnd::new(Outcome::Bound, message, Some(call.site)));
        }
        let program = self.context.program;
        let id = call.started(program)?;
        if attributes != 0 && self.field(t, call, attributes, 4)? == threads::CREATE_DETACHED {
            self.shared.detached |= 1 << index;
        }
        let place = self.find(handle.bits, 8, call.site, true)?;
        let value = Val::constant(thread_handle(index));
        self.shared.memory.write(place, 8, value);
        let mut e = event(t, call.site, EventKind::Create, Order::Rel);
        e.other = Some(index as u32);
        e.data = self.context.deps.union(function.dep, argument.dep);
        t.log.push(e);
        t.progress();
        self.shared.memory.add_thread(program);
        self.shared.done.push(None);
        self.shared.live += 1;
        // dependencies do not cross threads
        self.shared.born.push((id, Val::constant(argument.bits)));
        Ok(Flow::Value(Val::constant(0)))
    }

    pub fn join_thread(&mut self, t: &mut Thread, call: &ExternCall) -> Result<Flow, RunEnd> {
        let (out, size) = (call.args[1], call.args[2]);
        let (joined, detached) = (self.shared.joined, self.shared.detached);
        let known = self.shared.done.len();
        let other = threads::join(call.args[0].bits, t.id, known, joined, detached)
            .map_err(|misuse| misused(misuse, call.site))?;
        // the thread has ended: otherwise the call is not enabled
        let result = self.shared.done[other].unwrap_or(0);
        self.shared.joined |= 1 << other;
        if out.bits != 0 {
            let place = self.find(out.bits, size.bits, call.site, true)?;
            let size = size.bits as u32;
            self.shared.memory.write(place, size, Val::constant(result));
        }
        let mut e = event(t, call.site, EventKind::Join, Order::Acq);
        e.other = Some(other as u32);
        t.log.push(e);
        t.progress();
        Ok(Flow::Value(Val::constant(0)))
    }

    pub fn detach_thread(&mut self, t: &mut Thread, call: &ExternCall) -> Result<(), RunEnd> {
        let (joined, detached) = (self.shared.joined, self.shared.detached);
        let known = self.shared.done.len();
        let other = threads::detach(call.args[0].bits, known, joined, detached)
            .map_err(|misuse| misused(misuse, call.site))?;
        self.shared.detached |= 1 << other;
        t.progress();
        Ok(())
    }

    fn log_lock(
        &mut self,
        t: &mut Thread,
        site: SiteId,
        mutex: Val,
        kind: EventKind,
    ) -> Result<(), RunEnd> {
        let place = self.find(mutex.bits, LOCK_SIZE.into(), site, true)?;
        self.touch(t, mutex.bits, LOCK_SIZE, true);
        let order = match kind {
            EventKind::Lock => mutex::LOCK,
            _ => mutex::UNLOCK,
        };
        let mut e = event(t, site, kind, order);
        self.locate(&mut e, place, mutex, LOCK_SIZE);
        t.log.push(e);
        Ok(())
    }

    /// Locks a mutex that is free, or recursive and held by the thread. Returns what it did.
    pub fn lock_mutex(
        &mut self,
        t: &mut Thread,
        site: SiteId,
        mutex: Val,
        held: u32,
    ) -> Result<Lock, RunEnd> {
        let at = mutex.bits;
        self.find(at, mutex::SIZE.into(), site, true)?;
        let state = self.state(at, mutex::SIZE);
        let lock = mutex::lock(state, t.id, held).map_err(|misuse| misused(misuse, site))?;
        let locked = match lock {
            Lock::Acquire(locked) => locked,
            Lock::Again => state,
            Lock::Deadlock | Lock::Busy => return Ok(lock),
        };
        self.log_lock(t, site, mutex, EventKind::Lock)?;
        self.set_state(site, at, mutex::SIZE, locked)?;
        t.hold(at, held + 1, mutex::free(locked));
        Ok(lock)
    }

    /// Records a trylock that fails, which synchronises with nothing and is no event.
    pub fn note_busy(&mut self, t: &mut Thread, site: SiteId, mutex: u64) {
        let state = self.state(mutex, mutex::SIZE);
        self.touch(t, mutex, LOCK_SIZE, false);
        t.saw(mutex, LOCK_SIZE, Some(state), false);
        t.log.note((site, state));
    }

    /// What a thread gets for a use that only the owner of the mutex may make.
    fn refuse(
        &mut self,
        t: &mut Thread,
        site: SiteId,
        at: u64,
        owners: OwnersUse,
    ) -> Result<u64, RunEnd> {
        self.find(at, mutex::SIZE.into(), site, true)?;
        self.touch(t, at, LOCK_SIZE, false);
        let state = self.state(at, mutex::SIZE);
        mutex::refuse(owners, state).map_err(|misuse| misused(misuse, site))
    }

    pub fn unlock_mutex(&mut self, t: &mut Thread, call: &ExternCall) -> Result<u64, RunEnd> {
        let (mutex, site) = (call.args[0], call.site);
        let at = mutex.bits;
        let held = t.holds(at);
        if held == 0 {
            return self.refuse(t, site, at, OwnersUse::unlock(call));
        }
        self.find(at, mutex::SIZE.into(), site, true)?;
        self.log_lock(t, site, mutex, EventKind::Unlock)?;
        let free = t.free_state(at);
        if held == 1 {
            self.set_state(site, at, mutex::SIZE, free)?;
        }
        t.hold(at, held - 1, free);
        Ok(0)
    }

    /// Takes two steps: the thread starts to wait; the thread was woken and finds the mutex free.
    pub fn wait_for_condition(
        &mut self,
        t: &mut Thread,
        call: &ExternCall,
    ) -> Result<Flow, RunEnd> {
        let (condition, mutex) = (call.args[0].bits, call.args[1]);
        let held = t.holds(mutex.bits);
        if t.state == State::Running {
            if held == 0 {
                let error = self.refuse(t, call.site, mutex.bits, OwnersUse::Wait)?;
                return Ok(Flow::Value(Val::constant(error)));
            }
            self.check_condition(call)?;
            self.touch(t, condition, LOCK_SIZE, true);
            self.log_lock(t, call.write_site, mutex, EventKind::Unlock)?;
            let free = t.free_state(mutex.bits);
            self.set_state(call.write_site, mutex.bits, mutex::SIZE, free)?;
            if call.function == Extern::CondWait {
                let waiting = condition::begin_wait(self.state(condition, condition::SIZE), t.id);
                self.set_state(call.site, condition, condition::SIZE, waiting)?;
                t.progress();
            }
            t.state = State::Waiting {
                condition,
                mutex: mutex.bits,
            };
            return Ok(Flow::Wait);
        }
        // the thread holds the mutex as often as before
        if let Lock::Acquire(_) = self.lock_mutex(t, call.site, mutex, 0)? {
            t.hold(mutex.bits, held, t.free_state(mutex.bits));
            t.state = State::Running;
            return Ok(Flow::Value(Val::constant(0)));
        }
        Ok(Flow::Wait)
    }

    fn check_condition(&self, call: &ExternCall) -> Result<(), RunEnd> {
        let state = self.state(call.args[0].bits, condition::SIZE);
        condition::check_use(state).map_err(|misuse| misused(misuse, call.site))
    }

    /// Wakes the waiting thread that the step's alternative selects.
    pub fn signal_condition(&mut self, t: &mut Thread, call: &ExternCall) -> Result<(), RunEnd> {
        let at = call.args[0].bits;
        self.check_condition(call)?;
        self.touch(t, at, LOCK_SIZE, true);
        let choice = self.context.variant;
        t.log.note((call.site, choice as usize));
        let state = self.state(at, condition::SIZE);
        if let Some(after) = condition::signal(state, choice.into()) {
            self.set_state(call.site, at, condition::SIZE, after)?;
            t.progress();
        }
        Ok(())
    }

    pub fn broadcast_condition(&mut self, t: &mut Thread, call: &ExternCall) -> Result<(), RunEnd> {
        let at = call.args[0].bits;
        self.check_condition(call)?;
        self.touch(t, at, LOCK_SIZE, true);
        t.log.note(call.site);
        if self.state(at, condition::SIZE) != condition::NO_WAITERS {
            self.set_state(call.site, at, condition::SIZE, condition::NO_WAITERS)?;
            t.progress();
        }
        Ok(())
    }

    /// Takes two steps, unless the thread is the last to arrive: it arrives; it leaves.
    pub fn meet_at_barrier(&mut self, t: &mut Thread, call: &ExternCall) -> Result<Flow, RunEnd> {
        let barrier = call.args[0];
        let at = barrier.bits;
        let place = self.find(at, barrier::SIZE.into(), call.site, true)?;
        if let State::AtBarrier { arrived, .. } = t.state {
            let now = self.state(at, barrier::SIZE);
            barrier::has_opened(arrived, now).map_err(|misuse| misused(misuse, call.site))?;
            t.state = State::Running;
            self.leave_barrier(t, call, place);
            return Ok(Flow::Value(Val::constant(0)));
        }
        let state = self.state(at, barrier::SIZE);
        let arrival = barrier::arrive(state).map_err(|misuse| misused(misuse, call.site))?;
        self.touch(t, at, LOCK_SIZE, true);
        let mut e = event(t, call.write_site, EventKind::Rmw, barrier::ARRIVE);
        self.locate(&mut e, place, barrier, LOCK_SIZE);
        e.update = Update::Rmw(RmwOp::Add);
        e.operand = Some(1);
        e.read = Some(barrier::arrived(state));
        e.written = Some(barrier::arrived(state) + 1);
        t.log.push(e);
        t.progress();
        match arrival {
            barrier::Arrival::Waits(after) => {
                self.set_state(call.site, at, barrier::SIZE, after)?;
                t.state = State::AtBarrier {
                    address: at,
                    arrived: state,
                };
                Ok(Flow::Wait)
            }
            barrier::Arrival::Opens(after) => {
                self.set_state(call.site, at, barrier::SIZE, after)?;
                self.leave_barrier(t, call, place);
                Ok(Flow::Value(Val::constant(barrier::SERIAL_THREAD)))
            }
        }
    }

    fn leave_barrier(&mut self, t: &mut Thread, call: &ExternCall, place: ResolvedAddress) {
        let mut e = event(t, call.site, EventKind::Read, barrier::LEAVE);
        self.locate(&mut e, place, call.args[0], LOCK_SIZE);
        let state = self.state(call.args[0].bits, barrier::SIZE);
        e.read = Some(barrier::threads(state));
        t.log.push(e);
    }

    /// The flag has the events of a mutex that the function runs under.
    pub fn call_once(&mut self, t: &mut Thread, call: &ExternCall) -> Result<Flow, RunEnd> {
        let flag = call.args[0];
        let begin = once::begin(self.state(flag.bits, once::SIZE));
        if begin == once::Begin::Wait {
            return Ok(Flow::Wait);
        }
        self.log_lock(t, call.site, flag, EventKind::Lock)?;
        t.progress();
        let once::Begin::Call(running) = begin else {
            self.log_lock(t, call.site, flag, EventKind::Unlock)?;
            return Ok(Flow::Value(Val::constant(0)));
        };
        let id = call.started(self.context.program)?;
        self.set_state(call.site, flag.bits, once::SIZE, running)?;
        Ok(Flow::Once(id, flag.bits))
    }

    pub fn finish_once(&mut self, t: &mut Thread, flag: u64, site: SiteId) -> Result<(), RunEnd> {
        self.log_lock(t, site, Val::constant(flag), EventKind::Unlock)?;
        self.set_state(site, flag, once::SIZE, once::RETURNED)
    }
}
