//! Memory instructions: each performs one or several events.

use super::environment::{AccessTarget, Done, EventEnvironment, Events, Interruption, ReadMode};
use crate::source::{Action, SrcuUse};
use program::interpreter::thread::Thread;
use program::interpreter::{self, Cas, ExternCall, Flow, Outcome, RunEnd};
use program::ir::arithmetic::rmw;
use program::ir::bits::mask;
use program::ir::{Access, Annotation, CasWrite, Extern, Order, RmwOp, SiteId};
use program::library::call;
use program::memory::{Dep, Named, NewLocal, Val, Visibility};
use std::sync::Arc;

/// Objects are aligned to at most a page when the lifetime of a local begins again.
const MAX_ALIGN: u32 = 12;

/// The size of a `srcu_struct` where it is accessed: that of an index.
const SRCU_SIZE: u32 = 4;

const ASYMMETRIC: &str = "the model gives no meaning to an asymmetric fence (sc, tso and rc20 do, \
                          by the sets LIGHT and HEAVY)";

const OF_KERNEL: &str = "only the Linux kernel's model gives a meaning to this operation (-m lkmm)";

const NOT_OF_VERSION: &str =
    "this version of the Linux kernel's model has no such fence: name the model \
                               of another kernel tree (WEAKSPOT_KERNEL_MODEL)";

const NOT_OF_KERNEL: &str =
    "the Linux kernel's model gives no meaning to this operation: use those of \
                             <weakspot/kernel.h>";

const INITIALISED_LATE: &str =
    "the Linux kernel's model gives no meaning to initialising a lock when threads run: do so before \
     the first one is created, or allocate the lock with kzalloc (one that is zero is free)";

/// Whether threads synchronise by a library function that stands for none of the kernel's.
fn synchronises(function: Extern) -> bool {
    use Extern::*;
    matches!(
        function,
        MutexInit
            | CondSignal
            | CondBroadcast
            | CondWait
            | CondWaitFor
            | SleepBegin
            | Sleep
            | SleepEnd
            | Wake
            | Sleepers
            | Requeue
            | BarrierWait
            | Once
    )
}

fn is_fault(end: &RunEnd) -> bool {
    use Outcome::*;
    matches!(end.outcome, Assertion | Deadlock | Memory | Uninitialised)
}

impl<'p, E: Events<'p>> EventEnvironment<E> {
    /// What an instruction has done. If it is at fault, the thread leaves its critical sections of RCU
    /// first: without its end, a section orders nothing.
    pub fn leave_sections(&mut self, t: &mut Thread, done: Done<()>) -> Done<()> {
        let site = match &done {
            Err(Interruption::Fault(_, _, site)) => *site,
            Err(Interruption::RunEnd(end)) if is_fault(end) => end.site.unwrap_or_default(),
            _ => return done,
        };
        let sections = self.0.calls().sections.clone();
        for (end, index) in sections.into_iter().rev() {
            self.ask_for_fence(t, end, index, site)?;
        }
        done
    }

    /// An error if the model gives an access no meaning: one with a memory order that the kernel has
    /// not, under its model, or with one of the kernel's alone, under another.
    fn has_meaning(&self, access: &Access, foreign: &[Order]) -> Done<()> {
        let kernel = self.0.is_kernel();
        let message = match access.order {
            _ if self.0.is_alone() => return Ok(()),
            order if kernel && foreign.contains(&order) => NOT_OF_KERNEL,
            Order::Kernel(_) if !kernel => OF_KERNEL,
            _ => return Ok(()),
        };
        Err(RunEnd::at_limit("model", message, Some(access.site)).into())
    }

