//! Rounds of a loop that add a number and subtract it again: without them, threads do what they do
//! with all rounds.
//!
//! Random programs of read-write locks and the like: threads announce themselves by an addition, and
//! take it back where they find a writer. Some do something else in such a round, use what the
//! subtraction reads, add other numbers, or count their rounds; others look at the number, or
//! overwrite it.
mod dice;
mod found;
mod random_threads;
mod reductions;
mod seeds;

use dice::Dice;
use explore::{Acyclic, FaultKind, Options, Reduction, Reductions};
use found::{found, model, Found};
use program::interpreter::Limits;
use program::Program;
use random_threads::{add_main, add_thread, run_threads, Body, LIBRARY, TARGET};
use reductions::Comparison;
use seeds::seeds;

/// The beginning of every program.
fn head() -> String {
    format!("{TARGET}@x = global i32 0, align 4\n{LIBRARY}{TAKES_BACK}")
}

/// A subtraction in a function of its own, as C++ and Rust have it.
const TAKES_BACK: &str = "\
define i32 @takes_back(i32 %number) {
  %old = atomicrmw sub ptr @l, i32 %number release
  ret i32 %old
}
";

const ENTRY: &str = "  %own = alloca i32\n  %rounds = alloca i32\n  \
                     store i32 0, ptr %own\n  store i32 0, ptr %rounds\n";

const READS: [&str; 4] = ["monotonic", "monotonic", "acquire", "seq_cst"];
const WRITES: [&str; 4] = ["monotonic", "monotonic", "release", "seq_cst"];
const UPDATES: [&str; 5] = ["monotonic", "acquire", "release", "acq_rel", "seq_cst"];

/// The bit of a writer.
const WRITER: u64 = 64;

struct Thread<'d> {
    dice: &'d mut Dice,
    text: String,
    names: u32,
    /// Something unusual is still to be done.
    odd: bool,
}

impl Body for Thread<'_> {
    const FACTOR: u32 = 11;

    fn text(&mut self) -> &mut String {
        &mut self.text
    }

    fn names(&mut self) -> &mut u32 {
        &mut self.names
    }
}

