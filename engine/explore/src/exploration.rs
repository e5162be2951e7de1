//! The options, limits and results of an exploration.

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::evidence::{Audit, Exhausted, Guarantee};
use crate::exchanges::KnownExchanges;
use crate::graph::execution_graph::{EventId, Graph};
use crate::history::{Specification, UnexplainedCalls};
use crate::reductions::Reductions;
use crate::source::Fault;
use borsh::{BorshDeserialize, BorshSerialize};
use cat::CatError;
use program::ir::SiteId;

#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How many worker threads; 0: one per core.
    pub workers: usize,
    /// Stop at the first violation.
    pub first: bool,
    pub limits: Limits,
    /// What the model's axioms imply; without it, what their analysis shows.
    pub acyclic: Option<Acyclic>,
    pub reductions: Reductions,
    /// Atomic accesses that overlap have one size; a program in which they do not is not supported.
    pub one_size: bool,
    /// A weak compare-exchange fails for no reason at most once per site and thread.
    pub fails_once: bool,
    /// Without it, chosen for the model and the program.
    pub search: Option<Search>,
    pub extent: Extent,
    /// The bound on the iterations of loops is doubled, to at most this, as long as no other limit is
    /// reached; none: is not.
    pub most_loops: Option<u32>,
    /// What operation calls may return in an execution that is complete.
    pub specification: Option<Arc<Specification>>,
    /// Draws executions meanwhile, from this time on: estimates how many there are, and finds what some
    /// violate; none: does not.
    pub estimates_after: Option<Duration>,
    /// How long a program that seems safe is audited; none: as [`audit`](crate::reference::audit)
    /// chooses.
    pub audit: Option<Duration>,
}

/// Which executions are explored.
#[derive(Clone, Debug, Default)]
pub enum Extent {
    #[default]
    All,
    /// Those with at most this many departures; see [`Exploration::beyond`].
    Departures(u32),
    /// What an earlier exploration of the same program has left open.
    Open(Frontier),
    /// Some, drawn at random.
    Sample { seed: u64 },
    /// None: how many there are is estimated from random descents.
    Estimate { seed: u64 },
}

/// What a limit has left unexplored of a search tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Frontier {
    /// The search whose tree it is.
    pub search: Option<Search>,
    pub branches: Vec<OpenBranch>,
    pub exchanges: KnownExchanges,
}

/// A node of the search tree, and what is left to explore there.
#[derive(Clone, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct OpenBranch {
    /// The number of each branch on the way from the root.
    pub path: Vec<u32>,
    /// For each nested branch that was under way, the next one last, how many of its own branches
    /// were begun: all of them are complete, except the last where another follows here. Empty:
    /// nothing is explored.
    pub met: Vec<u32>,
}

/// About how many executions there are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean of independent descents, each of them unbiased.
    pub executions: f64,
    /// The standard error of the mean.
    pub error: f64,
    pub draws: u64,
}

impl Estimate {
    /// How long exploring the others takes, after so many, at this rate per second.
    pub fn seconds_left(&self, explored: u64, rate: f64) -> f64 {
        (self.executions - explored as f64) / rate
    }
}

/// What executions that were drawn at random show of all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// How many were drawn, those included that no consistent execution extends.
    pub draws: u64,
    /// How many different executions were drawn.
    pub distinct: u64,
    /// The probability that a further draw shows none but these.
    pub known: f64,
}

/// How executions are searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub enum Search {
    /// Writes revisit earlier reads: for models that order by program order.
    Revisits,
    /// Reads are postponed.
    Postpones,
}

/// The order that the axioms of a model keep from forming a cycle with rf. Exploration needs one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acyclic {
    /// po | rf has no cycle.
    ProgramOrder,
    /// rf has no cycle with the part of po that dependencies, acquire reads and fences order: (addr;
    /// po? | data | ctrl; po? | rmw; rfe | [ACQ]; po | po; [F]; po | rf). This is asked of the model.
    Dependencies,
}

#[derive(Clone, Debug)]
pub struct Limits {
    /// Executions, however they end.
    pub executions: u64,
    pub time: Duration,
    /// Events per execution.
    pub events: usize,
    /// Thread states that a worker caches, a kilobyte to twenty each.
    pub states: usize,
    /// Stops the exploration when it is set.
    pub stop: Option<Arc<AtomicBool>>,
    /// Executions found so far, for progress reports.
    pub counted: Arc<AtomicU64>,
    /// The estimate so far, for progress reports.
    pub estimated: Arc<Mutex<Option<Estimate>>>,
}

impl Limits {
    /// The estimate so far.
    pub fn estimate(&self) -> MutexGuard<'_, Option<Estimate>> {
        let estimate = self.estimated.lock();
        estimate.unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            executions: u64::MAX,
            time: Duration::MAX,
            events: 4096,
            states: 1 << 13,
            stop: None,
            counted: Arc::default(),
            estimated: Arc::default(),
        }
    }
}

/// The limit that ended an exploration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    Executions,
    Seconds,
    /// The stop flag was set.
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

