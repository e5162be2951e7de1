//! What the instructions and library calls of an explored thread are made of.
use crate::semantics::dependencies::{branches_on_reads, decisive_arguments, DependencySets};
use crate::semantics::environment::{
    AccessTarget, Accesses, CallRecord, Done, Events, Interruption, KernelVersion,
};
use crate::source::{Action, FaultKind, Location, ThreadId, Wait};
use crate::threads::barriers::is_result_used;
use crate::threads::environment::ThreadEnvironment;
use program::interpreter::thread::Thread;
use program::interpreter::{ExternCall, Flow};
use program::ir::{Order, Program, SiteId};
use program::library::{barrier, mutex};
use program::memory::{Dep, Memory, Named, Object, Val, Visibility};
use std::sync::Arc;

/// Operation calls of one program; more are refused.
const MAX_CALLS: u64 = 64;

impl<'p> Events<'p> for ThreadEnvironment<'p> {
    const TIMED_OUT: Wait = Wait::Redundant;

    fn program(&self) -> &'p Program {
        self.program
    }

    fn memory(&self) -> &Memory {
        &self.local.memory
    }

    fn memory_mut(&mut self) -> &mut Arc<Memory> {
        &mut self.local.memory
    }

    fn calls(&mut self) -> &mut CallRecord {
        &mut self.local.calls
    }

    fn is_alone(&self) -> bool {
        self.local.alone
    }

    fn events(&self) -> usize {
        self.local.events_before + self.asked
    }

    fn ask(&mut self, t: &mut Thread, action: Action, site: SiteId) -> Done<u64> {
        Ok(self.ask_with(t, action, site, (0, 0), false)?.0)
    }

    fn choose_one(&mut self, t: &mut Thread, alternatives: u32, site: SiteId) -> Done<u64> {
        self.ask(t, Action::Choose { alternatives }, site)
    }

    fn settle(&self, t: &mut Thread) {
        let memory = &self.local.memory;
        t.settle(memory.hash ^ memory.idle ^ self.local.ignored, memory.idle);
    }

    fn progress(&mut self, t: &mut Thread, site: Option<SiteId>) {
        if site.is_some() {
            t.changed = site;
            self.local.progress = None;
        }
        t.progress();
    }

    fn wait_for(&self, t: &Thread, state: AccessTarget, what: &'static str) -> Done<Wait> {
        let asked = self.is_event(t, state, true)?;
        Ok(match (asked, what) {
            (true, mutex::AWAITED) => Wait::Handover { what },
            _ => Wait::For {
                what,
                reads: usize::from(asked),
            },
        })
    }

    fn next_thread(&mut self, t: &Thread) -> ThreadId {
        self.sharing.thread(t.id, self.local.calls.created)
    }

    fn threads(&self) -> usize {
        self.sharing.threads()
    }

    fn joined_result(&mut self, thread: ThreadId, result: u64) -> Done<Dep> {
        let same = self.sharing.with_symmetry(|symmetry| {
            let mut joining = self.local.joining.iter();
            joining.all(|(other, with)| {
                *with == result || symmetry.start(*other) != symmetry.start(thread)
            })
        });
        if !same {
            self.sharing.distinguish(thread)?;
        }
        Ok(self.marked(self.sets.of_other(self.events())))
    }

    fn has_joined(&mut self, thread: ThreadId, result: u64) {
        self.local.joining.push((thread, result));
    }

    fn has_chosen(&mut self, t: &mut Thread, choice: bool) -> Dep {
        t.failures += u64::from(choice);
        self.sets.of_other(self.events() + 1)
    }

    fn choose(&mut self, t: &mut Thread, alternatives: u32, site: SiteId) -> Done<u64> {
        let choice = self.choose_one(t, alternatives, site)?;
        let again = self.local.chosen.replace(t.epoch) == Some(t.epoch);
        if again || choice + 1 == u64::from(alternatives) {
            t.progress();
        } else {
            // a loop that is in the same state after it need not be run again: the last alternative
            // is explored from there
            t.failures += 1;
        }
        Ok(choice)
    }

    /// A write, which no thread reads, where a call begins, and one of its result where it has
    /// returned. The arguments are the number of the call and, where it has returned, how it is written
    /// with `%` for each of its arguments, the result, and these arguments.
    fn record_call(&mut self, t: &mut Thread, call: &ExternCall, returned: bool) -> Done<()> {
        let number = call.arg(0).bits;
        let mut result = Val::constant(0);
        if returned {
            let mut written = self.local.memory.text(call.arg(1).bits);
            for argument in call.args.iter().skip(3) {
                written = written.replacen('%', &(argument.bits as i64).to_string(), 1);
            }
            self.sharing.name_call(number as u32, written);
            result = call.arg(2);
        }
        if number >= MAX_CALLS {
            let message = format!("call number {number}: at most {MAX_CALLS} calls are compared");
            return Err(Interruption::Unsupported(message, call.site));
        }
        let at = Location::of_call(number as u32, returned);
        let action = Action::write(at, Order::Na, result.bits, false);
        if self
            .ask_with(t, action, call.site, (0, result.dep), false)?
            .1
        {
            t.progress();
        }
        Ok(())
    }

    fn uses_lock(&mut self) {
        self.still = !self.program.has_trylock;
    }

    fn share(&mut self, address: u64) -> Done<()> {
        Err(self.sharing.learn_shared(address, address + 1).into())
    }

    fn wait_in_order(&mut self, t: &mut Thread, call: &ExternCall) -> Done<Option<Flow>> {
        let at = call.args[0];
        let sharing = self.sharing;
        let Some(order) = sharing.order(at.bits) else {
            return Ok(None);
        };
        self.require(at.dep)?;
        let arriving = AccessTarget::new(at, barrier::SIZE, call.write_site);
        match self.is_event(t, arriving, true)? {
            true => self.wait_in_fixed_order(t, call, order).map(Some),
            false => Ok(None),
        }
    }

    fn arrives(&mut self, t: &Thread, barrier: AccessTarget, state: u64) -> Done<()> {
        if self.is_event(t, barrier, true)? && !is_result_used(self.program, t) {
            let threads = barrier::threads(state);
            self.sharing.arrives(barrier.address, t.id, threads)?;
        }
        Ok(())
    }

    fn begins_shared(&self, base: u64, size: u64) -> bool {
        self.sharing.is_shared(base, base + size)
    }

    /// The end is a use: it must be ordered with those of another thread, also where that is the only
    /// one that uses it.
    fn ends_shared(&self, t: &Thread, local: &Object) -> Done<bool> {
        match local.visibility {
            _ if self.local.alone || local.private => Ok(false),
            Visibility::ThisThread => Ok(false),
            Visibility::Shared => Ok(true),
            Visibility::OneThread(k) if self.sharing.owns(k, t.id) => Ok(false),
            Visibility::OneThread(_) => {
                let end = local.base + local.size;
                Err(self.sharing.learn_shared(local.base, end).into())
            }
        }
    }

    fn begins_anew(&self, ended: &Object) -> bool {
        ended.visibility == Visibility::Shared
    }

    fn has_allocated(&mut self, base: u64, size: u64, named: Named) {
        self.sharing.met(base, size, named);
    }

    fn end_heap_object(&mut self, t: &mut Thread, address: u64, site: SiteId) -> Done<()> {
        let at = AccessTarget::new(Val::constant(address), 0, site);
        let object = self.local.memory.object_at(address);
        if !object.is_some_and(|o| o.freed) && self.is_event(t, at, true)? {
            return self
                .ask(t, Action::Free { base: address }, site)
                .map(|_| ());
        }
        let freed = Arc::make_mut(&mut self.local.memory).free(address);
        freed.map_err(|message| Interruption::Fault(FaultKind::Memory, message, site))
    }

    fn asymmetric_fences(&self) -> bool {
        self.settings.asymmetric_fences
    }

    fn kernel_version(&self) -> KernelVersion {
        self.settings.kernel_version
    }

    fn may_fail(&mut self, site: SiteId) -> bool {
        !(self.settings.fails_once && self.local.calls.spurious.contains(&site))
    }

    fn has_failed(&mut self, t: &mut Thread, site: SiteId) {
        let spurious = &mut self.local.calls.spurious;
        spurious.extend(self.settings.fails_once.then_some(site));
        t.failures += 1;
    }

    fn sets(&self) -> &DependencySets {
        self.sets
    }

    fn looks_once(&self) -> bool {
        self.settings.looks_once
    }

    /// Interrupts the instruction if it needs the value of a postponed read.
    fn require(&self, reads: Dep) -> Done<()> {
        let postponed = self.local.postponed;
        match postponed == 0 || self.sets.are_disjoint(reads, postponed) {
            true => Ok(()),
            false => Err(Interruption::Needs(
                self.sets.intersection(reads, postponed),
            )),
        }
    }

    fn asserts(&self, site: SiteId) {
        self.sharing.record_assertion(site);
    }

    fn has_unknown(&self) -> bool {
        self.local.postponed != 0
    }

    fn covers(&self, before: Dep, after: Dep) -> bool {
        self.local.past.covers(self.sets, before, after)
    }

    fn compares_at_once(&self) -> bool {
        self.sets.tracked && !self.settings.branches
    }

    /// Not while a witness runs the thread: it follows branches only.
    fn add_control(&self, t: &mut Thread, reads: Dep) {
        if self.sets.tracked && self.local.mark.is_none() {
            t.ctrl = self.sets.union(t.ctrl, reads);
        }
    }

    fn computes_with_thread(&mut self, t: &Thread) -> Done<()> {
        Ok(self.sharing.distinguish(t.id)?)
    }

    fn uses(&mut self, reads: Dep) {
        self.local.uses = reads;
    }

    fn writes_unchanged(&mut self, unchanged: bool) {
        self.local.unchanged = unchanged;
    }

    /// Interrupts a library call if it needs the value of a postponed read.
    fn begin_call(&mut self, t: &mut Thread, call: &ExternCall) -> Done<()> {
        if !self.sets.tracked {
            return Ok(());
        }
        for argument in decisive_arguments(call) {
            self.require(argument.dep)?;
            if !self.is_kernel() {
                self.add_control(t, argument.dep);
            }
        }
        self.in_library = branches_on_reads(call) && !self.is_kernel();
        let unknown = self.local.answers.iter().position(Option::is_none);
        match unknown.filter(|_| self.in_library) {
            Some(read) => Err(Interruption::Needs(
                self.sets.of_read(self.local.events_before + read),
            )),
            None => Ok(()),
        }
    }
}
