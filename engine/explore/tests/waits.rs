//! Loops that wait, with state that depends on reads that may be postponed: where reads are postponed
//! as far as dependencies allow, threads do what they do where each waits for those before it.
//!
//! Random programs of threads that add up, exchange, copy and store what they read while they wait.
//! Under models in which po | rf has no cycle both searches are complete.
mod dice;
mod found;
mod random_threads;
mod seeds;

use cat::Model;
use dice::Dice;
use explore::{
    explore_each, Acyclic, Counts, EndedExecution, Event, FaultKind, Graph, Options, ProgramSource,
    Reduction, Reductions, Search, NONE,
};
use found::{found, model, Found};
use program::interpreter::Limits;
use program::Program;
use random_threads::{add_main, add_thread, run_threads, Body, LIBRARY, TARGET};
use seeds::seeds;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

const GLOBALS: &str = "\
@x = global i32 0, align 4
@y = global i32 0, align 4
@z = global i32 0, align 4
";

const ENTRY: &str = "  %own = alloca i32\n  %kept = alloca i32\n  store i32 0, ptr %own\n  \
                     store i32 0, ptr %kept\n";

const MODELS: [&str; 4] = ["sc", "tso", "rc11", "rc20"];

struct Thread<'d> {
    dice: &'d mut Dice,
    text: String,
    names: u32,
    /// A location that only this thread uses.
    own: &'static str,
}

impl Body for Thread<'_> {
    const FACTOR: u32 = 5;

    fn text(&mut self) -> &mut String {
        &mut self.text
    }

    fn names(&mut self) -> &mut u32 {
        &mut self.names
    }
}

impl Thread<'_> {
    fn load(&mut self, at: &str, order: &str) -> String {
        self.value(&format!("load atomic i32, ptr @{at} {order}, align 4"))
    }

    fn store(&mut self, at: &str, value: &str) {
        let order = self.dice.one(&["monotonic", "monotonic", "release"]);
        self.line(&format!(
            "store atomic i32 {value}, ptr @{at} {order}, align 4"
        ));
    }

    fn access(&mut self) {
        let at = self.dice.one(&["x", "x", "y"]);
        let value = self.dice.below(3).to_string();
        match self.dice.below(5) {
            0 => {
                let read = self.load(at, "monotonic");
                self.remember(&read);
            }
            1 => {
                let old = self.value(&format!("atomicrmw add ptr @{at}, i32 {value} monotonic"));
                self.remember(&old);
            }
            _ => self.store(at, &value),
        }
    }

    /// A part of a round: returns the value that it has read, if any.
    fn restricted(&mut self, sum: &str) -> Option<String> {
        let at = self.dice.one(&["x", "y", "y"]);
        let own = self.own;
        match self.dice.below(12) {
            0..=4 => Some(self.load(at, "monotonic")),
            5 => Some(self.load(at, "acquire")),
            6 => {
                let value = self.dice.below(2);
                Some(self.value(&format!("atomicrmw xchg ptr @{at}, i32 {value} monotonic")))
            }
            7 => Some(self.value(&format!("atomicrmw or ptr @{at}, i32 0 monotonic"))),
            8 => {
                self.store(own, sum);
                None
            }
            9 => {
                let read = self.load(at, "monotonic");
                self.store(own, &read);
                None
            }
            10 => {
                let read = self.load(at, "monotonic");
                self.line(&format!("store i32 {read}, ptr %kept"));
                None
            }
            _ => {
                self.line(&format!("store i32 {sum}, ptr %kept"));
                None
            }
        }
    }

    fn wait(&mut self) {
        let [entry, head, again, done, sum, new] = [(); 6].map(|()| self.name());
        let first = match self.dice.happens(3) {
            true => self.load("y", "monotonic"),
            false => "0".to_owned(),
        };
        self.line(&format!("br label %{entry}"));
        self.label(&entry);
        self.line(&format!("br label %{head}"));
        self.label(&head);
        self.line(&format!(
            "%{sum} = phi i32 [ {first}, %{entry} ], [ %{new}, %{again} ]"
        ));
        let sum = format!("%{sum}");
        let mut seen = Vec::new();
        for _ in 0..self.dice.below(3) {
            seen.extend(self.restricted(&sum));
        }
        let order = self.dice.one(&["monotonic", "monotonic", "acquire"]);
        let read = self.load("x", order);
        let wanted = 1 + self.dice.below(2);
        let ends = self.value(&format!("icmp eq i32 {read}, {wanted}"));
        self.line(&format!("br i1 {ends}, label %{done}, label %{again}"));
        self.label(&again);
        if self.dice.happens(3) {
            seen.extend(self.restricted(&sum));
        }
        let last = seen.last().cloned().unwrap_or_else(|| sum.clone());
        match self.dice.below(4) {
            0 => self.line(&format!("%{new} = add i32 {last}, 0")),
            1 => self.line(&format!("%{new} = or i32 {sum}, {last}")),
            2 => self.line(&format!("%{new} = xor i32 {sum}, {last}")),
            _ => {
                let more = self.value(&format!("mul i32 {sum}, 5"));
                self.line(&format!("%{new} = add i32 {more}, {last}"));
            }
        }
        self.line(&format!("br label %{head}"));
        self.label(&done);
        if self.dice.happens(4) {
            let wrong = self.dice.below(3);
            let right = self.value(&format!("icmp ne i32 {sum}, {wrong}"));
            self.check(&right);
        }
        self.remember(&sum);
        let kept = self.value("load i32, ptr %kept");
        self.remember(&kept);
    }
}

