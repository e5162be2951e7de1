//! The branches that workers explore. A worker explores depth first, and hands a branch over only
//! while another worker is idle, so the queue stays almost empty. What is found does not depend on
//! which worker explores a branch.
//!
//! Work-stealing deques would hold every open branch, each with its graph; here memory is bounded
//! by the depth of the search, the property that TruSt is chosen for.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::consistency::checker::ConsistencyChecker;
use crate::exploration::{ExecutionEnd, ExploreError, Limit, Options};
use crate::search::execution::EndedExecution;
use crate::search::findings::Findings;
use crate::source::Source;

/// How many events a worker adds between two looks at the clock.
pub const LOOKS: u32 = 64;

/// Why a worker stops.
pub enum Halt {
    /// A limit was reached, the first violation suffices, or another worker has failed.
    Over,
    Error(ExploreError),
}

impl<E: Into<ExploreError>> From<E> for Halt {
    fn from(error: E) -> Halt {
        Halt::Error(error.into())
    }
}

/// A worker of one of the two searches.
pub trait SearchWorker<'q, S: Source, F>: Sized {
    type Branch: Send;

    fn new(queue: &'q BranchQueue<'q, S, F, Self::Branch>) -> Self;

    /// Explores all executions that extend this one.
    fn explore(&mut self, branch: Self::Branch) -> Result<(), Halt>;

    /// What it has found, and how many graphs it has checked.
    fn into_findings(self) -> (Findings, u64);
}

pub struct BranchQueue<'s, S: Source, F, B> {
    pub source: &'s S,
    /// Each worker has a copy.
    pub checker: ConsistencyChecker,
    pub options: &'s Options,
    /// Called with each execution.
    pub each: F,
    pub start: Instant,
    pub workers: usize,
    branches: Mutex<Branches<B>>,
    wake: Condvar,
    /// How many idle workers have no branch in the queue for them.
    idle_workers: AtomicUsize,
    over: AtomicBool,
}

struct Branches<B> {
    waiting: Vec<B>,
    idle: usize,
    limit: Option<Limit>,
    error: Option<ExploreError>,
}

impl<'s, S: Source, F, B> BranchQueue<'s, S, F, B>
where
    F: Fn(&EndedExecution<S::Thread>, ExecutionEnd) + Sync,
{
    /// The queue of a search that starts with this branch.
    pub fn new(
        source: &'s S,
        checker: ConsistencyChecker,
        options: &'s Options,
        each: F,
        first: B,
    ) -> BranchQueue<'s, S, F, B> {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        BranchQueue {
            source,
            checker,
            options,
            each,
            start: Instant::now(),
            workers: match options.workers {
                0 => cores(),
                workers => workers,
            },
            branches: Mutex::new(Branches {
                waiting: vec![first],
                idle: 0,
                limit: None,
                error: None,
            }),
            wake: Condvar::new(),
            idle_workers: AtomicUsize::new(0),
            over: AtomicBool::new(false),
        }
    }

    fn branches(&self) -> MutexGuard<'_, Branches<B>> {
        self.branches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn has_idle_worker(&self) -> bool {
        self.idle_workers.load(Ordering::Relaxed) > 0
    }

    pub fn push(&self, branch: B) {
        let mut branches = self.branches();
        branches.waiting.push(branch);
        self.idle_workers.store(
            branches.idle.saturating_sub(branches.waiting.len()),
            Ordering::Relaxed,
        );
        self.wake.notify_one();
    }

    /// The next branch to explore; none when all are explored or the search has ended.
    pub fn pop(&self) -> Option<B> {
        let mut branches = self.branches();
        branches.idle += 1;
        loop {
            if self.over.load(Ordering::Relaxed) {
                return None;
            }
            if let Some(branch) = branches.waiting.pop() {
                branches.idle -= 1;
                self.idle_workers.store(
                    branches.idle.saturating_sub(branches.waiting.len()),
                    Ordering::Relaxed,
                );
                return Some(branch);
            }
            if branches.idle == self.workers {
                self.wake.notify_all();
                return None;
            }
            self.idle_workers.store(branches.idle, Ordering::Relaxed);
            branches = self
                .wake
                .wait(branches)
                .unwrap_or_else(PoisonError::into_inner);
            // woken because the search has ended
            if branches.waiting.is_empty() && branches.idle == self.workers {
                return None;
            }
        }
    }

    /// Counts an execution; fails if there are as many as allowed.
    pub fn count(&self) -> Result<(), Halt> {
        let limits = &self.options.limits;
        let count = limits.counted.fetch_add(1, Ordering::Relaxed) + 1;
        if count >= limits.executions {
            self.branches().limit.get_or_insert(Limit::Executions);
            return Err(Halt::Over);
        }
        match self.over.load(Ordering::Relaxed) {
            true => Err(Halt::Over),
            false => Ok(()),
        }
    }

    /// Fails if the time is up, or the search was stopped or has ended.
    pub fn look(&self) -> Result<(), Halt> {
        let limits = &self.options.limits;
        let stop = limits.stop.as_ref();
        let limit = if self.start.elapsed() > limits.time {
            Limit::Seconds
        } else if stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            Limit::Stopped
        } else if self.over.load(Ordering::Relaxed) {
            return Err(Halt::Over);
        } else {
            return Ok(());
        };
        self.branches().limit.get_or_insert(limit);
        Err(Halt::Over)
    }

    /// Ends the search.
    pub fn end(&self, halt: Halt) {
        let mut branches = self.branches();
        if let Halt::Error(error) = halt {
            branches.error.get_or_insert(error);
        }
        self.over.store(true, Ordering::Relaxed);
        self.wake.notify_all();
    }

    /// The limit that ended the search, or the error.
    pub fn into_limit(self) -> Result<Option<Limit>, ExploreError> {
        let branches = self.branches.into_inner();
        let branches = branches.unwrap_or_else(PoisonError::into_inner);
        match branches.error {
            Some(error) => Err(error),
            None => Ok(branches.limit),
        }
    }
}