impl Thread<'_> {
    fn load(&mut self, at: &str) -> String {
        let order = self.dice.one(&READS);
        self.value(&format!("load atomic i32, ptr @{at} {order}, align 4"))
    }

    /// A read-modify-write.
    fn update(&mut self, operation: &str, operand: u64) -> String {
        let order = self.dice.one(&UPDATES);
        self.value(&format!(
            "atomicrmw {operation} ptr @l, i32 {operand} {order}"
        ))
    }

    /// Whether the unusual thing is done here.
    fn is_odd(&mut self) -> bool {
        let here = self.odd && self.dice.happens(3);
        self.odd &= !here;
        here
    }

    /// An access of what the lock protects, or of the lock in a way that may tell.
    fn access(&mut self) {
        match self.dice.below(5) {
            0 | 1 => {
                let read = self.load("x");
                self.remember(&read);
            }
            2 | 3 => {
                let order = self.dice.one(&WRITES);
                let value = 1 + self.dice.below(2);
                self.line(&format!(
                    "store atomic i32 {value}, ptr @x {order}, align 4"
                ));
            }
            _ => self.line("store i32 3, ptr @x, align 4"),
        }
        if self.is_odd() {
            match self.dice.below(6) {
                0 | 1 => {
                    let read = self.load("l");
                    self.remember(&read);
                }
                2 => {
                    let (read, order) = (self.load("x"), self.dice.one(&READS));
                    let (one, look, on) = (
                        self.value(&format!("icmp eq i32 {read}, 1")),
                        self.name(),
                        self.name(),
                    );
                    self.line(&format!("br i1 {one}, label %{look}, label %{on}"));
                    self.label(&look);
                    let held = self.value(&format!("load atomic i32, ptr @l {order}, align 4"));
                    self.remember(&held);
                    self.line(&format!("br label %{on}"));
                    self.label(&on);
                }
                3 => self.line("store atomic i32 0, ptr @l monotonic, align 4"),
                4 => {
                    let read = self.value("load i32, ptr @l, align 4");
                    self.remember(&read);
                }
                _ => {
                    let old = self.update("xchg", 0);
                    self.remember(&old);
                }
            }
        }
    }

    /// A reader of the lock.
    fn reader(&mut self) {
        let amount = if self.is_odd() { 2 } else { 1 };
        let (head, undo, enter, over) = (self.name(), self.name(), self.name(), self.name());
        self.line("store i32 0, ptr %rounds");
        self.line(&format!("br label %{head}"));
        self.label(&head);
        let old = self.update("add", amount);
        let found = match self.dice.below(if self.odd { 6 } else { 3 }) {
            0 | 1 => {
                let bit = self.value(&format!("and i32 {old}, {WRITER}"));
                self.value(&format!("icmp ne i32 {bit}, 0"))
            }
            2 | 3 => self.value(&format!("icmp uge i32 {old}, {WRITER}")),
            4 => self.value(&format!("icmp eq i32 {old}, {WRITER}")),
            _ => self.value(&format!("icmp ne i32 {old}, 0")),
        };
        self.line(&format!("br i1 {found}, label %{undo}, label %{enter}"));
        self.label(&undo);
        if self.is_odd() {
            match self.dice.below(3) {
                0 => self.remember(&old),
                1 => self.line("store atomic i32 2, ptr @x monotonic, align 4"),
                _ => {
                    let read = self.load("x");
                    self.remember(&read);
                }
            }
        }
        let order = self.dice.one(&UPDATES);
        let back = match self.dice.below(4) {
            0 => format!("atomicrmw add ptr @l, i32 -{amount} {order}"),
            1 => format!("call i32 @takes_back(i32 {amount})"),
            _ => format!("atomicrmw sub ptr @l, i32 {amount} {order}"),
        };
        let back = self.value(&back);
        if self.is_odd() {
            self.remember(&back);
        }
        if self.dice.happens(2) {
            // waits for the writer
            let (wait, again) = (self.name(), self.name());
            self.line(&format!("br label %{wait}"));
            self.label(&wait);
            let held = self.load("l");
            let bit = match self.is_odd() {
                true => held,
                false => self.value(&format!("and i32 {held}, {WRITER}")),
            };
            let taken = self.value(&format!("icmp ne i32 {bit}, 0"));
            self.line(&format!("br i1 {taken}, label %{wait}, label %{again}"));
            self.label(&again);
        }
        if self.is_odd() {
            if self.dice.happens(2) {
                let rounds = self.value("load i32, ptr %rounds");
                let more = self.value(&format!("add i32 {rounds}, 1"));
                self.line(&format!("store i32 {more}, ptr %rounds"));
            } else {
                self.line(&format!("br label %{over}"));
                let never = self.name();
                self.label(&never);
            }
        }
        self.line(&format!("br label %{head}"));
        self.label(&enter);
        self.access();
        let left = self.update("sub", amount);
        if self.is_odd() {
            self.remember(&left);
        }
        self.line(&format!("br label %{over}"));
        self.label(&over);
        let rounds = self.value("load i32, ptr %rounds");
        self.remember(&rounds);
    }

    /// A writer.
    fn writer(&mut self) {
        if self.dice.happens(2) {
            let (head, enter) = (self.name(), self.name());
            self.line(&format!("br label %{head}"));
            self.label(&head);
            let (success, failure) = (self.dice.one(&UPDATES), self.dice.one(&READS));
            let weak = if self.dice.happens(4) { "weak " } else { "" };
            let pair = self.value(&format!(
                "cmpxchg {weak}ptr @l, i32 0, i32 {WRITER} {success} {failure}"
            ));
            let done = self.value(&format!("extractvalue {{ i32, i1 }} {pair}, 1"));
            self.line(&format!("br i1 {done}, label %{enter}, label %{head}"));
            self.label(&enter);
        } else {
            let old = self.update("add", WRITER);
            if self.is_odd() {
                self.remember(&old);
            }
        }
        self.access();
        if self.is_odd() {
            return;
        }
        match self.dice.below(6) {
            leaves @ 0..=2 => {
                let order = self.dice.one(&UPDATES);
                let clears = ["and ptr @l, i32 -65", "xor ptr @l, i32 64"][leaves as usize % 2];
                self.value(&format!("atomicrmw {clears} {order}"));
            }
            _ => {
                let old = self.update("sub", WRITER);
                if self.is_odd() {
                    let right = self.value(&format!("icmp eq i32 {old}, {WRITER}"));
                    self.check(&right);
                }
            }
        }
    }
}

