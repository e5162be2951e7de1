//! Loops that change memory and never end.
//!
//! A thread that a limit has stopped in a loop repeats its last *round* for ever if
//!
//! - it was in the same state before this round: the same call stack, live registers, memory and mutexes
//!   of its own, and the same next event;
//! - the round consists of reads, writes and fences, so that what it does depends on nothing but the
//!   values that it reads;
//! - one event of the round after the other, each read reads what memory holds if it holds the last
//!   writes of the execution before the round, and it holds them again after the round;
//! - each other thread has ended, waits for ever, waits for a thread to end that does not, or repeats a
//!   round as well; and none reads, in its wait or its round, what a round of another thread changes.
//!
//! **The infinite execution.** The rounds are added to the execution, one after another, again and
//! again, each read from the last write, each write as the last one of its location. So no event that is
//! added precedes one that is there already, be it by po, rf, co or fr: none of them is on a cycle, and the
//! execution stays consistent. Each thread that can continue does, and each read reads the last write, as
//! a fair memory demands (Lahav, Namakonov, Oberhauser, Podkopaev, Vafeiadis, "Making weak memory models
//! fair", OOPSLA 2021). Since no thread is left that could write something else than what is read, the
//! loops end in no other execution either in which memory has become visible.
//!
//! **What remains Unknown.** A loop whose threads change what others read: two threads that hand a value
//! back and forth for ever, or that might see what the other has not undone yet. Rounds with choices, as
//! whether a weak compare-exchange fails for no reason, since another one may be made the next time. And
//! what runs when main returns, as that ends the process.

use crate::graph::execution_graph::Graph;
use crate::search::execution::EndedExecution;
use crate::semantics::rounds::{repeats, Step};
use crate::source::{Action, EventLabel, Fault, Location, Next, Resumed, Source, ThreadId};
use rustc_hash::FxHashSet;

/// The loops that never end, in an execution in which a limit has stopped threads.
pub fn endless_loops<S: Source>(execution: &EndedExecution<S>) -> Vec<Fault> {
    find(execution).unwrap_or_default()
}

/// None where some thread may continue in another way.
fn find<S: Source>(execution: &EndedExecution<S>) -> Option<Vec<Fault>> {
    let graph = execution.graph;
    let mut stopped = Vec::new();
    let mut faults = Vec::new();
    // by thread, what its wait or its round accesses, and what its round changes
    let mut accesses: Vec<(ThreadId, FxHashSet<Location>)> = Vec::new();
    let mut changes: Vec<(ThreadId, FxHashSet<Location>)> = Vec::new();
    for (thread, next) in execution.threads() {
        match next {
            Next::Done(_)
                if thread == 0 && execution.source().ends_process(execution.thread(0)?) =>
            {
                return None
            }
            Next::Done(_) => {}
            Next::Event(EventLabel {
                action: Action::Join { .. },
                ..
            }) => {}
            Next::Blocked { wait, .. } => {
                let (_, count) = wait.awaited()?;
                let mut awaited = FxHashSet::default();
                for read in graph.last_reads(thread, count) {
                    let event = graph.event(read);
                    let at = event.at()?;
                    if last_value(graph, at) != Some(event.value) {
                        return None;
                    }
                    awaited.insert(at);
                }
                accesses.push((thread, awaited));
            }
            Next::Truncated { site, .. } => stopped.push((thread, *site)),
            _ => return None,
        }
    }
    for (thread, site) in stopped {
        let round = repeated_round(execution, thread)?;
        let accessed = round.iter().filter_map(|step| match step {
            Step::Read(at, _) | Step::Write(at, _) => Some(*at),
            Step::Choice => None,
        });
        accesses.push((thread, accessed.collect()));
        let changed = round.iter().filter_map(|step| match step {
            Step::Write(at, value) if last_value(graph, *at) != Some(*value) => Some(*at),
            _ => None,
        });
        changes.push((thread, changed.collect()));
        faults.push(Fault::hang(thread, "its loop to end", site));
    }
    let interfere = changes.iter().any(|(by, changed)| {
        let mut others = accesses.iter().filter(|(other, _)| other != by);
        others.any(|(_, accessed)| !changed.is_disjoint(accessed))
    });
    (!interfere).then_some(faults)
}

/// The last events of a thread, if it repeats them for ever as long as no other thread writes.
fn repeated_round<S: Source>(execution: &EndedExecution<S>, thread: ThreadId) -> Option<Vec<Step>> {
    let mut round = Vec::new();
    let (state, next) = match execution.source().resumed(execution.thread(thread)?)? {
        Resumed::Event(state, next) => (state, next),
        Resumed::Silent => return Some(round),
    };
    for (before, label, answer) in execution.events(thread) {
        match label.action {
            Action::Read { at, .. } if !at.is_outside() && answer.undefined == 0 => {
                round.push(Step::Read(at, answer.value));
            }
            Action::Write {
                at,
                value,
                undefined: 0,
                ..
            } if !at.is_outside() => {
                round.push(Step::Write(at, value));
            }
            Action::Fence { .. } | Action::Compare { outcome: Some(_) } => {}
            _ => return None,
        }
        if (next.action, next.site) == (label.action, label.site)
            && repeats(round.iter().rev(), |at| last_value(execution.graph, at))
            && execution.source().is_same_state(before, &state)
        {
            return Some(round);
        }
    }
    None
}

/// What a location holds after the execution, if that is determined.
fn last_value(graph: &Graph, at: Location) -> Option<u64> {
    let number = graph.location_number(at)?;
    let answer = graph.written(number, graph.last_write(number));
    (answer.undefined == 0).then_some(answer.value)
}
