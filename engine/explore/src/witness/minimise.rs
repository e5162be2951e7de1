//! An execution that violates something, in words of the source and without what it does not
//! need.
//!
//! Kept are the events that the violation depends on, those of a shortest cycle that shows that
//! the threads do not take turns, and the fences between these. Of a race: its two accesses, and
//! how one might have come before the other. Of a hang: why nobody writes what would end it. The
//! order in which locks are taken only takes executions away, so that a lock is left out where
//! nothing depends on its value.
use crate::graph::execution_graph::Slot;
use crate::graph::interleaving::node;
use crate::source::{Action, Fault, Kind, Next};
use crate::witness::nodes::Nodes;
use crate::witness::slice::Slice;
use crate::witness::value::Waiting;
use relation::cycle::Edge;
use relation::Relation;
use std::collections::{BTreeMap, BTreeSet};

/// What is kept of an execution, and why.
pub struct Kept {
    pub slots: BTreeSet<Slot>,
    pub cycle: Vec<Edge>,
    pub conflict: Option<(Slot, Slot)>,
    pub waits: Vec<Waiting>,
}

/// Everything but a race: what it depends on, and the cycle.
pub fn depended(slice: &mut Slice, nodes: &Nodes, fault: &Fault) -> Kept {
    let graph = slice.graph;
    let mut waits = Vec::new();
    let all = 0..graph.len() as Slot;
    let mut seeded = false;
    for (thread, end) in slice.ends.clone().into_iter().enumerate() {
        let number = slice.lines[thread].len();
        match end {
            Next::Fault(own) if (own.kind, own.site) == (fault.kind, fault.site) => {
                slice.explain(thread, number);
                seeded = true;
            }
            Next::Blocked { wait, site } if fault.kind == Kind::Hang => {
                let Some((what, reads)) = wait.awaited() else {
                    continue;
                };
                waits.push(Waiting {
                    thread,
                    what: what.to_owned(),
                    site,
                });
                let line = slice.lines[thread].clone();
                let read = |s: &&Slot| graph.event(**s).is_read();
                for slot in line.iter().rev().filter(read).take(reads) {
                    let location = graph.event(*slot).location;
                    for other in all.clone() {
                        if graph.event(other).location == location {
                            slice.need(other);
                        }
                    }
                    let at = graph.places[location as usize].at;
                    for other in (0..slice.lines.len()).filter(|other| *other != thread) {
                        slice.explain_silence(other, at);
                    }
                }
                slice.explain(thread, number);
                seeded = true;
            }
            // the explorer has found no memory where the event would be
            Next::Event(told) if fault.kind == Kind::Memory && Some(told.site) == fault.site => {
                slice.explain(thread, number);
                seeded = true;
            }
            Next::Event(told) if fault.kind == Kind::Hang => waits.push(Waiting {
                thread,
                what: "the end of a thread".to_owned(),
                site: told.site,
            }),
            _ => {}
        }
    }
    if !seeded {
        // what the explorer finds by itself has the place of an event
        for slot in all.clone() {
            let event = graph.event(slot);
            let ends = matches!(event.action, Action::Free { .. }) && fault.kind == Kind::Memory;
            if Some(event.site) == fault.site || ends {
                slice.need(slot);
                seeded = true;
            }
        }
    }
    if !seeded {
        // nothing is proven unneeded
        slice.needed.extend(all);
    }
    let mut slots = slice.needed.clone();
    let cycle = nodes.cycle();
    for (a, b, kind) in &cycle {
        let (a, b) = (*a as Slot, *b as Slot);
        slots.extend([a, b]);
        if *kind == "po" {
            let (first, last) = (graph.event(a), graph.event(b));
            let between = &slice.lines[first.thread][first.index as usize..last.index as usize];
            let fence = |s: &&Slot| matches!(graph.event(**s).action, Action::Fence { .. });
            slots.extend(between.iter().filter(fence));
        }
    }
    Kept {
        slots,
        cycle,
        conflict: None,
        waits,
    }
}

/// The accesses of a race, and a shortest way from one to the other, which does not order them.
pub fn race(slice: &Slice, nodes: &Nodes, conflict: Option<(Slot, Slot)>) -> Kept {
    let graph = slice.graph;
    let Some((a, b)) = conflict.map(|(a, b)| (node(graph, a), node(graph, b))) else {
        return Kept {
            slots: (0..graph.len() as Slot).collect(),
            cycle: Vec::new(),
            conflict: None,
            waits: Vec::new(),
        };
    };
    let mut ways = nodes.po.union(&nodes.rf);
    ways.union_with(&starts(slice));
    let (from, to) = (a as usize, b as usize);
    ways.remove(from, to);
    ways.remove(to, from);
    let found = way(&ways, from, to).or_else(|| way(&ways, to, from));
    Kept {
        slots: found
            .unwrap_or_else(|| vec![from, to])
            .into_iter()
            .map(|s| s as Slot)
            .collect(),
        cycle: Vec::new(),
        conflict: Some((a, b)),
        waits: Vec::new(),
    }
}

/// From a thread's creation to its first event, from its last to who joins it.
fn starts(slice: &Slice) -> Relation {
    let graph = slice.graph;
    let mut all = Relation::new(graph.len());
    for slot in 0..graph.len() as Slot {
        let event = graph.event(slot);
        let line = &slice.lines[event.thread];
        let at = event.index as usize;
        match event.action {
            Action::Create { thread } => {
                for first in &slice.lines[thread] {
                    all.insert(slot as usize, *first as usize);
                }
            }
            Action::Join { thread } => {
                for last in &slice.lines[thread] {
                    all.insert(*last as usize, slot as usize);
                }
            }
            _ => continue,
        }
        for other in &line[..at] {
            all.insert(*other as usize, slot as usize);
        }
        for other in &line[at + 1..] {
            all.insert(slot as usize, *other as usize);
        }
    }
    all
}

/// A shortest way from one event to another.
fn way(ways: &Relation, from: usize, to: usize) -> Option<Vec<usize>> {
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
        for next in ways.successors(at) {
            back.entry(next).or_insert_with(|| {
                waiting.push_back(next);
                at
            });
        }
    }
    None
}
