//! When executions are drawn at random while everything is explored.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::exploration::{Extent, Limits, Options};
use crate::search::descents::Estimates;

/// How much longer all workers explore before one draws again, if exploring everything fits the time.
const RESTS: u32 = 20;

/// An estimate is this many times the number of executions with a probability of one over it at most
/// (Markov's inequality). It improves while a worker draws all the time.
const HOPELESS: f64 = 4.0;

/// What is drawn while everything is explored, one worker at a time: it shows how many executions there
/// are, and what some of them violate. If exploring everything takes too long, a worker draws all the
/// time, or a single one half of it: then chance finds violations earlier than the order of the search.
pub struct Draws {
    /// When a worker is to draw, in milliseconds since the search began.
    due: AtomicU64,
    estimates: Mutex<Estimates>,
    /// How many executions were explored before the search began.
    explored: u64,
}

impl Draws {
    pub fn new(options: &Options) -> Draws {
        let whole = matches!(options.extent, Extent::All | Extent::Open(_));
        let after = options.estimates_after.filter(|_| whole);
        Draws {
            due: AtomicU64::new(after.map_or(NEVER, milliseconds)),
            estimates: Mutex::default(),
            explored: options.limits.counted.load(Relaxed),
        }
    }

    /// Whether the worker that asks is to draw.
    pub fn are_due(&self, now: Duration) -> bool {
        let due = self.due.load(Relaxed);
        let claims = || {
            self.due
                .compare_exchange(due, NEVER, Relaxed, Relaxed)
                .is_ok()
        };
        milliseconds(now) >= due && claims()
    }

    /// Decides when to draw next, after one of so many workers drew for so long.
    pub fn rest(&self, limits: &Limits, workers: usize, now: Duration, drew: Duration) {
        let rest = match self.is_too_long(limits, now) {
            false => drew * RESTS,
            true if workers == 1 => drew,
            true => Duration::ZERO,
        };
        self.due.store(milliseconds(now + rest), Relaxed);
    }

    /// Whether exploring everything seems to take more than [`HOPELESS`] times what is left of the time.
    fn is_too_long(&self, limits: &Limits, now: Duration) -> bool {
        let Some(estimate) = self.estimates().estimate() else {
            return true;
        };
        let counted = limits.counted.load(Relaxed);
        let rate = counted.saturating_sub(self.explored) as f64 / now.as_secs_f64();
        let left = limits.time.saturating_sub(now).as_secs_f64();
        estimate.seconds_left(counted, rate) > HOPELESS * left
    }

    pub fn estimates(&self) -> MutexGuard<'_, Estimates> {
        let estimates = self.estimates.lock();
        estimates.unwrap_or_else(PoisonError::into_inner)
    }
}

/// A time that does not come.
const NEVER: u64 = u64::MAX;

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(NEVER)
}
