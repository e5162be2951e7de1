//! The dependencies of the events of compiled C programs, and threads that continue past reads
//! whose values are not known.
//!
//! An event is written as its kind and location, then the positions of the reads that its location
//! (`addr`), its value (`data`) and the branches before it (`ctrl`) depend on.
use cat::Model;
use explore::{Action, Acyclic, Next, Options, ProgramSource, Reduction, Reductions, Source, Wait};
use program::interpreter::Limits;
use program::memory::Dep;
use program::Program;
use std::path::Path;
use std::sync::OnceLock;

/// The answer to a read.
#[derive(Clone, Copy)]
enum Answer {
    Value(u64),
    Postponed,
}
use Answer::{Postponed, Value};

fn program() -> &'static Program {
    static PROGRAM: OnceLock<Program> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let fixture = root.join("tests/fixtures/dependencies.ll");
        let text = std::fs::read_to_string(fixture).expect("a fixture");
        Program::from_ir(&text).expect("a supported program")
    })
}

/// The program, when it is known which objects its threads share.
fn source() -> &'static ProgramSource<'static> {
    static SOURCE: OnceLock<ProgramSource<'static>> = OnceLock::new();
    SOURCE.get_or_init(|| {
        let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
        let model = Model::load(&models.join("sc.cat"), std::slice::from_ref(&models));
        let mut options = Options {
            workers: 1,
            acyclic: Some(Acyclic::ProgramOrder),
            // each round of a loop is performed
            reductions: Reductions::ALL.with(Reduction::UnnoticedWrites, false),
            ..Options::default()
        };
        options.limits.executions = 1;
        let mut source = ProgramSource::new(program(), Limits::default());
        source
            .explore(&model.expect("a model"), &options)
            .expect("an exploration");
        source.track_dependencies(true, false);
        source
    })
}

/// The state of the thread that runs a function, before its first event.
fn thread(function: &str) -> <ProgramSource<'static> as Source>::Thread {
    let source = source();
    let mut main = source.main();
    loop {
        let Next::Event(label) = source.next(&mut main) else {
            panic!("no thread runs {function}");
        };
        match label.action {
            Action::Create { thread } => {
                let created = source.created(&main, thread);
                let start = created.now.thread.frames[0].function;
                if program().functions[start as usize].name == function {
                    return created;
                }
            }
            action if action.has_answer() => source.answer(&mut main, explore::Answer::default()),
            _ => {}
        }
    }
}

/// The variable at an address, and the distance from its beginning.
fn variable(address: u64) -> String {
    let globals = program().globals.iter();
    let mut found = globals.filter(|g| (g.address..g.address + g.size.max(1)).contains(&address));
    match found.next() {
        Some(global) if global.address == address => global.name.clone(),
        Some(global) => format!("{}+{}", global.name, address - global.address),
        None => "?".to_string(),
    }
}

fn name(action: Action) -> String {
    match action {
        Action::Read { at, .. } => format!("R {}", variable(at.address)),
        Action::Write { at, .. } => format!("W {}", variable(at.address)),
        other => format!("{other:?}"),
    }
}

fn set(name: &str, reads: Dep) -> String {
    let positions: Vec<_> = source().reads(reads).iter().map(u32::to_string).collect();
    match reads {
        0 => String::new(),
        _ => format!(" {name} {}", positions.join(",")),
    }
}

/// The events of a thread, and what follows the last one. Its reads are answered in this order;
/// further ones read 0.
fn run(function: &str, answers: &[Answer]) -> (Vec<String>, Next) {
    let source = source();
    let mut now = thread(function);
    let mut answers = answers.iter();
    let mut events = Vec::new();
    loop {
        match source.next(&mut now) {
            Next::Event(label) => {
                let read = matches!(label.action, Action::Read { .. });
                let of = label.dependencies;
                let sets = set("addr", of.addr) + &set("data", of.data) + &set("ctrl", of.ctrl);
                events.push(name(label.action) + &sets);
                match read.then(|| answers.next().unwrap_or(&Value(0))) {
                    Some(Value(value)) => source.answer(&mut now, explore::Answer::new(*value)),
                    Some(Postponed) => source.postpone(&mut now),
                    None => {}
                }
            }
            next => return (events, next),
        }
    }
}

