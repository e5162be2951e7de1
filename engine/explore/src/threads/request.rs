//! What can be asked about the executions of a program: all of them, those with few departures, some
//! that are drawn at random, how many there are.

use crate::consistency::uses::Uses;
use crate::evidence::Guarantee;
use crate::exploration::{
    Acyclic, Estimate, Exploration, ExploreError, Extent, Limit, Options, Truncation, Violation,
};
use crate::history::Specification;
use crate::reference::{audit, explore_reference, ReferenceExploration};
use crate::safe::Doubt;
use crate::search::findings::name_misuses;
use crate::search::run::CheckedModel;
use crate::source::FaultKind;
use crate::threads::checkpoint::Checkpoint;
use crate::threads::source::ProgramSource;
use cat::Model;
use program::interpreter::Limits;
use program::ir::{Program, SiteId};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Every execution. Of a program whose loops have more iterations than the limit, and which has
    /// more executions than can be explored in time, those with fewer iterations are explored too.
    Everything,
    /// Those with at most this many departures, by increasing numbers of these, up to the first
    /// number for which there is a violation.
    Within(u32),
    /// Executions drawn at random.
    Sample { seed: u64 },
    /// How many executions there are: counted, if that takes less than a second, or estimated.
    Estimate { seed: u64 },
    /// Every execution, with nothing besides it that a limit of time calls for: a part of an
    /// exploration that several processes share.
    Share,
}

/// How long an estimate explores to learn how many executions that finds per second, and how long
/// it takes at most after that.
const COUNTS: Duration = Duration::from_secs(1);
const ESTIMATES: Duration = Duration::from_secs(4);

/// What exploring a program has found. The source gives the names in it.
pub struct ExploredProgram<'p> {
    pub source: ProgramSource<'p>,
    pub found: Exploration,
    /// What is needed to resume the exploration of everything, if a limit has ended it.
    pub checkpoint: Option<Checkpoint>,
}

/// Explores a program. `earlier`: where to resume an exploration of everything; the limit of
/// executions includes those that were explored before.
pub fn request<'p>(
    program: &'p Program,
    model: &Model,
    limits: Limits,
    options: &Options,
    request: Request,
    earlier: Option<Checkpoint>,
) -> Result<ExploredProgram<'p>, ExploreError> {
    let begun = Instant::now();
    let specification = program.specification();
    let skips_calls = specification.is_some() && !orders_calls(model, options)?;
    let specification = specification.filter(|_| !skips_calls);
    let mut answer = answer(
        program,
        model,
        limits,
        options,
        request,
        earlier,
        specification,
    )?;
    answer.found.skips_calls = skips_calls;
    if request == Request::Everything && answer.found.guarantee == Some(Guarantee::Refuted) {
        let left = options.limits.time.saturating_sub(begun.elapsed());
        explore_the_rest(program, model, limits, options, left, &mut answer.found)?;
    }
    let off = options.audit == Some(Duration::ZERO)
        || answer.found.guarantee == Some(Guarantee::Unneeded);
    if !off && request != Request::Share && answer.found.safe().is_ok() {
        let took = Duration::from_secs_f64(answer.found.seconds);
        let left = options.limits.time.saturating_sub(begun.elapsed());
        let limits = Limits {
            loops: answer.found.loop_bound,
            ..limits
        };
        answer.found.audit = Some(audit(program, model, limits, options, (took, left)));
    }
    Ok(answer)
}

