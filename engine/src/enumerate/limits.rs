//! What a decision may cost before it ends without an answer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::cat::Over;

/// At most so many paths of one thread.
pub const PATHS: usize = 20_000;

#[derive(Clone, Debug)]
pub struct Limits {
    /// Choices of reads-from and of final writes that are tried.
    pub candidates: u64,
    pub time: Duration,
    /// Ends the decision when somebody sets it.
    pub stop: Option<Arc<AtomicBool>>,
}

impl Limits {
    /// Whether a decision that began at `start` has to end.
    pub fn over(&self, start: Instant) -> bool {
        self.stopped() || start.elapsed() > self.time
    }

    /// The same for a search that asks by itself.
    pub fn watch(&self, start: Instant) -> Over {
        let limits = self.clone();
        Arc::new(move || limits.over(start))
    }

    pub fn stopped(&self) -> bool {
        let stop = self.stop.as_ref();
        stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            candidates: 20_000_000,
            time: Duration::from_secs(60),
            stop: None,
        }
    }
}

/// The limit that ended a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    Paths,
    Candidates,
    Seconds,
}

impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Limit::Paths => "paths through a thread",
            Limit::Candidates => "candidates",
            Limit::Seconds => "seconds",
        })
    }
}