fn random(seed: u64) -> String {
    let mut dice = Dice::new(seed);
    let count = 2 + u64::from(dice.happens(3));
    let alike = dice.happens(3);
    // half of the programs do nothing unusual
    let odd = dice.happens(2).then(|| dice.below(count));
    let held = if dice.happens(4) { WRITER } else { 0 };
    let mut text = format!("{}@l = global i32 {held}, align 4\n", head());
    for thread in 0..count {
        let mut body = Thread {
            dice: &mut dice,
            text: String::new(),
            names: 0,
            odd: odd == Some(thread),
        };
        let reads = thread == 0 || count == 3 && thread == 1 || body.dice.happens(5);
        match (reads, body.odd && body.dice.happens(3)) {
            (true, _) => body.reader(),
            (false, false) => body.writer(),
            (false, true) => body.access(),
        }
        if body.dice.happens(4) {
            body.access();
        }
        let own = body.text;
        add_thread(&mut text, thread, ENTRY, &own, alike);
    }
    let mut main = Thread {
        dice: &mut dice,
        text: String::new(),
        names: 0,
        odd: false,
    };
    // with three threads, the two readers may be alike
    let first = |thread: &u64| alike && *thread < 2 && count == 3;
    let starts: Vec<u64> = (0..count)
        .map(|thread| if first(&thread) { 0 } else { thread })
        .collect();
    run_threads(&mut main, &starts);
    for at in ["x", "l"] {
        let read = main.load(at);
        main.remember(&read);
    }
    let body = main.text;
    add_main(&mut text, &body);
    text
}

/// The last four are a user's.
const MODELS: [(&str, Acyclic); 9] = [
    ("sc", Acyclic::ProgramOrder),
    ("tso", Acyclic::ProgramOrder),
    ("rc11", Acyclic::ProgramOrder),
    ("rc20", Acyclic::ProgramOrder),
    ("imm", Acyclic::Dependencies),
    ("causal", Acyclic::ProgramOrder),
    ("raced", Acyclic::ProgramOrder),
    ("coherence", Acyclic::ProgramOrder),
    ("direct", Acyclic::ProgramOrder),
];

const COMPARISON: Comparison = Comparison {
    random,
    expected: |mut without, every, seen| {
        if every.truncated > 0 {
            // a round that is done for ever reaches the bound instead
            let hangs = seen.violations.iter().copied();
            let hangs = hangs.filter(|(kind, _)| *kind == FaultKind::Hang);
            without.violations.extend(hangs);
        }
        without
    },
};

/// A reader and a writer of a lock.
const LOCK: &str = "\
@l = global i32 0, align 4
define ptr @reader(ptr %unused) {
  br label %head
head:
  %old = atomicrmw add ptr @l, i32 1 acquire
  %bit = and i32 %old, 64
  %taken = icmp ne i32 %bit, 0
  br i1 %taken, label %undo, label %enter
undo:
  atomicrmw sub ptr @l, i32 1 monotonic
  br label %head
enter:
  atomicrmw sub ptr @l, i32 1 release
  ret ptr null
}
define ptr @writer(ptr %unused) {
  atomicrmw add ptr @l, i32 64 acquire
  atomicrmw sub ptr @l, i32 64 release
  ret ptr null
}
define i32 @main() {
  %h = alloca i64
  call i32 @pthread_create(ptr %h, ptr null, ptr @reader, ptr null)
  call i32 @pthread_create(ptr %h, ptr null, ptr @writer, ptr null)
  ret i32 0
}
";

