//! The search finds what the reference finds, on random programs: with its reductions, and without
//! each of them.
//!
//! The observations of a program are what main returns, in executions in which every thread ends, and
//! the violations. Everything that the reference observes the search must observe; the converse holds
//! where no limit has ended an execution of the reference.
#[path = "../dice/mod.rs"]
mod dice;
mod emit;
mod print;
mod programs;
#[allow(dead_code)] // threads get an argument here
#[path = "../random_threads/mod.rs"]
mod random_threads;
#[path = "../seeds/mod.rs"]
mod seeds;

use cat::Model;
use emit::emit;
use explore::{
    explore_reference, Acyclic, Exploration, FaultKind, Options, ProgramSource, Reduction,
    Reductions, Search,
};
use program::interpreter::Limits;
use program::Program;
use programs::{Op, Threads, Value};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

const MODELS: [&str; 4] = ["sc", "tso", "rc11", "rc20"];

fn model(name: &str) -> Model {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let path = models.join(format!("{name}.cat"));
    Model::load(&path, &[models]).unwrap_or_else(|error| panic!("{error}"))
}

/// What an exploration observes: violations, and what main returns.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Observations {
    violations: BTreeSet<(FaultKind, Option<u32>)>,
    results: BTreeSet<u64>,
    /// Some execution was not followed to its end.
    truncated: bool,
    complete: u64,
}

impl Observations {
    /// None: a limit has ended the exploration. Of the races of an execution one is reported, at
    /// whichever of its accesses comes later; a program with a race has no other meaning.
    fn new(found: &Exploration, results: impl Iterator<Item = u64>) -> Option<Observations> {
        if found.limit.is_some() {
            return None;
        }
        let violations = found.violations.iter();
        let mut observed = Observations {
            violations: violations.map(|v| (v.fault.kind, v.fault.site)).collect(),
            results: results.collect(),
            truncated: !found.truncations.is_empty(),
            complete: found.counts.represented,
        };
        let race = |(kind, _): &(FaultKind, Option<u32>)| *kind == FaultKind::Race;
        if observed.violations.iter().any(race) {
            observed.violations = BTreeSet::from([(FaultKind::Race, None)]);
            observed.results.clear();
        }
        Some(observed)
    }

    /// How the search's observations differ from these of the reference. A loop whose round changes what
    /// another thread reads, and changes it back, is one that the search bounds, and says so; the
    /// reference sees that it may never end. The hangs that the search finds, the reference finds, also
    /// where it has left something out. Rounds that change nothing count for the reference alone, so that a search that
    /// says that it has left something out may lack results.
    fn difference(&self, search: &Observations) -> Option<String> {
        let undecided = |kind| kind == FaultKind::Hang && search.truncated;
        let mut missed = self.violations.difference(&search.violations);
        let missed = missed.find(|(kind, _)| !undecided(*kind));
        let result = self.results.difference(&search.results).next();
        if let Some(missed) = missed {
            return Some(format!("the search misses {missed:?}"));
        }
        if let Some(result) = result.filter(|_| !search.truncated) {
            return Some(format!("the search misses the result {result}"));
        }
        let more = search.violations.difference(&self.violations).next();
        let result = search.results.difference(&self.results).next();
        match (more, result, self.truncated) {
            (Some(more @ (FaultKind::Hang, _)), ..) => {
                Some(format!("the search alone finds {more:?}"))
            }
            (Some(more), _, false) => Some(format!("the search alone finds {more:?}")),
            (_, Some(result), false) => Some(format!("the search alone finds the result {result}")),
            _ => None,
        }
    }
}

/// The search with all reductions, without each, and without any.
fn stacks() -> Vec<String> {
    let without = Reduction::ALL.map(|each| format!("without {}", each.name()));
    let others = ["all", "none", "revisits", "postpones"].map(String::from);
    others.into_iter().chain(without).collect()
}

fn options(stack: &str, most: u64, seconds: u64) -> Options {
    let without = |each: Reduction| stack == "none" || stack == format!("without {}", each.name());
    let mut reductions = Reductions::ALL;
    for each in Reduction::ALL {
        reductions = reductions.with(each, !without(each));
    }
    let mut options = Options {
        workers: 1,
        acyclic: Some(Acyclic::ProgramOrder),
        reductions,
        search: match stack {
            "revisits" => Some(Search::Revisits),
            "postpones" => Some(Search::Postpones),
            _ => None,
        },
        ..Options::default()
    };
    options.limits.executions = most;
    options.limits.time = Duration::from_secs(seconds);
    options
}

fn rounds(loops: u32) -> Limits {
    Limits {
        loops,
        ..Limits::default()
    }
}

