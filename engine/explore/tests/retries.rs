//! Loops that retry with the value that they have read: without the rounds that a thread need not
//! have done, threads do what they do with all of them.
//!
//! Random programs of threads that retry compare-exchanges or wait, some with other accesses in
//! between, with counters of rounds, or with sums of what they have read, among threads that write.
mod dice;
mod found;
mod random_threads;
mod reductions;
mod seeds;

use dice::Dice;
use explore::Acyclic;
use random_threads::{add_main, add_thread, run_threads, Body, LIBRARY, TARGET};
use reductions::Comparison;
use seeds::seeds;

const GLOBALS: &str = "\
@x = global i32 0, align 4
@y = global i32 0, align 4
";

const ENTRY: &str = "  %own = alloca i32\n  %rounds = alloca i32\n  \
                     %expected = alloca i32\n  store i32 0, ptr %own\n";

const READS: [&str; 5] = ["monotonic", "monotonic", "monotonic", "acquire", "seq_cst"];
const WRITES: [&str; 4] = ["monotonic", "monotonic", "release", "seq_cst"];
const UPDATES: [&str; 4] = ["monotonic", "monotonic", "acq_rel", "seq_cst"];

/// What a loop keeps from round to round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keeps {
    /// The value that it has read, in a register.
    Register,
    /// The same, in memory that only the thread uses.
    Memory,
    /// How many rounds there were, too.
    Count,
    /// The sum of all that it has read.
    Sum,
}

struct Thread<'d> {
    dice: &'d mut Dice,
    text: String,
    names: u32,
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
        match order {
            "" => self.value(&format!("load i32, ptr @{at}, align 4")),
            order => self.value(&format!("load atomic i32, ptr @{at} {order}, align 4")),
        }
    }

    fn access(&mut self) {
        let at = self.dice.one(&["x", "x", "y"]);
        let value = 1 + self.dice.below(2);
        match self.dice.below(12) {
            0..=2 => {
                let order = self.dice.one(&READS);
                let read = self.load(at, order);
                self.remember(&read);
            }
            3..=5 => {
                let order = self.dice.one(&WRITES);
                self.line(&format!(
                    "store atomic i32 {value}, ptr @{at} {order}, align 4"
                ));
            }
            6..=8 => {
                let order = self.dice.one(&UPDATES);
                let old = self.value(&format!("atomicrmw add ptr @{at}, i32 {value} {order}"));
                self.remember(&old);
            }
            9 => {
                let order = self.dice.one(&["acquire", "release", "acq_rel", "seq_cst"]);
                self.line(&format!("fence {order}"));
            }
            10 => self.line(&format!("store i32 {value}, ptr @y, align 4")),
            _ => {
                let read = self.load(at, "monotonic");
                let right = self.value(&format!("icmp ne i32 {read}, 2"));
                self.check(&right);
            }
        }
    }

    /// Something in a round that need not be there.
    fn between(&mut self) {
        match self.dice.below(14) {
            0 => {
                let read = self.load("y", "monotonic");
                self.remember(&read);
            }
            1 => {
                self.load("y", "");
            }
            2 => self.line("store atomic i32 1, ptr @y monotonic, align 4"),
            3 => self.line("fence acquire"),
            4 => self.line("store i32 2, ptr @y, align 4"),
            _ => {}
        }
    }

    fn retry(&mut self) {
        let keeps = match self.dice.below(10) {
            0..=4 => Keeps::Register,
            5..=7 => Keeps::Memory,
            8 => Keeps::Count,
            _ => Keeps::Sum,
        };
        let failure = self.dice.one(&READS);
        let first = match self.dice.below(5) {
            0 => "0".to_owned(),
            1 => {
                let order = self.dice.one(&READS);
                self.load("x", order)
            }
            _ => self.load("x", failure),
        };
        let (head, again, done) = (self.name(), self.name(), self.name());
        self.line("store i32 0, ptr %rounds");
        self.line(&format!("store i32 {first}, ptr %expected"));
        let (entry, phi, new) = (self.name(), self.name(), self.name());
        self.line(&format!("br label %{entry}"));
        self.label(&entry);
        self.line(&format!("br label %{head}"));
        self.label(&head);
        let expected = match keeps {
            Keeps::Memory => self.value("load i32, ptr %expected"),
            _ => {
                self.line(&format!(
                    "%{phi} = phi i32 [ {first}, %{entry} ], [ %{new}, %{again} ]"
                ));
                format!("%{phi}")
            }
        };
        self.between();
        let waits = self.dice.happens(4);
        let (read, ends) = if waits {
            let read = self.load("x", failure);
            let wanted = 1 + self.dice.below(2);
            let ends = self.value(&format!("icmp eq i32 {read}, {wanted}"));
            (read, ends)
        } else {
            let wanted = match self.dice.below(4) {
                0 => "3".to_owned(),
                1 => self.value(&format!("xor i32 {expected}, 1")),
                _ => self.value(&format!("add i32 {expected}, 1")),
            };
            let weak = self.dice.one(&["", "", "weak "]);
            let success = self.dice.one(&UPDATES);
            let pair = self.value(&format!(
                "cmpxchg {weak}ptr @x, i32 {expected}, i32 {wanted} {success} {failure}"
            ));
            let read = self.value(&format!("extractvalue {{ i32, i1 }} {pair}, 0"));
            let ends = self.value(&format!("extractvalue {{ i32, i1 }} {pair}, 1"));
            (read, ends)
        };
        if self.dice.happens(6) {
            let fails = self.value(&format!("icmp eq i32 {read}, 2"));
            let on = self.name();
            self.line(&format!("br i1 {fails}, label %{done}, label %{on}"));
            self.label(&on);
        }
        self.line(&format!("br i1 {ends}, label %{done}, label %{again}"));
        self.label(&again);
        if keeps == Keeps::Count {
            let rounds = self.value("load i32, ptr %rounds");
            let more = self.value(&format!("add i32 {rounds}, 1"));
            self.line(&format!("store i32 {more}, ptr %rounds"));
        }
        if self.dice.happens(12) {
            self.between();
        }
        self.line(&format!("store i32 {read}, ptr %expected"));
        match keeps {
            Keeps::Sum => self.line(&format!("%{new} = add i32 {read}, {expected}")),
            _ => self.line(&format!("%{new} = add i32 {read}, 0")),
        }
        self.line(&format!("br label %{head}"));
        self.label(&done);
        self.remember(&read);
        if keeps == Keeps::Count {
            let rounds = self.value("load i32, ptr %rounds");
            self.remember(&rounds);
        }
    }
}

