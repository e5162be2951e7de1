//! What traces of compiled C programs must hold.
mod support;
use program::interpreter::event::{EventKind, Operation};
use program::interpreter::Outcome;
use program::trace::{Options, Run, Trace};
use program::Program;
use std::collections::BTreeSet;
use support::{find, fixture, trace};

fn values(run: &Run, loc: &str) -> Vec<u64> {
    let reads = find(&run.threads[0], EventKind::Read, loc);
    reads.iter().filter_map(|(_, e)| e.event.read).collect()
}

/// What distinguishes runs: sequences of sites, kinds and locations, and the end.
fn sequences(trace: &Trace) -> BTreeSet<String> {
    let describe = |run: &Run| {
        let threads = run.threads.iter().map(|events| {
            let text = |e: &program::trace::TracedEvent| {
                format!("{}{}{}", e.event.site, e.event.kind.name(), e.loc)
            };
            events.iter().map(text).collect::<Vec<_>>()
        });
        let threads: Vec<_> = threads.collect();
        format!("{threads:?} {:?} {:?}", run.outcome, run.site)
    };
    trace.runs.iter().map(describe).collect()
}

#[test]
fn store_buffering_has_six_interleavings_and_no_weak_outcome() {
    let program = fixture("sb");
    let trace = trace(&program);
    assert_eq!((trace.interleavings, trace.exhaustive), (6, true));
    assert_eq!(trace.functions, ["main", "first", "second"]);
    assert_eq!(trace.runs.iter().map(|r| r.count).sum::<u64>(), 6);
    for run in &trace.runs {
        assert_eq!(run.outcome, Outcome::Complete);
        let (r0, r1) = (values(run, "r0"), values(run, "r1"));
        assert!(r0 == [1] || (r0 == [0] && r1 == [1]), "{r0:?} {r1:?}");
    }
}

#[test]
fn sites_say_file_line_function_and_chain() {
    let program = fixture("sb");
    let site = program
        .sites
        .iter()
        .find(|s| s.function == "left" && s.kind == "W" && s.order.name() == "rel")
        .expect("the store to x");
    assert_eq!((site.file.as_str(), site.line), ("sb.c", 11));
    assert_eq!(site.chain, ["first@sb.c:23:5"]);
}

#[test]
fn operations_are_the_calls_of_the_start_function() {
    let program = fixture("queue");
    let trace = trace(&program);
    assert!(trace.exhaustive);
    for run in &trace.runs {
        let mut calls: Vec<u32> = run.threads[1].iter().map(|e| e.event.call).collect();
        calls.dedup();
        assert_eq!(calls, [1, 2, 3], "each round of the loop is an operation");
        for e in &run.threads[1] {
            let Operation::Inlined(k) = e.event.operation else {
                panic!("not an inlined call");
            };
            assert_eq!(program.calls[k as usize].function, "queue_put");
        }
        assert!(run.threads[0].iter().all(|e| e.event.call == 0));
    }
}

#[test]
fn parts_of_structures_and_arrays_have_their_names() {
    let program = fixture("queue");
    let trace = trace(&program);
    let names: BTreeSet<&str> = trace
        .runs
        .iter()
        .flat_map(|r| r.threads.iter().flatten())
        .map(|e| e.loc.as_str())
        .collect();
    let expected = [
        "",
        "q.slot[0].box",
        "q.slot[0].turn",
        "q.slot[1].box",
        "q.slot[1].turn",
        // one thread puts and the other takes, but an object is shared as a whole
        "q.put",
        "q.take",
    ];
    assert_eq!(names, expected.into_iter().collect());
}

#[test]
fn following_states_once_loses_no_sequence() {
    for (name, budget) in [
        ("stack", 24),
        ("waiting", 60),
        ("queue", 100),
        ("ticket", 100),
        ("deps", 100),
    ] {
        let program = fixture(name);
        let with = |interleavings| {
            program.trace(&Options {
                interleavings,
                ..Options::default()
            })
        };
        let (all, few) = (with(8000), with(budget));
        assert!(all.exhaustive && few.exhaustive, "{name}");
        assert!(all.how.is_empty(), "{name}: {}", all.how);
        assert!(few.how.contains("every state"), "{name}: {}", few.how);
        assert_eq!(sequences(&all), sequences(&few), "{name}");
    }
}

