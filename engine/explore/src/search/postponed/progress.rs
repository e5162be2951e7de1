//! Which events of a partial execution can still be added to the graph.

use crate::search::postponed::execution::{EventPosition, PartialExecution};
use crate::source::{Location, ThreadId, Writes};
use rustc_hash::FxHashMap;

/// What can be added to the graph, as far as it is known.
#[derive(Default)]
pub struct Progress {
    /// For each thread, whether each of its events can, or is in the graph.
    pub events: Vec<Vec<bool>>,
    /// The threads that may have events that they have not reached.
    pub continuing: Vec<bool>,
    pub changed: bool,
}

/// What is known of writes: what a worker has asked of the source, and has recorded there, each once.
#[derive(Default)]
pub struct KnownWrites {
    pub expected: FxHashMap<(ThreadId, Location), Option<Writes>>,
    pub recorded: FxHashMap<(ThreadId, Location), Writes>,
    /// After how many steps of the worker what is explored ends, since it is void.
    pub end: Option<u64>,
}

impl Progress {
    pub fn start(&mut self, execution: &PartialExecution) {
        let count = execution.threads.len();
        self.continuing.clear();
        self.continuing.resize(count, false);
        self.events.resize_with(count, Vec::new);
        for (events, run) in self.events.iter_mut().zip(&execution.threads) {
            events.clear();
            events.extend(run.events.iter().map(|event| !event.is_open()));
        }
    }

    pub fn has(&self, at: EventPosition) -> bool {
        self.events[at.thread][at.index]
    }

    pub fn has_all_before(&self, at: EventPosition) -> bool {
        self.events[at.thread][..at.index].iter().all(|can| *can)
    }

    pub fn add(&mut self, at: EventPosition) {
        self.changed = true;
        self.events[at.thread][at.index] = true;
    }
}
