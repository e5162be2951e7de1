//! Runs the workers of a search and merges their results, which do not depend on which worker
//! explored which branch.

use super::descents::Leaves;
use super::findings::Findings;
use super::halt::Halt;
use super::postponed::Postpones;
use super::queue::BranchQueue;
use super::revisits::Revisits;
use super::sampling::SharedLeaves;
use super::symmetric_threads::are_symmetric;
use super::worker::{Algorithm, Worker};
use crate::consistency::checker::ConsistencyChecker;
use crate::consistency::guarantee::{
    allowed_cycle, branches_on_compare, orders_by_barriers, releases_last, updates_continue,
};
use crate::consistency::ordering_accesses::OrderingAccesses;
use crate::consistency::uses::Uses;
use crate::evidence::{Exhausted, Guarantee};
use crate::exploration::{
    Acyclic, ExecutionEnd, Exploration, ExploreError, Extent, Frontier, OpenBranch, Options,
    Search, Violation,
};
use crate::reductions::Reduction;
use crate::search::execution::EndedExecution;
use crate::semantics::environment::KernelVersion;
use crate::source::{FaultKind, Source};
use cat::{CatError, Model};
use program::ir::{Annotation, SiteId};
use std::sync::{Arc, OnceLock, PoisonError};

/// The recursion is as deep as an execution has events, times the number of nested revisits; only
/// the used part of a stack takes memory.
const STACK: usize = 1 << 28;

/// A model that was asked whether programs can be explored under it. What else explorations ask of
/// it is asked once.
pub struct CheckedModel {
    stated: Option<Acyclic>,
    uses: Uses,
    pub acyclic: Acyclic,
    pub guarantee: Guarantee,
    /// Whether the model orders what follows a compare-exchange as after a branch on what it
    /// compares.
    pub branches: bool,
    pub kernel_version: KernelVersion,
    /// Explorations have copies.
    pub checker: ConsistencyChecker,
    in_parts: OnceLock<ConsistencyChecker>,
    updates_continue: OnceLock<bool>,
    orders_by_barriers: OnceLock<bool>,
    ordering_accesses: OnceLock<OrderingAccesses>,
}

/// What was answered before; else what `ask` answers.
fn once<T: Clone, E>(answer: &OnceLock<T>, ask: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    match answer.get() {
        Some(known) => Ok(known.clone()),
        None => {
            let asked = ask()?;
            Ok(answer.get_or_init(|| asked).clone())
        }
    }
}

impl CheckedModel {
    /// `acyclic`: what the axioms of the model imply. If it is not given: what their analysis shows of
    /// po and rf, or, if the model orders by dependencies, of these, which is asked of the model in
    /// any case. `uses`: what programs may contain. Fails if the model allows
    /// executions that the search for its kind does not find.
    pub fn of(
        model: &Model,
        acyclic: Option<Acyclic>,
        uses: Uses,
    ) -> Result<Arc<CheckedModel>, ExploreError> {
        model.derived(
            |known: &CheckedModel| known.stated == acyclic && known.uses == uses,
            || CheckedModel::new(model, acyclic, uses),
        )
    }