/// Where a search has found no violation in all executions that it finds under a model that allows
/// others, the reference explores these too. What it finds is the answer, unless it reaches a limit.
/// It follows loops for one iteration, and for twice as many while some loop needs more.
fn explore_the_rest(
    program: &Program,
    model: &Model,
    limits: Limits,
    options: &Options,
    left: Duration,
    found: &mut Exploration,
) -> Result<(), ExploreError> {
    if found.safe().err().as_deref() != Some(&[Doubt::Model]) {
        return Ok(());
    }
    let begun = Instant::now();
    let most = found.loop_bound;
    let mut loops = most.min(1);
    let rest = loop {
        let limits = Limits { loops, ..limits };
        let mut options = options.clone();
        options.limits.time = left.saturating_sub(begun.elapsed());
        options.limits.counted = Arc::default();
        let rest = explore_reference(program, model, limits, &options);
        match &rest {
            // some loop needs more, and nothing is known without
            Ok(ReferenceExploration { found, .. })
                if loops < most
                    && found.limit.is_none()
                    && found.violations.is_empty()
                    && !found.truncations.is_empty() =>
            {
                loops = most.min(2 * loops);
            }
            _ => break rest,
        }
    };
    match rest {
        Ok(rest) => {
            *found = Exploration {
                seconds: found.seconds + begun.elapsed().as_secs_f64(),
                loop_bound: loops,
                ..rest.found
            };
        }
        Err(ExploreError::Unsupported { message, site }) => found.truncations.push(Truncation {
            message,
            site,
            limit: String::new(),
            because: String::new(),
        }),
        Err(error) => return Err(error),
    }
    Ok(())
}

/// As [`request`]; what operation calls return is compared with the `specification`.
fn answer<'p>(
    program: &'p Program,
    model: &Model,
    limits: Limits,
    options: &Options,
    request: Request,
    earlier: Option<Checkpoint>,
    specification: Option<Program>,
) -> Result<ExploredProgram<'p>, ExploreError> {
    let clock = Clock::new(options);
    let loops = earlier.as_ref().map_or(limits.loops, |e| e.loop_bound);
    let limits = Limits { loops, ..limits };
    let specified;
    let clock = match specification {
        Some(specification) => {
            let loops = options.most_loops.unwrap_or(limits.loops);
            let bounded = Limits { loops, ..limits };
            let allowed = match histories(&specification, bounded, &clock)? {
                Ok(allowed) => allowed,
                Err(limit) => {
                    let found = Exploration {
                        limit: Some(limit),
                        ..Exploration::default()
                    };
                    return Ok(ExploredProgram {
                        source: ProgramSource::new(program, limits),
                        found,
                        checkpoint: None,
                    });
                }
            };
            let mut options = clock.options(options.extent.clone(), Duration::MAX);
            options.specification = Some(Arc::new(allowed));
            specified = options;
            Clock {
                given: &specified,
                ..clock
            }
        }
        None => clock,
    };
    let mut source = ProgramSource::new(program, limits);
    let found = match request {
        Request::Everything => return doubled(source, program, model, limits, &clock, earlier),
        Request::Share => return share(source, model, &clock, earlier),
        Request::Within(most) => within(&mut source, model, &clock, most)?,
        Request::Sample { seed } => source.explore(
            model,
            &clock.options(Extent::Sample { seed }, Duration::MAX),
        )?,
        Request::Estimate { seed } => estimated(&mut source, model, &clock, seed)?,
    };
    Ok(ExploredProgram {
        source,
        found,
        checkpoint: None,
    })
}

/// Whether a model says which call happens before which. One that orders events by dependencies does
/// not: what operation calls return under it is not compared with their specification.
fn orders_calls(model: &Model, options: &Options) -> Result<bool, ExploreError> {
    let acyclic = match options.acyclic {
        Some(known) => known,
        None => CheckedModel::of(model, None, Uses::NONE)?.acyclic,
    };
    Ok(acyclic == Acyclic::ProgramOrder)
}

/// The model under which specifications are performed, one call after the other: what a call leaves
/// behind the next one finds, whatever the model of the program orders.
const SEQUENTIAL: &str = "with co from linearisations(W, 0)
let fr = (rf^-1; co) \\ id
acyclic po | rf | co | fr as sc
";

