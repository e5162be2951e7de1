//! The search finds what the reference finds, on random programs: with its reductions, and without
//! each of them.
//!
//! The observations of a program are what main returns, in executions in which every thread ends, and
//! the violations. Everything that the reference observes the search must observe; the converse holds
//! where no limit has ended an execution of the reference.
mod conditions;
#[path = "../dice/mod.rs"]
mod dice;
mod elements;
mod emit;
mod own_writes;
mod print;
mod programs;
#[allow(dead_code)] // threads get an argument here
#[path = "../random_threads/mod.rs"]
mod random_threads;
#[path = "../seeds/mod.rs"]
mod seeds;
mod starts;

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
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

/// The models of programs, by their files, with what their axioms imply.
const MODELS: [(&str, Acyclic); 8] = [
    ("sc", Acyclic::ProgramOrder),
    ("tso", Acyclic::ProgramOrder),
    ("rc11", Acyclic::ProgramOrder),
    ("rc20", Acyclic::ProgramOrder),
    ("imm", Acyclic::Dependencies),
    ("aarch64-programs", Acyclic::Dependencies),
    ("power-programs", Acyclic::Dependencies),
    ("riscv-programs", Acyclic::Dependencies),
];

fn model(name: &str) -> Model {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let models = tests.join("../../../models");
    let own = tests.join(format!("fixtures/{name}.cat"));
    let path = match own.exists() {
        true => own,
        false => models.join(format!("{name}.cat")),
    };
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

/// With which reductions, and by which search, a program is explored.
#[derive(Clone)]
struct Stack {
    name: String,
    reductions: Reductions,
    search: Option<Search>,
}

impl Stack {
    fn new(name: &str, reductions: Reductions) -> Stack {
        Stack {
            name: name.to_owned(),
            reductions,
            search: None,
        }
    }

    fn by(name: &str, search: Search) -> Stack {
        Stack {
            search: Some(search),
            ..Stack::new(name, Reductions::ALL)
        }
    }

    fn without(left_out: Reduction) -> Stack {
        let name = format!("without {}", left_out.name());
        Stack::new(&name, Reductions::ALL.with(left_out, false))
    }

    fn only(some: &[Reduction]) -> Stack {
        let names: Vec<_> = some.iter().map(|each| each.name()).collect();
        let reductions = some
            .iter()
            .fold(Reductions::NONE, |all, each| all.with(*each, true));
        Stack::new(&format!("only {}", names.join(" and ")), reductions)
    }

    /// With all reductions, without each, and without any.
    fn few() -> Vec<Stack> {
        let others = [
            Stack::new("all", Reductions::ALL),
            Stack::new("none", Reductions::NONE),
            Stack::by("revisits", Search::Revisits),
            Stack::by("postpones", Search::Postpones),
        ];
        let without = Reduction::ALL.map(Stack::without);
        others.into_iter().chain(without).collect()
    }

    /// Also with each reduction alone, and with each two.
    fn many() -> Vec<Stack> {
        let mut all = Stack::few();
        for (place, one) in Reduction::ALL.into_iter().enumerate() {
            all.push(Stack::only(&[one]));
            let others = Reduction::ALL[..place].iter();
            all.extend(others.map(|other| Stack::only(&[*other, one])));
        }
        all
    }
}

/// No more than so many executions, and so many seconds.
fn options(acyclic: Acyclic, most: u64, seconds: u64) -> Options {
    let mut options = Options {
        workers: 1,
        acyclic: Some(acyclic),
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
    models: Vec<(Acyclic, Model)>,
    /// How many rounds of loops the reference explores; the search explores as many.
    loops: u32,
    /// How long the reference explores a program at most.
    seconds: u64,
}

/// So long that a chosen program ends on any machine.
const CHOSEN: u64 = 120;

enum Compared {
    /// With how many of the stacks; the others reached a limit.
    Equal {
        truncated: bool,
        stacks: u64,
    },
    TooLarge,
    Different {
        stack: Stack,
        how: String,
    },
}

impl Comparison {
    fn compare(&self, threads: &Threads, model: usize, stacks: &[Stack]) -> Compared {
        self.compare_text(&emit(threads), model, stacks)
    }

    fn compare_text(&self, text: &str, model: usize, stacks: &[Stack]) -> Compared {
        let program = Program::from_ir(text).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
        let (acyclic, model) = &self.models[model];
        let limits = rounds(self.loops);
        let reference = explore_reference(
            &program,
            model,
            limits,
            &options(*acyclic, 3_000, self.seconds),
        )
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
        let results = reference.results.into_keys();
        let Some(expected) = Observations::new(&reference.found, results) else {
            return Compared::TooLarge;
        };
        let mut compared = 0;
        // where reads are postponed in any case, no search is chosen
        let chosen = |stack: &&Stack| *acyclic == Acyclic::ProgramOrder || stack.search.is_none();
        for stack in stacks.iter().filter(chosen) {
            let options = Options {
                reductions: stack.reductions,
                search: stack.search,
                ..options(*acyclic, 100_000, 5 * self.seconds)
            };
            let mut source = ProgramSource::new(&program, limits);
            let (found, results) = source
                .results(model, &options)
                .unwrap_or_else(|error| panic!("{error}\n{text}"));
            let Some(found) = Observations::new(&found, results.into_keys()) else {
                continue;
            };
            if let Some(how) = expected.difference(&found) {
                let stack = stack.clone();
                return Compared::Different { stack, how };
            }
            compared += 1;
        }
        Compared::Equal {
            truncated: expected.truncated,
            stacks: compared,
        }
    }

    /// A smallest program that differs in the same way.
    fn shrink(&self, threads: Threads, model: usize, stack: &Stack, how: String) -> Shrunk {
        let alone = how.contains("alone");
        let differs = |less: &Threads| match self.compare(less, model, std::slice::from_ref(stack))
        {
            Compared::Different { how, .. } if how.contains("alone") == alone => Some(how),
            _ => None,
        };
        let (mut smallest, mut how) = (threads, how);
        'again: loop {
            for less in smallest.smaller() {
                if let Some(found) = differs(&less) {
                    (smallest, how) = (less, found);
                    continue 'again;
                }
            }
            return Shrunk { smallest, how };
        }
    }
}

struct Shrunk {
    smallest: Threads,
    how: String,
}

/// Compares the programs of these seeds with each of the stacks, each under one of the models or all.
fn compare(seeds: Range<u64>, stacks: &[Stack], all_models: bool) {
    compare_random(Threads::random, seeds, stacks, |seed| match all_models {
        true => 0..MODELS.len(),
        false => one(seed, MODELS.len()),
    });
}

/// One of so many models.
fn one(seed: u64, count: usize) -> Range<usize> {
    let one = (seed % count as u64) as usize;
    one..one + 1
}

fn compare_random(
    random: fn(u64) -> Threads,
    seeds: Range<u64>,
    stacks: &[Stack],
    models: impl Fn(u64) -> Range<usize>,
) {
    let comparison = Comparison {
        models: MODELS.map(|(name, acyclic)| (acyclic, model(name))).into(),
        loops: 2,
        seconds: 1,
    };
    let (mut equal, mut truncated, mut large, mut compared) = (0, 0, 0, 0);
    let mut different = Vec::new();
    for seed in seeds.clone() {
        let threads = random(seed);
        for model in models(seed) {
            match comparison.compare(&threads, model, stacks) {
                Compared::Equal {
                    truncated: some,
                    stacks,
                } => {
                    equal += 1;
                    compared += stacks;
                    truncated += u64::from(some);
                }
                Compared::TooLarge => large += 1,
                Compared::Different { stack, how } => {
                    let Shrunk { smallest, how } =
                        comparison.shrink(threads.clone(), model, &stack, how);
                    let (name, model) = (&stack.name, MODELS[model].0);
                    let program = print::print(&smallest);
                    let shown = format!("seed {seed} under {model}: {name}: {how}\n{program}");
                    println!("{shown}");
                    different.push(shown);
                }
            }
        }
    }
    println!(
        "{seeds:?}: {equal} programs under a model equal ({truncated} with executions that the \
         reference does not complete) in {compared} comparisons, {large} too large, {} different",
        different.len()
    );
    assert!(different.is_empty(), "{}", different.join("\n"));
    // on a machine that does something else, more take too long
    assert!(equal > 2 * large, "{equal} {large}");
}

fn threads(bodies: Vec<Vec<Op>>) -> Threads {
    let count = bodies.len();
    Threads {
        bodies,
        functions: Vec::new(),
        starts: (0..count).collect(),
        joins: (0..count).collect(),
        main: Vec::new(),
    }
}

fn acyclic(name: &str) -> Acyclic {
    let known = MODELS.into_iter().find(|(known, _)| *known == name);
    known.unwrap_or_else(|| panic!("{name}")).1
}

/// Compares a program of these bodies under a model.
fn compare_bodies(name: &'static str, bodies: Vec<Vec<Op>>) {
    let comparison = Comparison {
        models: vec![(acyclic(name), model(name))],
        loops: 2,
        seconds: CHOSEN,
    };
    let threads = threads(bodies);
    match comparison.compare(&threads, 0, &Stack::few()) {
        Compared::Equal { .. } => {}
        Compared::TooLarge => panic!("too large"),
        Compared::Different { stack, how } => {
            panic!("{}: {how}\n{}", stack.name, print::print(&threads))
        }
    }
}

/// How many executions the reference finds of two threads that each read a location and write this to
/// the one that the other reads.
fn load_buffering(name: &str, value: Value) -> u64 {
    let thread = |from, to| {
        let load = Op::Load(from, "monotonic");
        vec![load, Op::Store(to, value.clone(), "monotonic")]
    };
    let text = emit(&threads(vec![thread("x", "y"), thread("y", "x")]));
    let program = Program::from_ir(&text).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    let options = options(acyclic(name), 1_000, 60);
    let found = explore_reference(&program, &model(name), rounds(2), &options);
    let found = found.unwrap_or_else(|error| panic!("{error}")).found;
    assert!(found.limit.is_none() && found.violations.is_empty());
    found.counts.complete
}

#[test]
fn the_reference_reads_later_writes_that_do_not_depend_on_it() {
    for (name, _) in MODELS {
        let may = acyclic(name) == Acyclic::Dependencies;
        let constant = load_buffering(name, Value::Constant(1));
        assert_eq!(constant, if may { 4 } else { 3 }, "{name}");
        // it ends, although each thread adds one to what the other writes
        assert_eq!(load_buffering(name, Value::Last(1)), 3, "{name}");
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

/// A thread that waits by an update that changes nothing reads in the end what others read, too.
#[test]
fn an_update_that_waits_reads_what_another_thread_reads() {
    let waits = Op::AwaitUpdate {
        at: "y",
        update: "add",
        value: 0,
        not: 0,
        order: "monotonic",
    };
    compare_bodies("imm", vec![vec![waits], vec![Op::Load("y", "acquire")]]);
}

/// A loop that looks so many times sees what one that looks twice can see.
#[test]
fn rounds_in_vain_of_a_loop_that_looks_a_limited_number_of_times_show_nothing() {
    let store = |at, value| Op::Store(at, Value::Constant(value), "release");
    let writes = vec![store("x", 1), store("x", 2), Op::Load("y", "acquire")];
    for (name, _) in MODELS {
        let exchanges = [None, Some((3, false)), Some((3, true))];
        for (late, exchange) in [false, true]
            .iter()
            .flat_map(|late| exchanges.map(|e| (*late, e)))
        {
            let look = |equal, order| Op::Look {
                at: "x",
                equal,
                order,
                rounds: 3,
                late,
                peeks: false,
                exchange,
            };
            let looks = vec![store("y", 1), look(2, "acquire")];
            compare_bodies(name, vec![looks, writes.clone()]);
        }
    }
}

/// A release is a barrier on POWER and RISC-V, and on AArch64 before an acquire, whatever it writes to.
#[test]
fn locks_of_one_thread_order_where_barriers_are_mapped_to() {
    let load = || vec![Op::Load("y", "monotonic")];
    let store = |at, value, order| Op::Store(at, Value::Constant(value), order);
    let one = |own| vec![own, store("z", 1, "monotonic")];
    let other = vec![store("z", 2, "monotonic"), store("y", 1, "seq_cst")];
    for name in ["power-programs", "riscv-programs", "aarch64-programs"] {
        compare_bodies(name, vec![one(Op::Lock("m", load())), other.clone()]);
        let twice = Op::Lock("m", [load(), vec![Op::Lock("n", Vec::new())]].concat());
        compare_bodies(name, vec![one(twice), other.clone()]);
    }
}

/// On RISC-V, an exchange that releases comes after what precedes it, and before what depends on what it
/// reads.
#[test]
fn a_spin_lock_of_one_thread_orders_by_its_order_and_its_loop() {
    let store = |at, value| Op::Store(at, Value::Constant(value), "monotonic");
    let spins = Op::Spin {
        order: "release",
        free: "monotonic",
        section: vec![store("y", 1)],
    };
    let other = vec![Op::Load("y", "acquire"), store("x", 2)];
    for name in ["power-programs", "riscv-programs", "aarch64-programs"] {
        let one = vec![store("x", 1), spins.clone()];
        compare_bodies(name, vec![one, other.clone()]);
    }
}

/// A hang is that of the outer of two loops, if the inner one ends.
#[test]
fn a_loop_waits_around_another_that_ends() {
    let awaited = |at, with, order, round| Op::Await {
        at,
        test: "ne",
        with,
        order,
        round,
    };
    let inner = awaited("x", 2, "seq_cst", Vec::new());
    let outer = awaited("z", 1, "monotonic", vec![inner]);
    let one = Op::Store("z", Value::Constant(1), "release");
    compare_bodies("rc20", vec![vec![outer], vec![one]]);
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
        late: false,
        round: vec![Op::Store("x", Value::Constant(1), "monotonic")],
    };
    let take = || Op::Update("x", "xchg", Value::Constant(0), "monotonic");
    compare_bodies("rc20", vec![vec![attempts], vec![take(), take()]]);
}

/// Threads that behave alike, under models that postpone reads.
fn compare_alike(seeds: Range<u64>) {
    let first = MODELS.len() - 4;
    compare_random(Threads::alike, seeds, &Stack::few()[..1], |seed| {
        let model = one(seed, 4);
        first + model.start..first + model.end
    });
}

#[test]
#[ignore = "takes minutes: cargo test --release -p explore --test reference -- --ignored"]
fn many_random_threads_that_behave_alike_do_what_they_do_without_any_reduction() {
    compare_alike(seeds::seeds(5_000));
}

#[test]
fn random_programs_do_what_they_do_without_any_reduction() {
    compare(0..60, &Stack::few(), false);
}

#[test]
#[ignore = "takes minutes: cargo test --release -p explore --test reference -- --ignored"]
fn many_random_programs_do_what_they_do_without_any_reduction() {
    compare(seeds::seeds(10_000), &Stack::few(), false);
}

#[test]
#[ignore = "takes hours: a million comparisons of 2,000 programs"]
fn each_two_reductions_alone_do_what_the_reference_does() {
    compare(seeds::seeds(2_000), &Stack::many(), true);
}
