//! Parts of a search: what random descents show of it, what a bound leaves of it, and what is left
//! when it is interrupted.
use crate::dice::Dice;
use crate::litmus_threads::Threads;
use crate::models::{by_dependencies, dependencies, model, options};
use crate::naive::{canonical, Canonical};
use crate::random::Program;
use crate::random_litmus::random_test;
use cat::Model;
use explore::{
    explore, explore_each, Event, ExecutionEnd, Exploration, ExploreError, Extent, Fault, Frontier,
    Limit, Limits, OpenBranch, Options, Reduction, Reductions, Search, Source, Violation,
};
use litmus::Test;
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::Duration;

type Executions = Vec<(Canonical, ExecutionEnd)>;

fn found<S: Source>(source: &S, model: &Model, options: &Options) -> (Executions, Exploration) {
    let found = Mutex::new(Vec::new());
    let result = explore_each(source, model, options, |execution, end| {
        found.lock().unwrap().push((canonical(execution), end));
    });
    let exploration = result.unwrap_or_else(|error| panic!("{error}"));
    (found.into_inner().unwrap(), exploration)
}

/// Calls a function with random programs for each of the two searches; the sum of what it returns.
macro_rules! sum_over {
    ($seeds:expr, $function:ident) => {{
        let mut sum = 0.0;
        for name in ["sc", "rc11"] {
            let model = model(name);
            for seed in $seeds {
                let program = match seed % 4 {
                    0 => Program::of_locks(seed),
                    _ => Program::random(seed),
                };
                let name = format!("{seed} under {name}");
                sum += $function(&name, &program, &model, &options(1));
            }
        }
        let model = dependencies();
        for seed in $seeds {
            let test = Test::parse("random.litmus", &random_test(seed)).expect("a test");
            let threads = Threads::new(&test).expect("a test of C");
            let name = format!("{seed} under dependencies");
            sum += $function(&name, &threads, &model, &by_dependencies(1));
        }
        sum
    }};
}

fn with(options: &Options, extent: Extent) -> Options {
    Options {
        extent,
        ..options.clone()
    }
}

fn distinct(executions: &Executions) -> BTreeSet<&(Canonical, ExecutionEnd)> {
    executions.iter().collect()
}

/// How far the estimate is from the number of executions, in standard errors.
fn error_of_estimate<S: Source>(name: &str, source: &S, model: &Model, options: &Options) -> f64 {
    let all = explore(source, model, options).expect("an exploration");
    let mut options = with(options, Extent::Estimate { seed: 1 });
    options.limits.executions = 120;
    let found = explore(source, model, &options).expect("an estimate");
    assert_eq!(found.counts.all(), 0, "{name}");
    assert_eq!(found.limit, Some(Limit::Executions), "{name}");
    let estimate = found.estimate.expect("120 descents");
    assert_eq!(estimate.draws, 120, "{name}");
    let difference = estimate.executions - all.counts.all() as f64;
    let rounding = 1e-9 * estimate.executions;
    if difference.abs() <= rounding {
        return 0.0;
    }
    let error = difference / estimate.error;
    assert!(error.abs() < 5.0, "{name}: {estimate:?}, {:?}", all.counts);
    error
}

#[test]
fn the_mean_of_many_descents_is_the_number_of_executions() {
    let errors = sum_over!(0..8, error_of_estimate);
    // nor are they all too large, or all too small
    assert!(errors.abs() < 4.0 * f64::sqrt(24.0), "{errors}");
}

fn all_are_drawn<S: Source>(name: &str, source: &S, model: &Model, options: &Options) -> f64 {
    let (all, _) = found(source, model, options);
    if all.len() > 24 {
        return 0.0;
    }
    let mut options = with(options, Extent::Sample { seed: 1 });
    options.limits.executions = 500;
    let (drawn, exploration) = found(source, model, &options);
    let sample = exploration.sample.expect("a sample");
    assert_eq!(distinct(&drawn).len() as u64, sample.distinct, "{name}");
    assert!(distinct(&drawn).is_subset(&distinct(&all)), "{name}");
    assert_eq!(sample.draws, 500, "{name}");
    let known = sample.known > 1.0 - 1e-9;
    if known {
        assert_eq!(sample.distinct, all.len() as u64, "{name}");
    }
    f64::from(u8::from(known))
}

#[test]
fn a_sample_comes_to_show_every_execution() {
    let known = sum_over!(0..12, all_are_drawn);
    assert!(known > 12.0, "{known}");
}

fn is_repeatable<S: Source>(name: &str, source: &S, model: &Model, options: &Options) -> f64 {
    let mut options = with(options, Extent::Sample { seed: 7 });
    options.limits.executions = 100;
    let one = explore(source, model, &options).expect("a sample");
    options.workers = 2;
    let two = explore(source, model, &options).expect("a sample");
    assert_eq!(one.counts, two.counts, "{name}");
    let distinct = |found: &Exploration| found.sample.map(|sample| sample.distinct);
    assert_eq!(distinct(&one), distinct(&two), "{name}");
    1.0
}

#[test]
fn a_sample_does_not_depend_on_the_number_of_workers() {
    assert_eq!(sum_over!(0..12, is_repeatable), 36.0);
}