#[test]
fn dependencies_go_through_arithmetic_and_private_memory() {
    let trace = trace(&fixture("deps"));
    for run in &trace.runs {
        let events = &run.threads[1];
        let one = |kind, loc: &str| {
            let found = find(events, kind, loc);
            assert_eq!(found.len(), 1, "{loc}");
            found[0]
        };
        let (x, read) = one(EventKind::Read, "x");
        let x = [x as u32];
        assert!(read.addr.is_empty() && read.ctrl.is_empty());
        assert_eq!(one(EventKind::Write, "y").1.data, x, "r ^ r");
        let table = events.iter().find(|e| e.loc.starts_with("table")).unwrap();
        assert_eq!((&table.addr[..], &table.data[..]), (&x[..], &[][..]));
        assert_eq!(
            one(EventKind::Write, "z").1.data,
            x,
            "through local and static"
        );
        assert!(one(EventKind::Write, "z").1.ctrl.is_empty());
        assert_eq!(
            one(EventKind::Write, "v").1.ctrl,
            x,
            "all that follows a branch"
        );
        assert_eq!(one(EventKind::Rmw, "u").1.data, x);
        if let [(_, w)] = find(events, EventKind::Write, "w")[..] {
            assert_eq!(w.ctrl, x);
        }
        assert!(
            find(events, EventKind::Write, "copy").is_empty(),
            "not shared"
        );
    }
    let written = trace.runs.iter();
    let written = written.filter(|r| !find(&r.threads[1], EventKind::Write, "w").is_empty());
    assert_eq!(written.count(), 1, "with the branch taken and without");
}

#[test]
fn unshared_events_are_in_the_trace_on_request() {
    let all = fixture("deps").trace(&Options {
        shared_only: false,
        ..Options::default()
    });
    assert!(all
        .runs
        .iter()
        .all(|r| find(&r.threads[1], EventKind::Write, "copy").len() == 1));
}

#[test]
fn opposite_lock_orders_deadlock_and_say_where() {
    let program = fixture("locks");
    let trace = trace(&program);
    let stuck: Vec<&Run> = trace
        .runs
        .iter()
        .filter(|r| r.outcome == Outcome::Deadlock)
        .collect();
    assert_eq!(stuck.len(), 1);
    let site = &program.sites[stuck[0].site.expect("a site") as usize];
    assert_eq!((site.kind, site.function.as_str()), ("lock", "both"));
    assert!(
        stuck[0].message.contains("locks.c:14"),
        "{}",
        stuck[0].message
    );
    let done = trace.runs.iter().find(|r| r.outcome == Outcome::Complete);
    let events = &done.expect("a run that ends").threads[1];
    let found: Vec<(&str, &str)> = events
        .iter()
        .map(|e| (e.event.kind.name(), e.loc.as_str()))
        .collect();
    let expected = [
        ("LOCK", "p[0].lock"),
        ("LOCK", "p[1].lock"),
        ("R", "p[0].value"),
        ("W", "p[0].value"),
        ("UNLOCK", "p[1].lock"),
        ("UNLOCK", "p[0].lock"),
    ];
    assert_eq!(found, expected);
}

#[test]
fn loops_that_wait_end_without_a_bound() {
    let trace = trace(&fixture("ticket"));
    assert!(trace.exhaustive, "{}", trace.how);
    assert!(trace.bound_sites.is_empty());
    assert!(trace.runs.iter().all(|r| r.outcome == Outcome::Complete));
    // a wait that finds its value at once, and one that has to look again
    let looks: BTreeSet<usize> = trace
        .runs
        .iter()
        .map(|r| find(&r.threads[1], EventKind::Read, "serving").len())
        .collect();
    assert!(looks.contains(&1) && looks.contains(&2), "{looks:?}");
}

