//! Threads, mutexes, condition variables, barriers and once flags as explored threads use them.
//!
//! [`program::library`] defines the operations. The state of an object is a location, which an operation reads and, if it changes, writes, as one read-modify-write.
use crate::source::{Action, FaultKind, Location, ThreadId, Wait};
use crate::threads::environment::{AccessTarget, Interruption, ReadMode, ThreadEnvironment};
use program::interpreter::thread::Thread;
use program::interpreter::{ExternCall, Flow, Outcome, RunEnd};
use program::ir::{Extern, Op, Order, Program, SiteId, SyncObject};
use program::library::mutex::{Lock, OwnersUse};
use program::library::operations::Library;
use program::library::threads::{self, thread_handle};
use program::library::{barrier, condition, mutex, once, Misuse};
use program::memory::{Dep, Val, MAX_THREADS};

type Done<T> = Result<T, Interruption>;

/// How a thread looks at a condition variable, or at a mutex that it does not hold.
const LOOK: ReadMode = ReadMode {
    order: condition::ORDER,
    rmw: false,
    uninitialised_ok: true,
};

fn misused(misuse: Misuse, site: SiteId) -> Interruption {
    Interruption::Fault(FaultKind::Lock, misuse.0.to_string(), site)
}

/// It is another thread's turn to arrive at a barrier.
fn not_yet(site: SiteId) -> Interruption {
    let what = barrier::AWAITED;
    Interruption::Blocked(Wait::Handover { what }, site)
}

/// Whether the result of the call that a thread is about to make is used.
fn is_result_used(program: &Program, t: &Thread) -> bool {
    let call = t.inst(program).map(|inst| &inst.op);
    !matches!(call, Some(Op::Extern { dst: None, .. }))
}

pub fn spot(at: Val, size: u32, site: SiteId) -> AccessTarget {
    AccessTarget {
        address: at.bits,
        addr: at.dep,
        size,
        site,
        update: false,
    }
}