/// How many bounds leave something out.
fn bounds<S: Source>(name: &str, source: &S, model: &Model, options: &Options) -> f64 {
    let (all, _) = found(source, model, options);
    let mut before = BTreeSet::new();
    let mut bound = 0;
    loop {
        let mut options = with(options, Extent::Departures(bound));
        options.workers = 1 + bound as usize % 2;
        let (within, exploration) = found(source, model, &options);
        let set: BTreeSet<_> = within.iter().cloned().collect();
        assert_eq!(set.len(), within.len(), "{name}: found twice up to {bound}");
        assert!(before.is_subset(&set), "{name} up to {bound}");
        if !exploration.beyond {
            assert_eq!(set.len(), all.len(), "{name}");
            return f64::from(bound);
        }
        before = set;
        bound += 1;
    }
}

#[test]
fn a_greater_bound_leaves_out_less_and_in_the_end_nothing() {
    let bounds = sum_over!(0..16, bounds);
    assert!(bounds > 60.0, "{bounds}");
}

/// What is left open, as another process reads it.
fn stored(open: &Frontier) -> Frontier {
    let bytes = borsh::to_vec(open).expect("bytes");
    let read = borsh::from_slice(&bytes).expect("what was stored");
    assert_eq!(*open, read);
    read
}

type Shown = (Fault, u64, bool, Vec<Event>);

fn violations(found: &Exploration) -> Vec<Shown> {
    let shown = |seen: &Violation| {
        let events = seen.graph.events.clone();
        (seen.fault.clone(), seen.count, seen.weak, events)
    };
    found.violations.iter().map(shown).collect()
}

/// How many parts the search was explored in.
fn parts<S: Source>(name: &str, source: &S, model: &Model, options: &Options) -> f64 {
    let (all, whole) = found(source, model, options);
    let mut count = 0.0;
    for (step, workers) in [(1, 1), (2, 2), (7, 1), (5, 2), (40, 3), (u64::MAX - 1, 4)] {
        let (mut parts, mut sum) = (Vec::new(), Exploration::default());
        let mut dice = Dice::new(step);
        let mut options = options.clone();
        options.workers = workers;
        loop {
            options.limits = Limits {
                executions: 1 + dice.below(step),
                ..Limits::default()
            };
            let (part, mut exploration) = found(source, model, &options);
            parts.extend(part);
            count += 1.0;
            let open = std::mem::take(&mut exploration.open);
            exploration.add_earlier(sum);
            sum = exploration;
            if open.branches.is_empty() {
                break;
            }
            options.extent = Extent::Open(stored(&open));
        }
        assert_eq!(sum.counts, whole.counts, "{name}, {step} at a time");
        assert_eq!(parts.len(), all.len(), "{name}, {step} at a time");
        assert_eq!(distinct(&parts), distinct(&all), "{name}, {step} at a time");
        assert_eq!(violations(&sum), violations(&whole), "{name}");
    }
    count
}

#[test]
fn each_search_resumes_with_and_without_symmetry() {
    let mut count = 0.0;
    for name in ["sc", "rc11"] {
        let model = model(name);
        for seed in 0..12 {
            let program = match seed % 3 {
                0 => Program::of_locks(seed),
                1 => Program::of_twins(seed),
                _ => Program::random(seed),
            };
            for search in [Search::Revisits, Search::Postpones] {
                for symmetry in [false, true] {
                    let options = Options {
                        search: Some(search),
                        reductions: Reductions::ALL.with(Reduction::Symmetry, symmetry),
                        ..options(1)
                    };
                    let name = format!("{seed} under {name} by {search:?} {symmetry}");
                    count += parts(&name, &program, &model, &options);
                }
            }
        }
    }
    assert!(count > 500.0, "{count}");
}

/// How many executions are explored while others are drawn.
fn drawn_meanwhile<S: Source>(name: &str, source: &S, model: &Model, options: &Options) -> f64 {
    let (all, whole) = found(source, model, options);
    for workers in [1, 2] {
        let options = Options {
            workers,
            estimates_after: Some(Duration::ZERO),
            ..options.clone()
        };
        let (explored, exploration) = found(source, model, &options);
        assert_eq!(exploration.counts, whole.counts, "{name}");
        assert_eq!(explored.len(), all.len(), "{name}");
        assert_eq!(distinct(&explored), distinct(&all), "{name}");
        assert_eq!(violations(&exploration), violations(&whole), "{name}");
    }
    all.len() as f64
}

#[test]
fn executions_that_are_drawn_meanwhile_change_no_answer() {
    let executions = sum_over!(0..12, drawn_meanwhile);
    assert!(executions > 100.0, "{executions}");
}

#[test]
fn what_is_left_open_of_another_tree_is_an_error() {
    let (program, model) = (Program::random(1), model("sc"));
    let branch = OpenBranch {
        path: vec![1_000, 1_000],
        met: Vec::new(),
    };
    let frontier = Frontier {
        branches: vec![branch],
        ..Frontier::default()
    };
    let options = with(&options(1), Extent::Open(frontier));
    let found = explore(&program, &model, &options);
    assert!(matches!(found, Err(ExploreError::OtherTree)), "{found:?}");
}

#[test]
fn an_interrupted_exploration_resumes_without_losing_or_repeating_an_execution() {
    let parts = sum_over!(0..8, parts);
    assert!(parts > 200.0, "{parts}");
}