    /// Performs a fence, if the model gives one with its memory order a meaning. Returns the index of a
    /// critical section of SRCU that begins, where memory has it; `index` is what that of one that ends
    /// depends on.
    pub(super) fn order(
        &mut self,
        t: &mut Thread,
        fence: Action,
        index: Dep,
        site: SiteId,
    ) -> Done<Option<Val>> {
        let Action::Fence { order, .. } = fence else {
            return Ok(None);
        };
        let kernel = self.0.is_kernel();
        let message = match order {
            Order::Kernel(
                Annotation::Rmb
                | Annotation::Wmb
                | Annotation::Barrier
                | Annotation::BeforeAtomic
                | Annotation::AfterAtomic,
            ) if self.0.is_alone() && kernel => return Ok(None), // no event precedes it
            // a critical section may end when threads run
            Order::Kernel(_) if self.0.is_alone() && kernel => {
                return Err(Interruption::NotAlone(site))
            }
            _ if self.0.is_alone() => return Ok(None),
            Order::Kernel(Annotation::AfterSrcuUnlock)
                if kernel && !self.0.kernel_version().after_srcu_unlock =>
            {
                NOT_OF_VERSION
            }
            Order::Acq | Order::Rel | Order::AcqRel if kernel => NOT_OF_KERNEL,
            Order::Kernel(_) if !kernel => OF_KERNEL,
            Order::Light | Order::Heavy if !self.0.asymmetric_fences() => ASYMMETRIC,
            _ => {
                let found = self.ask_for_fence(t, fence, index, site)?;
                let sections = &mut self.0.calls().sections;
                match ends(fence, found) {
                    Some(end) => sections.push(end),
                    None => {
                        let ended = sections.iter().rposition(|(end, _)| *end == fence);
                        ended.map(|at| sections.remove(at));
                    }
                }
                return Ok(found);
            }
        };
        Err(RunEnd::at_limit("model", message, Some(site)).into())
    }

    /// Makes a fence an event: of its own, or an access where the model has it so. Returns what is read.
    fn ask_for_fence(
        &mut self,
        t: &mut Thread,
        fence: Action,
        index: Dep,
        site: SiteId,
    ) -> Done<Option<Val>> {
        if let (true, Action::Fence { order, srcu }) =
            (self.0.kernel_version().srcu_by_accesses, fence)
        {
            let at = |of: SrcuUse| AccessTarget::new(Val::constant(of.address), SRCU_SIZE, site);
            match (order, srcu) {
                (Order::Kernel(Annotation::SrcuLock), Some(of)) => {
                    let how = ReadMode {
                        order,
                        ..ReadMode::PLAIN
                    };
                    return self.0.read(t, at(of), how).map(Some);
                }
                (Order::Kernel(Annotation::SrcuUnlock), Some(of)) => {
                    let index = Val::new(of.index.unwrap_or(0), index);
                    self.0.write(t, at(of), order, false, index)?;
                    return Ok(None);
                }
                _ => {}
            }
        }
        self.0.ask(t, fence, site)?;
        Ok(None)
    }
}

/// What ends a critical section that this fence begins, and what its index depends on. `found`: the index,
/// where memory has it.
fn ends(fence: Action, found: Option<Val>) -> Option<(Action, Dep)> {
    let Action::Fence { order, mut srcu } = fence else {
        return None;
    };
    if let (Some(of), Some(found)) = (&mut srcu, found) {
        of.index = Some(found.bits);
    }
    let order = match order {
        Order::Kernel(Annotation::RcuLock) => Annotation::RcuUnlock.into(),
        Order::Kernel(Annotation::SrcuLock) => Annotation::SrcuUnlock.into(),
        _ => return None,
    };
    let index = found.map_or(0, |found| found.dep);
    Some((Action::Fence { order, srcu }, index))
}

fn target(address: Val, access: &Access) -> AccessTarget {
    AccessTarget {
        update: access.update,
        ..AccessTarget::new(address, access.size, access.site)
    }
}

impl<'p, E: Events<'p>> interpreter::Environment for EventEnvironment<E> {
    type Interruption = Interruption;

    fn union(&mut self, a: Dep, b: Dep) -> Dep {
        self.0.union(a, b)
    }

    fn require(&self, reads: Dep) -> Done<()> {
        self.0.require(reads)
    }

    fn asserts(&self, site: SiteId) {
        self.0.asserts(site);
    }

    fn has_unknown(&self) -> bool {
        self.0.has_unknown()
    }

    fn covers(&self, before: Dep, after: Dep) -> bool {
        self.0.covers(before, after)
    }

    fn by_choice(&mut self, reads: Dep) -> Dep {
        self.0.sets().chosen(reads)
    }

    fn compares_at_once(&self) -> bool {
        self.0.compares_at_once()
    }

    fn branches_end(&self) -> bool {
        self.0.is_kernel()
    }

    fn left_behind(&self, value: Dep, reads: Dep) -> Dep {
        self.0.sets().left_behind(value, reads)
    }

    fn control(&mut self, t: &mut Thread, reads: Dep) -> Done<()> {
        self.0.require(reads)?;
        if !self.0.is_kernel() {
            self.0.add_control(t, reads);
        }
        Ok(())
    }

    fn computes_with_thread(&mut self, t: &Thread) -> Done<()> {
        self.0.computes_with_thread(t)
    }

    fn now(&self, _: &Thread) -> u32 {
        self.0.events() as u32
    }

