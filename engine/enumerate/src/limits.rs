//! Limits on the time, memory and size of a decision.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use cat::Interrupt;
use memory::held;

/// The maximum number of paths of one thread.
pub const PATHS: usize = 20_000;
/// The maximum number of events of a candidate; a relation has that many bits squared.
pub const EVENTS: usize = 4_000;

#[derive(Clone, Debug)]
pub struct Limits {
    /// The maximum number of choices of reads-from and of final writes.
    pub candidates: u64,
    pub time: Duration,
    /// In bytes.
    pub memory: usize,
    /// Ends the decision when set.
    pub stop: Option<Arc<AtomicBool>>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            candidates: 20_000_000,
            time: Duration::from_secs(60),
            memory: 1 << 30,
            stop: None,
        }
    }
}

/// Measures a decision that has begun against its limits, in the thread that decides.
#[derive(Clone, Debug)]
pub struct Meter {
    limits: Limits,
    start: Instant,
    /// The memory that the thread held at the beginning.
    held: isize,
    /// The first limit that was reached; freeing memory afterwards does not undo it.
    reached: Arc<OnceLock<Limit>>,
}

impl Meter {
    pub fn begin(limits: &Limits) -> Meter {
        Meter {
            limits: limits.clone(),
            start: Instant::now(),
            held: held(),
            reached: Arc::default(),
        }
    }

    pub fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// The limit that has been reached; `stop` counts as the time limit.
    pub fn over(&self) -> Option<Limit> {
        let stop = self.limits.stop.as_ref();
        let stopped = stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
        let grown = held().saturating_sub(self.held);
        if usize::try_from(grown).is_ok_and(|grown| grown > self.limits.memory) {
            let _first = self.reached.set(Limit::Memory);
        } else if stopped || self.start.elapsed() > self.limits.time {
            let _first = self.reached.set(Limit::Seconds);
        }
        self.reached.get().copied()
    }

    /// The same as a function, for the model's own search.
    pub fn watch(&self) -> Interrupt {
        let meter = self.clone();
        Arc::new(move || meter.over().is_some())
    }
}

/// A limit that a decision has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    Paths,
    Events,
    Candidates,
    Seconds,
    Memory,
}

impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Limit::Paths => "paths through a thread",
            Limit::Events => "events in an execution",
            Limit::Candidates => "candidates",
            Limit::Seconds => "seconds",
            Limit::Memory => "bytes of memory",
        })
    }
}