struct Comparison {
    models: Vec<(&'static str, Model)>,
    /// How many rounds of loops the reference explores; the search explores as many.
    loops: u32,
}

enum Compared {
    Equal { truncated: bool },
    TooLarge,
    Different(String),
}

impl Comparison {
    fn compare(&self, threads: &Threads, model: usize, stacks: &[String]) -> Compared {
        let text = emit(threads);
        let program = Program::from_ir(&text).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
        let model = &self.models[model].1;
        let limits = rounds(self.loops);
        let reference = explore_reference(&program, model, limits, &options("all", 3_000, 1))
            .unwrap_or_else(|error| panic!("{error}\n{text}"));
        let results = reference.results.into_keys();
        let Some(expected) = Observations::new(&reference.found, results) else {
            return Compared::TooLarge;
        };
        for stack in stacks {
            let mut source = ProgramSource::new(&program, limits);
            let (found, results) = source
                .results(model, &options(stack, 100_000, 5))
                .unwrap_or_else(|error| panic!("{error}\n{text}"));
            let Some(found) = Observations::new(&found, results.into_keys()) else {
                continue;
            };
            if let Some(difference) = expected.difference(&found) {
                return Compared::Different(format!("{stack}: {difference}"));
            }
        }
        Compared::Equal {
            truncated: expected.truncated,
        }
    }

    /// A smallest program that differs in the same way.
    fn shrink(&self, threads: Threads, model: usize, difference: &str) -> (Threads, String) {
        let stack = difference.split(": ").next().unwrap_or("all");
        let alone = difference.contains("alone");
        let differs = |less: &Threads| match self.compare(less, model, &[stack.to_owned()]) {
            Compared::Different(found) if found.contains("alone") == alone => Some(found),
            _ => None,
        };
        let (mut smallest, mut how) = (threads, difference.to_owned());
        'again: loop {
            for less in smallest.smaller() {
                if let Some(found) = differs(&less) {
                    (smallest, how) = (less, found);
                    continue 'again;
                }
            }
            return (smallest, how);
        }
    }
}

/// Compares the programs of these seeds, each under one of the models with each of the stacks.
fn compare(seeds: std::ops::Range<u64>) {
    let comparison = Comparison {
        models: MODELS.iter().map(|name| (*name, model(name))).collect(),
        loops: 2,
    };
    let (mut equal, mut truncated, mut large, mut different) = (0, 0, 0, Vec::new());
    for seed in seeds.clone() {
        let threads = Threads::random(seed);
        let stacks = stacks();
        let model = (seed % MODELS.len() as u64) as usize;
        match comparison.compare(&threads, model, &stacks) {
            Compared::Equal { truncated: some } => {
                equal += 1;
                truncated += u64::from(some);
            }
            Compared::TooLarge => large += 1,
            Compared::Different(how) => {
                let (smallest, how) = comparison.shrink(threads.clone(), model, &how);
                let shown = print::print(&smallest);
                let shown = format!("seed {seed} under {}: {how}\n{shown}", MODELS[model]);
                println!("{shown}");
                different.push(shown);
            }
        }
    }
    println!(
        "{seeds:?}: {equal} equal ({truncated} with executions that the reference does not \
         complete), {large} too large, {} different",
        different.len()
    );
    assert!(different.is_empty(), "{}", different.join("\n"));
    // on a machine that does something else, more take too long
    assert!(equal > 2 * large, "{equal} {large}");
}

/// Compares a program of these bodies under a model.
fn compare_bodies(name: &'static str, bodies: Vec<Vec<Op>>) {
    let comparison = Comparison {
        models: vec![(name, model(name))],
        loops: 2,
    };
    let count = bodies.len();
    let threads = Threads {
        bodies,
        functions: Vec::new(),
        starts: (0..count).collect(),
        joins: (0..count).collect(),
        main: Vec::new(),
    };
    match comparison.compare(&threads, 0, &stacks()) {
        Compared::Equal { .. } => {}
        Compared::TooLarge => panic!("too large"),
        Compared::Different(how) => panic!("{how}\n{}", print::print(&threads)),
    }
}

/// On x86 a locked instruction drains the store buffer, whatever it writes to.
#[test]
fn a_read_modify_write_of_an_object_of_one_thread_orders_under_tso() {
    let store = |at| Op::Store(at, Value::Constant(1), "monotonic");
    let locked = Op::Spin {
        order: "monotonic",
        free: "monotonic",
        section: Vec::new(),
    };
    let one = vec![store("x"), locked, Op::Load("y", "monotonic")];
    let other = vec![store("y"), Op::Fence("seq_cst"), Op::Load("x", "monotonic")];
    compare_bodies("tso", vec![one, other]);
}

/// The other thread may take the value between any two attempts.
#[test]
fn a_weak_exchange_fails_again_after_each_write_of_the_same_value() {
    let attempts = Op::AwaitExchange {
        at: "y",
        from: 0,
        to: 1,
        order: "monotonic",
        weak: true,
        round: vec![Op::Store("x", Value::Constant(1), "monotonic")],
    };
    let take = || Op::Update("x", "xchg", Value::Constant(0), "monotonic");
    compare_bodies("rc20", vec![vec![attempts], vec![take(), take()]]);
}

#[test]
fn random_programs_do_what_they_do_without_any_reduction() {
    compare(0..60);
}

#[test]
#[ignore = "takes minutes: cargo test --release -p explore --test reference -- --ignored"]
fn many_random_programs_do_what_they_do_without_any_reduction() {
    compare(seeds::seeds(10_000));
}