#[test]
fn weak_exchanges_fail_spuriously_once() {
    let program = fixture("stack");
    let failed = |trace: &Trace| {
        let spurious = |r: &Run| {
            let events = r.threads.iter().flatten();
            events
                .filter(|e| e.event.kind == EventKind::CasFailed && e.event.read == e.event.operand)
                .count()
        };
        trace.runs.iter().map(spurious).collect::<BTreeSet<_>>()
    };
    let with = trace(&program);
    assert_eq!(
        failed(&with),
        [0, 1].into(),
        "the two threads share the site"
    );
    let without = program.trace(&Options {
        spurious: false,
        ..Options::default()
    });
    assert_eq!(failed(&without), [0].into());
    assert!(with.runs.iter().all(|r| r.outcome == Outcome::Complete));
    let heap = |r: &Run| r.threads.iter().flatten().any(|e| e.loc == "heap0+8");
    assert!(with.runs.iter().any(heap));
}

#[test]
fn conditions_barriers_and_once_order_what_they_should() {
    let trace = fixture("waiting").trace(&Options {
        shared_only: false,
        ..Options::default()
    });
    assert!(trace.exhaustive);
    for run in &trace.runs {
        assert_eq!(run.outcome, Outcome::Complete, "{}", run.message);
        for thread in &run.threads[1..] {
            let arrive = find(thread, EventKind::Rmw, "barrier");
            let leave = find(thread, EventKind::Read, "barrier");
            assert_eq!((arrive.len(), leave.len()), (1, 1));
            assert!(arrive[0].0 < leave[0].0);
            let locks = find(thread, EventKind::Lock, "lock").len();
            assert_eq!(locks, find(thread, EventKind::Unlock, "lock").len());
        }
    }
    let waited = |r: &&Run| find(&r.threads[1], EventKind::Lock, "lock").len() > 2;
    assert!(trace.runs.iter().any(|r| waited(&r)), "some run waits");
    let failed = |r: &&Run| !find(&r.threads[1], EventKind::Rmw, "failures").is_empty();
    assert!(trace.runs.iter().any(|r| failed(&r)), "some trylock fails");
}

#[test]
fn the_same_seed_draws_the_same_runs() {
    let program = fixture("queue");
    let drawn = |seed| {
        // too few for every state, so the rest is sampled
        program.trace(&Options {
            interleavings: 8,
            seed,
            ..Options::default()
        })
    };
    let (a, b) = (drawn(1), drawn(1));
    assert!(!a.exhaustive);
    assert_eq!(a.interleavings, 8);
    assert!(a.how.contains("drawn"), "{}", a.how);
    assert_eq!(format!("{:?}", a.runs), format!("{:?}", b.runs));
}

#[test]
fn a_small_budget_runs_whole_operations_first() {
    let program = fixture("sb");
    let trace = program.trace(&Options {
        interleavings: 4,
        ..Options::default()
    });
    // two operations, so two orders; four states' worth of runs do not cover six interleavings
    assert!(trace.interleavings <= 4);
    assert!(!trace.runs.is_empty());
}

fn text(threads: &str) -> Program {
    let text = format!(
        "@x = global i32 0\n@y = global i32 0\n@h = global i64 0\n@.s = constant [4 x i8] c\"x!\\00\\00\"\n\
         declare i32 @pthread_create(ptr, ptr, ptr, ptr)\ndeclare i32 @pthread_join(ptr, ptr)\n\
         declare ptr @malloc(i64)\ndeclare void @free(ptr)\n\
         declare void @__assert_fail(ptr, ptr, i32, ptr)\n{threads}"
    );
    Program::from_ir(&text).unwrap_or_else(|e| panic!("{e}"))
}

const MAIN: &str = "
define i32 @main() {
  %a = call i32 @pthread_create(ptr @h, ptr null, ptr @one, ptr null)
  store atomic i32 1, ptr @x release, align 4
  ret i32 0
}";