/// How an execution ends: the first of these that applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ExecutionEnd {
    /// Some thread ended with an error.
    Faulty,
    /// A limit stopped some thread.
    Truncated,
    /// Some thread waits forever, or for something that happens in other executions.
    Blocked,
    /// Every thread ended.
    Complete,
}

/// How many executions ended in each way. Each is counted once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Counts {
    pub complete: u64,
    pub blocked: u64,
    pub truncated: u64,
    pub faulty: u64,
    /// How many executions these stand for at most: those in which threads that behave alike are
    /// exchanged may have been explored too.
    pub represented: u64,
}

impl Counts {
    pub fn all(&self) -> u64 {
        self.complete + self.blocked + self.truncated + self.faulty
    }

    /// Counts an execution that ends so and stands for `orbit` ones.
    pub fn count(&mut self, end: ExecutionEnd, orbit: u64) {
        self.represented = self.represented.saturating_add(orbit);
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
        self.represented = self.represented.saturating_add(other.represented);
    }
}

/// A limit that stopped a thread, and where.
#[derive(Clone, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Truncation {
    pub message: String,
    pub site: Option<SiteId>,
    /// The limit, if the user can change it: a field of [`Limits`] or
    /// [`program::interpreter::Limits`]. "unsupported" if the source supports no more.
    pub limit: String,
    /// Why it was reached, if that is known.
    pub because: String,
}

#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub struct Violation {
    pub fault: Fault,
    /// How many executions show it.
    pub count: u64,
    /// The smallest execution that shows it; an interleaving if one was found.
    pub graph: Graph,
    /// No execution that shows it is an interleaving: it needs weak memory.
    pub weak: bool,
    /// For a race, the two accesses of `graph` that are not ordered; for a flag of the model, two
    /// events that it is about.
    pub pair: Option<(EventId, EventId)>,
    /// For a history that is not linearizable, its calls.
    pub calls: Option<UnexplainedCalls>,
}

#[derive(Debug, Default)]
pub struct Exploration {
    pub counts: Counts,
    /// One per kind and site, ordered by these.
    pub violations: Vec<Violation>,
    /// As the violations: what is no error by itself.
    pub warnings: Vec<Violation>,
    pub truncations: Vec<Truncation>,
    /// The limit that ended the search early.
    pub limit: Option<Limit>,
    /// How many graphs were checked against the model.
    pub checks: u64,
    /// How many threads the program starts, in all executions together.
    pub threads: usize,
    /// Whether executions were left out because they have too many departures: steps in which the
    /// search does not take its default, that a read reads from the last write, that a write comes
    /// last in coherence order, and that no earlier read is changed to read from a new write.
    pub beyond: bool,
    /// The greatest bound on departures within which everything was explored, if there was one.
    pub departures: Option<u32>,
    /// The greatest bound on the iterations of loops within which everything was explored, if that
    /// is less than what the exploration was asked for.
    pub loops: Option<u32>,
    /// The bound on the iterations of loops within which this was explored.
    pub loop_bound: u32,
    /// About how many executions there are within twice this bound, and how many per second are
    /// explored, if these are too many for the time that was left.
    pub doubled: Option<(Estimate, f64)>,
    /// Executions per second while every branch was explored, if others were not: for an estimate.
    pub rate: Option<f64>,
    /// Whether what operation calls return was not compared with their specification, because the
    /// model does not say which call happens before which.
    pub skips_calls: bool,
    /// An access that has another size than an atomic one that it overlaps.
    pub mixed_sizes: Option<SiteId>,
    /// Assertions that no execution comes to, as far as was explored.
    pub not_asserted: Vec<SiteId>,
    /// Whether this is only what an earlier exploration has left open.
    pub resumed: bool,
    /// How many of the executions were explored before, by another process.
    pub earlier: u64,
    /// What a limit has left unexplored.
    pub open: Frontier,
    pub estimate: Option<Estimate>,
    pub sample: Option<Sample>,
    pub seconds: f64,
    /// Which of the reductions asked for were used: not those that the model does not allow.
    pub reductions: Reductions,
    /// How it is known that the model guarantees what the search relies on.
    pub guarantee: Option<Guarantee>,
    /// Nothing was left open.
    pub exhausted: Option<Exhausted>,
    pub audit: Option<Audit>,
}

#[derive(Debug)]
pub enum ExploreError {
    Model(CatError),
    /// The model allows executions that the search does not find.
    Unsuitable(String),
    /// The program does something that the source does not support.
    Unsupported {
        message: String,
        site: Option<SiteId>,
    },
    /// What the source has assumed of the program is refuted.
    Refuted,
    /// What was left open is not part of the search tree: it belongs to another program or model.
    OtherTree,
}

impl std::fmt::Display for ExploreError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ExploreError::Model(error) => error.fmt(out),
            ExploreError::Unsuitable(message) | ExploreError::Unsupported { message, .. } => {
                out.write_str(message)
            }
            ExploreError::Refuted => out.write_str("the exploration has to start again"),
            ExploreError::OtherTree => out.write_str("what was left open is of another program"),
        }
    }
}

impl std::error::Error for ExploreError {}

impl From<CatError> for ExploreError {
    fn from(error: CatError) -> ExploreError {
        ExploreError::Model(error)
    }
}