    fn looks_once(&self, t: &Thread, since: u32) -> bool {
        self.0.looks_once() && self.now(t) == since + 1
    }

    fn refuses_undefined(&self) -> bool {
        true
    }

    fn precedes(&self, dep: Dep, now: u32) -> bool {
        self.0.sets().precedes(dep, now)
    }

    fn load(&mut self, t: &mut Thread, address: Val, access: &Access) -> Done<Val> {
        self.has_meaning(access, &[Order::AcqRel, Order::Sc])?;
        self.0.uses(address.dep);
        self.0.shared_address(t, address.dep)?;
        let how = ReadMode {
            order: access.order,
            rmw: false,
            uninitialised_ok: access.partial,
        };
        let mut value = self.0.read(t, target(address, access), how)?;
        value.dep = self.0.read_through(value.dep, address.dep);
        Ok(value)
    }

    fn store(&mut self, t: &mut Thread, address: Val, value: Val, access: &Access) -> Done<()> {
        self.has_meaning(access, &[Order::AcqRel, Order::Sc])?;
        self.0.uses(self.0.union(address.dep, value.dep));
        self.0.shared_address(t, address.dep)?;
        let to = target(address, access);
        self.0.write(t, to, access.order, false, value)
    }

    fn rmw(
        &mut self,
        t: &mut Thread,
        address: Val,
        op: RmwOp,
        operand: Val,
        access: &Access,
    ) -> Done<Val> {
        self.has_meaning(access, &[Order::AcqRel])?;
        self.0.uses(self.0.union(address.dep, operand.dep));
        self.0.shared_address(t, address.dep)?;
        let to = target(address, access);
        let mut old = self.0.read(t, to, ReadMode::of_rmw(access.order))?;
        old.bits = mask(old.bits, access.bits);
        let new = rmw(op, access.bits, old.bits, operand.bits);
        let both = self.0.union(old.dep, operand.dep);
        let mut value = match op {
            RmwOp::Xchg if self.0.sets().tracked => Val::new(new, operand.dep),
            _ => Val::new(new, both),
        };
        let unchanged = new == old.bits && self.0.require(both).is_ok();
        self.0.writes_unchanged(unchanged);
        if let RmwOp::Xchg = op {
            value.undefined = operand.undefined;
        }
        let ctrl = t.ctrl;
        if self.0.is_kernel() && op == RmwOp::Xchg {
            // the model has it so
            self.0.add_control(t, old.dep);
        }
        let written = self.0.write(t, to, access.order, true, value);
        t.ctrl = ctrl;
        written?;
        self.0.writes_unchanged(false);
        old.dep = self.0.read_through(old.dep, address.dep);
        Ok(old)
    }

    /// A compare-exchange that is weak, or that compares indeterminate bytes, may fail spuriously.
    fn cas(&mut self, t: &mut Thread, cas: &Cas, access: &Access) -> Done<(Val, bool)> {
        self.has_meaning(access, &[Order::AcqRel])?;
        let compared = self.0.union(cas.address.dep, cas.expected.dep);
        self.0.uses(self.0.union(compared, cas.desired.dep));
        self.0.shared_address(t, cas.address.dep)?;
        let to = target(cas.address, access);
        let mut old = self.0.read(t, to, ReadMode::of_rmw(cas.failure))?;
        old.bits = mask(old.bits, access.bits);
        old.dep = self.0.read_through(old.dep, cas.address.dep);
        let compared = self.0.union(old.dep, cas.expected.dep);
        let is_event = self.0.is_event(t, to, true)?;
        let mut same = cas.succeeds(old.bits, access.bits);
        let at_once = self.0.compares_at_once() && is_event;
        if at_once {
            let is_known = self.0.require(compared).is_ok();
            let outcome = is_known.then_some(same);
            same = self.0.ask(t, Action::Compare { outcome }, access.site)? == 1;
        } else {
            self.control(t, compared)?;
        }
        if !same {
            return Ok((old, false));
        }
        if cas.writes == CasWrite::Desired && self.0.require(old.dep).is_err() {
            old.bits = cas.expected.bits;
        }
        // clang's library compares all bytes, with those that are indeterminate
        let compares_undefined = (old.undefined | cas.expected.undefined) != 0;
        let may_fail = (cas.weak || compares_undefined) && self.0.may_fail(access.site);
        if may_fail && self.0.choose_one(t, 2, access.site)? == 1 {
            self.0.has_failed(t, access.site);
            return Ok((old, false));
        }
        let read_too = self.0.union(compared, cas.desired.dep);
        let is_known = self.0.require(read_too).is_ok();
        let desired = cas.written(old, access.bits, |a, b| self.0.union(a, b));
        self.0
            .writes_unchanged(desired.bits == old.bits && is_known);
        let ctrl = t.ctrl;
        if at_once {
            // whether there is this write depends on what is compared; nothing after it does
            self.0.add_control(t, compared);
        }
        let written = self.0.write(t, to, access.order, true, desired);
        t.ctrl = ctrl;
        written?;
        self.0.writes_unchanged(false);
        if at_once {
            // the instruction may return what was expected
            old.dep = self.0.sets().chosen(old.dep);
        }
        Ok((old, true))
    }

