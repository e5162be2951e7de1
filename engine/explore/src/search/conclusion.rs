//! What an execution shows in which no thread can continue: what the model flags, and what the
//! program does wrong.

use crate::consistency::checker::ConsistencyChecker;
use crate::exploration::ExecutionEnd;
use crate::graph::execution_graph::{EventId, Graph};
use crate::history::{History, Specification, UnexplainedCalls};
use crate::search::branching::Branching;
use crate::search::execution::EndedExecution;
use crate::search::findings::{allocated_elsewhere, freed, Findings};
use crate::search::halt::Halt;
use crate::search::queue::BranchQueue;
use crate::source::{Fault, FaultKind, Source};

/// Counts an execution and what it shows, unless it is inconsistent. `known_consistent`: it is known
/// not to be.
pub fn conclude<S: Source, F, B>(
    queue: &BranchQueue<S, F>,
    branching: &mut Branching<B>,
    checker: &mut ConsistencyChecker,
    found: &mut Findings,
    execution: &EndedExecution<S::Thread>,
    known_consistent: bool,
) -> Result<(), Halt>
where
    F: Fn(&EndedExecution<S::Thread>, ExecutionEnd) + Sync,
{
    debug_assert!(!branching.is_given(), "another worker counts it");
    let (source, graph) = (queue.source, execution.graph);
    let Some(flags) = checker.flags(graph, known_consistent)? else {
        return Ok(());
    };
    let mut flagged = checker.own_flags(graph, &flags);
    let race = checker.race(graph, &flags);
    let mut misuse = None;
    if race.is_none() {
        misuse = unordered(checker, graph, &freed(graph, &|base| source.extent(base)))?;
    }
    if race.is_none() && misuse.is_none() {
        misuse = unordered(checker, graph, &allocated_elsewhere(graph))?;
    }
    flagged.extend(race);
    let specification = queue.options.specification.as_deref();
    let may_hang = specification.is_some_and(|allowed| allowed.may_hang);
    let concluded = found.conclude(source, execution, &flagged, misuse, may_hang)?;
    let Some((end, violated)) = concluded else {
        return Ok(());
    };
    let mut violated = violated;
    if let (Some(allowed), ExecutionEnd::Complete, false) = (specification, end, violated) {
        if let Some(calls) = not_linearizable(checker, graph, allowed)? {
            let shown = calls.differs().or(calls.history.calls.last());
            let site = shown.map(|call| graph.event(call.returned).site);
            let fault = Fault {
                kind: FaultKind::Linearizability,
                message: "no sequential order of the calls has these results".to_owned(),
                site,
            };
            found.violate(&fault, None, Some(&calls), graph, 1);
            violated = true;
        }
    }
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

/// Calls of operations whose results are those of no sequential order of the calls.
fn not_linearizable(
    checker: &mut ConsistencyChecker,
    graph: &Graph,
    allowed: &Specification,
) -> Result<Option<UnexplainedCalls>, Halt> {
    let mut history = History::of(graph, |one, other| {
        Ok::<_, Halt>(graph.precedes(one, other))
    })?;
    // what happens before something precedes it in the graph
    if !allowed.allows(&history) && checker.may_flag() {
        history = History::of(graph, |one, other| {
            Ok::<_, Halt>(graph.precedes(one, other) && checker.orders(graph, one, other)?)
        })?;
    }
    if allowed.allows(&history) {
        return Ok(None);
    }
    let nearest = allowed.nearest(&history);
    Ok(Some(UnexplainedCalls { history, nearest }))
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
    Ok(race.map(|race| race.pair.unwrap_or((*first, *first))))
}
