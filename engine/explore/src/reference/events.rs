//! What the instructions and library calls of a thread of the reference are made of: every access of
//! an object whose address may have escaped is an event.

use super::semantics::ReferenceEnvironment;
use crate::semantics::dependencies::{branches_on_reads, decisive_arguments, DependencySets};
use crate::semantics::environment::{
    AccessTarget, CallRecord, Done, Events, Interruption, KernelVersion,
};
use crate::semantics::rounds::Step;
use crate::source::{Action, FaultKind, ThreadId, Wait};
use program::interpreter::thread::Thread;
use program::interpreter::ExternCall;
use program::ir::{Program, SiteId};
use program::memory::{Dep, Memory, Object};
use std::sync::Arc;

impl<'p> Events<'p> for ReferenceEnvironment<'_, 'p> {
    const TIMED_OUT: Wait = Wait::Retried;

    fn program(&self) -> &'p Program {
        self.semantics.program
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
        self.local.events + self.asked
    }

    /// What a compare-exchange compares is known when it is asked.
    fn ask(&mut self, t: &mut Thread, action: Action, site: SiteId) -> Done<u64> {
        match action {
            Action::Compare {
                outcome: Some(same),
            } => Ok(same.into()),
            action => Ok(self.answer_to(t, action, site, (0, 0), false)?.0.value),
        }
    }

    fn choose_one(&mut self, t: &mut Thread, alternatives: u32, site: SiteId) -> Done<u64> {
        let action = Action::Choose { alternatives };
        let (answer, new) = self.answer_to(t, action, site, (0, 0), false)?;
        if new {
            self.record(t, Step::Choice);
        }
        Ok(answer.value)
    }

    fn settle(&self, t: &mut Thread) {
        let memory = &self.local.memory;
        t.settle(memory.hash ^ memory.idle, memory.idle);
    }

    fn progress(&mut self, t: &mut Thread, _: Option<SiteId>) {
        t.progress();
        self.local.steps.clear();
        self.local.headers.clear();
    }

    fn wait_for(&self, _: &Thread, _: AccessTarget, what: &'static str) -> Done<Wait> {
        Ok(Wait::For { what, reads: 1 })
    }

    fn supports(&self, what: &str, site: SiteId) -> Done<()> {
        let message = format!("the reference does not support {what}");
        Err(Interruption::Unsupported(message, site))
    }

    fn next_thread(&mut self, t: &Thread) -> ThreadId {
        self.semantics.number(t.id, self.local.calls.created)
    }

    fn threads(&self) -> usize {
        self.semantics.threads()
    }

    fn joined_result(&mut self, _: ThreadId, _: u64) -> Done<Dep> {
        Ok(self.semantics.sets.of_other(self.events()))
    }

    fn has_chosen(&mut self, _: &mut Thread, _: bool) -> Dep {
        self.semantics.sets.of_other(self.events() + 1)
    }

    fn record_call(&mut self, _: &mut Thread, call: &ExternCall, _: bool) -> Done<()> {
        let message = "the reference does not compare calls with a specification".to_owned();
        Err(Interruption::Unsupported(message, call.site))
    }

    fn share(&mut self, _: u64) -> Done<()> {
        Ok(())
    }

    fn begins_shared(&self, _: u64, _: u64) -> bool {
        true
    }

    fn ends_shared(&self, _: &Thread, local: &Object) -> Done<bool> {
        Ok(!local.private && !self.local.alone)
    }

    fn begins_anew(&self, ended: &Object) -> bool {
        !ended.private && !self.local.alone
    }

    fn end_heap_object(&mut self, t: &mut Thread, address: u64, site: SiteId) -> Done<()> {
        let object = self.local.memory.object_at(address);
        if !self.local.alone && !object.is_some_and(|object| object.freed) {
            self.ask(t, Action::Free { base: address }, site)?;
        }
        if self.local.memory.object_at(address).is_none() {
            return Ok(());
        }
        let freed = Arc::make_mut(&mut self.local.memory).free(address);
        freed.map_err(|message| Interruption::Fault(FaultKind::Memory, message, site))
    }

    fn asymmetric_fences(&self) -> bool {
        self.semantics.model.asymmetric_fences
    }

    fn kernel_version(&self) -> KernelVersion {
        self.semantics.model.kernel_version
    }

    fn may_fail(&mut self, _: SiteId) -> bool {
        !self.local.alone
    }

    fn sets(&self) -> &DependencySets {
        &self.semantics.sets
    }

    fn compares_at_once(&self) -> bool {
        self.semantics.model.dependencies && !self.semantics.model.branches
    }

    fn add_control(&self, t: &mut Thread, reads: Dep) {
        if self.semantics.model.dependencies {
            t.ctrl = self.union(t.ctrl, reads);
        }
    }

    fn begin_call(&mut self, t: &mut Thread, call: &ExternCall) -> Done<()> {
        if self.is_kernel() {
            return Ok(());
        }
        for argument in decisive_arguments(call) {
            self.add_control(t, argument.dep);
        }
        self.in_library = branches_on_reads(call);
        Ok(())
    }
}
