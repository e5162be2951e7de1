//! What a decision may cost before it ends without an answer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use cat::Interrupt;
use memory::held;

/// At most so many paths of one thread.
pub const PATHS: usize = 20_000;
/// At most so many events of one candidate: each relation among them has so many bits squared.
pub const EVENTS: usize = 4_000;

#[derive(Clone, Debug)]
pub struct Limits {
    /// Choices of reads-from and of final writes that are tried.
    pub candidates: u64,
    pub time: Duration,
    /// Bytes that a decision may hold.
    pub memory: usize,
    /// Ends the decision when somebody sets it.
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

/// A decision that has begun, against what it may cost. It is asked in the thread that decides,
/// whose memory counts.
#[derive(Clone, Debug)]
pub struct Meter {
    limits: Limits,
    start: Instant,
    /// What the thread held when it began.
    held: isize,
    /// The limit that was hit: what is freed on the way out changes nothing.
    hit: Arc<OnceLock<Limit>>,
}

impl Meter {
    pub fn begin(limits: &Limits) -> Meter {
        Meter {
            limits: limits.clone(),
            start: Instant::now(),
            held: held(),
            hit: Arc::default(),
        }
    }

    pub fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// The limit by which the decision has to end; being stopped is being out of time.
    pub fn over(&self) -> Option<Limit> {
        let stop = self.limits.stop.as_ref();
        let stopped = stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
        let grown = held().saturating_sub(self.held);
        if usize::try_from(grown).is_ok_and(|grown| grown > self.limits.memory) {
            let _first = self.hit.set(Limit::Memory);
        } else if stopped || self.start.elapsed() > self.limits.time {
            let _first = self.hit.set(Limit::Seconds);
        }
        self.hit.get().copied()
    }

    /// The same for a search that asks by itself.
    pub fn watch(&self) -> Interrupt {
        let meter = self.clone();
        Arc::new(move || meter.over().is_some())
    }
}

/// The limit that ended a decision.
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