/// The events of a thread whose reads read these values.
fn events(function: &str, values: &[u64]) -> Vec<String> {
    let answers: Vec<Answer> = values.iter().map(|value| Value(*value)).collect();
    run(function, &answers).0
}

#[test]
fn a_value_depends_on_the_reads_it_is_computed_from() {
    // also r ^ r, and what goes through the thread's own memory or through a call
    assert_eq!(
        events("registers", &[]),
        ["R x", "R y", "W z data 0", "W w data 0,1", "W z"]
    );
    assert_eq!(events("memory", &[]), ["R x", "W y data 0", "W z"]);
    assert_eq!(events("call", &[]), ["R x", "W y data 0", "W z"]);
}

#[test]
fn a_copy_depends_on_what_is_copied_piece_by_piece() {
    let copied = [
        "R pairs",
        "R pairs+8",
        "W pairs+16 data 0",
        "W pairs+24 data 1",
    ];
    assert_eq!(events("copy_in_one_call", &[]), copied);
    assert_eq!(events("copy", &[]), [&copied[..], &["W y data 1"]].concat());
}

#[test]
fn an_index_is_an_address_dependency_or_if_the_access_is_no_event_a_control_dependency() {
    assert_eq!(
        events("index_of_shared", &[1]),
        ["R x", "W table+4 addr 0", "W y"]
    );
    assert_eq!(events("index_of_own", &[1]), ["R x", "W y ctrl 0"]);
    let pairs = program().globals.iter().find(|g| g.name == "pairs");
    assert_eq!(
        events("pointed_to", &[pairs.expect("a variable").address]),
        ["R pointer", "R pairs+8 addr 0", "W y data 1"]
    );
}

#[test]
fn a_select_is_a_data_dependency_and_a_branch_a_control_dependency() {
    let reads = ["R x", "R y", "R z"];
    let first = [&reads[..], &["W w data 0", "W w data 1 ctrl 0"]].concat();
    assert_eq!(events("chosen", &[1]), first);
    let second = [&reads[..], &["W w data 0", "W w data 2 ctrl 0"]].concat();
    assert_eq!(events("chosen", &[0]), second);
}

#[test]
fn everything_after_a_branch_depends_on_it_also_after_the_call_that_it_is_in() {
    for condition in [0, 1] {
        assert_eq!(
            events("branch_in_callee", &[condition]),
            [
                "R x",
                "W y",
                "W z ctrl 0",
                "R y ctrl 0",
                "W w data 3 ctrl 0"
            ]
        );
    }
}

#[test]
fn a_loop_depends_on_each_of_its_conditions() {
    assert_eq!(
        events("loop", &[0, 1, 2]),
        [
            "R x",
            "W y ctrl 0",
            "R x ctrl 0",
            "W y ctrl 0,2",
            "R x ctrl 0,2",
            "W z ctrl 0,2,4"
        ]
    );
}

#[test]
fn sets_of_many_reads_are_exact() {
    let events = events("sum", &[]);
    let all: Vec<_> = (0..40).map(|k: u32| k.to_string()).collect();
    assert_eq!(events[40], format!("W y data {}", all.join(",")));
}

#[test]
fn a_read_modify_write_depends_on_what_it_computes_with() {
    assert_eq!(
        events("updates", &[]),
        ["R x", "R y", "W y data 0,1", "W w data 1", "R z", "W z"]
    );
}

#[test]
fn a_compare_exchange_is_a_branch_on_what_it_compares() {
    assert_eq!(
        events("compared", &[5, 1, 5]),
        ["R x", "R y", "R z", "W z data 1 ctrl 0,2", "W w ctrl 0,2"]
    );
    assert_eq!(
        events("compared", &[5, 1, 6]),
        ["R x", "R y", "R z", "W w ctrl 0,2"]
    );
}