    fn fence(&mut self, t: &mut Thread, order: Order, signal: bool, site: SiteId) -> Done<()> {
        self.0.uses(0);
        match signal {
            true => Ok(()),
            false => self.order(t, Action::fence(order), 0, site).map(|_| ()),
        }
    }

    fn external(&mut self, t: &mut Thread, call: &ExternCall) -> Done<Flow> {
        let args = call.args.iter();
        let reads = args.fold(0, |reads, arg| self.0.union(reads, arg.dep));
        self.0.uses(reads);
        if self.0.is_kernel() && synchronises(call.function) {
            let message = match call.function {
                Extern::MutexInit if self.0.is_alone() => None,
                Extern::MutexInit => Some(INITIALISED_LATE),
                _ => Some(NOT_OF_KERNEL),
            };
            if let Some(message) = message {
                return Err(RunEnd::at_limit("model", message, Some(call.site)).into());
            }
        }
        self.0.begin_call(t, call)?;
        call::call(self, t, call)
    }

    fn once_done(&mut self, t: &mut Thread, flag: u64, site: SiteId) -> Done<()> {
        self.finish_once(t, flag, site)
    }

    fn alloca(&mut self, t: &mut Thread, local: &NewLocal) -> Done<u64> {
        let base = self.0.memory().next_local(t.id, local.align);
        let shared = !local.private && self.0.begins_shared(base, local.size);
        if shared && !self.0.is_alone() {
            let action = Action::Allocate {
                base,
                size: local.size,
                zeroed: false,
            };
            self.0.ask(t, action, local.site)?;
        }
        let memory = Arc::make_mut(self.0.memory_mut());
        memory.push_local(t.id, local);
        if shared {
            memory.share(base, Visibility::Shared);
        }
        if !local.private {
            self.0
                .has_allocated(base, local.size, Named::Local(local.local));
        }
        Ok(base)
    }

    /// A local variable that threads share is another object each time that its lifetime begins.
    fn begin_local(&mut self, t: &mut Thread, address: u64) -> Done<u64> {
        let ended = match self.0.memory().object_at(address) {
            Some(object) if object.freed => object,
            _ => return Ok(address),
        };
        let (true, Named::Local(local)) = (self.0.begins_anew(ended), ended.named) else {
            Arc::make_mut(self.0.memory_mut()).begin_local(address);
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
        let (base, shared) = match self.0.memory().object_at(address) {
            Some(object) if !object.freed => (object.base, self.0.ends_shared(t, object)?),
            _ => return Ok(()),
        };
        if shared {
            self.0.ask(t, Action::Free { base }, site)?;
        }
        Arc::make_mut(self.0.memory_mut()).end_local(address);
        self.0.settle(t);
        Ok(())
    }

    fn locals(&self, t: &Thread) -> usize {
        self.0.memory().locals(t.id)
    }

    fn leave(&mut self, t: &mut Thread, mark: usize, ends: bool) -> Done<()> {
        if self.0.memory().locals(t.id) <= mark && !ends {
            return Ok(());
        }
        // the locals of main live until the process ends
        let whole_process = t.id == 0 && t.frames.len() == 1;
        if !whole_process && !self.0.is_alone() {
            let memory = self.0.memory();
            let own = ends.then(|| memory.thread_locals(t.id));
            let mut ended = Vec::new();
            for object in memory
                .locals_from(t.id, mark)
                .chain(own.into_iter().flatten())
            {
                if !object.freed && self.0.ends_shared(t, object)? {
                    ended.push((object.base, object.site));
                }
            }
            for (base, site) in ended {
                self.0.ask(t, Action::Free { base }, site)?;
            }
        }
        Arc::make_mut(self.0.memory_mut()).pop_locals(t.id, mark, |_, _, _| {});
        self.0.settle(t);
        Ok(())
    }

    fn thread_local(&mut self, t: &Thread, global: u32) -> u64 {
        self.0.memory().thread_local(t.id, global)
    }
}
