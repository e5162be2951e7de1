//! What the engine's tests share.
#![allow(dead_code)]
use program::interpreter::event::EventKind;
use program::interpreter::Outcome;
use program::trace::{Options, Run, Trace, TracedEvent};
use program::Program;

/// A compiled C program beside this file.
pub fn fixture(name: &str) -> Program {
    let path = format!("{}/tests/fixtures/{name}.ll", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the fixture is there");
    Program::from_ir(&text).expect("the fixture is supported")
}

pub fn trace(program: &Program) -> Trace {
    program.trace(&Options::default())
}

/// A program of one main, whose trace has every event on globals.
pub fn run(text: &str) -> Run {
    let program = Program::from_ir(text).unwrap_or_else(|e| panic!("{e}"));
    let options = Options {
        shared_only: false,
        ..Options::default()
    };
    let trace = program.trace(&options);
    assert_eq!(trace.runs.len(), 1, "one run");
    trace.runs.into_iter().next().expect("a run")
}

/// Runs `body` in a main whose result, as an i64, it leaves in `%r`.
pub fn value(declarations: &str, body: &str) -> u64 {
    let run = run(&format!(
        "@result = global i64 0\n{declarations}\ndefine i32 @main() {{\nentry:\n{body}\n  \
         store i64 %r, ptr @result\n  ret i32 0\n}}\n"
    ));
    assert_eq!(run.outcome, Outcome::Complete, "{}", run.message);
    let last = run.threads[0].last().expect("the store");
    assert_eq!(
        (last.event.kind, last.loc.as_str()),
        (EventKind::Write, "result")
    );
    last.event.written.expect("a value")
}

pub fn find<'e>(
    events: &'e [TracedEvent],
    kind: EventKind,
    loc: &str,
) -> Vec<(usize, &'e TracedEvent)> {
    let wanted = |e: &&TracedEvent| e.event.kind == kind && e.loc == loc;
    let all = events.iter().enumerate();
    all.filter(|(_, e)| wanted(e)).collect()
}
