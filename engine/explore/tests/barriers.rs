//! Barriers: with one order of arrivals, threads do what they do with all of them.
//!
//! Random programs of threads that meet at a barrier. Some have more or fewer threads than the barrier
//! is for, some leave early, look at what `pthread_barrier_wait` returns, destroy the barrier, or have
//! threads that do not use it.
mod dice;
mod found;
mod seeds;

use dice::Dice;
use explore::{Acyclic, Options, ProgramSource, Reduction, Reductions, Search};
use found::{found, model};
use program::interpreter::Limits;
use program::Program;
use seeds::seeds;
use std::fmt::Write;

const HEAD: &str = "\
target datalayout = \"e-m:e-i64:64-i128:128-f80:128-n8:16:32:64-S128\"
target triple = \"x86_64-unknown-linux-musl\"
@b = global [32 x i8] zeroinitializer, align 8
@x = global i32 0, align 4
@y = global i32 0, align 4
@text = constant [2 x i8] c\"r\\00\"
declare i32 @pthread_barrier_init(ptr, ptr, i32)
declare i32 @pthread_barrier_wait(ptr)
declare i32 @pthread_barrier_destroy(ptr)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(i64, ptr)
declare void @__assert_fail(ptr, ptr, i32, ptr)
";

/// A function: a thread, or main between the creation of threads and the joins.
struct Body<'d> {
    dice: &'d mut Dice,
    /// The name of what it returns.
    result: String,
    text: String,
    registers: u32,
}

impl Body<'_> {
    fn register(&mut self) -> String {
        self.registers += 1;
        format!("%v{}", self.registers)
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "  {text}");
    }

    /// Adds a value to what the function has read.
    fn remember(&mut self, value: &str) {
        let (old, more, new) = (self.register(), self.register(), self.register());
        let result = self.result.clone();
        self.line(&format!("{old} = load i32, ptr {result}"));
        self.line(&format!("{more} = mul i32 {old}, 5"));
        self.line(&format!("{new} = add i32 {more}, {value}"));
        self.line(&format!("store i32 {new}, ptr {result}"));
    }

    fn load(&mut self) -> String {
        let read = self.register();
        let (at, order) = (self.dice.one(&["x", "y"]), self.dice.one(&READS));
        self.line(&format!(
            "{read} = load atomic i32, ptr @{at} {order}, align 4"
        ));
        read
    }

    fn access(&mut self) {
        let at = self.dice.one(&["x", "y"]);
        let value = 1 + self.dice.below(2);
        match self.dice.below(12) {
            0..=3 => {
                let read = self.load();
                self.remember(&read);
            }
            4..=7 => {
                let order = self.dice.one(&WRITES);
                self.line(&format!(
                    "store atomic i32 {value}, ptr @{at} {order}, align 4"
                ));
            }
            8 => {
                let (old, order) = (self.register(), self.dice.one(&UPDATES));
                self.line(&format!(
                    "{old} = atomicrmw add ptr @{at}, i32 {value} {order}"
                ));
                self.remember(&old);
            }
            9 => {
                let order = self.dice.one(&["acquire", "release", "acq_rel", "seq_cst"]);
                self.line(&format!("fence {order}"));
            }
            10 => self.line(&format!("store i32 {value}, ptr @{at}, align 4")),
            _ => {
                let (read, bad) = (self.load(), self.register());
                self.line(&format!("{bad} = icmp eq i32 {read}, 2"));
                let (fails, on) = (
                    format!("fails{}", self.registers),
                    format!("on{}", self.registers),
                );
                self.line(&format!("br i1 {bad}, label %{fails}, label %{on}"));
                let _ = writeln!(self.text, "{fails}:");
                self.line("call void @__assert_fail(ptr @text, ptr @text, i32 1, ptr @text)");
                self.line("unreachable");
                let _ = writeln!(self.text, "{on}:");
            }
        }
    }

    fn wait(&mut self, kind: Kind) {
        if kind == Kind::ReturnsEarly && self.dice.happens(2) {
            let (read, early) = (self.load(), self.register());
            self.line(&format!("{early} = icmp eq i32 {read}, 1"));
            let on = format!("on{}", self.registers);
            self.line(&format!("br i1 {early}, label %end, label %{on}"));
            let _ = writeln!(self.text, "{on}:");
        }
        let returned = self.register();
        self.line(&format!(
            "{returned} = call i32 @pthread_barrier_wait(ptr @b)"
        ));
        if kind == Kind::UsesResult && self.dice.happens(2) {
            let (serial, bit) = (self.register(), self.register());
            self.line(&format!("{serial} = icmp eq i32 {returned}, -1"));
            self.line(&format!("{bit} = zext i1 {serial} to i32"));
            self.remember(&bit);
        }
    }
}

const READS: [&str; 4] = ["monotonic", "monotonic", "acquire", "seq_cst"];
const WRITES: [&str; 4] = ["monotonic", "monotonic", "release", "seq_cst"];
const UPDATES: [&str; 3] = ["monotonic", "acq_rel", "seq_cst"];

