//! Library calls: [`program::library`] defines the operations. The state of a synchronisation object
//! is a location, which an operation reads and, if it changes, writes, as one read-modify-write. An
//! operation that has to wait blocks its thread: in another execution it reads from a later write.
//! The threads that sleep at an address are a location of their own, which is in no object.

use super::environment::{AccessTarget, Done, EventEnvironment, Events, Interruption, ReadMode};
use crate::source::{Action, FaultKind, Location, SrcuUse, Wait};
use program::interpreter::thread::Thread;
use program::interpreter::{ExternCall, Flow, Outcome, RunEnd};
use program::ir::{Annotation, Extern, Order, Program, SiteId, SyncObject};
use program::library::call::Wanted;
use program::library::mutex::{Lock, OwnersUse};
use program::library::operations::Library;
use program::library::threads::{self, thread_handle};
use program::library::{barrier, condition, mutex, once, sleepers, Misuse};
use program::memory::{Byte, Dep, Memory, Named, Object, Val, Visibility, MAX_THREADS};
use std::sync::Arc;

/// More ways to choose the threads that are woken are refused.
const MAX_ALTERNATIVES: u32 = 1024;

/// How a thread looks at a condition variable, or at a mutex that it does not hold.
const LOOK: ReadMode = ReadMode {
    order: condition::ORDER,
    rmw: false,
    uninitialised_ok: true,
};

fn misused(misuse: Misuse, site: SiteId) -> Interruption {
    Interruption::Fault(FaultKind::Lock, misuse.0.to_owned(), site)
}

fn unsupported<T>(message: &str, site: SiteId) -> Done<T> {
    Err(Interruption::Unsupported(message.to_owned(), site))
}

fn target(at: Val, size: u32, site: SiteId) -> AccessTarget {
    AccessTarget::new(at, size, site)
}

/// An argument that is a count; more than a count can be are all.
fn count(call: &ExternCall, argument: usize) -> u32 {
    u32::try_from(call.arg(argument).bits).unwrap_or(u32::MAX)
}

impl<'p, E: Events<'p>> EventEnvironment<E> {
    /// The read of a read-modify-write of an object's state.
    fn take(&mut self, t: &mut Thread, state: AccessTarget, order: Order) -> Done<Val> {
        self.0.read(t, state, ReadMode::of_rmw(order))
    }

    /// Its write.
    fn put(&mut self, t: &mut Thread, state: AccessTarget, order: Order, value: u64) -> Done<()> {
        self.0.write(t, state, order, true, Val::constant(value))
    }

    fn blocked<T>(&self, t: &Thread, state: AccessTarget, what: &'static str) -> Done<T> {
        let wait = self.0.wait_for(t, state, what)?;
        Err(Interruption::Blocked(wait, state.site))
    }

    /// Sets how often the thread holds a mutex.
    fn hold(&mut self, t: &mut Thread, mutex: u64, count: u32, free: u64) {
        t.hold(mutex, count, free);
        self.0.settle(t);
    }

    /// Locks a mutex if it is free, or recursive and held by the thread. Returns what it did. `tries`:
    /// the thread does not wait if it is taken.
    fn acquire(
        &mut self,
        t: &mut Thread,
        at: Val,
        site: SiteId,
        (held, tries): (u32, bool),
    ) -> Done<(Lock, Val)> {
        if self.0.is_kernel() && self.0.is_alone() {
            return Err(Interruption::NotAlone(site));
        }
        let state = target(at, mutex::SIZE, site);
        let (found, order) = match (self.0.is_kernel(), tries) {
            (true, true) => (Annotation::TryLock.into(), Annotation::Lock.into()),
            (true, false) => (Annotation::Lock.into(), Annotation::Lock.into()),
            (false, _) => (mutex::LOCK, mutex::LOCK),
        };
        let now = self.take(t, state, found)?;
        let lock = mutex::lock(now.bits, t.id, held).map_err(|misuse| misused(misuse, site))?;
        if let Lock::Acquire(locked) = lock {
            self.put(t, state, order, locked)?;
        }
        Ok((lock, now))
    }