fn random(seed: u64) -> String {
    let mut dice = Dice::new(seed);
    let count = 2 + u64::from(dice.happens(4));
    let alike = dice.happens(5);
    let mut text = format!("{TARGET}{GLOBALS}{LIBRARY}");
    for thread in 0..count {
        let mut body = Thread {
            dice: &mut dice,
            text: String::new(),
            names: 0,
            own: if thread == 0 && !alike { "z" } else { "y" },
        };
        let waits = thread == 0 || body.dice.happens(2);
        if body.dice.happens(2) || !waits {
            body.access();
        }
        if waits {
            body.wait();
        }
        if !waits || body.dice.happens(2) {
            body.access();
        }
        if waits && body.dice.happens(2) {
            let seen = body.value("load i32, ptr %own");
            body.store("x", &seen);
        }
        let own = body.text;
        add_thread(&mut text, thread, ENTRY, &own, alike);
    }
    let mut main = Thread {
        dice: &mut dice,
        text: String::new(),
        names: 0,
        own: "z",
    };
    let starts: Vec<u64> = (0..count)
        .map(|thread| if alike { 0 } else { thread })
        .collect();
    run_threads(&mut main, &starts);
    for at in ["x", "y", "z"] {
        let read = main.load(at, "monotonic");
        main.remember(&read);
    }
    let body = main.text;
    add_main(&mut text, &body);
    text
}

fn is_symmetric(seed: u64) -> bool {
    seed / 4 % 2 == 0
}

/// What a program does, if reads are postponed as far as `acyclic` allows.
fn explored(
    seed: u64,
    acyclic: Acyclic,
    search: Option<Search>,
    every: bool,
    most: u64,
) -> Option<(Found, Counts)> {
    let text = random(seed);
    let program =
        Program::from_ir(&text).unwrap_or_else(|error| panic!("{error:?}\n{seed}: {text}"));
    let name = MODELS[(seed % MODELS.len() as u64) as usize];
    let mut options = Options {
        workers: 1,
        acyclic: Some(acyclic),
        search,
        reductions: Reductions::ALL
            .without([Reduction::Retries, Reduction::UndoneRounds])
            .with(Reduction::Symmetry, is_symmetric(seed))
            .with(Reduction::Waits, !every),
        ..Options::default()
    };
    options.limits.executions = most;
    options.limits.time = Duration::from_secs(2);
    let rounds = Limits {
        loops: 2,
        ..Limits::default()
    };
    let found = found(&program, &model(name), &options, rounds).ok()?;
    assert_each_is_found_once(&program, &model(name), &options, rounds, seed);
    Some(found)
}

fn assert_each_is_found_once(
    program: &Program,
    model: &Model,
    options: &Options,
    limits: Limits,
    seed: u64,
) {
    let mut source = ProgramSource::new(program, limits);
    // until it is known which objects are shared
    let settled = source.results(model, options);
    let (settled, _) = settled.unwrap_or_else(|error| panic!("{error}"));
    if settled.limit.is_some() {
        return;
    }
    let seen = Mutex::new(BTreeMap::<Vec<String>, u32>::new());
    let each = |execution: &EndedExecution<_>, _| {
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        *seen.entry(written(execution.graph)).or_default() += 1;
    };
    explore_each(&source, model, options, each).unwrap_or_else(|error| panic!("{error}"));
    let seen = seen.into_inner().unwrap_or_else(PoisonError::into_inner);
    let often = seen.iter().find(|(_, count)| **count > 1);
    assert_eq!(
        often,
        None,
        "{seed} {:?}: {}",
        options.acyclic,
        random(seed)
    );
}

/// The events of an execution, with what they read from and what follows in coherence order.
fn written(graph: &Graph) -> Vec<String> {
    let place = |id: u32| match id {
        NONE => None,
        id => Some((graph.event(id).thread, graph.event(id).index)),
    };
    let mut events: Vec<String> = graph
        .events
        .iter()
        .map(|event| {
            let (source, after) = (place(event.source), place(event.co_successor));
            let Event {
                thread,
                index,
                action,
                value,
                ..
            } = event;
            format!("{thread} {index:2} {action:?} {value} {source:?} {after:?}")
        })
        .collect();
    events.sort();
    events
}

