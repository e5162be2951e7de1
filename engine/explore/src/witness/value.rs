//! A witness: an execution that violates something, as it is reported.
use crate::source::ThreadId;
use program::ir::SiteId;
use relation::cycle::Edge;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WitnessEvent {
    /// None for the initial value of a location.
    pub thread: Option<ThreadId>,
    pub label: String,
    pub kind: &'static str,
    pub order: &'static str,
    pub location: String,
    pub read: String,
    pub written: String,
    pub site: Option<SiteId>,
}

/// A thread that waits forever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingThread {
    pub thread: ThreadId,
    pub what: String,
    pub site: SiteId,
}

/// An operation call: how it is written, what it returns, and the indices of the calls that precede
/// it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReturnedCall {
    pub thread: ThreadId,
    pub call: String,
    pub result: i64,
    pub before: Vec<usize>,
}

/// Calls that no sequential order explains; `nearest` is the sequential history that comes closest,
/// indices of calls with their results, and `differs` the first call that returns something else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReturnedCalls {
    pub calls: Vec<ReturnedCall>,
    pub nearest: Vec<(usize, i64)>,
    pub differs: Option<usize>,
}

/// Pairs are of indices in `events`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The start function of each thread.
    pub functions: Vec<String>,
    pub events: Vec<WitnessEvent>,
    pub rf: Vec<(usize, usize)>,
    /// From each write to the next of its location; from each read to the first write that
    /// overwrites what it reads.
    pub co: Vec<(usize, usize)>,
    pub fr: Vec<(usize, usize)>,
    pub cycle: Vec<Edge>,
    pub conflict: Option<(usize, usize)>,
    pub waits: Vec<WaitingThread>,
    /// None for a violation of another kind.
    pub calls: Option<ReturnedCalls>,
}
