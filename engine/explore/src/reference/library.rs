//! Library calls, as events: [`program::library`] defines the operations. The state of a
//! synchronisation object is a location, which an operation reads and, if it changes, writes, as one
//! read-modify-write. An operation that has to wait blocks its thread: in another execution it reads
//! from a later write.

use super::memory::{ReadMode, Target, PLAIN};
use super::semantics::{Done, Interruption, ReferenceEnvironment};
use crate::source::{Action, FaultKind, Location, Wait};
use program::interpreter::thread::Thread;
use program::interpreter::{ExternCall, Flow, Outcome, RunEnd};
use program::ir::{Extern, Order, Program, SiteId, SyncObject};
use program::library::call::Wanted;
use program::library::mutex::{Lock, OwnersUse};
use program::library::operations::Library;
use program::library::threads::{self, thread_handle};
use program::library::{barrier, condition, mutex, once, sleepers, Misuse};
use program::memory::{Byte, Dep, Memory, Named, Object, Val, Visibility, MAX_THREADS};
use std::sync::Arc;

/// More ways to choose the threads that are woken are refused.
const MAX_ALTERNATIVES: u32 = 1024;

fn misused(misuse: Misuse, site: SiteId) -> Interruption {
    Interruption::Fault(FaultKind::Lock, misuse.0.to_owned(), site)
}

fn unsupported<T>(message: &str, site: SiteId) -> Done<T> {
    Err(Interruption::Unsupported(message.to_owned(), site))
}

/// The thread waits until it reads something else with its last read.
fn blocked<T>(what: &'static str, site: SiteId) -> Done<T> {
    Err(Interruption::Blocked(Wait::For { what, reads: 1 }, site))
}

fn target(at: Val, size: u32, site: SiteId) -> Target {
    Target {
        address: at.bits,
        size,
        site,
    }
}

impl ReferenceEnvironment<'_, '_> {
    /// The read of a read-modify-write of an object's state.
    fn take(&mut self, t: &mut Thread, state: Target, order: Order, new: bool) -> Done<Val> {
        let how = ReadMode {
            order,
            rmw: true,
            uninitialised_ok: new,
        };
        self.read(t, state, how)
    }

    /// Its write.
    fn put(&mut self, t: &mut Thread, state: Target, order: Order, value: u64) -> Done<()> {
        self.write(t, state, (order, true), Val::constant(value))
    }

    fn look(&mut self, t: &mut Thread, state: Target, order: Order, new: bool) -> Done<u64> {
        let how = ReadMode {
            order,
            rmw: false,
            uninitialised_ok: new,
        };
        Ok(self.read(t, state, how)?.bits)
    }

    fn hold(&mut self, t: &mut Thread, mutex: u64, count: u32, free: u64) {
        t.hold(mutex, count, free);
        self.settle(t);
    }

    /// Locks a mutex if it is free, or recursive and held by the thread.
    fn acquire(&mut self, t: &mut Thread, at: Val, site: SiteId, held: u32) -> Done<(Lock, Val)> {
        let state = target(at, mutex::SIZE, site);
        let now = self.take(t, state, mutex::LOCK, false)?;
        let lock = mutex::lock(now.bits, t.id, held).map_err(|misuse| misused(misuse, site))?;
        if let Lock::Acquire(locked) = lock {
            self.put(t, state, mutex::LOCK, locked)?;
        }
        Ok((lock, now))
    }

    /// What a thread gets for a use that only the owner of the mutex may make.
    fn refuse_use(
        &mut self,
        t: &mut Thread,
        at: Val,
        owners: OwnersUse,
        site: SiteId,
    ) -> Done<u64> {
        let state = self.look(t, target(at, mutex::SIZE, site), condition::ORDER, true)?;
        mutex::refuse(owners, state).map_err(|misuse| misused(misuse, site))
    }

    fn release(&mut self, t: &mut Thread, at: Val, site: SiteId) -> Done<()> {
        let free = Val::constant(t.free_state(at.bits));
        self.write(
            t,
            target(at, mutex::SIZE, site),
            (mutex::UNLOCK, false),
            free,
        )
    }