    fn new(
        model: &Model,
        stated: Option<Acyclic>,
        uses: Uses,
    ) -> Result<CheckedModel, ExploreError> {
        let acyclic = match stated {
            Some(known) => known,
            None => match ConsistencyChecker::new(model, None, uses) {
                Ok(_) => Acyclic::ProgramOrder,
                Err(error) => {
                    let taken = model.takes(&|_| false)?;
                    let dependency = |name: &&str| taken.iter().any(|taken| taken == name);
                    if !["addr", "data", "ctrl"].iter().any(dependency) {
                        return Err(error);
                    }
                    Acyclic::Dependencies
                }
            },
        };
        let mut checker = ConsistencyChecker::new(model, Some(acyclic), uses)?;
        let mut branches = true;
        if checker.is_kernel() {
            branches = false;
        } else if acyclic == Acyclic::Dependencies {
            if let Some(cycle) = allowed_cycle(&mut checker)? {
                return Err(ExploreError::Unsuitable(format!(
                    "{} allows the cycle {cycle}, and so values out of thin air: it is for tests",
                    model.name
                )));
            }
            let releases_last = releases_last(&mut checker)?;
            checker.set_releases_last(releases_last);
            branches = branches_on_compare(&mut checker)?;
        }
        let declares = |tag: Annotation| model.tags().iter().any(|known| known == tag.name());
        let proved = acyclic == Acyclic::ProgramOrder && checker.shows_porf_acyclic;
        Ok(CheckedModel {
            stated,
            uses,
            acyclic,
            guarantee: match (proved, stated.is_some()) {
                _ if checker.is_kernel() => Guarantee::Refuted,
                (true, _) => Guarantee::Proved,
                (false, true) => Guarantee::Stated,
                (false, false) => Guarantee::Asked,
            },
            branches,
            kernel_version: KernelVersion {
                srcu_by_accesses: model.srcu_by_accesses,
                after_srcu_unlock: declares(Annotation::AfterSrcuUnlock),
            },
            checker,
            in_parts: OnceLock::new(),
            updates_continue: OnceLock::new(),
            orders_by_barriers: OnceLock::new(),
            ordering_accesses: OnceLock::new(),
        })
    }

    /// The checker for graphs whose accesses may have parts; of this `model`.
    pub fn checker_in_parts(&self, model: &Model) -> Result<ConsistencyChecker, ExploreError> {
        once(&self.in_parts, || {
            self.checker.in_parts(model, self.acyclic, self.uses)
        })
    }

    /// Whether programs are explored in which atomic accesses of several sizes overlap. The kernel's
    /// model has a flag for them.
    pub fn takes_mixed_sizes(&self, options: &Options) -> bool {
        !options.one_size && !self.checker.is_kernel()
    }

    /// Whether a read that another one makes superfluous may be left out.
    pub fn allows_fewer_reads(&self) -> bool {
        self.acyclic == Acyclic::ProgramOrder && self.checker.allows_fewer_reads
    }

    /// See [`ConsistencyChecker::defines_asymmetric_fences`].
    pub fn defines_asymmetric_fences(&self) -> bool {
        self.acyclic == Acyclic::ProgramOrder && self.checker.defines_asymmetric_fences()
    }

    /// See [`updates_continue`].
    pub fn updates_continue(&self) -> Result<bool, CatError> {
        once(&self.updates_continue, || {
            updates_continue(&mut self.checker.clone())
        })
    }

    /// The accesses that order others even where only one thread uses what they access.
    pub fn ordering_accesses(&self) -> Result<OrderingAccesses, CatError> {
        if self.checker.is_kernel() {
            return Ok(OrderingAccesses::ALL);
        }
        let dependencies = self.acyclic == Acyclic::Dependencies;
        once(&self.ordering_accesses, || {
            OrderingAccesses::new(&mut self.checker.clone(), dependencies)
        })
    }

    /// Whether barriers order what threads do before them and after them.
    pub fn orders_by_barriers(&self) -> Result<bool, CatError> {
        once(&self.orders_by_barriers, || {
            orders_by_barriers(&mut self.checker.clone())
        })
    }
}

