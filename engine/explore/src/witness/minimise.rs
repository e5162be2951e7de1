//! Reduces an execution that violates something to the events that explain it.
//!
//! These are the events that the violation depends on, those of a shortest cycle that shows that
//! the execution is not an interleaving, and the fences between them. For a race: its two accesses,
//! and a path by which one might precede the other; if there is none, what they depend on, and the
//! cycle. For a hang: why no thread writes what would end it. The order in which locks are taken only excludes executions, so a lock is left out if
//! nothing depends on its value.
use crate::exploration::Violation;
use crate::graph::execution_graph::{Event, EventId};
use crate::graph::interleaving::node;
use crate::source::{Action, FaultKind, Next};
use crate::witness::nodes::{node_of, Nodes};
use crate::witness::slice::Slice;
use crate::witness::value::WaitingThread;
use relation::cycle::Edge;
use relation::Relation;
use std::collections::{BTreeMap, BTreeSet};

/// The events selected, and why.
pub struct Selection {
    pub ids: BTreeSet<EventId>,
    pub cycle: Vec<Edge>,
    pub conflict: Option<(EventId, EventId)>,
    pub waits: Vec<WaitingThread>,
    /// What waiting threads read, and accesses that are errors themselves.
    pub subject: BTreeSet<EventId>,
    /// On what the violation depends without other events between.
    pub direct: BTreeSet<EventId>,
}

/// The events for any violation except a race: its dependencies, and the cycle.
pub fn depended(slice: &mut Slice, nodes: &Nodes, violation: &Violation) -> Selection {
    let (graph, fault) = (slice.graph, &violation.fault);
    let mut waits = Vec::new();
    let (mut subject, mut direct) = (BTreeSet::new(), BTreeSet::new());
    let all = 0..graph.len() as EventId;
    let mut seeded = false;
    for (thread, end) in slice.ends.clone().into_iter().enumerate() {
        let number = slice.by_thread[thread].len();
        match end {
            Next::Fault(own) if (own.kind, own.site) == (fault.kind, fault.site) => {
                let required = slice.explain(thread, number);
                if fault.kind == FaultKind::Uninitialised {
                    let indeterminate = |id: &EventId| graph.answer(*id, false).undefined != 0;
                    subject.extend(required.iter().copied().filter(indeterminate));
                }
                direct.extend(required);
                seeded = true;
            }
            Next::Blocked { wait, site } if fault.kind == FaultKind::Hang => {
                let Some((what, reads)) = wait.awaited() else {
                    continue;
                };
                waits.push(WaitingThread {
                    thread,
                    what: what.to_owned(),
                    site,
                });
                let thread_events = slice.by_thread[thread].clone();
                let read = |s: &&EventId| graph.event(**s).matters();
                for id in thread_events.iter().rev().filter(read).take(reads) {
                    subject.insert(*id);
                    let location = graph.event(*id).location;
                    for other in all.clone() {
                        if graph.event(other).location == location {
                            slice.need(other);
                        }
                    }
                    let at = graph.locations[location as usize].at;
                    for other in (0..slice.by_thread.len()).filter(|other| *other != thread) {
                        slice.explain_missing_write(other, at);
                    }
                }
                direct.extend(slice.explain(thread, number));
                seeded = true;
            }
            // the explorer stopped the thread since the memory is not allocated
            Next::Event(label)
                if fault.kind == FaultKind::Memory && Some(label.site) == fault.site =>
            {
                direct.extend(slice.explain(thread, number));
                seeded = true;
            }
            Next::Event(label) if fault.kind == FaultKind::Hang => waits.push(WaitingThread {
                thread,
                what: "another thread to end".to_owned(),
                site: label.site,
            }),
            _ => {}
        }
    }
    if !seeded && violation.pair.is_none() {
        // errors that the explorer finds itself have the site of an event
        for id in all.clone() {
            let event = graph.event(id);
            let ends = match fault.kind {
                FaultKind::Memory => matches!(event.action, Action::Free { .. }),
                FaultKind::Linearizability => event.at().is_some_and(|at| at.call().is_some()),
                _ => false,
            };
            if Some(event.site) == fault.site || ends {
                slice.need(id);
                subject.insert(id);
                seeded = true;
            }
        }
    }
    if let Some((one, other)) = violation.pair {
        for id in [one, other] {
            slice.need(id);
            subject.insert(id);
        }
        seeded = true;
    }
    if !seeded {
        // no dependency found: keep everything
        slice.needed.extend(all);
    }
    let (mut ids, cycle) = (slice.needed.clone(), nodes.cycle());
    for (a, b, _) in &cycle {
        ids.extend(with_between(slice, *a as EventId, *b as EventId));
    }
    Selection {
        ids,
        cycle,
        conflict: None,
        waits,
        subject,
        direct,
    }
}