    fn release(&mut self, t: &mut Thread, at: Val, site: SiteId) -> Done<()> {
        let free = Val::constant(t.free_state(at.bits));
        let state = target(at, mutex::SIZE, site);
        let order = match self.0.is_kernel() {
            true => Annotation::Unlock.into(),
            false => mutex::UNLOCK,
        };
        self.0.write(t, state, order, false, free)
    }

    /// Locks a mutex that a wait has unlocked.
    fn reacquire(&mut self, t: &mut Thread, at: Val, site: SiteId) -> Done<()> {
        match self.acquire(t, at, site, (0, false))?.0 {
            Lock::Acquire(_) => Ok(()),
            _ => self.blocked(t, target(at, mutex::SIZE, site), mutex::AWAITED),
        }
    }

    /// What a thread gets for a use that only the owner of the mutex may make.
    fn refuse_use(
        &mut self,
        t: &mut Thread,
        at: Val,
        owners: OwnersUse,
        site: SiteId,
    ) -> Done<u64> {
        let state = self.0.read(t, target(at, mutex::SIZE, site), LOOK)?.bits;
        mutex::refuse(owners, state).map_err(|misuse| misused(misuse, site))
    }

    /// The state of a condition variable that is used.
    fn condition(&mut self, t: &mut Thread, state: AccessTarget) -> Done<u64> {
        let how = ReadMode { rmw: true, ..LOOK };
        let now = self.0.read(t, state, how)?.bits;
        condition::check_use(now).map_err(|misuse| misused(misuse, state.site))?;
        Ok(now)
    }

    /// Reads and writes the state of the object at a call's first argument, where its life begins or
    /// ends.
    fn change_life(
        &mut self,
        t: &mut Thread,
        call: &ExternCall,
        object: SyncObject,
        (order, rmw): (Order, bool),
        change: impl Fn(u64) -> Result<u64, Misuse>,
    ) -> Done<()> {
        let state = target(call.arg(0), object.size(), call.site);
        let how = ReadMode {
            order,
            rmw,
            uninitialised_ok: true,
        };
        let old = self.0.read(t, state, how)?.bits;
        let new = change(old).map_err(|misuse| misused(misuse, call.site))?;
        self.0.write(t, state, order, rmw, Val::constant(new))
    }

    /// The threads that this one has detached.
    fn detached(&mut self) -> u64 {
        let detached = self.0.calls().detached.iter();
        detached.fold(0, |all, (thread, _)| all | 1 << thread)
    }

    pub(super) fn finish_once(&mut self, t: &mut Thread, flag: u64, site: SiteId) -> Done<()> {
        let state = target(Val::constant(flag), once::SIZE, site);
        let returned = Val::constant(once::RETURNED);
        self.0.write(t, state, once::FINISH, false, returned)
    }

    /// The word of a call, and the threads that sleep there; none if no other thread uses the word.
    fn sleepers_at(
        &mut self,
        t: &Thread,
        call: &ExternCall,
    ) -> Done<(AccessTarget, Option<Location>)> {
        let word = target(call.arg(0), 1, call.site);
        self.0.require(word.addr)?;
        match self.0.is_event(t, word, false)? {
            true => Ok((word, Some(Location::of_sleepers(word.address)))),
            false => {
                self.0.supports("a futex of one thread", call.site)?;
                Ok((word, None))
            }
        }
    }

    /// The sleepers at the address to which the threads are moved that sleep at a word. It is
    /// written before they are, so that executions in which it is not known yet are none.
    fn target_of(&mut self, t: &mut Thread, word: AccessTarget) -> Done<(AccessTarget, Location)> {
        let at = Location::of_target(word.address);
        match self.0.read_outside(t, (word, at), sleepers::LOOK, false)? {
            0 => Err(Interruption::Blocked(Wait::Redundant, word.site)),
            address => Ok((word, Location::of_sleepers(address))),
        }
    }

