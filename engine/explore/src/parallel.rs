//! Several workers on one search: who has nothing to do is given a branch that another would
//! have explored next. What is found does not depend on who explores it.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::ends::Findings;
use super::execution::{Ended, Execution};
use super::judge::Judge;
use super::outcome::{End, Exploration, ExploreError, Limit, Options};
use super::search::{Halt, Worker};
use super::source::Source;

/// The search goes as deep as an execution has events, times the revisits that follow one
/// another; only what is used of a stack takes memory.
const STACK: usize = 1 << 28;

/// After how many executions a worker looks at the clock.
const WATCH: u64 = 256;

pub struct Shared<'s, S: Source, F> {
    pub source: &'s S,
    /// To be copied by each worker.
    pub judge: Judge,
    pub options: &'s Options,
    /// Called with each execution.
    pub each: F,
    start: Instant,
    workers: usize,
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
    fn take(&self) -> Option<(Execution, bool)> {
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

    fn work(&self) -> (Findings, u64) {
        let mut worker = Worker::new(self);
        while let Some((mut execution, sure)) = self.take() {
            let Err(halt) = worker.visit(&mut execution, sure) else {
                continue;
            };
            let mut tasks = self.tasks();
            if let Halt::Error(error) = halt {
                tasks.error.get_or_insert(error);
            }
            self.over.store(true, Ordering::Relaxed);
            self.wake.notify_all();
        }
        (worker.found, worker.judge.judged)
    }

    pub fn run(self) -> Result<Exploration, ExploreError> {
        let mut found = Findings::default();
        let mut judged = 0;
        std::thread::scope(|scope| {
            let spawn = |_| {
                let builder = std::thread::Builder::new().stack_size(STACK);
                builder.spawn_scoped(scope, || self.work())
            };
            let workers: Vec<_> = (0..self.workers).map(spawn).collect();
            for worker in workers {
                let worker =
                    worker.unwrap_or_else(|error| panic!("no thread to explore with: {error}"));
                match worker.join() {
                    Ok((other, count)) => {
                        found.merge(other);
                        judged += count;
                    }
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
        });
        let tasks = self
            .tasks
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = tasks.error {
            return Err(error);
        }
        found.violations.sort_by(|a, b| {
            (a.fault.kind, a.fault.site, &a.fault.message).cmp(&(
                b.fault.kind,
                b.fault.site,
                &b.fault.message,
            ))
        });
        Ok(Exploration {
            counts: found.counts,
            violations: found.violations,
            cuts: found.cuts,
            limit: tasks.limit,
            judged,
            seconds: self.start.elapsed().as_secs_f64(),
        })
    }
}
