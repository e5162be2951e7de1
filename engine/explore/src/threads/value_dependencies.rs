//! The dependencies of the values that a thread reads, and what it needs to know to continue.
//!
//! A read that is postponed has an arbitrary value, which the thread may copy and compute with, but
//! which must not affect what it does next: an instruction that would branch on it, or fault for
//! some values, is interrupted and names the reads that it needs. Whatever a thread needs in this
//! sense is a dependency of the events that follow.
use crate::semantics::dependencies::MARKED;
use crate::semantics::environment::{AccessTarget, Events};
use crate::threads::environment::ThreadEnvironment;
use program::interpreter::thread::Thread;
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

    /// The dependencies of a value that was read from the thread's own memory.
    pub(super) fn read_own(&self, value: Dep, address: Dep) -> Dep {
        match self.sets.tracked {
            true => self.sets.union(value, address),
            false => value,
        }
    }

    /// The address of an access of the thread's own memory, which is no event: later events depend
    /// on it as they would through the access (`addr; po`).
    pub(super) fn own_address(&self, t: &mut Thread, target: AccessTarget) {
        if target.addr != 0 && !self.sets.branches_end {
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