    /// Removes the thread from a set of sleepers. Returns the set before, and whether it was asleep.
    fn leave_sleepers(
        &mut self,
        t: &mut Thread,
        of: (AccessTarget, Location),
    ) -> Done<(u64, bool)> {
        let before = self.0.read_outside(t, of, sleepers::LOOK, true)?;
        let after = sleepers::leave(before, t.id);
        self.0
            .write_outside(t, of, sleepers::LOOK, (before, after))?;
        Ok((before, before != after))
    }

    /// The sleepers that are left when at most `count` of those that a mask reaches were chosen.
    fn left_of(
        &mut self,
        t: &mut Thread,
        call: &ExternCall,
        all: u64,
        (count, mask): (u32, u64),
    ) -> Done<u64> {
        let choice = match sleepers::alternatives(all, count, mask) {
            1 => 0,
            alternatives if alternatives > MAX_ALTERNATIVES => {
                let message = format!("a choice of {count} threads of {}", sleepers::number(all));
                return unsupported(&message, call.site);
            }
            alternatives => self.0.choose_one(t, alternatives, call.site)?,
        };
        Ok(sleepers::wake(all, count, mask, choice))
    }

    fn move_object(&mut self, t: &mut Thread, call: &ExternCall, old: u64, size: u64) -> Done<u64> {
        let copied = match (old, self.0.memory().object_at(old)) {
            (0, _) => 0,
            (_, Some(object)) => object.size.min(size),
            (_, None) => {
                return unsupported(
                    "realloc of memory that another thread has allocated is not supported",
                    call.site,
                )
            }
        };
        let from = target(Val::constant(old), 0, call.site);
        let bytes = match copied {
            0 => Vec::new(),
            copied => self.0.read_range(t, from, copied, true)?,
        };
        let new = self.allocate(t, call)?;
        if copied > 0 {
            let to = target(Val::constant(new), 0, call.site);
            self.0.write_range(t, to, &bytes)?;
        }
        if old != 0 {
            self.free(t, call.site, old)?;
        }
        Ok(new)
    }
}