fn outcomes(program: &Program) -> BTreeSet<&'static str> {
    let trace = trace(program);
    trace.runs.iter().map(|r| r.outcome.name()).collect()
}

#[test]
fn an_assertion_that_one_order_breaks_is_found() {
    let program = text(&format!(
        "define ptr @one(ptr %p) {{
  %v = load atomic i32, ptr @x acquire, align 4
  %c = icmp eq i32 %v, 0
  br i1 %c, label %good, label %bad
bad:
  call void @__assert_fail(ptr @.s, ptr @.s, i32 1, ptr @.s)
  unreachable
good:
  ret ptr null
}}{MAIN}"
    ));
    let trace = trace(&program);
    let bad = trace.runs.iter().find(|r| r.outcome == Outcome::Assertion);
    let bad = bad.expect("found");
    assert_eq!(bad.message, "assertion failed: x!");
    assert_eq!(program.sites[bad.site.unwrap() as usize].kind, "assert");
    assert_eq!(outcomes(&program), ["assertion", "complete"].into());
}

#[test]
fn a_wait_that_nobody_ends_is_a_deadlock_unless_main_is_over() {
    let wait = |value: u32| {
        format!(
            "define ptr @one(ptr %p) {{
entry:
  br label %loop
loop:
  %v = load atomic i32, ptr @x acquire, align 4
  %c = icmp eq i32 %v, {value}
  br i1 %c, label %out, label %loop
out:
  ret ptr null
}}"
        )
    };
    let joined = MAIN.replace(
        "  ret i32 0",
        "  %t = load ptr, ptr @h\n  %j = call i32 @pthread_join(ptr %t, ptr null)\n  ret i32 0",
    );
    assert_eq!(outcomes(&text(&(wait(1) + &joined))), ["complete"].into());
    let program = text(&(wait(2) + &joined));
    assert_eq!(outcomes(&program), ["deadlock"].into());
    let trace = trace(&program);
    let site = &program.sites[trace.runs[0].site.unwrap() as usize];
    assert_eq!(site.kind, "loop");
    assert_eq!(outcomes(&text(&(wait(2) + MAIN))), ["complete"].into());
}

#[test]
fn loops_that_work_are_cut_at_the_bound_and_counted_loops_are_not() {
    let round = |step: &str, more: &str| {
        text(&format!(
            "define ptr @one(ptr %p) {{
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %n, %loop ]
  %n = add i32 %i, 1
  {step}
  br i1 {more}, label %loop, label %out
out:
  ret ptr null
}}{MAIN}"
        ))
    };
    let work = round(
        "%o = atomicrmw add ptr @x, i32 1 monotonic, align 4\n  %c = icmp ne i32 %o, 1000",
        "%c",
    );
    let bounded = work.trace(&Options::default());
    assert!(!bounded.exhaustive);
    assert_eq!(bounded.bound_sites.len(), 1);
    assert_eq!(work.sites[bounded.bound_sites[0] as usize].kind, "loop");
    let rounds = |t: &Trace| find(&t.runs[0].threads[1], EventKind::Rmw, "x").len();
    assert_eq!(rounds(&bounded), 5, "four times back and then no more");
    let counted = round(
        "%o = atomicrmw add ptr @x, i32 1 monotonic, align 4\n  %c = icmp ult i32 %n, 20",
        "%c",
    );
    let whole = counted.trace(&Options::default());
    assert!(whole.exhaustive);
    assert_eq!(rounds(&whole), 20);
    // the other thread continues after the limit
    let after = |r: &Run| !find(&r.threads[0], EventKind::Write, "x").is_empty();
    assert!(bounded.runs.iter().all(after));
    // what the loop counts affects nothing: it waits, forever, and main is over
    let endless = round("%c = icmp eq i32 0, 0", "%c");
    assert_eq!(outcomes(&endless), ["complete"].into());
}

