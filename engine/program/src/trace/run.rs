//! The runs that a trace consists of.
use crate::interpreter::event::Event;
use crate::interpreter::outcome::{Outcome, RunEnd};
use crate::ir::instruction::SiteId;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

#[derive(Debug, Clone)]
pub struct Options {
    pub loops: u32,
    pub events: u64,
    pub interleavings: u64,
    pub seed: u64,
    pub shared_only: bool,
    pub spurious: bool,
    /// None: as long as it takes.
    pub time: Option<Duration>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            loops: 4,
            events: 4000,
            interleavings: 4000,
            seed: 0,
            shared_only: true,
            spurious: true,
            time: None,
        }
    }
}

/// An event of a trace: dependencies are indices in its thread's list.
#[derive(Debug, Clone)]
pub struct TracedEvent {
    pub event: Event,
    pub loc: String,
    pub addr: Vec<u32>,
    pub data: Vec<u32>,
    pub ctrl: Vec<u32>,
}

#[derive(Debug, Clone)]
pub struct Run {
    pub threads: Vec<Vec<TracedEvent>>,
    pub outcome: Outcome,
    pub message: String,
    pub site: Option<SiteId>,
    pub count: u64,
}

#[derive(Debug, Clone)]
pub struct Trace {
    pub runs: Vec<Run>,
    pub interleavings: u64,
    pub exhaustive: bool,
    pub how: String,
    /// The time was up.
    pub interrupted: bool,
    pub bound_sites: Vec<SiteId>,
    pub functions: Vec<String>,
}

pub struct RawRun {
    pub threads: Vec<Vec<Event>>,
    pub end: RunEnd,
    /// The loops that a limit truncated, and whether any limit was reached.
    pub truncated: Vec<SiteId>,
    pub bounded: bool,
    pub count: u64,
}

/// Identifies a run: sequences of sites, kinds, locations and orders, and how it ends.
pub fn sequence_key<'e, L: Iterator<Item = &'e Event>>(
    logs: impl Iterator<Item = L>,
    end: &RunEnd,
) -> u64 {
    let mut hasher = DefaultHasher::new();
    for log in logs {
        u32::MAX.hash(&mut hasher);
        for e in log {
            (e.site, e.kind, e.address, e.size, e.order, e.other).hash(&mut hasher);
        }
    }
    (end.outcome, end.site).hash(&mut hasher);
    hasher.finish()
}