    /// The thread, which holds the mutex, unlocks it and locks it again.
    fn reacquire(&mut self, t: &mut Thread, at: Val, site: SiteId) -> Done<()> {
        match self.acquire(t, at, site, 0)?.0 {
            Lock::Acquire(_) => Ok(()),
            _ => blocked(mutex::AWAITED, site),
        }
    }

    pub fn finish_once(&mut self, t: &mut Thread, flag: u64, site: SiteId) -> Done<()> {
        let state = target(Val::constant(flag), once::SIZE, site);
        let returned = Val::constant(once::RETURNED);
        self.write(t, state, (once::FINISH, false), returned)
    }

    /// The threads that sleep at the word of a call.
    fn sleepers_at(&mut self, t: &mut Thread, call: &ExternCall) -> Done<Location> {
        let word = target(call.arg(0), 1, call.site);
        match self.find(t, word, 1, false)? {
            Some(_) => unsupported(
                "the reference does not support a futex of one thread",
                call.site,
            ),
            None => Ok(Location::of_sleepers(word.address)),
        }
    }

    fn put_sleepers(
        &mut self,
        t: &mut Thread,
        at: Location,
        order: Order,
        value: u64,
        site: SiteId,
    ) -> Done<()> {
        self.write_location(t, at, (order, true), Val::constant(value), site)
    }

    fn move_object(&mut self, t: &mut Thread, call: &ExternCall, old: u64, size: u64) -> Done<u64> {
        let copied = match (old, self.local.memory.object_at(old)) {
            (0, _) => 0,
            (_, Some(object)) => object.size.min(size),
            (_, None) => {
                return unsupported(
                    "realloc of memory that another thread has allocated is not supported",
                    call.site,
                )
            }
        };
        let how = ReadMode {
            uninitialised_ok: true,
            ..PLAIN
        };
        let bytes = match copied {
            0 => Vec::new(),
            copied => self.read_range(t, target(Val::constant(old), 0, call.site), copied, how)?,
        };
        let new = self.allocate(t, call)?;
        if copied > 0 {
            self.write_range(t, target(Val::constant(new), 0, call.site), &bytes)?;
        }
        if old != 0 {
            self.free(t, call.site, old)?;
        }
        Ok(new)
    }
}

impl<'p> Library<'p> for ReferenceEnvironment<'_, 'p> {
    fn field(&mut self, t: &mut Thread, call: &ExternCall, at: u64, size: u32) -> Done<u64> {
        let from = target(Val::constant(at), size, call.site);
        Ok(self.read(t, from, PLAIN)?.bits)
    }

    fn set_field(
        &mut self,
        t: &mut Thread,
        call: &ExternCall,
        at: u64,
        size: u32,
        value: u64,
    ) -> Done<()> {
        let to = target(Val::constant(at), size, call.site);
        self.write(t, to, (Order::Na, false), Val::constant(value))
    }

    fn byte(&mut self, t: &mut Thread, call: &ExternCall, at: u64) -> Done<Val> {
        self.read(t, target(Val::constant(at), 1, call.site), PLAIN)
    }

