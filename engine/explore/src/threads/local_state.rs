//! The state of an explored thread besides its call stack and registers.
use crate::semantics::environment::CallRecord;
use crate::source::{Answer, Location, Rewrite, ThreadId};
use crate::threads::past_accesses::PastAccesses;
use program::ir::Order;
use program::memory::Dep;
use program::memory::Memory;
use std::sync::Arc;

/// The last write of a thread to a location.
#[derive(Clone)]
pub struct Written {
    pub at: Location,
    /// None: it is not known yet.
    pub bits: Option<u64>,
    pub dep: Dep,
    pub order: Order,
    pub rmw: bool,
    /// The thread's progress after it, and how much of it may be none.
    pub epoch: u64,
    pub doubts: u64,
    /// It is plain, and the thread has since done nothing by which it may happen before what another
    /// thread does.
    pub unpublished: bool,
}

/// A write that is no progress which another thread may notice.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct UnnoticedWrite {
    pub at: Location,
    /// It is not atomic.
    pub plain: bool,
    /// It may order what precedes it before events of other threads.
    pub orders: bool,
}

#[derive(Clone, Default)]
pub struct LocalState {
    pub memory: Arc<Memory>,
    /// Answers to the events of the current instruction; none to a read that is postponed.
    pub answers: Vec<Option<Answer>>,
    /// The reads that are postponed.
    pub postponed: Dep,
    pub calls: CallRecord,
    /// The threads joined since the last other event, with their results.
    pub joining: Vec<(ThreadId, u64)>,
    /// How often the thread has waited at each barrier whose threads arrive in a fixed order.
    pub rounds: Vec<(u64, u32)>,
    /// The last read that a call of another thread may precede: the epoch, and the number of reads in
    /// it before.
    pub after_calls: Option<(u64, usize)>,
    /// The location that an undone round has left as it was, from then on.
    pub undone: Option<Location>,
    /// After how many rounds it has continued that could be left out.
    pub continued: u32,
    /// The epoch of the last choice between values.
    pub chosen: Option<u64>,
    /// No other thread was started yet.
    pub alone: bool,
    /// The next write stores the value that the thread has just read there.
    pub unchanged: bool,
    /// Writes do not count as progress: a copy of the thread is checking whether its loop waits.
    pub quiet: bool,
    /// The number of events of completed instructions.
    pub events_before: usize,
    /// The number of the last of them that other threads may have synchronised with.
    pub synchronised: usize,
    /// The event whose answer is marked, to find what depends on it.
    pub mark: Option<usize>,
    /// The thread's accesses, where dependencies are tracked.
    pub past: Arc<PastAccesses>,
    /// The dependencies of the current instruction.
    pub uses: Dep,
    /// The last values that the thread has written to shared locations.
    pub written: Vec<Written>,
    /// The writes that are taken to directly follow the thread's last write of their location, which
    /// has the same value, in coherence order.
    pub rewrites: Vec<Rewrite>,
    /// The writes that may be left out with the round of a loop that they are in, and the epoch.
    unnoticed: (u64, Vec<UnnoticedWrite>),
    /// Where the last write that was progress was.
    pub progress: Option<Location>,
    /// The part of the memory's hash that locations have on whose values nothing depends.
    pub ignored: u64,
}

impl LocalState {
    pub fn new(memory: Arc<Memory>) -> LocalState {
        LocalState {
            memory,
            ..LocalState::default()
        }
    }

    /// Records a write in an epoch of the thread. It is in no round that is left out if it is progress.
    pub fn has_written(&mut self, epoch: u64, write: UnnoticedWrite) {
        if self.unnoticed.0 != epoch {
            self.unnoticed = (epoch, Vec::new());
        }
        if !self.unnoticed.1.contains(&write) {
            self.unnoticed.1.push(write);
        }
    }

    /// The writes up to this epoch that no other thread need notice.
    pub fn unnoticed(&self, epoch: u64) -> &[UnnoticedWrite] {
        match &self.unnoticed {
            (of, writes) if *of == epoch => writes,
            _ => &[],
        }
    }
}
