//! Random programs in LLVM IR whose threads keep what they have seen in `%own`, and what each does
//! with all reductions and with none.
use crate::found::{found, model, Found};
use explore::{Acyclic, Counts, Limit, Options, Search};
use program::interpreter::Limits;
use program::Program;
use std::fmt::Write;
use std::ops::Range;
use std::time::Duration;

pub const TARGET: &str = "\
target datalayout = \"e-m:e-i64:64-i128:128-f80:128-n8:16:32:64-S128\"
target triple = \"x86_64-unknown-linux-musl\"
";

pub const LIBRARY: &str = "\
@text = constant [2 x i8] c\"r\\00\"
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(i64, ptr)
declare void @__assert_fail(ptr, ptr, i32, ptr)
";

/// The text of a function that is being written.
pub trait Body {
    /// What is seen is added to this many times what was seen before.
    const FACTOR: u32;

    fn text(&mut self) -> &mut String;

    /// How many names there are.
    fn names(&mut self) -> &mut u32;

    fn name(&mut self) -> String {
        *self.names() += 1;
        format!("v{}", self.names())
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text(), "  {text}");
    }

    /// A computation whose result has a new name.
    fn value(&mut self, text: &str) -> String {
        let name = format!("%{}", self.name());
        self.line(&format!("{name} = {text}"));
        name
    }

    fn label(&mut self, name: &str) {
        let _ = writeln!(self.text(), "{name}:");
    }

    /// Adds a value to what the thread has seen.
    fn remember(&mut self, value: &str) {
        let old = self.value("load i32, ptr %own");
        let more = self.value(&format!("mul i32 {old}, {}", Self::FACTOR));
        let new = self.value(&format!("add i32 {more}, {value}"));
        self.line(&format!("store i32 {new}, ptr %own"));
    }

    /// An error of the program.
    fn fail(&mut self) {
        self.line("call void @__assert_fail(ptr @text, ptr @text, i32 1, ptr @text)");
        self.line("unreachable");
    }
}

/// Adds a thread to a program: its function, which begins with `entry` and then does `own`, and a
/// global for what it has seen, unless threads are alike.
pub fn add_thread(text: &mut String, thread: u64, entry: &str, own: &str, alike: bool) {
    // like threads share what they have seen
    let shown = match alike {
        true => String::new(),
        false => format!("%sum = load i32, ptr %own\n  store i32 %sum, ptr @r{thread}"),
    };
    let _ = write!(
        text,
        "@r{thread} = global i32 0, align 4\n\
         define ptr @t{thread}(ptr %unused) {{\n{entry}{own}  br label %end\nend:\n  {shown}\n  \
         ret ptr null\n}}\n"
    );
}

/// Creates threads that start at these functions, joins them, and reads what they have seen.
pub fn run_threads(main: &mut impl Body, starts: &[u64]) {
    for (thread, start) in starts.iter().enumerate() {
        main.line(&format!("%h{thread} = alloca i64"));
        main.line(&format!(
            "call i32 @pthread_create(ptr %h{thread}, ptr null, ptr @t{start}, ptr null)"
        ));
    }
    for thread in 0..starts.len() {
        let handle = main.value(&format!("load i64, ptr %h{thread}"));
        main.line(&format!("call i32 @pthread_join(i64 {handle}, ptr null)"));
    }
    for thread in 0..starts.len() {
        let read = main.value(&format!("load i32, ptr @r{thread}"));
        main.remember(&read);
    }
}

/// Adds the function main to a program.
pub fn add_main(text: &mut String, body: &str) {
    let _ = write!(
        text,
        "define i32 @main() {{\n  %own = alloca i32\n  store i32 0, ptr %own\n{body}  \
         %sum = load i32, ptr %own\n  ret i32 %sum\n}}\n"
    );
}

/// Random programs, and what all reductions may find that was not found without them.
pub struct Comparison {
    /// The program of a seed.
    pub random: fn(u64) -> String,
    /// What is expected with reductions, from what was found without them, in how many executions.
    pub expected: fn(Found, &Counts, &Found) -> Found,
}

impl Comparison {
    /// Compares what programs do with all reductions and with none, each under one of the models.
    /// `most`: programs with more executions are left out, and those that take long.
    pub fn compare(&self, models: &[(&str, Acyclic)], seeds: Range<u64>, most: u64) {
        let loaded = models
            .iter()
            .map(|(name, acyclic)| (name, model(name), acyclic));
        let models: Vec<_> = loaded.collect();
        let count = models.len() as u64;
        let (mut all, mut some, mut compared, mut fewer) = (0, 0, 0, 0);
        for seed in seeds {
            let text = (self.random)(seed);
            let program =
                Program::from_ir(&text).unwrap_or_else(|error| panic!("{error:?}\n{seed}: {text}"));
            let (name, model, acyclic) = &models[(seed % count) as usize];
            let search = [None, Some(Search::Revisits), Some(Search::Postpones)];
            let explored = |every: bool| {
                let mut options = Options {
                    workers: 1,
                    acyclic: Some(**acyclic),
                    search: search[(seed / count) as usize % 3],
                    symmetry: !every && seed / (3 * count) % 2 == 0,
                    arrivals: every,
                    retries: every,
                    ..Options::default()
                };
                options.limits.executions = most;
                options.limits.time = Duration::from_secs(5);
                let rounds = Limits {
                    loops: 3,
                    ..Limits::default()
                };
                found(&program, model, &options, rounds)
            };
            let Ok((without, every)) = explored(true) else {
                continue;
            };
            let (seen, reduced) = match explored(false) {
                Ok(found) => found,
                Err(Limit::Executions) => panic!("more executions of {seed} under {name}: {text}"),
                Err(_) => continue,
            };
            let expected = (self.expected)(without, &every, &seen);
            assert_eq!(seen, expected, "program {seed} under {name}: {text}");
            all += every.all();
            some += reduced.all();
            compared += 1;
            fewer += u64::from(reduced.all() < every.all());
        }
        println!("{compared} programs: {some} executions of {all}, fewer in {fewer}");
        assert!(some < all, "{some} of {all}");
    }
}
