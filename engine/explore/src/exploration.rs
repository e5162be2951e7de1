//! Property an exploration is asked, and what it finds.

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::Arc;
use std::time::Duration;

use crate::graph::execution_graph::{EventId, Graph};
use crate::source::Fault;
use cat::CatError;
use program::ir::SiteId;

#[derive(Clone, Debug, Default)]
pub struct Options {
    /// ReadMode many threads explore; 0: one for each core.
    pub workers: usize,
    /// ExecutionEnd at the first violation.
    pub first: bool,
    pub limits: Limits,
    /// Whether the model's axioms imply that po | rf has no cycle, as exploration needs.
    pub porf_acyclic: bool,
}

#[derive(Clone, Debug)]
pub struct Limits {
    /// Executions of every kind.
    pub executions: u64,
    pub time: Duration,
    /// Events of one execution.
    pub events: usize,
    /// States of threads that a worker keeps at hand; about a kilobyte each, of a program.
    pub states: usize,
    /// Ends the exploration when somebody sets it.
    pub stop: Option<Arc<AtomicBool>>,
    /// Executions of every kind so far, for whoever looks on.
    pub counted: Arc<AtomicU64>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            executions: u64::MAX,
            time: Duration::MAX,
            events: 4096,
            states: 1 << 15,
            stop: None,
            counted: Arc::default(),
        }
    }
}

/// The limit that ended an exploration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    Executions,
    Seconds,
    /// Somebody set the flag.
    Stopped,
}

impl Limit {
    pub fn name(self) -> &'static str {
        match self {
            Limit::Executions => "executions",
            Limit::Seconds => "seconds",
            Limit::Stopped => "stopped",
        }
    }
}

/// ReadMode an execution ends: the first of these that is so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ExecutionEnd {
    /// Some thread ended with an error.
    Faulty,
    /// A bound ended some thread.
    Truncated,
    /// Some thread waits for ever, or for what other executions have.
    Blocked,
    /// Every thread ended.
    Complete,
}

/// ReadMode many executions ended in which way. Each is counted once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub complete: u64,
    pub blocked: u64,
    pub truncated: u64,
    pub faulty: u64,
}

impl Counts {
    pub fn all(&self) -> u64 {
        self.complete + self.blocked + self.truncated + self.faulty
    }

    pub fn count(&mut self, end: ExecutionEnd) {
        *match end {
            ExecutionEnd::Faulty => &mut self.faulty,
            ExecutionEnd::Truncated => &mut self.truncated,
            ExecutionEnd::Blocked => &mut self.blocked,
            ExecutionEnd::Complete => &mut self.complete,
        } += 1;
    }

    pub fn add(&mut self, other: &Counts) {
        self.complete += other.complete;
        self.blocked += other.blocked;
        self.truncated += other.truncated;
        self.faulty += other.faulty;
    }
}

/// Where a bound ended a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truncation {
    pub message: String,
    pub site: Option<SiteId>,
}

#[derive(Clone, Debug)]
pub struct Violation {
    pub fault: Fault,
    /// In how many executions it was seen.
    pub count: u64,
    /// Of the executions found with it one in which the threads take turns, if there is one, and
    /// of these the smallest.
    pub graph: Graph,
    /// In none of them the threads take turns.
    pub weak: bool,
    /// Of a race, the two accesses in that execution that nothing orders.
    pub conflict: Option<(EventId, EventId)>,
}

#[derive(Debug, Default)]
pub struct Exploration {
    pub counts: Counts,
    /// One for each kind and site, in the order of these.
    pub violations: Vec<Violation>,
    pub truncations: Vec<Truncation>,
    /// The search ended early.
    pub limit: Option<Limit>,
    /// ReadMode many graphs the model was asked about.
    pub checks: u64,
    pub seconds: f64,
}

#[derive(Debug)]
pub enum ExploreError {
    Model(CatError),
    /// The model allows executions that this way of exploring does not find.
    Unsuitable(String),
    /// The program does what the source gives no meaning to.
    Unsupported {
        message: String,
        site: Option<SiteId>,
    },
}

impl std::fmt::Display for ExploreError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ExploreError::Model(error) => error.fmt(out),
            ExploreError::Unsuitable(message) | ExploreError::Unsupported { message, .. } => {
                out.write_str(message)
            }
        }
    }
}

impl std::error::Error for ExploreError {}

impl From<CatError> for ExploreError {
    fn from(error: CatError) -> ExploreError {
        ExploreError::Model(error)
    }
}
