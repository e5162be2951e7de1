//! How a thread performs the events that its instructions and library calls consist of.
//!
//! An instruction is interrupted at each event without an answer, and runs again from its beginning
//! when there is one, with all answers so far.

use crate::semantics::dependencies::{DependencySets, MARKED};
use crate::source::{Action, EventLabel, FaultKind, Location, ThreadId, Wait};
use program::interpreter::thread::Thread;
use program::interpreter::{ExternCall, Flow, RunEnd};
use program::ir::{Order, Program, SiteId};
use program::memory::{Byte, Dep, Memory, Named, Object, Val};
use std::sync::Arc;

/// Why an instruction is interrupted.
pub enum Interruption {
    Query(EventLabel),
    Blocked(Wait, SiteId),
    Fault(FaultKind, String, SiteId),
    Unsupported(String, SiteId),
    RunEnd(RunEnd),
    /// The values of these reads are not known yet.
    Needs(Dep),
    /// Something was learned with which everything is explored again: that an object is shared, that
    /// accesses overlap.
    Restart,
    /// The thread ran alone so far, and no longer does.
    NotAlone(SiteId),
}

impl From<RunEnd> for Interruption {
    fn from(end: RunEnd) -> Interruption {
        Interruption::RunEnd(end)
    }
}

pub type Done<T> = Result<T, Interruption>;

/// How a location is read: the memory order, whether the read is that of a read-modify-write,
/// whether uninitialised memory is allowed.
#[derive(Clone, Copy)]
pub struct ReadMode {
    pub order: Order,
    pub rmw: bool,
    pub uninitialised_ok: bool,
}

impl ReadMode {
    pub const PLAIN: ReadMode = ReadMode {
        order: Order::Na,
        rmw: false,
        uninitialised_ok: false,
    };

    /// The read of a read-modify-write.
    pub fn of_rmw(order: Order) -> ReadMode {
        ReadMode {
            order,
            rmw: true,
            uninitialised_ok: false,
        }
    }
}

/// The memory that an access is to, and its site.
#[derive(Clone, Copy)]
pub struct AccessTarget {
    pub address: u64,
    /// The dependencies of the address.
    pub addr: Dep,
    pub size: u32,
    pub site: SiteId,
    /// See [`Access`](program::ir::Access).
    pub update: bool,
}

impl AccessTarget {
    pub fn new(at: Val, size: u32, site: SiteId) -> AccessTarget {
        AccessTarget {
            address: at.bits,
            addr: at.dep,
            size,
            site,
            update: false,
        }
    }
}

/// What versions of the Linux kernel's model differ in.
#[derive(Clone, Copy, Default)]
pub struct KernelVersion {
    /// Critical sections of SRCU begin with a load and end with a store.
    pub srcu_by_accesses: bool,
    /// There is `smp_mb__after_srcu_read_unlock()`.
    pub after_srcu_unlock: bool,
}

/// What a thread has done with other threads, and what it has chosen.
#[derive(Clone, Default)]
pub struct CallRecord {
    /// Threads created so far.
    pub created: u32,
    /// Threads joined so far, a bit each.
    pub joined: u64,
    /// Threads detached so far, and where.
    pub detached: Vec<(ThreadId, SiteId)>,
    /// Sites of calls that have ended spuriously, and of weak compare-exchanges that have failed so,
    /// if they do once.
    pub spurious: Vec<SiteId>,
    /// Critical sections of SRCU begun so far.
    pub srcu: u64,
    /// The critical sections of RCU and SRCU that have not ended: what ends them, and what the index
    /// depends on.
    pub sections: Vec<(Action, Dep)>,
}

/// How a thread accesses memory.
pub trait Accesses {
    /// Whether an access is an event.
    fn is_event(&self, t: &Thread, to: AccessTarget, write: bool) -> Done<bool>;
    fn read(&mut self, t: &mut Thread, from: AccessTarget, how: ReadMode) -> Done<Val>;
    fn write(
        &mut self,
        t: &mut Thread,
        to: AccessTarget,
        order: Order,
        rmw: bool,
        value: Val,
    ) -> Done<()>;
    /// Reads plain bytes.
    fn read_range(
        &mut self,
        t: &mut Thread,
        from: AccessTarget,
        size: u64,
        uninitialised_ok: bool,
    ) -> Done<Vec<Byte>>;
    /// Writes plain bytes.
    fn write_range(&mut self, t: &mut Thread, to: AccessTarget, bytes: &[Byte]) -> Done<()>;
    /// Reads a location that is in no object, by a call about this target.
    fn read_outside(
        &mut self,
        t: &mut Thread,
        of: (AccessTarget, Location),
        order: Order,
        rmw: bool,
    ) -> Done<u64>;
    /// The write of a read-modify-write of such a location, from the first value to the second.
    fn write_outside(
        &mut self,
        t: &mut Thread,
        of: (AccessTarget, Location),
        order: Order,
        values: (u64, u64),
    ) -> Done<()>;
}

