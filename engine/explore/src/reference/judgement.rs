//! What a graph shows that no thread can extend, or in which every thread waits.

use super::semantics::{ReferenceThread, Semantics};
use crate::consistency::checker::ConsistencyChecker;
use crate::exploration::{ExecutionEnd, ExploreError};
use crate::graph::execution_graph::{EventId, Graph};
use crate::search::findings::{Findings, Reported};
use crate::semantics::rounds::{repeats, Step};
use crate::source::{Action, Fault, Location, Next, ThreadId};
use rustc_hash::FxHashMap;

/// The threads of a graph that exist.
pub type Threads<'a> = &'a [(ThreadId, &'a ReferenceThread)];

/// Records what a consistent graph shows to which no event can be added. Returns how it ends, unless it
/// is none of the program's executions.
pub fn conclude(
    found: &mut Findings,
    checker: &mut ConsistencyChecker,
    semantics: &Semantics,
    graph: &Graph,
    threads: Threads,
) -> Result<Option<ExecutionEnd>, ExploreError> {
    if threads.iter().any(|(_, thread)| thread.next.is_redundant()) {
        return Ok(None);
    }
    let nexts = threads.iter().map(|(_, thread)| &thread.next);
    let end = found.end(graph, nexts)?;
    found.counts.count(end, 1);
    let extents = |base| semantics.extent(base);
    let reported = Reported::new(checker, graph, &extents, (true, end))?;
    let violated = reported.is_some_and(|reported| found.report(graph, &extents, &reported));
    let nexts = threads.iter().map(|(_, thread)| &thread.next);
    found.refuse(nexts, violated || end == ExecutionEnd::Faulty)?;
    Ok(Some(end))
}

/// The threads that wait for ever, if each thread that has not ended does. A thread blocks in the
/// library on its last read; it waits for ever if it has read what the location holds in the end. One
/// in a loop waits for ever if it was in the same state before, and its rounds since then leave memory as
/// they find it: then all such rounds, one after another, again and again, are an infinite execution in
/// which every thread runs, and every read reads the last write, which sc, tso, rc11 and rc20 allow
/// (Lahav, Namakonov, Oberhauser, Podkopaev, Vafeiadis, "Making weak memory models fair", OOPSLA 2021).
/// But a thread that blocks in the library does not wait for ever for what the rounds of another
/// thread change: a lock that is released again and again is taken by who waits for it.
pub fn hangs(graph: &Graph, threads: Threads) -> Vec<Fault> {
    let last: FxHashMap<Location, u64> = (0..graph.locations.len() as u32)
        .map(|number| {
            let at = graph.locations[number as usize].at;
            (at, graph.value_of(number, graph.last_write(number)))
        })
        .collect();
    let is_last = |read: EventId| {
        let event = graph.event(read);
        event.at().and_then(|at| last.get(&at)) == Some(&event.value)
    };
    let (mut awaited, mut changed) = (Vec::new(), Vec::new());
    let (mut faults, mut joins) = (Vec::new(), Vec::new());
    for (thread, state) in threads {
        match (&state.next, &state.round) {
            (Next::Done(_), _) => {}
            (Next::Event(_) | Next::Truncated { .. }, Some(round)) => {
                let mut rounds = round
                    .from
                    .iter()
                    .rev()
                    .map(|from| &state.local.steps[*from..]);
                let repeated = |steps: &&[Step]| repeats(steps.iter(), |at| last.get(&at).copied());
                let Some(steps) = rounds.find(repeated) else {
                    return Vec::new();
                };
                changed.extend(steps.iter().filter_map(|step| match step {
                    Step::Write(at, _) => Some(*at),
                    Step::Read(..) | Step::Choice => None,
                }));
                faults.push(Fault::hang(*thread, "its loop to end", round.site));
            }
            (Next::Blocked { wait, site }, _) => match wait.awaited() {
                Some((what, reads)) if graph.last_reads(*thread, reads).all(is_last) => {
                    let reads = graph.last_reads(*thread, reads);
                    awaited.extend(reads.filter_map(|read| graph.event(read).at()));
                    faults.push(Fault::hang(*thread, what, *site));
                }
                _ => return Vec::new(),
            },
            (Next::Event(label), None) if matches!(label.action, Action::Join { .. }) => {
                joins.push(Fault::hang(*thread, "another thread to end", label.site));
            }
            _ => return Vec::new(),
        }
    }
    if awaited.iter().any(|at| changed.contains(at)) {
        return Vec::new();
    }
    match faults.is_empty() {
        true => joins,
        false => faults,
    }
}
