//! Whether an execution is an interleaving of its threads, in which each read reads the last write:
//! sequential consistency (Lamport, "How to make a multiprocessor computer that correctly executes
//! multiprocess programs", IEEE TC 1979).

use crate::graph::execution_graph::{EventId, Graph, NONE};
use crate::source::Action;
use relation::Relation;

/// The node of an event: a read-modify-write is one node, named by its read.
pub fn node(graph: &Graph, id: EventId) -> EventId {
    match graph.events.get(id as usize) {
        Some(event) if event.is_write() && event.pair != NONE => event.pair,
        _ => id,
    }
}

/// Whether program order, creating and joining threads, rf, co and fr together are acyclic.
pub fn is_interleaving(graph: &Graph) -> bool {
    let mut edges = Relation::new(graph.len());
    let mut add = |from: EventId, to: EventId| {
        let (from, to) = (node(graph, from), node(graph, to));
        if from != NONE && to != NONE && from != to {
            edges.insert(from as usize, to as usize);
        }
    };
    for (id, event) in (0..).zip(&graph.events) {
        add(graph.predecessor(event), id);
        match event.action {
            Action::Join { thread } => add(graph.threads[thread].last, id),
            Action::Write { .. } => add(id, event.co_successor),
            Action::Read { .. } => {
                add(event.source, id);
                add(id, graph.following(event.location, event.source));
            }
            _ => {}
        }
    }
    edges.is_acyclic()
}