    fn program(&self) -> &'p Program {
        self.semantics.program
    }

    fn either(&mut self, t: &mut Thread, call: &ExternCall) -> Done<bool> {
        if self.local.alone || self.local.spurious.contains(&call.site) {
            return Ok(false);
        }
        Ok(self.choose_one(t, 2, call.site)? == 1)
    }

    fn chosen(&mut self, _: &mut Thread, call: &ExternCall, choice: bool) -> Dep {
        if choice {
            self.local.spurious.push(call.site);
        }
        // a loop that it ends does not end by itself: as if it were read now
        self.events() as Dep + 2
    }

    fn text(&self, address: u64) -> String {
        self.local.memory.text(address)
    }

    fn choose(&mut self, t: &mut Thread, call: &ExternCall, alternatives: u32) -> Done<u64> {
        self.choose_one(t, alternatives, call.site)
    }

    fn called(&mut self, _: &mut Thread, call: &ExternCall) -> Done<()> {
        unsupported(
            "the reference does not compare calls with a specification",
            call.site,
        )
    }

    fn returned(&mut self, t: &mut Thread, call: &ExternCall) -> Done<()> {
        self.called(t, call)
    }

    fn discard(&mut self, call: &ExternCall) -> Done<Flow> {
        Err(Interruption::Blocked(Wait::Redundant, call.site))
    }

    fn misuse(&mut self, call: &ExternCall) -> Done<Flow> {
        let message = self.local.memory.text(call.arg(0).bits);
        Err(Interruption::Fault(FaultKind::Lock, message, call.site))
    }

    fn refuse(&mut self, call: &ExternCall) -> Done<Flow> {
        let message = self.local.memory.text(call.arg(0).bits);
        Err(Interruption::Unsupported(message, call.site))
    }

    fn begin_life(
        &mut self,
        t: &mut Thread,
        call: &ExternCall,
        object: SyncObject,
        value: u64,
    ) -> Done<()> {
        let to = target(call.arg(0), object.size(), call.site);
        let (order, rmw) = match object {
            SyncObject::Condition => (condition::ORDER, true),
            _ => (Order::Na, false),
        };
        let how = ReadMode {
            order,
            rmw,
            uninitialised_ok: true,
        };
        let old = self.read(t, to, how)?.bits;
        let state = object
            .initialise(old, value)
            .map_err(|misuse| misused(misuse, call.site))?;
        self.write(t, to, (order, rmw), Val::constant(state))
    }

    fn end_life(&mut self, t: &mut Thread, call: &ExternCall, object: SyncObject) -> Done<()> {
        let to = target(call.arg(0), object.size(), call.site);
        let (order, rmw) = match object.ends_atomically() {
            true => (Order::Rlx, true),
            false => (Order::Na, false),
        };
        let how = ReadMode {
            order,
            rmw,
            uninitialised_ok: true,
        };
        let old = self.read(t, to, how)?.bits;
        let destroyed = object
            .destroy(old)
            .map_err(|misuse| misused(misuse, call.site))?;
        self.write(t, to, (order, rmw), Val::constant(destroyed))
    }

    fn create(&mut self, t: &mut Thread, call: &ExternCall) -> Done<Flow> {
        call.started(self.semantics.program)?;
        let thread = self.semantics.number(t.id, self.local.created);
        if thread >= MAX_THREADS {
            let message = format!("more than {MAX_THREADS} threads");
            return Err(RunEnd::new(Outcome::Bound, message, Some(call.site)).into());
        }
        let attributes = call.args[3].bits;
        if attributes != 0 && self.field(t, call, attributes, 4)? == threads::CREATE_DETACHED {
            return unsupported("the reference does not support detached threads", call.site);
        }
        let handle = Val::constant(thread_handle(thread));
        self.write(
            t,
            target(call.args[0], 8, call.site),
            (Order::Na, false),
            handle,
        )?;
        self.perform(Action::Create { thread }, call.site)?;
        self.local.created += 1;
        self.progress(t);
        Ok(Flow::Value(Val::constant(0)))
    }

    fn join(&mut self, t: &mut Thread, call: &ExternCall) -> Done<Flow> {
        let (out, size) = (call.args[1], call.args[2]);
        let (known, joined) = (self.semantics.threads(), self.local.joined);
        let thread = threads::join(call.args[0].bits, t.id, known, joined, 0)
            .map_err(|misuse| misused(misuse, call.site))?;
        let (result, _) = self.ask(Action::Join { thread }, call.site)?;
        if out.bits != 0 {
            let value = Val::new(result.value, self.answered(false));
            let to = target(out, size.bits as u32, call.site);
            self.write(t, to, (Order::Na, false), value)?;
        }
        self.local.joined |= 1 << thread;
        self.progress(t);
        Ok(Flow::Value(Val::constant(0)))
    }

    fn detach(&mut self, _: &mut Thread, call: &ExternCall) -> Done<()> {
        unsupported("the reference does not support detached threads", call.site)
    }

    fn try_lock(&mut self, t: &mut Thread, call: &ExternCall) -> Done<(Lock, Val)> {
        let (at, held) = (call.args[0], t.holds(call.args[0].bits));
        let (lock, now) = self.acquire(t, at, call.site, held)?;
        if matches!(lock, Lock::Acquire(_) | Lock::Again) {
            self.hold(t, at.bits, held + 1, mutex::free(now.bits));
        }
        Ok((lock, Val::new(0, now.dep)))
    }

    fn lock(&mut self, t: &mut Thread, call: &ExternCall) -> Done<Flow> {
        match self.try_lock(t, call)?.0 {
            Lock::Acquire(_) | Lock::Again => Ok(Flow::Value(Val::constant(0))),
            Lock::Deadlock => Ok(Flow::Value(Val::constant(mutex::EDEADLK))),
            Lock::Busy => blocked(mutex::AWAITED, call.site),
        }
    }

    fn unlock(&mut self, t: &mut Thread, call: &ExternCall) -> Done<u64> {
        let (at, held) = (call.args[0], t.holds(call.args[0].bits));
        match held {
            0 => return self.refuse_use(t, at, OwnersUse::unlock(call), call.site),
            1 => self.release(t, at, call.site)?,
            _ => {}
        }
        self.hold(t, at.bits, held - 1, t.free_state(at.bits));
        Ok(0)
    }

    /// A wait returns at once, spuriously or because its time is over, or it gets a signal, which
    /// another thread then does not get.
    fn wait(&mut self, t: &mut Thread, call: &ExternCall) -> Done<Flow> {
        let (mutex, site) = (call.args[1], call.site);
        if t.holds(mutex.bits) == 0 {
            let error = self.refuse_use(t, mutex, OwnersUse::Wait, site)?;
            return Ok(Flow::Value(Val::constant(error)));
        }
        let state = target(call.args[0], condition::SIZE, site);
        let timed = call.function == Extern::CondWaitFor;
        let returns = match timed {
            true => self.choose_one(t, 2, site)? == 0,
            false => self.either(t, call)?,
        };
        if !returns {
            let waiting = self.take(t, state, condition::ORDER, true)?.bits;
            condition::check_use(waiting).map_err(|misuse| misused(misuse, site))?;
            let waiting = condition::begin_wait(waiting, t.id);
            self.put(t, state, condition::ORDER, waiting)?;
        }
        self.release(t, mutex, call.write_site)?;
        if !returns && condition::is_waiting(self.look(t, state, condition::ORDER, true)?, t.id) {
            return match timed {
                // its time is over in another execution
                true => Err(Interruption::Blocked(Wait::Retried, site)),
                false => blocked(condition::AWAITED, site),
            };
        }
        self.reacquire(t, mutex, site)?;
        if returns && !timed {
            self.chosen(t, call, true);
        }
        Ok(Flow::Value(Val::constant(0)))
    }

    fn signal(&mut self, t: &mut Thread, call: &ExternCall) -> Done<()> {
        let state = target(call.args[0], condition::SIZE, call.site);
        let waiting = self.take(t, state, condition::ORDER, true)?.bits;
        condition::check_use(waiting).map_err(|misuse| misused(misuse, call.site))?;
        let choice = match condition::waiters(waiting) {
            0 | 1 => 0,
            waiters => self.choose_one(t, waiters, call.site)?,
        };
        match condition::signal(waiting, choice) {
            Some(after) => self.put(t, state, condition::ORDER, after),
            None => Ok(()),
        }
    }

    fn broadcast(&mut self, t: &mut Thread, call: &ExternCall) -> Done<()> {
        let state = target(call.args[0], condition::SIZE, call.site);
        let waiting = self.take(t, state, condition::ORDER, true)?.bits;
        condition::check_use(waiting).map_err(|misuse| misused(misuse, call.site))?;
        match waiting {
            condition::NO_WAITERS => Ok(()),
            _ => self.put(t, state, condition::ORDER, condition::NO_WAITERS),
        }
    }

    fn begin_sleep(&mut self, t: &mut Thread, call: &ExternCall) -> Done<bool> {
        let at = self.sleepers_at(t, call)?;
        if t.id >= sleepers::THREADS {
            return unsupported("sleeping in a thread after the sixteenth", call.site);
        }
        let Some(mask) = sleepers::mask(call.arg(1).bits) else {
            return unsupported("a futex mask with other bits than 1, 2 and 4", call.site);
        };
        let before = self.read_outside(t, at, (sleepers::ENTER, true), call.site)?;
        let after = sleepers::enter(before, t.id, mask);
        self.put_sleepers(t, at, sleepers::ENTER, after, call.site)?;
        Ok(true)
    }

    fn sleep(&mut self, t: &mut Thread, call: &ExternCall) -> Done<()> {
        let at = self.sleepers_at(t, call)?;
        let found = self.read_outside(t, at, (sleepers::LOOK, false), call.site)?;
        match sleepers::is_asleep(found, t.id) {
            true => blocked(
                sleepers::AWAITED[usize::from(call.arg(1).bits != 0)],
                call.site,
            ),
            false => Ok(()),
        }
    }

    fn end_sleep(&mut self, t: &mut Thread, call: &ExternCall) -> Done<bool> {
        let at = self.sleepers_at(t, call)?;
        let before = self.read_outside(t, at, (sleepers::LOOK, true), call.site)?;
        let after = sleepers::leave(before, t.id);
        self.put_sleepers(t, at, sleepers::LOOK, after, call.site)?;
        Ok(before != after)
    }

    fn wake(&mut self, t: &mut Thread, call: &ExternCall) -> Done<u64> {
        let at = self.sleepers_at(t, call)?;
        let count = u32::try_from(call.arg(1).bits).unwrap_or(u32::MAX);
        let mask = u64::from(call.arg(2).bits as u32);
        let before = self.read_outside(t, at, (sleepers::WAKE, true), call.site)?;
        let choice = match sleepers::alternatives(before, count, mask) {
            1 => 0,
            alternatives if alternatives > MAX_ALTERNATIVES => {
                return unsupported("a choice of so many sleeping threads", call.site)
            }
            alternatives => self.choose_one(t, alternatives, call.site)?,
        };
        let after = sleepers::wake(before, count, mask, choice);
        self.put_sleepers(t, at, sleepers::WAKE, after, call.site)?;
        Ok((sleepers::number(before) - sleepers::number(after)).into())
    }

    fn sleepers(&mut self, t: &mut Thread, call: &ExternCall) -> Done<u64> {
        let at = self.sleepers_at(t, call)?;
        self.read_outside(t, at, (sleepers::LOOK, false), call.site)
    }

    fn requeue(&mut self, _: &mut Thread, call: &ExternCall) -> Done<u64> {
        unsupported(
            "the reference does not support moving sleeping threads",
            call.site,
        )
    }

    fn wait_at_barrier(&mut self, t: &mut Thread, call: &ExternCall) -> Done<Flow> {
        let arriving = target(call.args[0], barrier::SIZE, call.write_site);
        let now = self.take(t, arriving, barrier::ARRIVE, false)?.bits;
        match barrier::arrive(now).map_err(|misuse| misused(misuse, call.site))? {
            barrier::Arrival::Opens(after) => {
                self.put(t, arriving, barrier::ARRIVE, after)?;
                return Ok(Flow::Value(Val::constant(barrier::SERIAL_THREAD)));
            }
            barrier::Arrival::Waits(after) => self.put(t, arriving, barrier::ARRIVE, after)?,
        }
        let leaving = target(call.args[0], barrier::SIZE, call.site);
        let found = self.look(t, leaving, barrier::LEAVE, false)?;
        match barrier::has_opened(now, found).map_err(|misuse| misused(misuse, call.site))? {
            true => Ok(Flow::Value(Val::constant(0))),
            false => blocked(barrier::AWAITED, call.site),
        }
    }

    fn once(&mut self, t: &mut Thread, call: &ExternCall) -> Done<Flow> {
        let state = target(call.args[0], once::SIZE, call.site);
        match once::begin(self.take(t, state, once::BEGIN, false)?.bits) {
            once::Begin::Call(running) => {
                let function = call.started(self.semantics.program)?;
                self.put(t, state, once::BEGIN, running)?;
                Ok(Flow::Once(function, state.address))
            }
            once::Begin::Wait => blocked(once::AWAITED, call.site),
            once::Begin::Return => Ok(Flow::Value(Val::constant(0))),
        }
    }

    fn allocate(&mut self, t: &mut Thread, call: &ExternCall) -> Done<u64> {
        let Wanted {
            size,
            align,
            zeroed,
        } = call.wanted()?;
        let base = self.local.memory.next_allocation(t.id, align);
        if !self.local.alone {
            self.perform(Action::Allocate { base, size, zeroed }, call.site)?;
        }
        let memory = Arc::make_mut(&mut self.local.memory);
        memory.allocate(t.id, size, align, zeroed, call.site);
        memory.share(base, Visibility::Shared);
        self.progress(t);
        Ok(base)
    }

    fn posix_memalign(&mut self, t: &mut Thread, call: &ExternCall) -> Done<()> {
        let align = call.arg(1).bits.max(1);
        let base = self.local.memory.next_allocation(t.id, align);
        self.set_field(t, call, call.arg(0).bits, 8, base)?;
        self.allocate(t, call)?;
        Ok(())
    }

    fn free(&mut self, t: &mut Thread, site: SiteId, address: u64) -> Done<()> {
        let object = self.local.memory.object_at(address);
        let other = |o: &Object| !matches!(o.named, Named::Heap(..)) || o.base != address;
        let variable = Memory::is_of_stack(address) || Memory::is_thread_local(address);
        if object.is_some_and(other) || variable {
            let message = "free of a pointer that malloc did not return".to_owned();
            return Err(Interruption::Fault(FaultKind::Memory, message, site));
        }
        if !self.local.alone && !object.is_some_and(|object| object.freed) {
            self.perform(Action::Free { base: address }, site)?;
        }
        if self.local.memory.object_at(address).is_some() {
            let freed = Arc::make_mut(&mut self.local.memory).free(address);
            freed.map_err(|message| Interruption::Fault(FaultKind::Memory, message, site))?;
        }
        self.progress(t);
        Ok(())
    }

    /// Allocates a new object with the contents of the old one, which is freed.
    fn reallocate(&mut self, t: &mut Thread, call: &ExternCall) -> Done<u64> {
        let (old, size) = (call.args[0].bits, call.args[1].bits);
        let before = self.local.memory.clone();
        let moved = self.move_object(t, call, old, size);
        if moved.is_err() {
            // the instruction runs again from its beginning
            self.local.memory = before;
        }
        moved
    }

    fn copy(&mut self, t: &mut Thread, call: &ExternCall, size: u64) -> Done<()> {
        let how = ReadMode {
            uninitialised_ok: true,
            ..PLAIN
        };
        let bytes = self.read_range(t, target(call.arg(1), 0, call.site), size, how)?;
        self.write_range(t, target(call.arg(0), 0, call.write_site), &bytes)
    }

    fn fill(&mut self, t: &mut Thread, call: &ExternCall, size: u64) -> Done<()> {
        let value = call.arg(1);
        let byte = Byte {
            value: value.bits as u8,
            dep: value.dep,
            undefined: false,
        };
        let bytes = vec![byte; size as usize];
        self.write_range(t, target(call.arg(0), 0, call.site), &bytes)
    }
}