impl<'p, E: Events<'p>> Library<'p> for EventEnvironment<E> {
    fn field(&mut self, t: &mut Thread, call: &ExternCall, at: u64, size: u32) -> Done<u64> {
        let from = target(Val::constant(at), size, call.site);
        Ok(self.0.read(t, from, ReadMode::PLAIN)?.bits)
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
        self.0.write(t, to, Order::Na, false, Val::constant(value))
    }

    fn byte(&mut self, t: &mut Thread, call: &ExternCall, at: u64) -> Done<Val> {
        let from = target(Val::constant(at), 1, call.site);
        self.0.read(t, from, ReadMode::PLAIN)
    }

    fn program(&self) -> &'p Program {
        self.0.program()
    }

    fn either(&mut self, t: &mut Thread, call: &ExternCall) -> Done<bool> {
        if self.0.is_alone() || self.0.calls().spurious.contains(&call.site) {
            return Ok(false);
        }
        Ok(self.0.choose_one(t, 2, call.site)? == 1)
    }

    /// A loop that the choice ends does not end by itself: as if it were read now.
    fn chosen(&mut self, t: &mut Thread, call: &ExternCall, choice: bool) -> Dep {
        if choice {
            self.0.calls().spurious.push(call.site);
        }
        self.0.has_chosen(t, choice)
    }

    fn text(&self, address: u64) -> String {
        self.0.memory().text(address)
    }

    fn choose(&mut self, t: &mut Thread, call: &ExternCall, alternatives: u32) -> Done<u64> {
        self.0.choose(t, alternatives, call.site)
    }

    fn called(&mut self, t: &mut Thread, call: &ExternCall) -> Done<()> {
        self.0.record_call(t, call, false)
    }

    fn returned(&mut self, t: &mut Thread, call: &ExternCall) -> Done<()> {
        self.0.record_call(t, call, true)
    }

    fn discard(&mut self, call: &ExternCall) -> Done<Flow> {
        Err(Interruption::Blocked(Wait::Redundant, call.site))
    }

    fn misuse(&mut self, call: &ExternCall) -> Done<Flow> {
        let message = self.text(call.arg(0).bits);
        Err(Interruption::Fault(FaultKind::Lock, message, call.site))
    }

    fn refuse(&mut self, call: &ExternCall) -> Done<Flow> {
        unsupported(&self.text(call.arg(0).bits), call.site)
    }

    fn begin_life(
        &mut self,
        t: &mut Thread,
        call: &ExternCall,
        object: SyncObject,
        value: u64,
    ) -> Done<()> {
        let mode = match object {
            SyncObject::Condition => (condition::ORDER, true),
            _ => (Order::Na, false),
        };
        self.change_life(t, call, object, mode, |old| object.initialise(old, value))
    }

    fn end_life(&mut self, t: &mut Thread, call: &ExternCall, object: SyncObject) -> Done<()> {
        let mode = match object.ends_atomically() {
            true => (Order::Rlx, true),
            false => (Order::Na, false),
        };
        self.change_life(t, call, object, mode, |old| object.destroy(old))
    }

    fn create(&mut self, t: &mut Thread, call: &ExternCall) -> Done<Flow> {
        if self.0.is_alone() {
            return Err(Interruption::NotAlone(call.site));
        }
        call.started(self.0.program())?;
        let thread = self.0.next_thread(t);
        if thread >= MAX_THREADS {
            let message = format!("more than {MAX_THREADS} threads");
            return Err(RunEnd::new(Outcome::Bound, message, Some(call.site)).into());
        }
        let attributes = call.args[3].bits;
        let detached =
            attributes != 0 && self.field(t, call, attributes, 4)? == threads::CREATE_DETACHED;
        if detached {
            self.0.supports("detached threads", call.site)?;
        }
        let to = target(call.args[0], 8, call.site);
        let handle = Val::constant(thread_handle(thread));
        self.0.write(t, to, Order::Na, false, handle)?;
        self.0.ask(t, Action::Create { thread }, call.site)?;
        self.0.calls().created += 1;
        if detached {
            self.0.calls().detached.push((thread, call.site));
        }
        self.0.progress(t, None);
        Ok(Flow::Value(Val::constant(0)))
    }

    fn join(&mut self, t: &mut Thread, call: &ExternCall) -> Done<Flow> {
        let (out, size) = (call.args[1], call.args[2]);
        let (known, detached) = (self.0.threads(), self.detached());
        let joined = self.0.calls().joined;
        let thread = threads::join(call.args[0].bits, t.id, known, joined, detached)
            .map_err(|misuse| misused(misuse, call.site))?;
        let result = self.0.ask(t, Action::Join { thread }, call.site)?;
        if out.bits != 0 {
            let value = Val::new(result, self.0.joined_result(thread, result)?);
            let to = target(out, size.bits as u32, call.site);
            self.0.write(t, to, Order::Na, false, value)?;
        }
        self.0.calls().joined |= 1 << thread;
        self.0.has_joined(thread, result);
        self.0.progress(t, None);
        Ok(Flow::Value(Val::constant(0)))
    }

    /// Detaching a thread orders nothing, and is no event: what other threads do with it is compared
    /// when the execution has ended.
    fn detach(&mut self, t: &mut Thread, call: &ExternCall) -> Done<()> {
        self.0.supports("detached threads", call.site)?;
        let (known, detached) = (self.0.threads(), self.detached());
        let joined = self.0.calls().joined;
        let thread = threads::detach(call.args[0].bits, known, joined, detached)
            .map_err(|misuse| misused(misuse, call.site))?;
        self.0.calls().detached.push((thread, call.site));
        self.0.progress(t, None);
        Ok(())
    }

    /// An iteration of a loop that locks and unlocks makes no progress, unless another thread tests
    /// the mutex without waiting (trylock).
    fn try_lock(&mut self, t: &mut Thread, call: &ExternCall) -> Done<(Lock, Val)> {
        let (at, held) = (call.args[0], t.holds(call.args[0].bits));
        self.0.uses_lock();
        let tries = call.function == Extern::MutexTrylock;
        let (lock, now) = self.acquire(t, at, call.site, (held, tries))?;
        if matches!(lock, Lock::Acquire(_) | Lock::Again) {
            self.hold(t, at.bits, held + 1, mutex::free(now.bits));
        }
        Ok((lock, Val::new(0, now.dep)))
    }

    fn lock(&mut self, t: &mut Thread, call: &ExternCall) -> Done<Flow> {
        let state = target(call.args[0], mutex::SIZE, call.site);
        match self.try_lock(t, call)?.0 {
            Lock::Acquire(_) | Lock::Again => Ok(Flow::Value(Val::constant(0))),
            Lock::Deadlock => Ok(Flow::Value(Val::constant(mutex::EDEADLK))),
            Lock::Busy => self.blocked(t, state, mutex::AWAITED),
        }
    }

    fn unlock(&mut self, t: &mut Thread, call: &ExternCall) -> Done<u64> {
        let (at, held) = (call.args[0], t.holds(call.args[0].bits));
        match held {
            0 => return self.refuse_use(t, at, OwnersUse::unlock(call), call.site),
            1 => {
                self.0.uses_lock();
                self.release(t, at, call.site)?;
            }
            _ => {}
        }
        self.hold(t, at.bits, held - 1, t.free_state(at.bits));
        Ok(0)
    }

    /// A wait returns at once, spuriously or because its time is over, or it gets a signal, which
    /// another thread then does not get. One that returns at once unlocks the mutex and locks it
    /// again.
    fn wait(&mut self, t: &mut Thread, call: &ExternCall) -> Done<Flow> {
        let (mutex, site) = (call.args[1], call.site);
        if t.holds(mutex.bits) == 0 {
            let error = self.refuse_use(t, mutex, OwnersUse::Wait, site)?;
            return Ok(Flow::Value(Val::constant(error)));
        }
        let timed = call.function == Extern::CondWaitFor;
        let returns = match timed {
            true => self.0.choose_one(t, 2, site)? == 0,
            false => self.either(t, call)?,
        };
        if returns {
            self.0.uses_lock();
            self.release(t, mutex, call.write_site)?;
            self.reacquire(t, mutex, site)?;
            if !timed {
                self.chosen(t, call, true);
            }
            return Ok(Flow::Value(Val::constant(0)));
        }
        let state = target(call.args[0], condition::SIZE, site);
        let waiting = condition::begin_wait(self.condition(t, state)?, t.id);
        self.put(t, state, condition::ORDER, waiting)?;
        self.release(t, mutex, call.write_site)?;
        if condition::is_waiting(self.0.read(t, state, LOOK)?.bits, t.id) {
            return match timed {
                true => Err(Interruption::Blocked(E::TIMED_OUT, site)),
                false => self.blocked(t, state, condition::AWAITED),
            };
        }
        self.reacquire(t, mutex, site)?;
        Ok(Flow::Value(Val::constant(0)))
    }

    /// Wakes one of the threads that wait now.
    fn signal(&mut self, t: &mut Thread, call: &ExternCall) -> Done<()> {
        let state = target(call.args[0], condition::SIZE, call.site);
        let waiting = self.condition(t, state)?;
        let choice = match condition::waiters(waiting) {
            0 | 1 => 0,
            waiters => self.0.choose_one(t, waiters, call.site)?,
        };
        match condition::signal(waiting, choice) {
            Some(after) => self.put(t, state, condition::ORDER, after),
            None => Ok(()),
        }
    }

    fn broadcast(&mut self, t: &mut Thread, call: &ExternCall) -> Done<()> {
        let state = target(call.args[0], condition::SIZE, call.site);
        match self.condition(t, state)? {
            condition::NO_WAITERS => Ok(()),
            _ => self.put(t, state, condition::ORDER, condition::NO_WAITERS),
        }
    }

    fn begin_sleep(&mut self, t: &mut Thread, call: &ExternCall) -> Done<bool> {
        let (word, Some(at)) = self.sleepers_at(t, call)? else {
            return Ok(true);
        };
        if t.id >= sleepers::THREADS {
            return unsupported("sleeping in a thread after the sixteenth", call.site);
        }
        let Some(mask) = sleepers::mask(call.arg(1).bits) else {
            let message = "a futex mask with other bits than 1, 2 and 4, and not all";
            return unsupported(message, call.site);
        };
        let before = self.0.read_outside(t, (word, at), sleepers::ENTER, true)?;
        let after = sleepers::enter(before, t.id, mask);
        self.0
            .write_outside(t, (word, at), sleepers::ENTER, (before, after))?;
        Ok(true)
    }

    fn sleep(&mut self, t: &mut Thread, call: &ExternCall) -> Done<()> {
        let (word, at) = self.sleepers_at(t, call)?;
        let (asleep, reads) = match at {
            Some(at) => {
                let found = self.0.read_outside(t, (word, at), sleepers::LOOK, false)?;
                match sleepers::is_moved(found, t.id) {
                    true => {
                        let target = self.target_of(t, word)?;
                        let found = self.0.read_outside(t, target, sleepers::LOOK, false)?;
                        (sleepers::is_asleep(found, t.id), 3)
                    }
                    false => (sleepers::is_asleep(found, t.id), 1),
                }
            }
            None => (true, 0),
        };
        if !asleep {
            return Ok(());
        }
        let wait = Wait::For {
            what: sleepers::AWAITED[usize::from(call.arg(1).bits != 0)],
            reads,
        };
        Err(Interruption::Blocked(wait, call.site))
    }

    fn end_sleep(&mut self, t: &mut Thread, call: &ExternCall) -> Done<bool> {
        let (word, Some(at)) = self.sleepers_at(t, call)? else {
            return Ok(true);
        };
        let (before, asleep) = self.leave_sleepers(t, (word, at))?;
        if !sleepers::is_moved(before, t.id) {
            return Ok(asleep);
        }
        let target = self.target_of(t, word)?;
        Ok(self.leave_sleepers(t, target)?.1)
    }

    fn wake(&mut self, t: &mut Thread, call: &ExternCall) -> Done<u64> {
        let (word, Some(at)) = self.sleepers_at(t, call)? else {
            return Ok(0);
        };
        let (count, mask) = (count(call, 1), u64::from(call.arg(2).bits as u32));
        let before = self.0.read_outside(t, (word, at), sleepers::WAKE, true)?;
        let after = self.left_of(t, call, before, (count, mask))?;
        self.0
            .write_outside(t, (word, at), sleepers::WAKE, (before, after))?;
        Ok((sleepers::number(before) - sleepers::number(after)).into())
    }

    fn sleepers(&mut self, t: &mut Thread, call: &ExternCall) -> Done<u64> {
        match self.sleepers_at(t, call)? {
            (word, Some(at)) => self.0.read_outside(t, (word, at), sleepers::LOOK, false),
            _ => Ok(0),
        }
    }

    /// Wakes and moves threads in one step: the second set is written first, and where the first has
    /// changed since it was looked at, this is no execution. There is one in which it has not.
    fn requeue(&mut self, t: &mut Thread, call: &ExternCall) -> Done<u64> {
        self.0.supports("moving sleeping threads", call.site)?;
        let (word, Some(at)) = self.sleepers_at(t, call)? else {
            return Ok(0);
        };
        let other = target(call.arg(3), 1, call.site);
        self.0.require(other.addr)?;
        if !self.0.is_event(t, other, false)? {
            self.0.share(other.address)?;
        }
        let (seen, wakes, moves) = (call.arg(4).bits, count(call, 1), count(call, 2));
        let woken = self.left_of(t, call, seen, (wakes, 0))?;
        let left = self.left_of(t, call, woken, (moves, 0))?;
        let mut there = 0;
        if left != woken {
            let moved = (word, Location::of_target(word.address));
            let known = self.0.read_outside(t, moved, sleepers::LOOK, true)?;
            if ![0, other.address].contains(&known) {
                let message = "threads that are moved from one futex to several others";
                return unsupported(message, call.site);
            }
            self.0
                .write_outside(t, moved, sleepers::LOOK, (known, other.address))?;
            let at = Location::of_sleepers(other.address);
            there = self.0.read_outside(t, (other, at), sleepers::WAKE, true)?;
            let after = sleepers::moved(woken, left, there).1;
            self.0
                .write_outside(t, (other, at), sleepers::WAKE, (there, after))?;
        }
        let before = self.0.read_outside(t, (word, at), sleepers::WAKE, true)?;
        if before != seen {
            return Err(Interruption::Blocked(Wait::Redundant, call.site));
        }
        let after = sleepers::moved(woken, left, there).0;
        self.0
            .write_outside(t, (word, at), sleepers::WAKE, (before, after))?;
        Ok((sleepers::number(before) - sleepers::number(after)).into())
    }

    /// Each critical section of a thread has an index of its own, so that one that ends with another's is
    /// seen.
    fn srcu(&mut self, t: &mut Thread, call: &ExternCall, annotation: Annotation) -> Done<Val> {
        let (order, object) = (Order::from(annotation), call.arg(0));
        self.0.require(object.dep)?;
        self.0.is_event(t, target(object, 1, call.site), false)?;
        let index = match annotation {
            Annotation::SrcuLock => Some(Val::constant(self.0.calls().srcu)),
            Annotation::SrcuUnlock => {
                self.0.require(call.arg(1).dep)?;
                Some(call.arg(1))
            }
            _ => None,
        };
        let srcu = Some(SrcuUse {
            address: object.bits,
            index: index.map(|index| index.bits),
        });
        let index = index.unwrap_or_default();
        let found = self.order(t, Action::Fence { order, srcu }, index.dep, call.site)?;
        if annotation == Annotation::SrcuLock {
            self.0.calls().srcu += 1;
        }
        Ok(found.unwrap_or(index))
    }

    fn wait_at_barrier(&mut self, t: &mut Thread, call: &ExternCall) -> Done<Flow> {
        if let Some(flow) = self.0.wait_in_order(t, call)? {
            return Ok(flow);
        }
        let at = call.args[0];
        let arriving = target(at, barrier::SIZE, call.write_site);
        let now = self.take(t, arriving, barrier::ARRIVE)?.bits;
        let arrival = barrier::arrive(now).map_err(|misuse| misused(misuse, call.site))?;
        self.0.arrives(t, arriving, now)?;
        match arrival {
            barrier::Arrival::Opens(after) => {
                self.put(t, arriving, barrier::ARRIVE, after)?;
                return Ok(Flow::Value(Val::constant(barrier::SERIAL_THREAD)));
            }
            barrier::Arrival::Waits(after) => self.put(t, arriving, barrier::ARRIVE, after)?,
        }
        let leaving = target(at, barrier::SIZE, call.site);
        let how = ReadMode {
            order: barrier::LEAVE,
            ..ReadMode::PLAIN
        };
        let found = self.0.read(t, leaving, how)?.bits;
        match barrier::has_opened(now, found).map_err(|misuse| misused(misuse, call.site))? {
            true => Ok(Flow::Value(Val::constant(0))),
            false => self.blocked(t, leaving, barrier::AWAITED),
        }
    }

    fn once(&mut self, t: &mut Thread, call: &ExternCall) -> Done<Flow> {
        let state = target(call.args[0], once::SIZE, call.site);
        match once::begin(self.take(t, state, once::BEGIN)?.bits) {
            once::Begin::Call(running) => {
                let function = call.started(self.0.program())?;
                self.put(t, state, once::BEGIN, running)?;
                Ok(Flow::Once(function, state.address))
            }
            once::Begin::Wait => self.blocked(t, state, once::AWAITED),
            once::Begin::Return => Ok(Flow::Value(Val::constant(0))),
        }
    }

    fn allocate(&mut self, t: &mut Thread, call: &ExternCall) -> Done<u64> {
        let Wanted {
            size,
            align,
            zeroed,
        } = call.wanted(self.0.memory(), t.id)?;
        let base = self.0.memory().next_allocation(t.id, size, align);
        let shared = self.0.begins_shared(base, size);
        if shared && !self.0.is_alone() {
            let action = Action::Allocate { base, size, zeroed };
            self.0.ask(t, action, call.site)?;
        }
        let memory = Arc::make_mut(self.0.memory_mut());
        memory.allocate(t.id, size, align, zeroed, call.site);
        if shared {
            memory.share(base, Visibility::Shared);
        }
        let named = Named::Heap(call.site, size);
        self.0.has_allocated(base, size, named);
        self.0.progress(t, Some(call.site));
        Ok(base)
    }

    fn posix_memalign(&mut self, t: &mut Thread, call: &ExternCall) -> Done<()> {
        let align = call.arg(1).bits.max(1);
        let base = self
            .0
            .memory()
            .next_allocation(t.id, call.arg(2).bits, align);
        self.set_field(t, call, call.arg(0).bits, 8, base)?;
        self.allocate(t, call)?;
        Ok(())
    }

    fn free(&mut self, t: &mut Thread, site: SiteId, address: u64) -> Done<()> {
        let object = self.0.memory().object_at(address);
        let is_other = |o: &Object| !matches!(o.named, Named::Heap(..)) || o.base != address;
        let is_variable = Memory::is_of_stack(address) || Memory::is_thread_local(address);
        if object.is_some_and(is_other) || is_variable {
            let message = "free of a pointer that malloc did not return".to_owned();
            return Err(Interruption::Fault(FaultKind::Memory, message, site));
        }
        self.0.end_heap_object(t, address, site)?;
        self.0.progress(t, Some(site));
        Ok(())
    }

    /// Allocates a new object with the contents of the old one, which is freed.
    fn reallocate(&mut self, t: &mut Thread, call: &ExternCall) -> Done<u64> {
        let (old, size) = (call.args[0].bits, call.args[1].bits);
        let before = self.0.memory_mut().clone();
        let moved = self.move_object(t, call, old, size);
        if moved.is_err() {
            // the instruction runs again from its beginning
            *self.0.memory_mut() = before;
        }
        moved
    }

    fn copy(&mut self, t: &mut Thread, call: &ExternCall, size: u64) -> Done<()> {
        let from = target(call.arg(1), 0, call.site);
        let bytes = self.0.read_range(t, from, size, true)?;
        let to = target(call.arg(0), 0, call.write_site);
        self.0.write_range(t, to, &bytes)
    }

    fn fill(&mut self, t: &mut Thread, call: &ExternCall, size: u64) -> Done<()> {
        let value = call.arg(1);
        let byte = Byte {
            value: value.bits as u8,
            dep: value.dep,
            undefined: false,
        };
        let to = target(call.arg(0), 0, call.site);
        self.0.write_range(t, to, &vec![byte; size as usize])
    }
}