/// Why programs cannot be explored under a model; none if they can.
pub fn unsuitable(model: &Model, acyclic: Option<Acyclic>) -> Result<Option<String>, CatError> {
    match CheckedModel::of(model, acyclic, Uses::ALL) {
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
    each: impl Fn(&EndedExecution<S>, ExecutionEnd) + Sync,
) -> Result<Exploration, ExploreError> {
    let checked = CheckedModel::of(model, options.acyclic, Uses::ALL)?;
    explore_under(source, (model, &checked), options, each)
}

/// As [`explore_each`], under a model that was checked.
pub fn explore_under<S: Source>(
    source: &S,
    (text, model): (&Model, &CheckedModel),
    options: &Options,
    each: impl Fn(&EndedExecution<S>, ExecutionEnd) + Sync,
) -> Result<Exploration, ExploreError> {
    let CheckedModel { acyclic, .. } = model;
    let checker = match source.has_parts() {
        true => model.checker_in_parts(text)?,
        false => model.checker.clone(),
    };
    if *acyclic == Acyclic::Dependencies && !source.tracks_dependencies() {
        let message = "the model orders events by dependencies: track them";
        return Err(ExploreError::Unsuitable(message.to_owned()));
    }
    let search = search(source, model, options);
    let queue = BranchQueue::new(source, checker, options, &each);
    let found = match search {
        Search::Revisits => run::<_, Revisits>(&queue),
        Search::Postpones => run::<_, Postpones>(&queue),
    };
    let mut found = exploration(queue, search, found)?;
    found.guarantee = Some(model.guarantee);
    Ok(found)
}

/// How a program is searched for executions.
fn search<S: Source>(source: &S, model: &CheckedModel, options: &Options) -> Search {
    let given = match &options.extent {
        Extent::Open(frontier) => frontier.search.or(options.search),
        _ => options.search,
    };
    match given {
        _ if model.acyclic == Acyclic::Dependencies || source.has_parts() => Search::Postpones,
        Some(search) => search,
        None if options.reductions.has(Reduction::Symmetry)
            && are_symmetric(source, options.limits.events) >= SYMMETRIC_THREADS =>
        {
            Search::Postpones
        }
        None => Search::Revisits,
    }
}

/// How many threads have to behave alike for the search that makes use of it. Without such threads it
/// explores as many executions as the other in 7 to 9 times the time (geometric means under rc20,
/// rc11, tso and sc over the programs of scripts/bench/explore; 1 to 24 times for one program); two
/// threads that behave alike save half of the executions at most.
const SYMMETRIC_THREADS: usize = 3;

/// Ends the search when its worker panics, so that the others do not wait for it.
struct EndsOnPanic<'q, 's, S: Source>(&'q BranchQueue<'s, S>);

impl<S: Source> Drop for EndsOnPanic<'_, '_, S> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.end(Halt::Over);
        }
    }
}

/// What workers find.
#[derive(Default)]
struct Found {
    findings: Findings,
    checks: u64,
    beyond: bool,
    open: Vec<OpenBranch>,
    leaves: Leaves,
}

impl Found {
    fn merge(&mut self, other: Found) {
        self.findings.merge(other.findings);
        self.checks += other.checks;
        self.beyond |= other.beyond;
        self.open.extend(other.open);
    }
}

impl<'q, S: Source, A: Algorithm> Worker<'q, S, A> {
    /// Explores branches until none is left.
    fn work(&mut self) -> Vec<OpenBranch> {
        let mut open = Vec::new();
        while let Some(branch) = self.queue.pop() {
            match self.resume(branch) {
                Ok(()) => self.branching.leave(),
                Err(Halt::Draws) => {
                    if let Some(branch) = self.branching.open() {
                        self.queue.push(branch);
                    }
                    if let Err(halt) = self.draw_meanwhile() {
                        self.queue.end(halt);
                    }
                }
                Err(halt) => {
                    open.extend(self.branching.open());
                    self.queue.end(halt);
                }
            }
        }
        open
    }

    /// Explores what was left open of a node.
    fn resume(&mut self, at: OpenBranch) -> Result<(), Halt> {
        let mut node = A::root();
        if !at.path.is_empty() {
            self.branching.seek(at.path.clone());
            let ended = A::explore(self, node);
            let Some(found) = self.branching.found() else {
                self.branching.enter(at);
                return ended.and(Err(Halt::Error(ExploreError::OtherTree)));
            };
            node = found;
        }
        self.branching.enter(at);
        A::explore(self, node)
    }

