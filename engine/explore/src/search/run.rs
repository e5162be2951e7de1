//! Runs the workers of a search and merges their results, which do not depend on which worker
//! explored which branch.

use super::findings::Findings;
use super::postponed::{PartialExecution, PostponingWorker};
use super::queue::{BranchQueue, Halt, SearchWorker};
use super::worker::Worker;
use crate::consistency::checker::ConsistencyChecker;
use crate::consistency::guarantee::allowed_cycle;
use crate::exploration::{Acyclic, ExecutionEnd, Exploration, ExploreError, Options, Violation};
use crate::search::execution::{EndedExecution, Execution};
use crate::source::{FaultKind, Source};
use cat::{CatError, Model};
use program::ir::SiteId;

/// The recursion is as deep as an execution has events, times the number of nested revisits; only
/// the used part of a stack takes memory.
const STACK: usize = 1 << 28;

/// What the axioms of a model imply, if it is not given: what their analysis shows of po and rf, or,
/// if the model orders by dependencies, that it allows no cycle of them.
pub fn guarantee(model: &Model, acyclic: Option<Acyclic>) -> Result<Acyclic, ExploreError> {
    if let Some(known) = acyclic {
        return Ok(known);
    }
    let Err(error) = ConsistencyChecker::new(model, None) else {
        return Ok(Acyclic::ProgramOrder);
    };
    let taken = model.takes(&|_| false)?;
    if !["addr", "data", "ctrl"]
        .iter()
        .any(|name| taken.iter().any(|taken| taken == name))
    {
        return Err(error);
    }
    checker(model, Some(Acyclic::Dependencies)).map(|_| Acyclic::Dependencies)
}

/// Fails if the model allows executions that the search for its kind of model does not find.
fn checker(model: &Model, acyclic: Option<Acyclic>) -> Result<ConsistencyChecker, ExploreError> {
    let mut checker = ConsistencyChecker::new(model, acyclic)?;
    if acyclic == Some(Acyclic::Dependencies) {
        if let Some(cycle) = allowed_cycle(&mut checker)? {
            return Err(ExploreError::Unsuitable(format!(
                "{} allows the cycle {cycle}, and so values out of thin air: it is for tests",
                model.name
            )));
        }
    }
    Ok(checker)
}

/// Why programs cannot be explored under a model; none if they can.
pub fn unsuitable(model: &Model, acyclic: Option<Acyclic>) -> Result<Option<String>, CatError> {
    match guarantee(model, acyclic).and_then(|known| checker(model, Some(known))) {
        Err(ExploreError::Model(error)) => Err(error),
        Err(error) => Ok(Some(error.to_string())),
        Ok(_) => Ok(None),
    }
}

/// Explores all executions of a program under a model.
pub fn explore<S: Source>(
    source: &S,
    model: &Model,
    options: &Options,
) -> Result<Exploration, ExploreError> {
    explore_each(source, model, options, |_, _| {})
}

/// As [`explore`]; calls `each` with every execution and how it ends.
pub fn explore_each<S: Source>(
    source: &S,
    model: &Model,
    options: &Options,
    each: impl Fn(&EndedExecution<S::Thread>, ExecutionEnd) + Sync,
) -> Result<Exploration, ExploreError> {
    let known = guarantee(model, options.acyclic)?;
    let checker = checker(model, Some(known))?;
    if known == Acyclic::ProgramOrder {
        let first = (Execution::new(), false);
        let queue = BranchQueue::new(source, checker, options, each, first);
        let found = run::<_, _, Worker<_, _>>(&queue);
        return exploration(queue, found);
    }
    if !source.tracks_dependencies() {
        let message = format!("{} orders events by dependencies: track them", model.name);
        return Err(ExploreError::Unsuitable(message));
    }
    let first = PartialExecution::new();
    let queue = BranchQueue::new(source, checker, options, each, first);
    let found = run::<_, _, PostponingWorker<_, _>>(&queue);
    exploration(queue, found)
}

/// Ends the search when its worker panics, so that the others do not wait for it.
struct EndsOnPanic<'q, 's, S: Source, F, B>(&'q BranchQueue<'s, S, F, B>)
where
    F: Fn(&EndedExecution<S::Thread>, ExecutionEnd) + Sync;

impl<S: Source, F, B> Drop for EndsOnPanic<'_, '_, S, F, B>
where
    F: Fn(&EndedExecution<S::Thread>, ExecutionEnd) + Sync,
{
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.end(Halt::Over);
        }
    }
}

/// Explores branches until none is left.
fn work<'q, S: Source, F, W: SearchWorker<'q, S, F>>(
    queue: &'q BranchQueue<'q, S, F, W::Branch>,
) -> (Findings, u64)
where
    F: Fn(&EndedExecution<S::Thread>, ExecutionEnd) + Sync,
{
    let _ends = EndsOnPanic(queue);
    let mut worker = W::new(queue);
    while let Some(branch) = queue.pop() {
        if let Err(halt) = worker.explore(branch) {
            queue.end(halt);
        }
    }
    worker.into_findings()
}

/// What all workers together find.
fn run<'q, S: Source, F, W: SearchWorker<'q, S, F>>(
    queue: &'q BranchQueue<'q, S, F, W::Branch>,
) -> (Findings, u64)
where
    F: Fn(&EndedExecution<S::Thread>, ExecutionEnd) + Sync,
{
    let mut found = Findings::default();
    let mut checks = 0;
    std::thread::scope(|scope| {
        let spawn = |_| {
            let builder = std::thread::Builder::new().stack_size(STACK);
            builder.spawn_scoped(scope, || work::<S, F, W>(queue))
        };
        let workers: Vec<_> = (0..queue.workers).map(spawn).collect();
        for worker in workers {
            let worker =
                worker.unwrap_or_else(|error| panic!("cannot start a worker thread: {error}"));
            match worker.join() {
                Ok((other, count)) => {
                    found.merge(other);
                    checks += count;
                }
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    (found, checks)
}

fn exploration<S: Source, F, B>(
    queue: BranchQueue<S, F, B>,
    (mut found, checks): (Findings, u64),
) -> Result<Exploration, ExploreError>
where
    F: Fn(&EndedExecution<S::Thread>, ExecutionEnd) + Sync,
{
    let seconds = queue.start.elapsed().as_secs_f64();
    let limit = queue.into_limit()?;
    found.remove_repeated();
    let (warnings, violations) = found
        .violations
        .into_iter()
        .partition(|seen| seen.fault.kind == FaultKind::Unjoined);
    let ordered = |mut found: Vec<Violation>| {
        found.sort_by(|a, b| order(a).cmp(&order(b)));
        found
    };
    Ok(Exploration {
        counts: found.counts,
        violations: ordered(violations),
        warnings: ordered(warnings),
        truncations: found.truncations,
        limit,
        checks,
        threads: 0,
        seconds,
    })
}

/// The order in which violations are listed.
fn order(seen: &Violation) -> (FaultKind, Option<SiteId>, &str) {
    (seen.fault.kind, seen.fault.site, &seen.fault.message)
}
