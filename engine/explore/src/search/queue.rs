//! The branches that workers explore. A worker explores depth first, and gives a branch away only
//! while another worker is idle: what is left of the visit nearest to the root, as work stealing
//! does (Blumofe and Leiserson, "Scheduling multithreaded computations by work stealing", J. ACM 46,
//! 1999). What is found does not depend on which worker explores a branch.
//!
//! A branch is its path from the root, which the other worker takes again. Deques of open branches
//! would hold a graph for each; here memory is bounded by the depth of the search, the property that
//! TruSt is chosen for.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::consistency::checker::ConsistencyChecker;
use crate::exchanges::Exchanges;
use crate::exploration::{ExecutionEnd, ExploreError, Extent, Limit, OpenBranch, Options};
use crate::search::draws::Draws;
use crate::search::execution::EndedExecution;
use crate::search::halt::Halt;
use crate::source::Source;

/// What is called with each execution and how it ends.
pub type EachExecution<'e, S> = dyn Fn(&EndedExecution<S>, ExecutionEnd) + Sync + 'e;

pub struct BranchQueue<'s, S: Source> {
    pub source: &'s S,
    /// Each worker has a copy.
    pub checker: ConsistencyChecker,
    pub options: &'s Options,
    /// Called with each execution.
    pub each: &'s EachExecution<'s, S>,
    pub start: Instant,
    pub workers: usize,
    pub exchanges: Arc<Exchanges>,
    branches: Mutex<Branches>,
    wake: Condvar,
    /// How many idle workers have no branch in the queue for them.
    idle_workers: AtomicUsize,
    over: AtomicBool,
    next_draw: AtomicU64,
    pub draws: Draws,
}

#[derive(Default)]
struct Branches {
    waiting: Vec<OpenBranch>,
    idle: usize,
    limit: Option<Limit>,
    error: Option<ExploreError>,
}

impl<'s, S: Source> BranchQueue<'s, S> {
    /// The queue of a search that starts at the root, or with what was left open.
    pub fn new(
        source: &'s S,
        checker: ConsistencyChecker,
        options: &'s Options,
        each: &'s EachExecution<'s, S>,
    ) -> BranchQueue<'s, S> {
        let (open, exchanges) = match &options.extent {
            Extent::Open(frontier) => (
                frontier.branches.clone(),
                Exchanges::resumed(frontier.exchanges.clone()),
            ),
            _ => (vec![OpenBranch::default()], Exchanges::default()),
        };
        BranchQueue {
            source,
            checker,
            options,
            each,
            start: Instant::now(),
            workers: match options.workers {
                0 => std::thread::available_parallelism().map_or(1, usize::from),
                workers => workers,
            },
            exchanges: Arc::new(exchanges),
            branches: Mutex::new(Branches {
                waiting: open,
                ..Branches::default()
            }),
            wake: Condvar::new(),
            idle_workers: AtomicUsize::new(0),
            over: AtomicBool::new(false),
            next_draw: AtomicU64::new(0),
            draws: Draws::new(options),
        }
    }

    fn branches(&self) -> MutexGuard<'_, Branches> {
        self.branches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a worker is idle and has no branch in the queue for it.
    #[inline]
    pub fn has_idle_workers(&self) -> bool {
        self.idle_workers.load(Ordering::Relaxed) > 0
    }

    pub fn push(&self, branch: OpenBranch) {
        let mut branches = self.branches();
        branches.waiting.push(branch);
        self.idle_workers.store(
            branches.idle.saturating_sub(branches.waiting.len()),
            Ordering::Relaxed,
        );
        self.wake.notify_one();
    }

    /// The next branch to explore; none when all are explored or the search has ended.
    pub fn pop(&self) -> Option<OpenBranch> {
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
                self.over.store(true, Ordering::Relaxed);
                self.wake.notify_all();
                return None;
            }
            self.idle_workers.store(branches.idle, Ordering::Relaxed);
            branches = self
                .wake
                .wait(branches)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Counts an execution. Returns whether the search ends with it: there are as many as allowed,
    /// or it has ended. A sample is limited by what is drawn instead.
    pub fn count(&self) -> bool {
        let limits = &self.options.limits;
        let count = limits.counted.fetch_add(1, Ordering::Relaxed) + 1;
        if matches!(self.options.extent, Extent::Sample { .. }) {
            return false;
        }
        if count >= limits.executions {
            self.branches().limit.get_or_insert(Limit::Executions);
            return true;
        }
        self.over.load(Ordering::Relaxed)
    }

    /// The most departures of an execution that is explored.
    pub fn bound(&self) -> Option<u32> {
        match self.options.extent {
            Extent::Departures(most) => Some(most),
            _ => None,
        }
    }

    /// The number of the next descent; none if there were as many as allowed.
    pub fn next_draw(&self) -> Result<Option<u64>, Halt> {
        self.check_limits()?;
        let number = self.next_draw.fetch_add(1, Ordering::Relaxed);
        if number < self.options.limits.executions {
            return Ok(Some(number));
        }
        self.branches().limit.get_or_insert(Limit::Executions);
        Ok(None)
    }

    /// Fails if the time is up, or the search was stopped or has ended.
    pub fn check_limits(&self) -> Result<(), Halt> {
        let limits = &self.options.limits;
        let stop = limits.stop.as_ref();
        let limit = if self.over.load(Ordering::Relaxed) {
            return Err(Halt::Over);
        } else if self.start.elapsed() > limits.time {
            Limit::Seconds
        } else if stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            Limit::Stopped
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

    /// The limit that ended the search, and the branches that no worker took; or the error.
    pub fn into_limit(self) -> Result<(Option<Limit>, Vec<OpenBranch>), ExploreError> {
        let branches = self.branches.into_inner();
        let branches = branches.unwrap_or_else(PoisonError::into_inner);
        match branches.error {
            Some(error) => Err(error),
            None => Ok((branches.limit, branches.waiting)),
        }
    }
}