    /// Does what is asked for, until nothing is left or a limit is reached.
    fn run(queue: &'q BranchQueue<'q, S>, leaves: &SharedLeaves) -> Found {
        let _ends = EndsOnPanic(queue);
        let mut worker = Self::new(queue);
        let mut open = Vec::new();
        let ended = match queue.options.extent {
            Extent::Sample { seed } => worker.sample(leaves, seed),
            Extent::Estimate { seed } => worker.estimate(leaves, seed),
            _ => {
                open = worker.work();
                Ok(())
            }
        };
        if let Err(halt) = ended {
            queue.end(halt);
        }
        Found {
            beyond: worker.branching.left_out,
            checks: worker.checker.checks,
            findings: match queue.options.extent {
                Extent::Estimate { .. } => Findings::default(),
                _ => worker.found,
            },
            open,
            leaves: Leaves::default(),
        }
    }
}

/// What all workers together find.
fn run<S: Source, A: Algorithm>(queue: &BranchQueue<S>) -> Found {
    let leaves = SharedLeaves::default();
    let mut found = Found::default();
    std::thread::scope(|scope| {
        let builder = || std::thread::Builder::new().stack_size(STACK);
        let work = || Worker::<S, A>::run(queue, &leaves);
        let workers: Vec<_> = (0..queue.workers)
            .map(|_| builder().spawn_scoped(scope, work))
            .collect();
        for worker in workers {
            let worker =
                worker.unwrap_or_else(|error| panic!("cannot start a worker thread: {error}"));
            match worker.join() {
                Ok(other) => found.merge(other),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    found.leaves = leaves.into_inner().unwrap_or_else(PoisonError::into_inner);
    found
}

fn exploration<S: Source>(
    queue: BranchQueue<S>,
    search: Search,
    found: Found,
) -> Result<Exploration, ExploreError> {
    let seconds = queue.start.elapsed().as_secs_f64();
    let exchanges = queue.exchanges.known();
    let options = queue.options;
    let (limit, mut branches) = queue.into_limit()?;
    branches.extend(found.open);
    let open = Frontier {
        search: Some(search),
        branches,
        exchanges,
    };
    let drawn = matches!(
        options.extent,
        Extent::Sample { .. } | Extent::Estimate { .. }
    );
    let of_twins = [Reduction::Symmetry, Reduction::Elements];
    let mut exploration = Exploration {
        limit,
        checks: found.checks,
        beyond: found.beyond,
        exhausted: Exhausted::new(
            limit.is_some(),
            !open.branches.is_empty(),
            drawn || found.beyond,
        ),
        reductions: match search {
            Search::Postpones => options.reductions,
            Search::Revisits => options.reductions.without(of_twins),
        },
        open,
        estimate: found.leaves.estimates.estimate(),
        sample: found.leaves.sample(),
        seconds,
        ..Exploration::default()
    };
    exploration.set_findings(found.findings);
    Ok(exploration)
}

impl Exploration {
    fn set_findings(&mut self, mut findings: Findings) {
        findings.remove_repeated();
        let (warnings, violations) = findings
            .violations
            .into_iter()
            .partition(|seen| seen.fault.kind == FaultKind::Unjoined);
        let ordered = |mut found: Vec<Violation>| {
            found.sort_by(|a, b| order(a).cmp(&order(b)));
            found
        };
        self.counts = findings.counts;
        self.violations = ordered(violations);
        self.warnings = ordered(warnings);
        self.truncations = findings.truncations;
    }

    /// Adds the part of the search that was explored before.
    pub fn add_earlier(&mut self, earlier: Exploration) {
        let findings = |found: &mut Exploration| {
            let mut violations = std::mem::take(&mut found.violations);
            violations.append(&mut found.warnings);
            Findings {
                counts: found.counts,
                violations,
                truncations: std::mem::take(&mut found.truncations),
            }
        };
        let mut earlier = earlier;
        let mut both = findings(&mut earlier);
        both.merge(findings(self));
        self.set_findings(both);
        self.checks += earlier.checks;
        self.seconds += earlier.seconds;
        self.earlier = earlier.earlier;
        self.beyond |= earlier.beyond;
    }
}

/// The order in which violations are listed.
fn order(seen: &Violation) -> (FaultKind, Option<SiteId>, &str) {
    (seen.fault.kind, seen.fault.site, &seen.fault.message)
}