#[test]
fn a_division_is_a_branch_on_its_divisor() {
    let after = ["R x", "W y ctrl 0", "W z ctrl 0"];
    assert_eq!(events("quotient", &[1]), after);
}

#[test]
fn a_library_function_is_a_branch_on_what_it_reads() {
    assert_eq!(
        events("locked", &[0]),
        ["R mutex", "W mutex ctrl 0", "W y ctrl 0", "W mutex ctrl 0"]
    );
}

/// The positions of the postponed reads that a thread stops for.
fn needed(next: &Next) -> Vec<u32> {
    match next {
        Next::Needs(reads) => source().reads(*reads),
        other => panic!("the thread continues: {other:?}"),
    }
}

#[test]
fn a_thread_continues_past_a_postponed_read_that_it_only_copies() {
    for (function, answers) in [
        ("registers", &[Postponed, Postponed][..]),
        ("memory", &[Postponed]),
        ("call", &[Postponed]),
        ("copy", &[Postponed, Value(1)]),
        ("copy_in_one_call", &[Value(1), Postponed]),
        ("updates", &[Postponed, Postponed, Postponed]),
        // the value that is written
        ("compared", &[Value(1), Postponed, Value(1)]),
        ("sum", &[Postponed; 40]),
    ] {
        let (found, end) = run(function, answers);
        assert_eq!(end, Next::Done(0), "{function}");
        let known: Vec<u64> = answers.iter().map(|_| 1).collect();
        assert_eq!(found, events(function, &known), "{function}");
    }
}

#[test]
fn a_thread_stops_where_it_needs_the_value_of_a_postponed_read() {
    for (function, answers, stop, reads) in [
        ("index_of_shared", &[Postponed][..], 1, &[0][..]),
        ("index_of_own", &[Postponed], 1, &[0]),
        ("pointed_to", &[Postponed], 1, &[0]),
        ("chosen", &[Postponed, Postponed, Value(1)], 4, &[0]),
        ("branch_in_callee", &[Postponed], 2, &[0]),
        ("loop", &[Value(0), Postponed], 3, &[2]),
        ("compared", &[Postponed, Value(1), Value(1)], 3, &[0]),
        ("compared", &[Postponed, Value(1), Postponed], 3, &[0, 2]),
        ("quotient", &[Postponed], 1, &[0]),
        // a library function reads nothing that may be postponed
        ("locked", &[Postponed], 1, &[0]),
        // the result
        ("last", &[Postponed], 1, &[0]),
    ] {
        let (found, end) = run(function, answers);
        assert_eq!(
            (found.len(), &needed(&end)[..]),
            (stop, reads),
            "{function}"
        );
        // the events up to there are those of a thread that reads a value
        let known: Vec<u64> = answers.iter().map(|_| 1).collect();
        let known = events(function, &known);
        assert_eq!(found[..], known[..found.len()], "{function}");
    }
}

#[test]
fn a_loop_waits_if_no_iteration_can_change_a_value_that_is_not_known() {
    let spins = |answers: &[Answer]| {
        let next = run("waiting", answers).1;
        matches!(
            next,
            Next::Blocked {
                wait: Wait::Spin { reads: 1 },
                ..
            }
        )
    };
    assert!(spins(&[Value(1), Value(0)]) && spins(&[Postponed, Value(0)]));
    // the value that the loop reads is not known
    assert_eq!(needed(&run("waiting", &[Value(1), Postponed]).1), [1]);
}

#[test]
fn a_loop_that_changes_a_value_that_is_not_known_does_not_wait() {
    for function in ["waiting_with_register", "waiting_with_memory"] {
        let (found, end) = run(function, &[Value(1), Value(0)]);
        assert_eq!(found.len(), 2, "{function}: {found:?}");
        let wait = Wait::Spin { reads: 1 };
        assert!(matches!(end, Next::Blocked { wait: w, .. } if w == wait));
        let (found, end) = run(function, &[Postponed, Value(0)]);
        assert_eq!(needed(&end), [0], "{function}");
        assert!(found.len() > 2, "{function}: {found:?}");
    }
}