/// The histories of operation calls that a specification allows, or the limit that has ended its
/// exploration.
fn histories(
    program: &Program,
    limits: Limits,
    clock: &Clock,
) -> Result<Result<Specification, Limit>, ExploreError> {
    let unusable =
        |message: String, site: Option<SiteId>| Err(ExploreError::Unsupported { message, site });
    let mut options = clock.options(Extent::All, Duration::MAX);
    options.estimates_after = None;
    options.acyclic = Some(Acyclic::ProgramOrder);
    // its executions are not those that are asked for
    options.limits.counted = Arc::default();
    let model = Model::parse(SEQUENTIAL, "sequential.cat", &|_| None)?;
    let (found, allowed) = ProgramSource::new(program, limits).histories(&model, &options)?;
    let hangs = |violation: &Violation| violation.fault.kind == FaultKind::Hang;
    if let Some(violation) = found.violations.iter().find(|each| !hangs(each)) {
        let message = format!("the specification is wrong: {}", violation.fault.message);
        return unusable(message, violation.fault.site);
    }
    if let Some(truncation) = found.truncations.first() {
        let message = format!("the specification has no end: {}", truncation.message);
        return unusable(message, truncation.site);
    }
    if let Some(limit) = found.limit {
        return Ok(Err(limit));
    }
    match allowed {
        Some(mut allowed) if !allowed.is_empty() || found.violations.iter().any(hangs) => {
            allowed.may_hang = found.violations.iter().any(hangs);
            Ok(Ok(allowed))
        }
        Some(_) => {
            let message = "the specification has no execution in which all calls return";
            unusable(message.to_owned(), None)
        }
        None => {
            let message = "the calls of the specification are not in a total order: perform each \
                           under one lock";
            unusable(message.to_owned(), None)
        }
    }
}

/// The options, and how much of their time is left.
struct Clock<'o> {
    given: &'o Options,
    begun: Instant,
}

impl Clock<'_> {
    fn new(given: &Options) -> Clock<'_> {
        Clock {
            given,
            begun: Instant::now(),
        }
    }

    fn left(&self) -> Duration {
        self.given.limits.time.saturating_sub(self.begun.elapsed())
    }

    /// The options for a part of the work, which takes at most so long.
    fn options(&self, extent: Extent, most: Duration) -> Options {
        let mut options = self.given.clone();
        options.extent = extent;
        options.limits.time = self.left().min(most);
        let after = options.estimates_after;
        options.estimates_after = after.map(|after| after.saturating_sub(self.begun.elapsed()));
        options
    }

    /// Whether the limit of a part of the work is one of all of it.
    fn is_over(&self, limit: Option<Limit>) -> bool {
        match limit {
            None => false,
            Some(Limit::Seconds) => self.left().is_zero(),
            Some(_) => true,
        }
    }
}

/// How long everything within a higher bound is explored before it is known about how many
/// executions there are.
const TRIES: Duration = Duration::from_secs(3);

/// Everything, within ever higher bounds on the iterations of loops: the bound is doubled as long as
/// it is the only limit that was reached, and the estimated number of executions fits the time that
/// is left. A violation within one bound is an answer.
fn doubled<'p>(
    source: ProgramSource<'p>,
    program: &'p Program,
    model: &Model,
    limits: Limits,
    clock: &Clock,
    earlier: Option<Checkpoint>,
) -> Result<ExploredProgram<'p>, ExploreError> {
    let mut answer = everything(source, program, model, limits, clock, earlier)?;
    let most = clock.given.limits.executions;
    let mut explored = 0;
    while answer.found.reached_only_loops() && !clock.left().is_zero() {
        let complete = answer.found.loop_bound;
        let loops = complete.saturating_mul(2);
        explored += answer.found.counts.all();
        if clock.given.most_loops.is_none_or(|most| loops > most) || explored >= most {
            break;
        }
        let limits = Limits { loops, ..limits };
        let mut options = clock.options(Extent::All, TRIES.min(clock.left() / QUARTER));
        options.estimates_after = Some(options.limits.time / QUARTER);
        options.limits.executions = most.saturating_sub(explored);
        options.limits.counted.store(0, Relaxed);
        *options.limits.estimate() = None;
        let mut source = ProgramSource::new(program, limits);
        let found = source.explore_part(model, &options)?;
        if found.limit == Some(Limit::Seconds) && !clock.is_over(found.limit) {
            answer.found.doubled = found.too_many_for(*options.limits.estimate(), clock.left());
            if answer.found.doubled.is_some() {
                break;
            }
            let most = options.limits.executions;
            options = clock.options(Extent::All, Duration::MAX);
            options.limits.executions = most;
            let tried = Checkpoint::new(source.learned(), &found, Some(complete));
            let source = ProgramSource::new(program, limits);
            let clock = Clock::new(&options);
            answer = everything(source, program, model, limits, &clock, Some(tried))?;
            answer.found.earlier = 0;
        } else {
            answer = concluded(source, program, clock, found, Some(complete));
        }
    }
    Ok(answer)
}

