//! What can be asked about the executions of a program: all of them, those with few departures, some
//! that are drawn at random, how many there are.

use crate::exploration::{Estimate, Exploration, ExploreError, Extent, Limit, Options};
use crate::threads::source::ProgramSource;
use cat::Model;
use program::interpreter::Limits;
use program::ir::Program;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::PoisonError;
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
}

/// How long an estimate explores to learn how many executions that finds per second, and how long
/// it takes at most after that.
const COUNTS: Duration = Duration::from_secs(1);
const ESTIMATES: Duration = Duration::from_secs(4);

/// Explores a program. The source gives the names in what was found.
pub fn request<'p>(
    program: &'p Program,
    model: &Model,
    limits: Limits,
    options: &Options,
    request: Request,
) -> Result<(ProgramSource<'p>, Exploration), ExploreError> {
    let clock = Clock::new(options);
    let mut source = ProgramSource::new(program, limits);
    let found = match request {
        Request::Everything => return everything(source, program, model, limits, &clock),
        Request::Within(most) => within(&mut source, model, &clock, most)?,
        Request::Sample { seed } => source.explore(
            model,
            &clock.options(Extent::Sample { seed }, Duration::MAX),
        )?,
        Request::Estimate { seed } => estimated(&mut source, model, &clock, seed)?,
    };
    Ok((source, found))
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

/// How much of the time the executions with fewer iterations get, if there is not enough for all.
const HALF: u32 = 2;
const QUARTER: u32 = 4;

fn everything<'p>(
    mut source: ProgramSource<'p>,
    program: &'p Program,
    model: &Model,
    limits: Limits,
    clock: &Clock,
) -> Result<(ProgramSource<'p>, Exploration), ExploreError> {
    let whole = clock.given.limits.time;
    let deepens = limits.loops > 1 && whole != Duration::MAX;
    let first = match deepens {
        true => whole / HALF,
        false => whole,
    };
    let mut found = source.explore(model, &clock.options(Extent::All, first))?;
    if !deepens || found.limit.is_none() || clock.is_over(found.limit) {
        found.estimate_from(clock);
        return Ok((source, found));
    }
    let loops = found.truncations.iter().any(|each| each.limit == "loops");
    let mut complete = None;
    if loops && found.violations.is_empty() {
        let end = clock.begun.elapsed() + whole / QUARTER;
        for loops in 1..limits.loops {
            let limits = Limits { loops, ..limits };
            let mut fewer = ProgramSource::new(program, limits);
            let counted = &clock.given.limits.counted;
            let before = counted.load(Relaxed);
            let time = end.saturating_sub(clock.begun.elapsed());
            let part = fewer.explore(model, &clock.options(Extent::All, time))?;
            if !part.violations.is_empty() {
                return Ok((fewer, part));
            }
            counted.store(before, Relaxed);
            let only_loops = part.truncations.iter().all(|each| each.limit == "loops");
            if part.limit.is_some() || !only_loops {
                break;
            }
            complete = Some(loops);
        }
    }
    let open = std::mem::take(&mut found.open);
    let mut rest = source.explore(model, &clock.options(Extent::Open(open), Duration::MAX))?;
    if rest.resumed {
        rest.add_earlier(found);
    }
    rest.loops = complete.filter(|_| rest.limit.is_some());
    rest.estimate_from(clock);
    Ok((source, rest))
}

impl Exploration {
    /// Adds the estimate that was made meanwhile, if this is not all.
    fn estimate_from(&mut self, clock: &Clock) {
        if self.limit.is_some() {
            let estimated = &clock.given.limits.estimated;
            self.estimate = *estimated.lock().unwrap_or_else(PoisonError::into_inner);
            self.rate = Some(self.counts.all() as f64 / clock.begun.elapsed().as_secs_f64());
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