impl ThreadEnvironment<'_> {
    /// The read of a read-modify-write.
    fn take(
        &mut self,
        t: &mut Thread,
        state: AccessTarget,
        order: Order,
        uninitialised_ok: bool,
    ) -> Done<Val> {
        let rmw = true;
        let how = ReadMode {
            order,
            rmw,
            uninitialised_ok,
        };
        self.read(t, state, how)
    }

    /// The write of a read-modify-write.
    fn put(&mut self, t: &mut Thread, state: AccessTarget, order: Order, value: u64) -> Done<()> {
        self.write(t, state, order, true, Val::constant(value))
    }

    /// The state of a condition variable that is used.
    fn condition(&mut self, t: &mut Thread, state: AccessTarget) -> Done<u64> {
        let now = self.take(t, state, condition::ORDER, true)?.bits;
        condition::check_use(now).map_err(|misuse| misused(misuse, state.site))?;
        Ok(now)
    }

    pub fn begin_object(
        &mut self,
        t: &mut Thread,
        call: &ExternCall,
        object: SyncObject,
        value: u64,
    ) -> Done<()> {
        let state = spot(call.arg(0), object.size(), call.site);
        let (order, rmw) = match object {
            SyncObject::Condition => (condition::ORDER, true),
            _ => (Order::Na, false),
        };
        let how = ReadMode {
            order,
            rmw,
            uninitialised_ok: true,
        };
        let old = self.read(t, state, how)?.bits;
        let new = object
            .initialise(old, value)
            .map_err(|misuse| misused(misuse, call.site))?;
        self.write(t, state, order, rmw, Val::constant(new))
    }

    pub fn end_object(
        &mut self,
        t: &mut Thread,
        call: &ExternCall,
        object: SyncObject,
    ) -> Done<()> {
        let state = spot(call.arg(0), object.size(), call.site);
        let (order, rmw) = match object.ends_atomically() {
            true => (Order::Rlx, true),
            false => (Order::Na, false),
        };
        let how = ReadMode {
            order,
            rmw,
            uninitialised_ok: true,
        };
        let old = self.read(t, state, how)?.bits;
        let destroyed = object
            .destroy(old)
            .map_err(|misuse| misused(misuse, call.site))?;
        self.write(t, state, order, rmw, Val::constant(destroyed))
    }

    pub fn create_thread(&mut self, t: &mut Thread, call: &ExternCall) -> Done<Flow> {
        if self.local.alone {
            return Err(Interruption::NotAlone);
        }
        call.started(self.program)?;
        let thread = self.sharing.thread(t.id, self.local.created);
        if thread >= MAX_THREADS {
            let message = format!("more than {MAX_THREADS} threads");
            return Err(RunEnd::new(Outcome::Bound, message, Some(call.site)).into());
        }
        let attributes = call.args[3].bits;
        let detached =
            attributes != 0 && self.field(t, call, attributes, 4)? == threads::CREATE_DETACHED;
        let handle = Val::constant(thread_handle(thread));
        let to = spot(call.args[0], 8, call.site);
        self.write(t, to, Order::Na, false, handle)?;
        self.ask(t, Action::Create { thread }, call.site)?;
        self.local.created += 1;
        if detached {
            self.local.detached.push((thread, call.site));
        }
        t.progress();
        Ok(Flow::Value(Val::constant(0)))
    }

    pub fn join_thread(&mut self, t: &mut Thread, call: &ExternCall) -> Done<Flow> {
        let (out, size) = (call.args[1], call.args[2]);
        let known = self.sharing.threads();
        let (joined, detached) = (self.local.joined, self.detached());
        let thread = threads::join(call.args[0].bits, t.id, known, joined, detached)
            .map_err(|misuse| misused(misuse, call.site))?;
        let (result, _) = self.ask(t, Action::Join { thread }, call.site)?;
        if out.bits != 0 {
            let same = |(other, with): &(usize, u64)| {
                *with == result
                    || self.sharing.likeness.start(*other) != self.sharing.likeness.start(thread)
            };
            if !self.local.joining.iter().all(same) {
                self.sharing.distinguish(thread)?;
            }
            let dep = self.marked(self.sets.of_other(self.events()));
            let value = Val::new(result, dep);
            let to = spot(out, size.bits as u32, call.site);
            self.write(t, to, Order::Na, false, value)?;
        }
        self.local.joined |= 1 << thread;
        self.local.joining.push((thread, result));
        t.progress();
        Ok(Flow::Value(Val::constant(0)))
    }

    /// The threads that this one has detached.
    fn detached(&self) -> u64 {
        let detached = self.local.detached.iter();
        detached.fold(0, |all, (thread, _)| all | 1 << thread)
    }

    /// Detaching a thread orders nothing, and is no event: what other threads do with it is compared
    /// when the execution has ended.
    pub fn detach_thread(&mut self, t: &mut Thread, call: &ExternCall) -> Done<()> {
        let known = self.sharing.threads();
        let handle = call.args[0].bits;
        let thread = threads::detach(handle, known, self.local.joined, self.detached())
            .map_err(|misuse| misused(misuse, call.site))?;
        self.local.detached.push((thread, call.site));
        t.progress();
        Ok(())
    }

    fn blocked<T>(&self, t: &Thread, state: AccessTarget, what: &'static str) -> Done<T> {
        let asked = self.is_event(t, state)?;
        let wait = match (asked, what) {
            (true, mutex::AWAITED) => Wait::Handover { what },
            _ => Wait::For {
                what,
                reads: usize::from(asked),
            },
        };
        Err(Interruption::Blocked(wait, state.site))
    }

    /// Locks a mutex if it is free, or recursive and held by the thread. Returns what it did. An
    /// iteration of a loop that locks and unlocks makes no progress, unless another thread tests
    /// the mutex without waiting (trylock).
    pub fn try_lock_mutex(&mut self, t: &mut Thread, site: SiteId, at: Val) -> Done<(Lock, Dep)> {
        let state = spot(at, mutex::SIZE, site);
        let now = self.take(t, state, mutex::LOCK, false)?;
        let held = t.holds(at.bits);
        let lock = mutex::lock(now.bits, t.id, held).map_err(|misuse| misused(misuse, site))?;
        match lock {
            Lock::Acquire(locked) => {
                self.still = !self.program.has_trylock;
                self.put(t, state, mutex::LOCK, locked)?;
                self.still = false;
            }
            Lock::Again => {}
            Lock::Deadlock | Lock::Busy => return Ok((lock, now.dep)),
        }
        self.hold(t, at.bits, held + 1, mutex::free(now.bits));
        Ok((lock, now.dep))
    }

    /// Returns 0, or an error number.
    pub fn lock_mutex(&mut self, t: &mut Thread, site: SiteId, at: Val) -> Done<u64> {
        match self.try_lock_mutex(t, site, at)?.0 {
            Lock::Acquire(_) | Lock::Again => Ok(0),
            Lock::Deadlock => Ok(mutex::EDEADLK),
            Lock::Busy => self.blocked(t, spot(at, mutex::SIZE, site), mutex::AWAITED),
        }
    }

    /// What a thread gets for a use that only the owner of the mutex may make.
    fn refuse(&mut self, t: &mut Thread, site: SiteId, at: Val, owners: OwnersUse) -> Done<u64> {
        let state = self.read(t, spot(at, mutex::SIZE, site), LOOK)?.bits;
        mutex::refuse(owners, state).map_err(|misuse| misused(misuse, site))
    }

    /// Returns 0, or an error number.
    pub fn unlock_mutex(&mut self, t: &mut Thread, call: &ExternCall) -> Done<u64> {
        let (at, site) = (call.args[0], call.site);
        let held = t.holds(at.bits);
        if held == 0 {
            return self.refuse(t, site, at, OwnersUse::unlock(call));
        }
        if held == 1 {
            self.still = !self.program.has_trylock;
            self.release(t, site, at)?;
            self.still = false;
        }
        self.hold(t, at.bits, held - 1, t.free_state(at.bits));
        Ok(0)
    }

    fn release(&mut self, t: &mut Thread, site: SiteId, at: Val) -> Done<()> {
        let free = Val::constant(t.free_state(at.bits));
        self.write(t, spot(at, mutex::SIZE, site), mutex::UNLOCK, false, free)
    }

    /// A wait for some time ends at once, or has got a signal that another thread then does not get;
    /// one without a signal ends at once in another execution. Returns 0, or an error number.
    pub fn wait_for_condition(&mut self, t: &mut Thread, call: &ExternCall) -> Done<u64> {
        let (at, mutex) = (call.args[0], call.args[1]);
        if t.holds(mutex.bits) == 0 {
            return self.refuse(t, call.site, mutex, OwnersUse::Wait);
        }
        let state = spot(at, condition::SIZE, call.site);
        let timed = call.function == Extern::CondWaitFor;
        if timed && self.choose_one(t, 2, call.site)? == 0 {
            self.wake_for_no_reason(t, call)?;
            return Ok(0);
        }
        if !timed && self.either(t, call)? {
            self.wake_for_no_reason(t, call)?;
            self.chosen(t, call, true);
            return Ok(0);
        }
        let waiting = self.condition(t, state)?;
        let waiting = condition::begin_wait(waiting, t.id);
        self.put(t, state, condition::ORDER, waiting)?;
        self.release(t, call.write_site, mutex)?;
        if condition::is_waiting(self.read(t, state, LOOK)?.bits, t.id) {
            if timed {
                return Err(Interruption::Blocked(Wait::Redundant, call.site));
            }
            return self.blocked(t, state, condition::AWAITED);
        }
        let lock = spot(mutex, mutex::SIZE, call.site);
        let now = self.take(t, lock, mutex::LOCK, false)?.bits;
        match mutex::lock(now, t.id, 0).map_err(|misuse| misused(misuse, call.site))? {
            Lock::Acquire(locked) => self.put(t, lock, mutex::LOCK, locked)?,
            _ => return self.blocked(t, lock, mutex::AWAITED),
        }
        Ok(0)
    }

    /// A wait that returns without a signal, in time or not: the thread unlocks the mutex and locks it
    /// again.
    fn wake_for_no_reason(&mut self, t: &mut Thread, call: &ExternCall) -> Done<()> {
        let mutex = call.args[1];
        self.still = !self.program.has_trylock;
        self.release(t, call.write_site, mutex)?;
        let lock = spot(mutex, mutex::SIZE, call.site);
        let now = self.take(t, lock, mutex::LOCK, false)?.bits;
        match mutex::lock(now, t.id, 0).map_err(|misuse| misused(misuse, call.site))? {
            Lock::Acquire(locked) => self.put(t, lock, mutex::LOCK, locked)?,
            _ => return self.blocked(t, lock, mutex::AWAITED),
        }
        self.still = false;
        Ok(())
    }

    /// Wakes one of the threads that wait now.
    pub fn signal_condition(&mut self, t: &mut Thread, call: &ExternCall) -> Done<()> {
        let state = spot(call.args[0], condition::SIZE, call.site);
        let waiting = self.condition(t, state)?;
        let choice = match condition::waiters(waiting) {
            0 | 1 => 0,
            waiters => self.choose_one(t, waiters, call.site)?,
        };
        match condition::signal(waiting, choice) {
            Some(after) => self.put(t, state, condition::ORDER, after),
            None => Ok(()),
        }
    }

    pub fn broadcast_condition(&mut self, t: &mut Thread, call: &ExternCall) -> Done<()> {
        let state = spot(call.args[0], condition::SIZE, call.site);
        if self.condition(t, state)? == condition::NO_WAITERS {
            return Ok(());
        }
        self.put(t, state, condition::ORDER, condition::NO_WAITERS)
    }

    pub fn meet_at_barrier(&mut self, t: &mut Thread, call: &ExternCall) -> Done<Flow> {
        let at = call.args[0];
        let arriving = spot(at, barrier::SIZE, call.write_site);
        let sharing = self.sharing;
        if let Some(order) = sharing.meetings.order(at.bits) {
            self.require(at.dep)?;
            if self.is_event(t, arriving)? {
                return self.meet_in_order(t, call, order);
            }
        }
        let now = self.take(t, arriving, barrier::ARRIVE, false)?.bits;
        let arrival = barrier::arrive(now).map_err(|misuse| misused(misuse, call.site))?;
        if self.is_event(t, arriving)? && !is_result_used(self.program, t) {
            self.sharing.arrives(at.bits, t.id, barrier::threads(now))?;
        }
        match arrival {
            barrier::Arrival::Opens(after) => {
                self.put(t, arriving, barrier::ARRIVE, after)?;
                return Ok(Flow::Value(Val::constant(barrier::SERIAL_THREAD)));
            }
            barrier::Arrival::Waits(after) => self.put(t, arriving, barrier::ARRIVE, after)?,
        }
        let leaving = spot(at, barrier::SIZE, call.site);
        let how = ReadMode {
            order: barrier::LEAVE,
            rmw: false,
            uninitialised_ok: false,
        };
        let after = self.read(t, leaving, how)?.bits;
        if !barrier::has_opened(now, after).map_err(|misuse| misused(misuse, call.site))? {
            return self.blocked(t, leaving, barrier::AWAITED);
        }
        Ok(Flow::Value(Val::constant(0)))
    }

    /// Waits at a barrier whose threads arrive in this order: the thread whose turn it is increments
    /// the number of arrivals, and then waits for the last one ([`meetings`]).
    ///
    /// [`meetings`]: crate::threads::meetings
    fn meet_in_order(
        &mut self,
        t: &mut Thread,
        call: &ExternCall,
        order: &[ThreadId],
    ) -> Done<Flow> {
        let at = call.args[0];
        let state = spot(at, barrier::SIZE, call.write_site);
        let how = ReadMode {
            order: Order::Rlx,
            rmw: false,
            uninitialised_ok: false,
        };
        self.meets = true;
        let now = self.read(t, state, how)?.bits;
        barrier::arrive(now).map_err(|misuse| misused(misuse, call.site))?;
        let number = self
            .local
            .rounds
            .iter()
            .position(|(known, _)| *known == at.bits);
        let round = number.map_or(0, |number| self.local.rounds[number].1);
        let fits = barrier::threads(now) == order.len() as u64
            && round < Location::MAX_ROUNDS
            && !is_result_used(self.program, t);
        let turn = order.iter().position(|thread| *thread == t.id);
        let Some(turn) = turn.filter(|_| fits) else {
            return Err(self.sharing.order_matters(at.bits).into());
        };
        let here = Location::of_round(at.bits, round);
        let arrived = self.read_round(t, state, here, true)?;
        if arrived != turn as u64 {
            return Err(not_yet(call.site));
        }
        let action = Action::Write {
            at: here,
            order: barrier::ARRIVE,
            value: arrived + 1,
            rmw: true,
            undefined: 0,
        };
        let after = Val::constant(arrived + 1);
        if self.ask_with(t, action, state.site, (at.dep, 0))?.1 {
            self.has_written(t, here, after, state, false);
        }
        let leaving = spot(at, barrier::SIZE, call.site);
        if self.read_round(t, leaving, here, false)? != order.len() as u64 {
            return Err(not_yet(call.site));
        }
        match number {
            Some(number) => self.local.rounds[number].1 += 1,
            None => self.local.rounds.push((at.bits, 1)),
        }
        Ok(Flow::Value(Val::constant(0)))
    }

    /// How many threads have arrived in a round of a barrier.
    fn read_round(
        &mut self,
        t: &mut Thread,
        barrier: AccessTarget,
        here: Location,
        arrives: bool,
    ) -> Done<u64> {
        let action = Action::Read {
            at: here,
            order: match arrives {
                true => barrier::ARRIVE,
                false => barrier::LEAVE,
            },
            rmw: arrives,
            uninitialised_ok: true,
            ignored: false,
        };
        let (arrived, new) = self.ask_with(t, action, barrier.site, (barrier.addr, 0))?;
        if new {
            self.has_read(t, here, arrived, barrier, (false, false));
        }
        self.answered(t, false);
        Ok(arrived)
    }

    pub fn call_once(&mut self, t: &mut Thread, call: &ExternCall) -> Done<Flow> {
        let state = spot(call.args[0], once::SIZE, call.site);
        match once::begin(self.take(t, state, once::BEGIN, false)?.bits) {
            once::Begin::Call(running) => {
                let id = call.started(self.program)?;
                self.put(t, state, once::BEGIN, running)?;
                Ok(Flow::Once(id, state.address))
            }
            once::Begin::Wait => self.blocked(t, state, once::AWAITED),
            once::Begin::Return => Ok(Flow::Value(Val::constant(0))),
        }
    }

    pub fn finish_once(&mut self, t: &mut Thread, flag: u64, site: SiteId) -> Done<()> {
        let returned = Val::constant(once::RETURNED);
        self.write(
            t,
            spot(Val::constant(flag), once::SIZE, site),
            once::FINISH,
            false,
            returned,
        )
    }
}