fn random(seed: u64) -> String {
    let mut dice = Dice::new(seed);
    let count = 2 + u64::from(dice.happens(3));
    let alike = dice.happens(4);
    let mut text = format!("{TARGET}{GLOBALS}{LIBRARY}");
    for thread in 0..count {
        let mut body = Thread {
            dice: &mut dice,
            text: String::new(),
            names: 0,
        };
        let retries = thread == 0 || body.dice.happens(2);
        let most = if count == 2 { 3 } else { 2 };
        let before = body.dice.below(if retries { 2 } else { most });
        for _ in 0..before {
            body.access();
        }
        if retries {
            body.retry();
        }
        if !retries || body.dice.happens(2) {
            body.access();
        }
        let own = body.text;
        add_thread(&mut text, thread, ENTRY, &own, alike);
    }
    let mut main = Thread {
        dice: &mut dice,
        text: String::new(),
        names: 0,
    };
    let starts: Vec<u64> = (0..count)
        .map(|thread| if alike { 0 } else { thread })
        .collect();
    run_threads(&mut main, &starts);
    for at in ["x", "y"] {
        let read = main.load(at, "monotonic");
        main.remember(&read);
    }
    let body = main.text;
    add_main(&mut text, &body);
    text
}

/// The last three are a user's.
const MODELS: [(&str, Acyclic); 8] = [
    ("sc", Acyclic::ProgramOrder),
    ("tso", Acyclic::ProgramOrder),
    ("rc11", Acyclic::ProgramOrder),
    ("rc20", Acyclic::ProgramOrder),
    ("imm", Acyclic::Dependencies),
    ("causal", Acyclic::ProgramOrder),
    ("raced", Acyclic::ProgramOrder),
    ("failures", Acyclic::ProgramOrder),
];

const COMPARISON: Comparison = Comparison {
    random,
    expected: |without, _, _| without,
};

#[test]
fn fewer_rounds_show_what_all_rounds_show() {
    COMPARISON.compare(&MODELS, 0..96, 200);
}

#[test]
#[ignore = "takes minutes: cargo test --release -p explore -- --ignored"]
fn fewer_rounds_show_what_all_rounds_show_in_many_programs() {
    COMPARISON.compare(&MODELS, seeds(20_000), 1_000);
}