/// Two events, and what may synchronise instead of the first where it precedes the second in their
/// thread: the fences between them, and accesses that read the write that the first reads, as a
/// compare-exchange after a load does.
fn with_between(slice: &Slice, one: EventId, other: EventId) -> BTreeSet<EventId> {
    let graph = slice.graph;
    let (first, last) = (graph.event(one), graph.event(other));
    let mut found = BTreeSet::from([one, other]);
    if first.thread == last.thread && first.index < last.index {
        let between = &slice.by_thread[first.thread][first.index as usize..last.index as usize];
        let synchronises = |id: &&EventId| {
            let event = graph.event(**id);
            let read = |event: &Event| (event.is_read(), event.location, event.source);
            matches!(event.action, Action::Fence { .. })
                || first.is_read() && read(event) == read(first)
        };
        found.extend(between.iter().filter(synchronises));
    }
    found
}

/// The accesses of a race, and a shortest path between them, which does not order them.
pub fn race(slice: &mut Slice, nodes: &Nodes, conflict: (EventId, EventId)) -> Selection {
    let graph = slice.graph;
    let (a, b) = (node(graph, conflict.0), node(graph, conflict.1));
    let mut edges = nodes.po.union(&nodes.rf);
    edges.union_with(&starts(slice));
    let (from, to) = (node_of(graph, a), node_of(graph, b));
    edges.remove(from, to);
    edges.remove(to, from);
    let found = path(&edges, from, to).or_else(|| path(&edges, to, from));
    let (steps, cycle) = match found {
        Some(path) => {
            let steps = path.windows(2).map(|step| (step[0], step[1]));
            (steps.collect(), Vec::new())
        }
        None => {
            let cycle = nodes.cycle();
            if !cycle.is_empty() {
                [a, b].into_iter().for_each(|id| slice.need(id));
            }
            let steps = cycle.iter().map(|(one, other, _)| (*one, *other));
            (Vec::from_iter(steps), cycle)
        }
    };
    let mut ids = slice.needed.clone();
    ids.extend([a, b]);
    for (one, other) in steps {
        ids.extend(with_between(slice, one as EventId, other as EventId));
    }
    Selection {
        ids,
        cycle,
        conflict: Some((a, b)),
        waits: Vec::new(),
        subject: BTreeSet::new(),
        direct: BTreeSet::new(),
    }
}

/// From creating a thread to its events, from its events to joining it.
fn starts(slice: &Slice) -> Relation {
    let graph = slice.graph;
    let mut all = Relation::new(graph.len());
    for id in 0..graph.len() as EventId {
        let event = graph.event(id);
        let thread_events = &slice.by_thread[event.thread];
        let at = event.index as usize;
        match event.action {
            Action::Create { thread } => {
                for first in &slice.by_thread[thread] {
                    all.insert(id as usize, *first as usize);
                }
            }
            Action::Join { thread } => {
                for last in &slice.by_thread[thread] {
                    all.insert(*last as usize, id as usize);
                }
            }
            _ => continue,
        }
        for other in &thread_events[..at] {
            all.insert(*other as usize, id as usize);
        }
        for other in &thread_events[at + 1..] {
            all.insert(id as usize, *other as usize);
        }
    }
    all
}

/// A shortest path from one event to another.
fn path(edges: &Relation, from: usize, to: usize) -> Option<Vec<usize>> {
    let mut back: BTreeMap<usize, usize> = BTreeMap::new();
    let mut waiting = std::collections::VecDeque::from([from]);
    while let Some(at) = waiting.pop_front() {
        if at == to {
            let mut path = vec![to];
            while path[path.len() - 1] != from {
                path.push(back[&path[path.len() - 1]]);
            }
            path.reverse();
            return Some(path);
        }
        for next in edges.successors(at) {
            back.entry(next).or_insert_with(|| {
                waiting.push_back(next);
                at
            });
        }
    }
    None
}
