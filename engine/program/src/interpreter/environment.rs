//! The environment of a thread: memory, the library, the other threads.
use super::outcome::RunEnd;
use super::thread::{Raised, Thread};
use crate::ir::arithmetic;
use crate::ir::instruction::{Access, CasWrite, Extern, FuncId, Order, Predicate, RmwOp, SiteId};
use crate::memory::object::NewLocal;
use crate::memory::value::{Dep, Val};

pub struct Cas {
    pub address: Val,
    pub expected: Val,
    pub desired: Val,
    pub weak: bool,
    pub writes: CasWrite,
    pub failure: Order,
}

impl Cas {
    /// Whether it succeeds if it reads this value, unless it fails spuriously.
    pub fn succeeds(&self, old: u64, bits: u32) -> bool {
        let expected = self.expected.bits;
        match self.writes {
            CasWrite::Desired => old == expected,
            CasWrite::SumUnless => old != expected,
            CasWrite::SumIfGreater => arithmetic::compare(Predicate::Sgt, bits, old, expected),
        }
    }

    /// What it writes if it reads this, of so many bits.
    pub fn written_bits(&self, old: u64, bits: u32) -> u64 {
        match self.writes {
            CasWrite::Desired => self.desired.bits,
            _ => arithmetic::rmw(RmwOp::Add, bits, old, self.desired.bits),
        }
    }

    /// The same, with what it depends on.
    pub fn written(&self, old: Val, bits: u32, union: impl FnOnce(Dep, Dep) -> Dep) -> Val {
        Val {
            bits: self.written_bits(old.bits, bits),
            dep: match self.writes {
                CasWrite::Desired => self.desired.dep,
                _ => union(old.dep, self.desired.dep),
            },
            ..self.desired
        }
    }
}

pub struct ExternCall<'c> {
    pub function: Extern,
    pub args: &'c [Val],
    pub site: SiteId,
    pub write_site: SiteId,
    pub private: (bool, bool),
}

/// What a library call does to its caller's control flow.
pub enum Flow {
    Value(Val),
    /// The call is not complete: run it again.
    Wait,
    ExitThread(Val),
    /// The thread calls `exit`.
    ExitProcess,
    /// Unwind: the exception has a handler.
    Raise(Raised),
    /// Call the function, then set the once flag.
    Once(FuncId, u64),
}

/// Memory, the library and the other threads, as one thread uses them.
///
/// An interrupted instruction runs again from its beginning, so an environment does not modify the
/// thread before the last point at which it may interrupt the instruction.
pub trait Environment {
    /// Why an instruction is interrupted.
    type Interruption: From<RunEnd>;
    fn union(&mut self, a: Dep, b: Dep) -> Dep;
    /// Interrupts the instruction if the values of some of these reads are not known yet. Called
    /// before the thread branches on a value that depends on them.
    fn require(&self, _reads: Dep) -> Result<(), Self::Interruption> {
        Ok(())
    }
    /// The thread comes to an assertion.
    fn asserts(&self, _site: SiteId) {}
    /// Whether the values of some of the thread's reads are not known yet.
    fn has_unknown(&self) -> bool {
        false
    }
    /// Whether what depends on the reads `after` waits for all that it would wait for if it depended on
    /// the earlier reads `before`.
    fn covers(&self, _before: Dep, _after: Dep) -> bool {
        true
    }
    /// What a value depends on that is chosen by these reads, as by a comparison.
    fn by_choice(&mut self, reads: Dep) -> Dep {
        reads
    }
    /// Whether a branch decides only what is executed before its alternatives meet again, and which
    /// values they leave behind.
    fn branches_end(&self) -> bool {
        false
    }
    /// What a value depends on that the alternatives of branches on these reads leave behind.
    fn left_behind(&self, value: Dep, _reads: Dep) -> Dep {
        value
    }
    /// Whether a compare-exchange is an instruction that compares without a branch.
    fn compares_at_once(&self) -> bool {
        false
    }
    /// As `require`, and everything after it depends on the reads, as after a branch: before an
    /// instruction that ends the run for some values.
    fn control(&mut self, _t: &mut Thread, _reads: Dep) -> Result<(), Self::Interruption> {
        Ok(())
    }
    /// The thread computes with the address of its own or another thread's memory, in a way that
    /// would have another result in a thread that behaves like it.
    fn computes_with_thread(&mut self, _t: &Thread) -> Result<(), Self::Interruption> {
        Ok(())
    }
    /// Whether iterations of a loop that looks a limited number of times may be left out, after one in
    /// which the thread performed its events from number `since` on.
    fn looks_once(&self, _t: &Thread, _since: u32) -> bool {
        false
    }
    /// The number of the thread's events so far.
    fn now(&self, t: &Thread) -> u32;
    /// Whether a use of an indeterminate value is an error; it is 0 otherwise.
    fn refuses_undefined(&self) -> bool;
    /// Whether the first `now` of the thread's events decide the values that are read in a set of
    /// events.
    fn precedes(&self, dep: Dep, now: u32) -> bool;
    fn load(
        &mut self,
        t: &mut Thread,
        address: Val,
        access: &Access,
    ) -> Result<Val, Self::Interruption>;
    fn store(
        &mut self,
        t: &mut Thread,
        address: Val,
        value: Val,
        access: &Access,
    ) -> Result<(), Self::Interruption>;
    fn rmw(
        &mut self,
        t: &mut Thread,
        address: Val,
        op: RmwOp,
        operand: Val,
        access: &Access,
    ) -> Result<Val, Self::Interruption>;
    /// Returns the value read, and whether it was exchanged.
    fn cas(
        &mut self,
        t: &mut Thread,
        cas: &Cas,
        access: &Access,
    ) -> Result<(Val, bool), Self::Interruption>;
    fn fence(
        &mut self,
        t: &mut Thread,
        order: Order,
        signal: bool,
        site: SiteId,
    ) -> Result<(), Self::Interruption>;
    fn external(&mut self, t: &mut Thread, call: &ExternCall) -> Result<Flow, Self::Interruption>;
    fn once_done(
        &mut self,
        t: &mut Thread,
        flag: u64,
        site: SiteId,
    ) -> Result<(), Self::Interruption>;
    fn alloca(&mut self, t: &mut Thread, local: &NewLocal) -> Result<u64, Self::Interruption>;
    /// The lifetime of a local begins, which may have ended before. Returns where it is from now on.
    fn begin_local(&mut self, _t: &mut Thread, address: u64) -> Result<u64, Self::Interruption> {
        Ok(address)
    }
    /// The lifetime of a local ends before its frame is left.
    fn end_local(
        &mut self,
        _t: &mut Thread,
        _address: u64,
        _site: SiteId,
    ) -> Result<(), Self::Interruption> {
        Ok(())
    }
    /// How many locals the thread has; leaving a frame drops those from `mark` on. When the thread
    /// `ends` with it, its thread-local variables end too.
    fn locals(&self, t: &Thread) -> usize;
    fn leave(&mut self, t: &mut Thread, mark: usize, ends: bool) -> Result<(), Self::Interruption>;
    fn thread_local(&mut self, t: &Thread, global: u32) -> u64;
}
