//! Leaves out of a witness what only sets the threads up: accesses of locations whose every value
//! is known before any other thread can use it.
//!
//! A location is settled in an execution if each write to it comes before the creation of every
//! other thread that accesses it: what `main` initialises, the arguments of threads, the copied
//! function object of `std::thread`, and locations that only one thread uses. No memory order
//! affects what is read from such a location, so an access of it explains nothing, unless the
//! violated property itself depends on the value. Even then an address explains nothing, nor, where
//! a memory order is at fault, does a location that only one thread uses.
use crate::graph::execution_graph::{EventId, Graph, NONE};
use crate::threads::source::ProgramSource;
use crate::witness::minimise::Selection;
use std::collections::BTreeSet;

/// Removes accesses of settled locations from the selection.
pub fn leave_out(source: &ProgramSource, graph: &Graph, selection: &mut Selection) {
    let direct = &selection.direct;
    let mut protected = selection.subject.clone();
    for (a, b, _) in &selection.cycle {
        protected.extend([*a as EventId, *b as EventId]);
    }
    protected.extend(selection.conflict.iter().flat_map(|(a, b)| [*a, *b]));
    let settled: Vec<bool> = (0..graph.locations.len() as u32)
        .map(|location| is_settled(graph, location))
        .collect();
    let of_settled = |id: &EventId| {
        let event = graph.event(*id);
        let access = (event.is_read() || event.is_write()) && event.pair == NONE;
        access && !protected.contains(id) && settled[event.location as usize]
    };
    let address = |id: &EventId| {
        let event = graph.event(*id);
        let size = event.at().map_or(0, |at| at.size);
        size == 8 && source.sharing.extent(event.value).is_some()
    };
    let alone = |id: &EventId| {
        let event = graph.event(*id);
        let accesses = graph.events.iter().filter(|e| e.at().is_some());
        let mut here = accesses.filter(|e| e.location == event.location);
        here.all(|e| e.thread == event.thread)
    };
    let weak = !selection.cycle.is_empty();
    let explains = |id: &EventId| direct.contains(id) && !address(id) && !(weak && alone(id));
    let set_up = |id: &EventId| of_settled(id) && !explains(id);
    // a violation by one thread alone has nothing else to show
    if direct
        .iter()
        .all(|id| !graph.event(*id).is_read() || set_up(id))
        && !direct.is_empty()
    {
        return;
    }
    let selected = selection.ids.iter().copied();
    let mut shown: BTreeSet<EventId> = selected
        .filter(|id| !graph.event(*id).is_read() || !set_up(id))
        .collect();
    let reads = shown.iter().map(|id| graph.event(*id));
    let sources: BTreeSet<EventId> = reads.filter(|e| e.is_read()).map(|e| e.source).collect();
    shown.retain(|id| !graph.event(*id).is_write() || !of_settled(id) || sources.contains(id));
    selection.ids = shown;
}

/// Whether each write to the location comes before the creation of every other thread that
/// accesses it.
fn is_settled(graph: &Graph, location: u32) -> bool {
    graph.writes(location).all(|write| {
        let thread = graph.event(write).thread;
        let mut accesses = graph.events.iter().filter(|e| e.location == location);
        accesses.all(|e| e.thread == thread || graph.is_created_after(e.thread, write))
    })
}
