//! A worker of one of the two searches: what it has whichever it is, and what it does with an
//! execution in which no thread can continue.

use crate::consistency::checker::ConsistencyChecker;
use crate::exploration::ExecutionEnd;
use crate::graph::execution_graph::{Graph, NONE};
use crate::history::{History, Specification, UnexplainedCalls};
use crate::search::branching::Branching;
use crate::search::execution::EndedExecution;
use crate::search::findings::{end_of, Findings, Reported};
use crate::search::halt::Halt;
use crate::search::queue::BranchQueue;
use crate::search::thread_states::{Node, ThreadStates};
use crate::source::{Fault, FaultKind, Source};

/// How many steps a worker takes between two looks at the clock.
const CLOCK_INTERVAL: u64 = 64;

/// One of the two searches: what its workers have besides.
pub trait Algorithm: Default {
    /// A node of the search tree.
    type Branch;

    fn root() -> Self::Branch;

    /// Explores all executions that extend this one.
    fn explore<S: Source>(worker: &mut Worker<S, Self>, branch: Self::Branch) -> Result<(), Halt>;
}

pub struct Worker<'s, S: Source, A: Algorithm> {
    pub queue: &'s BranchQueue<'s, S>,
    pub checker: ConsistencyChecker,
    pub branching: Branching<A::Branch>,
    pub found: Findings,
    pub states: ThreadStates<'s, S>,
    /// How often it has looked for a next event.
    pub steps: u64,
    pub own: A,
}

impl<'s, S: Source, A: Algorithm> Worker<'s, S, A> {
    pub fn new(queue: &'s BranchQueue<'s, S>) -> Worker<'s, S, A> {
        Worker {
            queue,
            checker: queue.checker.clone(),
            branching: Branching::new(queue.bound()),
            found: Findings::default(),
            states: ThreadStates::new(queue.source, queue.exchanges.clone()),
            steps: 0,
            own: A::default(),
        }
    }

    /// Counts a step. From time to time, looks at the clock and returns true; fails if the search ends, or
    /// it is time to draw executions.
    pub fn step(&mut self) -> Result<bool, Halt> {
        self.steps += 1;
        if self.steps % CLOCK_INTERVAL != 0 {
            return Ok(false);
        }
        self.queue.check_limits()?;
        let queue = self.queue;
        match self.branching.is_exploring() && queue.draws.are_due(queue.start.elapsed()) {
            true => Err(Halt::Draws),
            false => Ok(true),
        }
    }

    /// Gives a part of what is left to explore to an idle worker, if there is one.
    #[inline]
    pub fn share(&mut self) {
        if self.queue.has_idle_workers() {
            if let Some(branch) = self.branching.give() {
                self.queue.push(branch);
            }
        }
    }

    /// Counts an execution whose threads end in these states and what it shows, unless it is
    /// inconsistent. `orbit`: how many executions it stands for. `known_consistent`: it is known not to
    /// be inconsistent.
    pub fn conclude(
        &mut self,
        graph: &Graph,
        ends: Vec<Node>,
        orbit: u64,
        known_consistent: bool,
    ) -> Result<(), Halt> {
        debug_assert!(!self.branching.is_given(), "another worker counts it");
        let (queue, checker) = (self.queue, &mut self.checker);
        let execution = &EndedExecution::new(graph, ends, &self.states, orbit);
        if execution.threads().any(|(_, next)| next.is_redundant()) {
            if known_consistent || checker.is_consistent(graph)? {
                separate_rewrites(execution);
            }
            return Ok(());
        }
        let extents = |base| queue.source.extent(base);
        let end = execution.threads().map(|(_, next)| end_of(next)).min();
        let known = (known_consistent, end.unwrap_or(ExecutionEnd::Complete));
        let Some(reported) = Reported::new(checker, graph, &extents, known)? else {
            return Ok(());
        };
        separate_rewrites(execution);
        let specification = queue.options.specification.as_deref();
        let may_hang = specification.is_some_and(|allowed| allowed.may_hang);
        let (end, mut violated) = self.found.conclude(execution, &reported, may_hang)?;
        if let (Some(allowed), ExecutionEnd::Complete, false) = (specification, end, violated) {
            if let Some(calls) = not_linearizable(checker, graph, allowed)? {
                let shown = calls.differs().or(calls.history.calls.last());
                let site = shown.map(|call| graph.event(call.returned).site);
                let fault = Fault::new(
                    FaultKind::Linearizability,
                    "no sequential order of the calls has these results",
                    site,
                );
                self.found.violate(&fault, None, Some(&calls), graph, 1);
                violated = true;
            }
        }
        if !self.branching.tallies {
            return Ok(());
        }
        (queue.each)(execution, end);
        match queue.count() || violated && queue.options.first {
            true => {
                self.branching.leave();
                Err(Halt::Over)
            }
            false => Ok(()),
        }
    }
}

/// Looks whether another thread writes between two writes of one value that are taken to follow each other.
fn separate_rewrites<S: Source>(execution: &EndedExecution<S>) {
    let (source, graph) = (execution.source(), execution.graph);
    for (thread, _) in execution.threads() {
        let rewrites = execution.thread(thread).map(|state| source.rewrites(state));
        for rewrite in rewrites.into_iter().flatten() {
            let mut events = graph.po_predecessors(graph.threads[thread].last);
            let write = events.find(|id| graph.event(*id).index == rewrite.index);
            let before = write.and_then(|write| graph.preceding(write));
            if before.is_none_or(|before| before == NONE || graph.event(before).thread != thread) {
                source.separate_rewrite(rewrite.site);
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
