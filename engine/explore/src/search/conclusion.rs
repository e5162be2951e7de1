//! What an execution shows in which no thread can continue: what the model flags, and what the
//! program does wrong.

use crate::consistency::checker::ConsistencyChecker;
use crate::exploration::ExecutionEnd;
use crate::graph::execution_graph::{EventId, Graph};
use crate::search::branching::Branching;
use crate::search::execution::EndedExecution;
use crate::search::findings::{allocated_elsewhere, freed, Findings};
use crate::search::halt::Halt;
use crate::search::queue::BranchQueue;
use crate::source::Source;

/// Counts an execution and what it shows, unless it is inconsistent. `known_consistent`: it is known
/// not to be.
pub fn conclude<S: Source, F, B>(
    queue: &BranchQueue<S, F, B>,
    branching: &mut Branching<B>,
    checker: &mut ConsistencyChecker,
    found: &mut Findings,
    execution: &EndedExecution<S::Thread>,
    known_consistent: bool,
) -> Result<(), Halt>
where
    F: Fn(&EndedExecution<S::Thread>, ExecutionEnd) + Sync,
{
    let (source, graph) = (queue.source, execution.graph);
    let Some(flags) = checker.flags(graph, known_consistent)? else {
        return Ok(());
    };
    let race = checker.race(graph, &flags);
    let mut misuse = None;
    if race.is_none() {
        misuse = unordered(checker, graph, &freed(source, graph))?;
    }
    if race.is_none() && misuse.is_none() {
        misuse = unordered(checker, graph, &allocated_elsewhere(graph))?;
    }
    let Some((end, violated)) = found.conclude(source, execution, race, misuse)? else {
        return Ok(());
    };
    if !branching.tallies {
        return Ok(());
    }
    (queue.each)(execution, end);
    match queue.count() || violated && queue.options.first {
        true => {
            branching.leave();
            Err(Halt::Over)
        }
        false => Ok(()),
    }
}

/// An allocation or a free, each listed with a location, and a use of its object that the model does
/// not order with it; the first of the list twice if the model does not name them.
fn unordered(
    checker: &mut ConsistencyChecker,
    graph: &Graph,
    lifetimes: &[(EventId, u32)],
) -> Result<Option<(EventId, EventId)>, Halt> {
    let Some((first, _)) = lifetimes.first() else {
        return Ok(None);
    };
    let flags = checker.flags_on_lifetimes(graph, lifetimes)?;
    let race = checker.race(graph, &flags);
    Ok(race.map(|race| race.conflict.unwrap_or((*first, *first))))
}