/// How a program uses its barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// As many threads wait as the barrier is for.
    Exact,
    Fewer,
    More,
    UsesResult,
    ReturnsEarly,
    /// A thread that does not use the barrier destroys it meanwhile.
    Destroys,
}

fn random(seed: u64) -> (Kind, String) {
    let mut dice = Dice::new(seed);
    let kind = match dice.below(12) {
        0 => Kind::Fewer,
        1 => Kind::More,
        2 => Kind::UsesResult,
        3 | 4 => Kind::ReturnsEarly,
        5 => Kind::Destroys,
        _ => Kind::Exact,
    };
    let users = 2 + u64::from(dice.happens(3));
    let rounds = 1 + u64::from(users == 2 && dice.happens(2));
    let main_waits = dice.happens(4);
    let other = kind == Kind::Destroys || dice.happens(3);
    let alike = users == 3 && !main_waits && dice.happens(3);
    let count = match kind {
        Kind::Fewer => users + 1,
        Kind::More if users > 2 => users - 1,
        _ => users,
    };
    let mut text = HEAD.to_owned();
    let started = users - u64::from(main_waits) + u64::from(other);
    let mut starts = Vec::new();
    for thread in 0..started {
        let waits = thread < users - u64::from(main_waits);
        if alike && waits && thread > 0 {
            starts.push(0);
            continue;
        }
        starts.push(thread);
        let mut body = Body {
            dice: &mut dice,
            result: "%own".to_owned(),
            text: String::new(),
            registers: 0,
        };
        for round in 0..rounds {
            if body.dice.happens(2) || round == 0 {
                body.access();
            }
            if waits {
                body.wait(kind);
            } else if kind == Kind::Destroys {
                body.line("call i32 @pthread_barrier_destroy(ptr @b)");
            }
        }
        body.access();
        let own = body.text;
        // like threads share what they have read
        let shown = match alike && waits {
            true => String::new(),
            false => format!("%sum = load i32, ptr %own\n  store i32 %sum, ptr @r{thread}"),
        };
        let _ = write!(
            text,
            "@r{thread} = global i32 0, align 4\n\
             define ptr @t{thread}(ptr %unused) {{\n  %own = alloca i32\n  store i32 0, ptr %own\n\
             {own}  br label %end\nend:\n  {shown}\n  ret ptr null\n}}\n"
        );
    }
    let mut main = Body {
        dice: &mut dice,
        result: "%own".to_owned(),
        text: String::new(),
        registers: 0,
    };
    for thread in 0..started {
        let start = starts[thread as usize];
        main.line(&format!(
            "call i32 @pthread_create(ptr %h{thread}, ptr null, ptr @t{start}, ptr null)"
        ));
    }
    if main_waits {
        for _ in 0..rounds {
            if main.dice.happens(2) {
                main.access();
            }
            main.wait(kind);
        }
        main.access();
    }
    main.line("br label %end");
    let _ = writeln!(main.text, "end:");
    for thread in 0..started {
        let handle = main.register();
        main.line(&format!("{handle} = load i64, ptr %h{thread}"));
        main.line(&format!("call i32 @pthread_join(i64 {handle}, ptr null)"));
    }
    for thread in 0..started {
        if starts[thread as usize] == thread {
            let read = main.register();
            main.line(&format!("{read} = load i32, ptr @r{thread}"));
            main.remember(&read);
        }
    }
    for at in ["x", "y"] {
        let read = main.register();
        main.line(&format!(
            "{read} = load atomic i32, ptr @{at} monotonic, align 4"
        ));
        main.remember(&read);
    }
    if main.dice.happens(3) && kind != Kind::Destroys {
        main.line("call i32 @pthread_barrier_destroy(ptr @b)");
    }
    let body = main.text;
    let handles: String = (0..started)
        .map(|thread| format!("  %h{thread} = alloca i64\n"))
        .collect();
    let _ = write!(
        text,
        "define i32 @main() {{\n  %own = alloca i32\n  store i32 0, ptr %own\n{handles}  \
         call i32 @pthread_barrier_init(ptr @b, ptr null, i32 {count})\n{body}  \
         %sum = load i32, ptr %own\n  ret i32 %sum\n}}\n"
    );
    (kind, text)
}

const MODELS: [(&str, Acyclic); 8] = [
    ("sc", Acyclic::ProgramOrder),
    ("tso", Acyclic::ProgramOrder),
    ("rc11", Acyclic::ProgramOrder),
    ("rc20", Acyclic::ProgramOrder),
    ("imm", Acyclic::Dependencies),
    ("aarch64-programs", Acyclic::Dependencies),
    ("causal", Acyclic::ProgramOrder),
    ("coherence", Acyclic::ProgramOrder),
];