/// `most`: programs with more executions are left out, and those that take long.
fn compare(seeds: impl Iterator<Item = u64>, most: u64) {
    let (mut compared, mut hangs, mut blocked) = (0, 0, [0; 2]);
    for seed in seeds {
        let explored = |acyclic, search, waits| explored(seed, acyclic, search, waits, most);
        let all = [
            explored(Acyclic::ProgramOrder, Some(Search::Revisits), true),
            explored(Acyclic::ProgramOrder, Some(Search::Revisits), false),
            explored(Acyclic::ProgramOrder, Some(Search::Postpones), true),
            explored(Acyclic::ProgramOrder, Some(Search::Postpones), false),
            explored(Acyclic::Dependencies, None, false),
        ];
        let all: Option<Vec<(Found, Counts)>> = all.into_iter().collect();
        let Some(all) = all else {
            continue;
        };
        let name = MODELS[(seed % MODELS.len() as u64) as usize];
        let what = || format!("program {seed} under {name}: {}", random(seed));
        let every = &all[0].0;
        // where a value depends on other reads after each round, the limit of rounds may hide a hang
        let same = |found: &Found, counts: &Counts| found == every || counts.truncated > 0;
        assert!(
            all.iter().all(|(found, counts)| same(found, counts)),
            "{all:?} {}",
            what()
        );
        let complete: Vec<u64> = all.iter().map(|(_, counts)| counts.complete).collect();
        // threads that behave alike are exchanged where reads are postponed
        let same = |counts: &[u64]| counts.iter().all(|count| *count == counts[0]);
        let [revisits, postpones] = [&complete[..2], &complete[2..4]];
        assert!(same(revisits) && same(postpones), "{complete:?} {}", what());
        // a round after which values depend on other reads is explored
        assert!(complete[4] >= complete[2], "{complete:?} {}", what());
        assert!(
            is_symmetric(seed) || same(&complete[..4]),
            "{complete:?} {}",
            what()
        );
        compared += 1;
        hangs += u64::from(!every.violations.is_empty());
        blocked[0] += all[0].1.blocked + all[2].1.blocked;
        blocked[1] += all[1].1.blocked + all[3].1.blocked;
    }
    println!(
        "{compared} programs, {hangs} with violations; of {} blocked {}",
        blocked[0], blocked[1]
    );
    assert!(compared > 0 && 0 < hangs && hangs < compared);
    assert!(blocked[1] < blocked[0], "{blocked:?}");
}

/// One thread adds 0 to x until it is not 0; the other reads x, and writes to it in one of two branches.
const ADDS_NOTHING: &str = "
define ptr @adds(ptr %unused) {
  br label %again
again:
  %old = atomicrmw add ptr @x, i32 0 monotonic
  %waits = icmp eq i32 %old, 0
  br i1 %waits, label %again, label %end
end:
  ret ptr null
}
define ptr @reads(ptr %unused) {
  %read = load atomic i32, ptr @x acquire, align 4
  %writes = load atomic i32, ptr @y monotonic, align 4
  %is = icmp ne i32 %writes, 0
  br i1 %is, label %then, label %end
then:
  store atomic i32 1, ptr @x monotonic, align 4
  br label %end
end:
  ret ptr null
}
define i32 @main() {
  %h = alloca i64
  call i32 @pthread_create(ptr %h, ptr null, ptr @adds, ptr null)
  call i32 @pthread_create(ptr %h, ptr null, ptr @reads, ptr null)
  store atomic i32 1, ptr @y monotonic, align 4
  ret i32 0
}
";

#[test]
fn an_update_waits_for_ever_that_reads_the_last_write() {
    let text = format!("{TARGET}{GLOBALS}{LIBRARY}{ADDS_NOTHING}");
    let program = Program::from_ir(&text).unwrap_or_else(|error| panic!("{error:?}"));
    for (name, acyclic) in [
        ("rc20", Acyclic::ProgramOrder),
        ("imm", Acyclic::Dependencies),
    ] {
        let options = Options {
            workers: 1,
            acyclic: Some(acyclic),
            ..Options::default()
        };
        let found = found(&program, &model(name), &options, Limits::default());
        let (found, _) = found.unwrap_or_else(|limit| panic!("{name}: {limit:?}"));
        let kinds: Vec<_> = found.violations.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(kinds, [FaultKind::Hang], "{name}");
    }
}

/// A thread does not come to a write that is in the graph, because of what it reads in the end. Under a
/// model that states coherence, what it reads has no place there.
#[test]
fn executions_that_may_be_missing_are_reported() {
    let program = Program::from_ir(&random(167)).unwrap_or_else(|error| panic!("{error:?}"));
    let options = Options {
        workers: 1,
        acyclic: Some(Acyclic::Dependencies),
        reductions: Reductions::ALL.with(Reduction::LaterWrites, false),
        ..Options::default()
    };
    let rounds = Limits {
        loops: 2,
        ..Limits::default()
    };
    let found = found(&program, &model("causal"), &options, rounds);
    assert!(matches!(found, Err(None)), "{found:?}");
}

#[test]
fn threads_wait_where_reads_are_postponed_as_they_do_where_they_are_not() {
    // in these, a wait has a cause that other writes follow; a thread waits in a round that writes what
    // it has read, in one that exchanges a value for the same, and in one without events
    compare((0..14).chain([20, 167, 212, 469, 1136, 22022]), 500);
}

#[test]
#[ignore = "takes minutes: cargo test --release -p explore -- --ignored"]
fn threads_of_many_programs_wait_as_they_do_where_reads_are_not_postponed() {
    compare(seeds(20_000), 500);
}
