//! Several workers on one search: who has nothing to do is given a branch that another would
//! have explored next. What is found does not depend on who explores it.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::consistency::judge::Judge;
use crate::exploration::{End, ExploreError, Limit, Options};
use crate::search::execution::{Ended, Execution};
use crate::source::Source;

/// After how many executions a worker looks at the clock.
const WATCH: u64 = 256;

/// The search is to end.
pub enum Halt {
    /// A limit was hit, a violation is enough, or another worker has failed.
    Over,
    Error(ExploreError),
}

impl<E: Into<ExploreError>> From<E> for Halt {
    fn from(error: E) -> Halt {
        Halt::Error(error.into())
    }
}

pub struct Shared<'s, S: Source, F> {
    pub source: &'s S,
    /// To be copied by each worker.
    pub judge: Judge,
    pub options: &'s Options,
    /// Called with each execution.
    pub each: F,
    pub start: Instant,
    pub workers: usize,
    tasks: Mutex<Tasks>,
    wake: Condvar,
    /// How many workers wait for a task that nobody has given yet.
    hungry: AtomicUsize,
    over: AtomicBool,
}

struct Tasks {
    waiting: Vec<(Execution, bool)>,
    idle: usize,
    limit: Option<Limit>,
    error: Option<ExploreError>,
}

impl<'s, S: Source, F: Fn(&Ended<S::Thread>, End) + Sync> Shared<'s, S, F> {
    pub fn new(source: &'s S, judge: Judge, options: &'s Options, each: F) -> Shared<'s, S, F> {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        Shared {
            source,
            judge,
            options,
            each,
            start: Instant::now(),
            workers: match options.workers {
                0 => cores(),
                workers => workers,
            },
            tasks: Mutex::new(Tasks {
                waiting: vec![(Execution::new(), false)],
                idle: 0,
                limit: None,
                error: None,
            }),
            wake: Condvar::new(),
            hungry: AtomicUsize::new(0),
            over: AtomicBool::new(false),
        }
    }

    fn tasks(&self) -> MutexGuard<'_, Tasks> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn is_hungry(&self) -> bool {
        self.hungry.load(Ordering::Relaxed) > 0
    }

    pub fn give(&self, execution: Execution, sure: bool) {
        let mut tasks = self.tasks();
        tasks.waiting.push((execution, sure));
        self.hungry.store(
            tasks.idle.saturating_sub(tasks.waiting.len()),
            Ordering::Relaxed,
        );
        self.wake.notify_one();
    }

    /// The next branch to explore; none when all is explored or the search is over.
    pub fn take(&self) -> Option<(Execution, bool)> {
        let mut tasks = self.tasks();
        tasks.idle += 1;
        loop {
            if self.over.load(Ordering::Relaxed) {
                return None;
            }
            if let Some(task) = tasks.waiting.pop() {
                tasks.idle -= 1;
                self.hungry.store(
                    tasks.idle.saturating_sub(tasks.waiting.len()),
                    Ordering::Relaxed,
                );
                return Some(task);
            }
            if tasks.idle == self.workers {
                self.wake.notify_all();
                return None;
            }
            self.hungry.store(tasks.idle, Ordering::Relaxed);
            tasks = self
                .wake
                .wait(tasks)
                .unwrap_or_else(PoisonError::into_inner);
            // woken at the end, with nothing left
            if tasks.waiting.is_empty() && tasks.idle == self.workers {
                return None;
            }
        }
    }

    /// Counts an execution, and looks whether a limit is reached.
    pub fn count(&self) -> Result<(), Halt> {
        let limits = &self.options.limits;
        let count = limits.counted.fetch_add(1, Ordering::Relaxed) + 1;
        let stopped = || {
            let stop = limits.stop.as_ref();
            stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
        };
        let limit = if count >= limits.executions {
            Limit::Executions
        } else if count % WATCH == 0 && self.start.elapsed() > limits.time {
            Limit::Seconds
        } else if count % WATCH == 0 && stopped() {
            Limit::Stopped
        } else if self.over.load(Ordering::Relaxed) {
            return Err(Halt::Over);
        } else {
            return Ok(());
        };
        self.tasks().limit.get_or_insert(limit);
        Err(Halt::Over)
    }

    /// Ends the search, since a worker cannot go on.
    pub fn end(&self, halt: Halt) {
        let mut tasks = self.tasks();
        if let Halt::Error(error) = halt {
            tasks.error.get_or_insert(error);
        }
        self.over.store(true, Ordering::Relaxed);
        self.wake.notify_all();
    }

    /// The limit that ended the search, or the error.
    pub fn into_limit(self) -> Result<Option<Limit>, ExploreError> {
        let tasks = self.tasks.into_inner();
        let tasks = tasks.unwrap_or_else(PoisonError::into_inner);
        match tasks.error {
            Some(error) => Err(error),
            None => Ok(tasks.limit),
        }
    }
}
