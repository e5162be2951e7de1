//! What an execution shows in which no thread can continue: what the model flags, and what the
//! program does wrong.

use crate::consistency::checker::ConsistencyChecker;
use crate::exploration::ExecutionEnd;
use crate::graph::execution_graph::{Graph, NONE};
use crate::history::{History, Specification, UnexplainedCalls};
use crate::search::branching::Branching;
use crate::search::execution::EndedExecution;
use crate::search::findings::{end_of, Findings, Reported};
use crate::search::halt::Halt;
use crate::search::queue::BranchQueue;
use crate::source::{Fault, FaultKind, Source};

/// Counts an execution and what it shows, unless it is inconsistent. `known_consistent`: it is known
/// not to be.
pub fn conclude<S: Source, B>(
    queue: &BranchQueue<S>,
    branching: &mut Branching<B>,
    checker: &mut ConsistencyChecker,
    found: &mut Findings,
    execution: &EndedExecution<S::Thread>,
    known_consistent: bool,
) -> Result<(), Halt> {
    debug_assert!(!branching.is_given(), "another worker counts it");
    let (source, graph) = (queue.source, execution.graph);
    let extents = |base| source.extent(base);
    let end = execution.threads().map(|(_, next)| end_of(next)).min();
    let known = (known_consistent, end.unwrap_or(ExecutionEnd::Complete));
    let Some(reported) = Reported::new(checker, graph, &extents, known)? else {
        return Ok(());
    };
    separate_rewrites(source, execution);
    let specification = queue.options.specification.as_deref();
    let may_hang = specification.is_some_and(|allowed| allowed.may_hang);
    let concluded = found.conclude(source, execution, &reported, may_hang)?;
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

/// Looks whether another thread writes between two writes of one value that are taken to follow each other.
fn separate_rewrites<S: Source>(source: &S, execution: &EndedExecution<S::Thread>) {
    let graph = execution.graph;
    for (thread, _) in execution.threads() {
        let rewrites = execution.thread(thread).map(|state| source.rewrites(state));
        for (index, site) in rewrites.into_iter().flatten() {
            let mut events = graph.po_predecessors(graph.threads[thread].last);
            let write = events.find(|id| graph.event(*id).index == *index);
            let before = write.and_then(|write| graph.preceding(write));
            if before.is_none_or(|before| before == NONE || graph.event(before).thread != thread) {
                source.separate_rewrite(*site);
            }
        }
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