/// How much of the time the executions with fewer iterations get, if there is not enough for all.
const HALF: u32 = 2;
const QUARTER: u32 = 4;

fn everything<'p>(
    mut source: ProgramSource<'p>,
    program: &'p Program,
    model: &Model,
    limits: Limits,
    clock: &Clock,
    earlier: Option<Checkpoint>,
) -> Result<ExploredProgram<'p>, ExploreError> {
    let whole = clock.given.limits.time;
    let deepens = limits.loops > 1 && whole != Duration::MAX;
    let first = match deepens {
        true => whole / HALF,
        false => whole,
    };
    let mut complete = None;
    let mut found = Exploration::default();
    let mut extent = Extent::All;
    if let Some(mut earlier) = earlier {
        let learned = std::mem::take(&mut earlier.learned);
        source.reduce(clock.given.reductions);
        if source.resume(learned) {
            complete = earlier.loops();
            found = earlier.exploration();
            extent = Extent::Open(std::mem::take(&mut found.open));
        }
    }
    let before = found.counts.all();
    let counted = &clock.given.limits.counted;
    counted.store(before, Relaxed);
    let most = clock.given.limits.executions;
    match extent {
        Extent::Open(open) if before >= most => {
            found.open = open;
            found.limit = Some(Limit::Executions);
        }
        _ => explore_more(
            &mut source,
            model,
            &clock.options(extent, first),
            &mut found,
        )?,
    }
    let loops = found.truncations.iter().any(|each| each.limit == "loops");
    let goes_on = deepens && found.limit.is_some() && !clock.is_over(found.limit);
    if goes_on && loops && found.violations.is_empty() {
        let end = clock.begun.elapsed() + whole / QUARTER;
        for loops in complete.unwrap_or(0) + 1..limits.loops {
            let limits = Limits { loops, ..limits };
            let mut fewer = ProgramSource::new(program, limits);
            let before = counted.load(Relaxed);
            let time = end.saturating_sub(clock.begun.elapsed());
            let part = fewer.explore(model, &clock.options(Extent::All, time))?;
            if !part.violations.is_empty() {
                let checkpoint = Checkpoint::new(source.learned(), &found, complete);
                return Ok(ExploredProgram {
                    source: fewer,
                    found: part,
                    checkpoint: Some(checkpoint),
                });
            }
            counted.store(before, Relaxed);
            let only_loops = part.truncations.iter().all(|each| each.limit == "loops");
            if part.limit.is_some() || !only_loops {
                break;
            }
            complete = Some(loops);
        }
    }
    if goes_on {
        let extent = Extent::Open(std::mem::take(&mut found.open));
        let options = clock.options(extent, Duration::MAX);
        explore_more(&mut source, model, &options, &mut found)?;
    }
    Ok(concluded(source, program, clock, found, complete))
}

/// What was found within a bound on the iterations of loops, of which everything is known within
/// the bound `complete`.
fn concluded<'p>(
    source: ProgramSource<'p>,
    program: &Program,
    clock: &Clock,
    mut found: Exploration,
    complete: Option<u32>,
) -> ExploredProgram<'p> {
    let checkpoint = found
        .limit
        .map(|_| Checkpoint::new(source.learned(), &found, complete));
    name_misuses(program, &mut found.violations);
    found.loops = complete.filter(|_| found.limit.is_some());
    found.estimate_from(clock);
    ExploredProgram {
        source,
        found,
        checkpoint,
    }
}