#[test]
fn faults_of_memory_are_found() {
    let broken = |body: &str| {
        let program = text(&format!(
            "define i32 @main() {{\n  %p = call ptr @malloc(i64 8)\n  %e = getelementptr i8, ptr %p, i64 8\n{body}\n  ret i32 0\n}}"
        ));
        let trace = trace(&program);
        let run = &trace.runs[0];
        assert_eq!(run.outcome, Outcome::Memory, "{body}");
        run.message.clone()
    };
    for (body, message) in [
        ("  store i32 1, ptr null", "null"),
        ("  store i32 1, ptr %e", "8 to 12 of an object of 8"),
        (
            "  call void @free(ptr %p)\n  %v = load i32, ptr %p",
            "use after free",
        ),
        (
            "  call void @free(ptr %p)\n  call void @free(ptr %p)",
            "double free",
        ),
        (
            "  call void @free(ptr %e)",
            "free of a pointer that malloc did not",
        ),
        (
            "  call void @free(ptr @x)",
            "free of a pointer that malloc did not",
        ),
        ("  store i8 1, ptr @.s", "constant"),
        ("  %v = load i64, ptr @x", "of 4 bytes, x"),
        ("  %v = udiv i32 1, 0", "division by zero"),
        (
            "  %v = load i32, ptr inttoptr (i64 1234567 to ptr)",
            "unallocated memory",
        ),
        ("  call void @x()", "no function"),
    ] {
        let found = broken(body);
        assert!(found.contains(message), "{body}: {found}");
    }
}

#[test]
fn a_free_is_tried_before_and_after_the_accesses_of_others() {
    // both only read the node, so no two accesses to it conflict
    let program = text(
        "define ptr @one(ptr %p) {
  %n = load atomic ptr, ptr @h acquire, align 8
  %v = load i32, ptr %n
  ret ptr null
}
define i32 @main() {
  %n = call ptr @malloc(i64 8)
  store i32 5, ptr %n
  store ptr %n, ptr @h
  %t = alloca ptr
  %a = call i32 @pthread_create(ptr %t, ptr null, ptr @one, ptr null)
  %v = load i32, ptr %n
  call void @free(ptr %n)
  ret i32 0
}",
    );
    assert_eq!(outcomes(&program), ["complete", "memory"].into());
}

#[test]
fn polling_under_a_lock_waits_too() {
    let program = text(
        "@m = global [10 x i32] zeroinitializer
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
define ptr @one(ptr %p) {
entry:
  br label %loop
loop:
  %l = call i32 @pthread_mutex_lock(ptr @m)
  %v = load i32, ptr @x
  %u = call i32 @pthread_mutex_unlock(ptr @m)
  %c = icmp eq i32 %v, 1
  br i1 %c, label %out, label %loop
out:
  ret ptr null
}
define i32 @main() {
  %t = alloca ptr
  %a = call i32 @pthread_create(ptr %t, ptr null, ptr @one, ptr null)
  %l = call i32 @pthread_mutex_lock(ptr @m)
  store i32 1, ptr @x
  %u = call i32 @pthread_mutex_unlock(ptr @m)
  %h = load ptr, ptr %t
  %j = call i32 @pthread_join(ptr %h, ptr null)
  ret i32 0
}",
    );
    let trace = trace(&program);
    assert!(trace.exhaustive);
    let locks = |r: &Run| find(&r.threads[1], EventKind::Lock, "m").len();
    let locks: BTreeSet<usize> = trace.runs.iter().map(locks).collect();
    assert_eq!(locks, [1, 2].into());
    assert_eq!(outcomes(&program), ["complete"].into());
}

#[test]
fn addresses_are_the_same_in_all_runs() {
    let trace = trace(&fixture("stack"));
    let mut known: Vec<(String, u64)> = Vec::new();
    for e in trace.runs.iter().flat_map(|r| r.threads.iter().flatten()) {
        match known.iter().find(|k| k.0 == e.loc && !e.loc.is_empty()) {
            Some(k) => assert_eq!(k.1, e.event.address, "{}", e.loc),
            None => known.push((e.loc.clone(), e.event.address)),
        }
    }
}
