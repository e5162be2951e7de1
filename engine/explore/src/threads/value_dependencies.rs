//! The dependencies of the values that a thread reads, and what it needs to know to continue.
//!
//! A read that is postponed has an arbitrary value, which the thread may copy and compute with, but
//! which must not affect what it does next: an instruction that would branch on it, or fault for
//! some values, is interrupted and names the reads that it needs. Whatever a thread needs in this
//! sense is a dependency of the events that follow.
use crate::threads::dependencies::MARKED;
use crate::threads::environment::{AccessTarget, Interruption, ThreadEnvironment};
use program::interpreter::thread::Thread;
use program::interpreter::ExternCall;
use program::ir::Extern;
use program::memory::{Byte, Dep};

impl ThreadEnvironment<'_> {
    /// The dependencies of the last answer, which is that to a read. `plain`: not an atomic one.
    pub(super) fn answered(&mut self, t: &mut Thread, plain: bool) -> Dep {
        let number = self.events();
        let decided = if plain { self.synchronised } else { number };
        let known = self.sets.of_value(number - 1, decided);
        let known = self.marked(known);
        if self.in_library {
            self.add_control(t, known);
        }
        known
    }

    /// The dependencies of the last answer, with the mark if it is marked.
    pub(super) fn marked(&self, dep: Dep) -> Dep {
        match self.local.mark {
            Some(mark) if mark + 1 == self.local.events_before + self.asked => {
                self.sets.union(dep, MARKED)
            }
            _ => dep,
        }
    }

    /// The dependencies of a value that was read at an address. A read of shared memory stands for
    /// those of its address.
    pub(super) fn read_through(&self, value: Dep, address: Dep) -> Dep {
        match self.sets.tracked {
            false => self.sets.union(value, address),
            true if self.sets.is_marked(address) => self.sets.union(value, MARKED),
            true => value,
        }
    }

    /// The dependencies of a value that was read from the thread's own memory.
    pub(super) fn read_own(&self, value: Dep, address: Dep) -> Dep {
        match self.sets.tracked {
            true => self.sets.union(value, address),
            false => value,
        }
    }

    /// Interrupts the instruction if it needs the value of a postponed read.
    pub(super) fn require(&self, reads: Dep) -> Result<(), Interruption> {
        let postponed = self.local.postponed;
        match postponed == 0 || self.sets.are_disjoint(reads, postponed) {
            true => Ok(()),
            false => Err(Interruption::Needs(
                self.sets.intersection(reads, postponed),
            )),
        }
    }

    /// Everything after the current instruction depends on these reads. Not while a witness runs
    /// the thread: it follows branches only.
    pub(super) fn add_control(&self, t: &mut Thread, reads: Dep) {
        if self.sets.tracked && self.local.mark.is_none() {
            t.ctrl = self.sets.union(t.ctrl, reads);
        }
    }

    /// The address of a shared access. If it is chosen, it is as if the thread branched on the reads:
    /// later stores wait for them, while a load may be performed before they are.
    pub(super) fn shared_address(
        &mut self,
        t: &mut Thread,
        address: Dep,
    ) -> Result<(), Interruption> {
        if self.sets.is_chosen(address) {
            self.require(address)?;
            self.add_control(t, address);
        }
        Ok(())
    }

    /// Interrupts a library call if it needs the value of a postponed read. A library function may
    /// branch on its arguments, except on a value that it only copies or returns, and on what it
    /// reads.
    pub(super) fn require_for_call(
        &mut self,
        t: &mut Thread,
        call: &ExternCall,
    ) -> Result<(), Interruption> {
        if !self.sets.tracked {
            return Ok(());
        }
        let decisive = match call.function {
            Extern::Ignored(_) | Extern::Either | Extern::ThreadExit => None,
            Extern::Memcpy | Extern::Memset => call.args.get(2..),
            Extern::AtThreadExit => call.args.get(..1),
            Extern::Returned => call.args.get(..2),
            _ => Some(call.args),
        };
        for argument in decisive.into_iter().flatten() {
            self.require(argument.dep)?;
            self.add_control(t, argument.dep);
        }
        self.in_library = call.function != Extern::Memcpy;
        let unknown = self.local.answers.iter().position(Option::is_none);
        match unknown.filter(|_| self.in_library) {
            Some(read) => Err(Interruption::Needs(
                self.sets.of_read(self.local.events_before + read),
            )),
            None => Ok(()),
        }
    }

    /// The address of an access of the thread's own memory, which is no event: later events depend
    /// on it as they would through the access (`addr; po`).
    pub(super) fn own_address(&self, t: &mut Thread, target: AccessTarget) {
        if target.addr != 0 {
            self.add_control(t, target.addr);
        }
    }

    /// Whether the answer to the last event was postponed.
    pub(super) fn is_postponed(&self) -> bool {
        matches!(self.local.answers.get(self.asked - 1), Some(None))
    }

    /// The bytes of the last answer that are indeterminate.
    pub(super) fn undefined(&self) -> u8 {
        let last = self.local.answers.get(self.asked - 1);
        last.and_then(|answer| *answer)
            .map_or(0, |answer| answer.undefined)
    }

    pub(super) fn union_of(&self, bytes: &[Byte]) -> Dep {
        bytes.iter().fold(0, |all, b| self.sets.union(all, b.dep))
    }
}
