//! Whether an execution is an interleaving of its threads, in which each read reads the last write:
//! sequential consistency (Lamport, "How to make a multiprocessor computer that correctly executes
//! multiprocess programs", IEEE TC 1979).

use crate::graph::execution_graph::{EventId, Graph, NONE};
use crate::source::Action;

/// The node of an event: a read-modify-write is one node, named by its read.
pub fn node(graph: &Graph, id: EventId) -> EventId {
    let event = graph.event(id);
    match event.is_write() && event.pair != NONE {
        true => event.pair,
        false => id,
    }
}

/// Whether program order, creating and joining threads, rf, co and fr together are acyclic.
pub fn is_interleaving(graph: &Graph) -> bool {
    let n = graph.len();
    let mut edges: Vec<(usize, usize)> = Vec::with_capacity(4 * n);
    let mut add = |from: EventId, to: EventId| {
        let (from, to) = (node(graph, from), node(graph, to));
        if from != to {
            edges.push((from as usize, to as usize));
        }
    };
    for id in 0..n as EventId {
        let event = graph.event(id);
        match graph.predecessor(event) {
            NONE => {}
            before => add(before, id),
        }
        match event.action {
            Action::Join { thread } if graph.threads[thread].last != NONE => {
                add(graph.threads[thread].last, id);
            }
            Action::Write { .. } if event.co_successor != NONE => add(id, event.co_successor),
            Action::Read { .. } => {
                if event.source != NONE {
                    add(event.source, id);
                }
                let next = graph.following(event.location, event.source);
                if next != NONE {
                    add(id, next);
                }
            }
            _ => {}
        }
    }
    // topological order (Kahn): remove nodes without predecessors until none is left
    let mut before = vec![0u32; n];
    let mut starts = vec![0usize; n + 1];
    for (from, to) in &edges {
        before[*to] += 1;
        starts[*from + 1] += 1;
    }
    for at in 0..n {
        starts[at + 1] += starts[at];
    }
    let mut after = vec![0usize; edges.len()];
    let mut next = starts.clone();
    for (from, to) in &edges {
        after[next[*from]] = *to;
        next[*from] += 1;
    }
    let mut free: Vec<usize> = (0..n).filter(|at| before[*at] == 0).collect();
    let mut taken = 0;
    while let Some(at) = free.pop() {
        taken += 1;
        for to in &after[starts[at]..starts[at + 1]] {
            before[*to] -= 1;
            if before[*to] == 0 {
                free.push(*to);
            }
        }
    }
    taken == n
}