/// A thread's events besides accesses, and its state. What is provided is so for threads that know
/// the value of each read, and of which nothing else is learned.
pub trait Events<'p>: Accesses {
    /// A timed wait that gets no signal: its time is over in another execution.
    const TIMED_OUT: Wait;

    fn program(&self) -> &'p Program;
    fn memory(&self) -> &Memory;
    fn memory_mut(&mut self) -> &mut Arc<Memory>;
    fn calls(&mut self) -> &mut CallRecord;
    /// No other thread was started yet, and memory is accessed directly.
    fn is_alone(&self) -> bool;
    /// The number of the thread's events so far.
    fn events(&self) -> usize;

    /// The answer to an event; interrupts the instruction if there is none yet.
    fn ask(&mut self, t: &mut Thread, action: Action, site: SiteId) -> Done<u64>;
    /// Chooses among so many alternatives.
    fn choose_one(&mut self, t: &mut Thread, alternatives: u32, site: SiteId) -> Done<u64>;

    /// The thread's own memory, or the set of mutexes that it holds, has changed.
    fn settle(&self, t: &mut Thread);
    /// The thread has done what is not undone; `site`: it has changed memory there.
    fn progress(&mut self, t: &mut Thread, site: Option<SiteId>);
    /// The wait of a thread that has read `state`, if that is an event.
    fn wait_for(&self, t: &Thread, state: AccessTarget, what: &'static str) -> Done<Wait>;
    /// The execution is not explored if what a call needs is not supported.
    fn supports(&self, _what: &str, _site: SiteId) -> Done<()> {
        Ok(())
    }

    /// The number of the thread that this one creates next.
    fn next_thread(&mut self, t: &Thread) -> ThreadId;
    /// The number of threads, in all executions so far together.
    fn threads(&self) -> usize;
    /// What the result of a thread that was joined depends on.
    fn joined_result(&mut self, thread: ThreadId, result: u64) -> Done<Dep>;
    fn has_joined(&mut self, _thread: ThreadId, _result: u64) {}
    /// A call has chosen. Returns what its result depends on.
    fn has_chosen(&mut self, t: &mut Thread, choice: bool) -> Dep;
    /// As `choose_one`, for what the program chooses.
    fn choose(&mut self, t: &mut Thread, alternatives: u32, site: SiteId) -> Done<u64> {
        self.choose_one(t, alternatives, site)
    }
    /// Records that an operation call begins, or has returned.
    fn record_call(&mut self, t: &mut Thread, call: &ExternCall, returned: bool) -> Done<()>;
    /// In the rest of the instruction, writes of a mutex count as no progress of the thread.
    fn uses_lock(&mut self) {}
    /// Other threads use this object, which the call is about.
    fn share(&mut self, address: u64) -> Done<()>;
    /// Waits at a barrier in a way of its own.
    fn wait_in_order(&mut self, _t: &mut Thread, _call: &ExternCall) -> Done<Option<Flow>> {
        Ok(None)
    }
    /// The thread has found a barrier in this state.
    fn arrives(&mut self, _t: &Thread, _barrier: AccessTarget, _state: u64) -> Done<()> {
        Ok(())
    }

    /// Whether a new object may be accessed by other threads.
    fn begins_shared(&self, base: u64, size: u64) -> bool;
    /// Whether the end of a local variable may be noticed by other threads.
    fn ends_shared(&self, t: &Thread, local: &Object) -> Done<bool>;
    /// Whether an object whose lifetime has ended is another one when it begins again.
    fn begins_anew(&self, ended: &Object) -> bool;
    fn has_allocated(&mut self, _base: u64, _size: u64, _named: Named) {}
    /// Ends the lifetime of a heap object.
    fn end_heap_object(&mut self, t: &mut Thread, address: u64, site: SiteId) -> Done<()>;

    fn asymmetric_fences(&self) -> bool;
    fn kernel_version(&self) -> KernelVersion;
    /// Whether a compare-exchange that may fail spuriously may do so here and now.
    fn may_fail(&mut self, site: SiteId) -> bool;
    /// It has.
    fn has_failed(&mut self, t: &mut Thread, _site: SiteId) {
        t.failures += 1;
    }
    fn sets(&self) -> &DependencySets;
    fn union(&self, a: Dep, b: Dep) -> Dep {
        self.sets().union(a, b)
    }
    fn looks_once(&self) -> bool {
        false
    }
    fn require(&self, _reads: Dep) -> Done<()> {
        Ok(())
    }
    /// The thread comes to an assertion.
    fn asserts(&self, _site: SiteId) {}
    fn has_unknown(&self) -> bool {
        false
    }
    fn covers(&self, _before: Dep, _after: Dep) -> bool {
        true
    }
    fn compares_at_once(&self) -> bool;
    /// Whether the model is the Linux kernel's, in which a branch decides only what is executed before
    /// its alternatives meet again.
    fn is_kernel(&self) -> bool {
        self.sets().branches_end
    }
    /// What a value depends on that is written to the thread's own memory now.
    fn left_here(&self, t: &Thread, value: Dep) -> Dep {
        match t.branches.is_empty() {
            true => value,
            false => self.sets().left_behind(value, t.ctrl),
        }
    }
    /// Everything after the current instruction depends on these reads.
    fn add_control(&self, t: &mut Thread, reads: Dep);
    fn computes_with_thread(&mut self, _t: &Thread) -> Done<()> {
        Ok(())
    }
    /// What the current instruction depends on.
    fn uses(&mut self, _reads: Dep) {}
    /// The address of an access of memory that may be shared. If it is chosen, it is as if the thread
    /// branched on the reads: later stores wait for them, while a load may be performed before they are.
    fn shared_address(&mut self, t: &mut Thread, address: Dep) -> Done<()> {
        if self.sets().is_chosen(address) {
            self.require(address)?;
            self.add_control(t, address);
        }
        Ok(())
    }
    /// What a value depends on that was read at an address. A read of shared memory stands for those of
    /// its address.
    fn read_through(&self, value: Dep, address: Dep) -> Dep {
        match self.sets().tracked {
            false => self.union(value, address),
            true if self.sets().is_marked(address) => self.union(value, MARKED),
            true => value,
        }
    }
    /// Whether the next write stores the value that the thread has just read there.
    fn writes_unchanged(&mut self, _unchanged: bool) {}
    fn begin_call(&mut self, t: &mut Thread, call: &ExternCall) -> Done<()>;
}

/// The environment in which the interpreter runs a thread whose events are these.
pub struct EventEnvironment<E>(pub E);