/// The writer, where it tries until there is no reader.
const TRIES: &str = "\
  br label %try
try:
  %pair = cmpxchg ptr @l, i32 0, i32 64 acquire monotonic
  %done = extractvalue { i32, i1 } %pair, 1
  br i1 %done, label %leave, label %try
leave:
";

#[test]
fn rounds_are_left_out_where_read_modify_writes_continue_release_sequences() {
    for (in_lock, instead) in [
        ("", ""),
        ("  atomicrmw add ptr @l, i32 64 acquire\n", TRIES),
        ("sub ptr @l, i32 64 release", "and ptr @l, i32 -65 release"),
        ("sub ptr @l, i32 64 release", "xor ptr @l, i32 64 release"),
        (
            "  atomicrmw sub ptr @l, i32 1 monotonic",
            "  call i32 @takes_back(i32 1)",
        ),
    ] {
        rounds_are_left_out(&format!("{}{}", head(), LOCK.replace(in_lock, instead)));
    }
}

fn rounds_are_left_out(text: &str) {
    let program = Program::from_ir(text).expect("a program");
    // `causal` and `raced` have no axiom of coherence, `coherence` does not order what a thread does
    // before what follows its end, and `direct` does not continue them
    let continues = ["sc", "tso", "rc11", "rc20"];
    let known = MODELS.map(|(name, _)| name);
    for name in known {
        let explored = |every: bool| {
            let by_dependencies = name == "imm";
            let mut options = Options {
                reductions: Reductions::ALL.with(Reduction::UndoneRounds, !every),
                ..Options::default()
            };
            options.acyclic = Some(match by_dependencies {
                true => Acyclic::Dependencies,
                false => Acyclic::ProgramOrder,
            });
            let found = found(&program, &model(name), &options, Limits::default());
            found.expect("few executions").1
        };
        let (every, some) = (explored(true), explored(false));
        let fewer = some.complete < every.complete && some.truncated < every.truncated;
        assert_eq!(
            fewer,
            continues.contains(&name),
            "{name}: {some:?}, {every:?}"
        );
    }
}

/// A third thread detaches another if it sees the reader within a round, and then detaches it again.
const DETACHES: &str = "\
declare i32 @pthread_detach(i64)
@g = global i64 0, align 8
define ptr @idles(ptr %unused) {
  ret ptr null
}
define ptr @detaches(ptr %unused) {
  %thread = load i64, ptr @g
  %seen = load atomic i32, ptr @l monotonic, align 4
  %within = icmp eq i32 %seen, 65
  br i1 %within, label %once, label %next
once:
  call i32 @pthread_detach(i64 %thread)
  br label %next
next:
  fence seq_cst
  call i32 @pthread_detach(i64 %thread)
  ret ptr null
}
";

#[test]
fn a_thread_that_detaches_another_because_of_a_round_shows_it() {
    let lock = LOCK.replace("@l = global i32 0", "@l = global i32 64");
    let lock = lock.replace("  atomicrmw add ptr @l, i32 64 acquire\n", "");
    let starts = "  call i32 @pthread_create(ptr @g, ptr null, ptr @idles, ptr null)\n  \
                  call i32 @pthread_create(ptr %h, ptr null, ptr @detaches, ptr null)\n  ret i32";
    let text = format!("{}{DETACHES}{}", head(), lock.replace("  ret i32", starts));
    let program = Program::from_ir(&text).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    for reductions in [
        Reductions::ALL,
        Reductions::ALL.with(Reduction::UndoneRounds, false),
    ] {
        let options = Options {
            acyclic: Some(Acyclic::ProgramOrder),
            reductions,
            ..Options::default()
        };
        let found = found(&program, &model("sc"), &options, Limits::default());
        let (found, _) = found.expect("few executions");
        let kinds: Vec<_> = found.violations.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(kinds, [FaultKind::Lock]);
    }
}

