//! What traces of compiled C programs must hold.
mod support;
use program::interpreter::event::{EventKind, Operation};
use program::interpreter::Outcome;
use program::trace::{Options, Run, Trace};
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
    let heap = |r: &Run| r.threads.iter().flatten().any(|e| e.loc == "node#1.next");
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