/// `most`: programs with more executions are left out.
fn compare_each(seeds: std::ops::Range<u64>, most: u64) {
    let models = MODELS.map(|(name, acyclic)| (name, model(name), acyclic));
    let (mut all, mut some, mut compared) = (0, 0, 0);
    for seed in seeds {
        let (kind, text) = random(seed);
        let program =
            Program::from_ir(&text).unwrap_or_else(|error| panic!("{error:?}\n{seed}: {text}"));
        let (name, model, acyclic) = &models[seed as usize % models.len()];
        let search = [None, Some(Search::Revisits), Some(Search::Postpones)];
        let mut options = Options {
            workers: 1,
            acyclic: Some(*acyclic),
            search: search[(seed / 8) as usize % 3],
            reductions: Reductions::ALL.without([
                Reduction::Symmetry,
                Reduction::Arrivals,
                Reduction::Retries,
                Reduction::UndoneRounds,
            ]),
            ..Options::default()
        };
        options.limits.executions = most;
        let Ok((expected, more)) = found(&program, model, &options, Limits::default()) else {
            continue;
        };
        options.reductions = Reductions::ALL.with(Reduction::Symmetry, seed / 24 % 2 == 0);
        options.limits = explore::Limits::default();
        options.limits.executions = most;
        let Ok((seen, fewer)) = found(&program, model, &options, Limits::default()) else {
            panic!("program {seed} has more executions under {name}: {text}");
        };
        assert_eq!(
            seen, expected,
            "program {seed}, {kind:?}, under {name}: {text}"
        );
        all += more.all();
        some += fewer.all();
        compared += 1;
    }
    println!("{compared} programs: {some} executions of {all}");
    assert!(some < all, "{some} of {all}");
}

/// Threads that meet so often at a barrier for all of them, and then do this.
fn meeting(threads: u64, rounds: u64, alike: bool, then: &str) -> Program {
    let mut text = HEAD.to_owned();
    let wait = "  call i32 @pthread_barrier_wait(ptr @b)\n".repeat(rounds as usize) + then;
    let mut main = String::new();
    for thread in 0..threads {
        let start = if alike { 0 } else { thread };
        if start == thread {
            let _ = write!(
                text,
                "define ptr @t{thread}(ptr %unused) {{\n{wait}  ret ptr null\n}}\n"
            );
        }
        let _ = write!(
            main,
            "  %h{thread} = alloca i64\n  \
             call i32 @pthread_create(ptr %h{thread}, ptr null, ptr @t{start}, ptr null)\n"
        );
    }
    let _ = write!(
        text,
        "define i32 @main() {{\n  \
         call i32 @pthread_barrier_init(ptr @b, ptr null, i32 {threads})\n{main}"
    );
    for thread in 0..threads {
        let _ = write!(
            text,
            "  %j{thread} = load i64, ptr %h{thread}\n  \
             call i32 @pthread_join(i64 %j{thread}, ptr null)\n"
        );
    }
    text.push_str("  ret i32 0\n}\n");
    Program::from_ir(&text).unwrap_or_else(|error| panic!("{error:?}\n{text}"))
}

#[test]
fn threads_that_meet_have_one_execution_in_every_model_that_barriers_order() {
    for (name, acyclic) in MODELS {
        let model = model(name);
        for (threads, rounds, alike) in [(2, 3, false), (3, 1, true), (4, 3, false), (5, 2, true)] {
            let program = meeting(threads, rounds, alike, "");
            let mut options = Options {
                acyclic: Some(acyclic),
                reductions: Reductions::ALL.with(Reduction::Symmetry, alike),
                ..Options::default()
            };
            options.limits.executions = 50;
            let mut source = ProgramSource::new(&program, Limits::default());
            let counts = source.explore(&model, &options).unwrap().counts;
            // the search makes no use of waits under a model that it has to check late
            let blocked = if name == "causal" { counts.blocked } else { 0 };
            let one = (counts.complete, counts.all() - blocked) == (1, 1);
            assert_eq!(one, name != "coherence", "{name}, {threads}: {counts:?}");
        }
    }
}

#[test]
fn threads_that_have_met_behave_alike() {
    let program = meeting(3, 1, true, "  atomicrmw add ptr @x, i32 1 monotonic\n");
    let options = Options {
        acyclic: Some(Acyclic::ProgramOrder),
        ..Options::default()
    };
    let mut source = ProgramSource::new(&program, Limits::default());
    let counts = source.explore(&model("sc"), &options).unwrap().counts;
    assert_eq!((counts.complete, counts.represented), (1, 6), "{counts:?}");
}

#[test]
fn one_order_of_arrivals_shows_what_all_orders_show() {
    compare_each(0..120, 60);
}

#[test]
#[ignore = "takes minutes: cargo test --release -p explore -- --ignored"]
fn one_order_of_arrivals_shows_what_all_orders_show_in_many_programs() {
    compare_each(seeds(20_000), 1_000);
}