/// Each thread finds the other within its round, again and again.
#[test]
fn two_threads_may_undo_rounds_for_ever_because_of_one_another() {
    let text = "@l = global i32 0, align 4
define ptr @enter(ptr %unused) {
  br label %head
head:
  %old = atomicrmw add ptr @l, i32 1 acquire
  %taken = icmp ne i32 %old, 0
  br i1 %taken, label %undo, label %enter
undo:
  atomicrmw sub ptr @l, i32 1 monotonic
  br label %head
enter:
  atomicrmw sub ptr @l, i32 1 release
  ret ptr null
}
define i32 @main() {
  %h = alloca i64
  call i32 @pthread_create(ptr %h, ptr null, ptr @enter, ptr null)
  call i32 @pthread_create(ptr %h, ptr null, ptr @enter, ptr null)
  ret i32 0
}
";
    let program = Program::from_ir(&format!("{}{text}", head())).expect("a program");
    let options = Options {
        acyclic: Some(Acyclic::ProgramOrder),
        ..Options::default()
    };
    let found = found(&program, &model("sc"), &options, Limits::default());
    assert!(found.expect("few executions").1.truncated > 0);
}

/// What a test-and-set loop has read is released to the last thread, or only what that loop has.
const SPIN: &str = "\
@l = global i32 0, align 4
define ptr @first(ptr %unused) {
  store i32 1, ptr @x, align 4
  store atomic i32 3, ptr @l release, align 4
  ret ptr null
}
define ptr @spin(ptr %unused) {
  br label %head
head:
  %old = atomicrmw or ptr @l, i32 1 monotonic
  %bit = and i32 %old, 1
  %taken = icmp ne i32 %bit, 0
  br i1 %taken, label %head, label %done
done:
  ret ptr null
}
define ptr @last(ptr %unused) {
  %now = load atomic i32, ptr @l acquire, align 4
  %set = icmp eq i32 %now, 3
  br i1 %set, label %write, label %done
write:
  store i32 2, ptr @x, align 4
  br label %done
done:
  ret ptr null
}
define i32 @main() {
  %h = alloca i64
  call i32 @pthread_create(ptr %h, ptr null, ptr @first, ptr null)
  call i32 @pthread_create(ptr %h, ptr null, ptr @spin, ptr null)
  call i32 @pthread_create(ptr %h, ptr null, ptr @last, ptr null)
  ret i32 0
}
";

#[test]
fn a_write_that_changes_nothing_is_left_out_where_it_continues_release_sequences() {
    let program = Program::from_ir(&format!("{}{SPIN}", head())).expect("a program");
    for (name, races) in [("rc11", false), ("rc20", false), ("direct", true)] {
        let options = Options {
            acyclic: Some(Acyclic::ProgramOrder),
            ..Options::default()
        };
        let found = found(&program, &model(name), &options, Limits::default());
        let (Found { violations, .. }, counts) = found.expect("few executions");
        assert_eq!(counts.blocked, if races { 4 } else { 2 }, "{name}");
        let seen = violations.contains(&(FaultKind::Race, None));
        assert_eq!(seen, races, "{name}: {violations:?}");
    }
}

#[test]
fn without_rounds_that_are_undone_threads_do_what_they_do_with_all() {
    COMPARISON.compare(&MODELS, 0..90, 200);
}

#[test]
#[ignore = "takes minutes: cargo test --release -p explore -- --ignored"]
fn without_rounds_that_are_undone_threads_do_what_they_do_in_many_programs() {
    COMPARISON.compare(&MODELS, seeds(20_000), 3_000);
}