/// Explores what is left open. What is not [`resumed`](Exploration::resumed) has started again: what is
/// left open elsewhere belongs to another tree.
fn share<'p>(
    mut source: ProgramSource<'p>,
    model: &Model,
    clock: &Clock,
    earlier: Option<Checkpoint>,
) -> Result<ExploredProgram<'p>, ExploreError> {
    let mut found = Exploration::default();
    let mut extent = Extent::All;
    let mut loops = None;
    if let Some(mut earlier) = earlier {
        source.reduce(clock.given.reductions);
        if !source.resume(std::mem::take(&mut earlier.learned)) {
            return Err(ExploreError::OtherTree);
        }
        loops = earlier.loops();
        found = earlier.exploration();
        extent = Extent::Open(std::mem::take(&mut found.open));
    }
    let options = clock.options(extent, Duration::MAX);
    explore_more(&mut source, model, &options, &mut found)?;
    let checkpoint = Some(Checkpoint::new(source.learned(), &found, loops));
    Ok(ExploredProgram {
        source,
        found,
        checkpoint,
    })
}

/// Adds what more is explored to what was found, unless everything had to be explored again.
fn explore_more(
    source: &mut ProgramSource,
    model: &Model,
    options: &Options,
    found: &mut Exploration,
) -> Result<(), ExploreError> {
    let earlier = std::mem::replace(found, source.explore_part(model, options)?);
    if found.resumed {
        found.add_earlier(earlier);
    }
    Ok(())
}

impl Exploration {
    /// Whether everything was explored but what has more iterations of loops, and nothing is wrong.
    fn reached_only_loops(&self) -> bool {
        let limits = &self.truncations;
        self.limit.is_none()
            && self.violations.is_empty()
            && !limits.is_empty()
            && limits.iter().all(|each| each.limit == "loops")
    }

    /// The estimate, with the executions per second so far, if exploring them all takes longer than
    /// what is `left` of the time.
    fn too_many_for(&self, of: Option<Estimate>, left: Duration) -> Option<(Estimate, f64)> {
        let explored = self.counts.all();
        let rate = explored as f64 / self.seconds;
        let estimate = of.filter(|_| self.violations.is_empty() && rate > 0.0)?;
        let takes = estimate.seconds_left(explored, rate);
        (takes > left.as_secs_f64()).then_some((estimate, rate))
    }

    /// Adds the estimate that was made meanwhile, if this is not all.
    fn estimate_from(&mut self, clock: &Clock) {
        if self.limit.is_some() {
            self.estimate = *clock.given.limits.estimate();
            let now = self.counts.all() - self.earlier;
            self.rate = Some(now as f64 / clock.begun.elapsed().as_secs_f64());
        }
    }
}

fn within(
    source: &mut ProgramSource,
    model: &Model,
    clock: &Clock,
    most: u32,
) -> Result<Exploration, ExploreError> {
    let mut complete: Option<Exploration> = None;
    for bound in 0..=most {
        let options = clock.options(Extent::Departures(bound), Duration::MAX);
        options.limits.counted.store(0, Relaxed);
        let mut found = source.explore(model, &options)?;
        if found.limit.is_some() {
            return Ok(match complete {
                Some(mut complete) if found.violations.is_empty() => {
                    complete.limit = found.limit;
                    complete
                }
                complete => {
                    found.departures = complete.and_then(|complete| complete.departures);
                    found
                }
            });
        }
        found.departures = found.beyond.then_some(bound);
        if !found.beyond || !found.violations.is_empty() || bound == most {
            return Ok(found);
        }
        complete = Some(found);
    }
    unreachable!("0 is at most the bound")
}

fn estimated(
    source: &mut ProgramSource,
    model: &Model,
    clock: &Clock,
    seed: u64,
) -> Result<Exploration, ExploreError> {
    let mut options = clock.options(Extent::All, COUNTS.min(clock.left() / QUARTER));
    options.limits.executions = u64::MAX;
    let found = source.explore(model, &options)?;
    if found.limit != Some(Limit::Seconds) {
        return Ok(found);
    }
    let executions = found.counts.all() as f64;
    let rate = executions / found.seconds;
    options = clock.options(Extent::Estimate { seed }, ESTIMATES);
    options.limits.executions = u64::MAX;
    let mut estimate = source.explore(model, &options)?;
    estimate.rate = (rate > 0.0).then_some(rate);
    estimate.limit = None;
    estimate.estimate.get_or_insert(Estimate {
        executions,
        error: f64::INFINITY,
        draws: 0,
    });
    // what was found on the way is no answer, but true
    estimate.add_earlier(found);
    Ok(estimate)
}
