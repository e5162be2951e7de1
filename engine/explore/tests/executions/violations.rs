//! What executions show: errors, hangs, races, memory misused; and what ends an exploration.
use crate::models::{model, options};
use crate::random::{Do, Program, HEAP};
use cat::Model;
use explore::{explore, Counts, Exploration, ExploreError, FaultKind, Limit, Options, Reductions};
use program::ir::Order::{Acq, Na, Rel, Rlx, Sc};
use std::sync::atomic::AtomicBool;
use std::sync::Arc;
use std::time::Duration;

/// A program of these threads; main is the first.
fn program(threads: &[&[Do]]) -> Program {
    Program {
        threads: threads.iter().map(|thread| thread.to_vec()).collect(),
    }
}

/// Main starts these threads at once.
fn started(threads: &[&[Do]]) -> Program {
    let main: Vec<Do> = (1..=threads.len()).map(Do::Create).collect();
    let mut all = vec![main.as_slice()];
    all.extend(threads);
    program(&all)
}

fn under(name: &str, program: &Program) -> Exploration {
    explore(program, &model(name), &options(1)).unwrap_or_else(|error| panic!("{error}"))
}

/// The kinds of the violations, each once, and the sites that they name.
fn kinds(found: &Exploration) -> Vec<FaultKind> {
    let mut kinds: Vec<FaultKind> = found.violations.iter().map(|v| v.fault.kind).collect();
    kinds.dedup();
    kinds
}

const ALL: [&str; 4] = ["sc", "tso", "rc11", "rc20"];

#[test]
fn a_wait_that_is_satisfied_elsewhere_is_blocked_and_no_hang() {
    let program = started(&[&[Do::Store(0, 1, Rel)], &[Do::Await(0, 1, Acq)]]);
    for name in ALL {
        let found = under(name, &program);
        assert_eq!(kinds(&found), []);
        assert_eq!((found.counts.complete, found.counts.blocked), (1, 1));
    }
}

#[test]
fn chance_finds_what_the_search_comes_to_too_late() {
    let mut threads: Vec<&[Do]> = vec![&[Do::Store(0, 1, Rlx)], &[Do::Load(0, Rlx), Do::Forbid(1)]];
    threads.extend([&[Do::Add(1, Rlx)] as &[Do]; 9]);
    let program = started(&threads);
    for name in ALL {
        let explored = |estimates_after| {
            let mut options = Options {
                estimates_after,
                ..options(1)
            };
            options.limits.executions = 2_000;
            let found = explore(&program, &model(name), &options);
            found.unwrap_or_else(|error| panic!("{error}"))
        };
        // all executions in which the load reads 0 come first
        assert_eq!(kinds(&explored(None)), []);
        let found = explored(Some(Duration::ZERO));
        assert_eq!(kinds(&found), [FaultKind::Assertion]);
        let end = (found.limit, found.counts.all());
        assert_eq!(end, (Some(Limit::Executions), 2_000));
    }
}

#[test]
fn a_wait_for_what_nobody_writes_is_a_hang() {
    let program = started(&[&[Do::Store(0, 2, Rel)], &[Do::Await(0, 1, Acq)]]);
    for name in ALL {
        let found = under(name, &program);
        assert_eq!(kinds(&found), [FaultKind::Hang]);
        assert_eq!(found.counts.complete, 0);
        let site = found.violations[0].fault.site;
        assert_eq!(site, Some(32), "the place of the wait");
    }
}

#[test]
fn a_lock_that_is_never_released_hangs_a_thread_that_waits_for_it() {
    let keeps = [Do::Lock(8)];
    let gives_back = [Do::Lock(8), Do::Unlock(8)];
    for name in ALL {
        let found = under(name, &started(&[&keeps, &gives_back]));
        assert_eq!(kinds(&found), [FaultKind::Hang]);
        let found = under(name, &started(&[&gives_back, &gives_back]));
        assert_eq!(kinds(&found), []);
        assert_eq!(found.counts.complete, 2);
    }
}

#[test]
fn two_locks_in_either_order_hang() {
    let one = [Do::Lock(8), Do::Lock(9), Do::Unlock(9), Do::Unlock(8)];
    let other = [Do::Lock(9), Do::Lock(8), Do::Unlock(8), Do::Unlock(9)];
    for name in ALL {
        assert_eq!(
            kinds(&under(name, &started(&[&one, &other]))),
            [FaultKind::Hang]
        );
        assert_eq!(kinds(&under(name, &started(&[&one, &one]))), []);
    }
}

#[test]
fn threads_that_wait_for_one_another_hang() {
    let program = program(&[&[Do::Create(1), Do::Join(1)], &[Do::Join(1)]]);
    assert_eq!(kinds(&under("sc", &program)), [FaultKind::Hang]);
}

#[test]
fn starting_and_joining_a_thread_orders_what_is_before_and_after() {
    let program = program(&[
        &[
            Do::Store(0, 1, Na),
            Do::Create(1),
            Do::Create(2),
            Do::Join(1),
            Do::Join(2),
            Do::Load(1, Na),
            Do::Forbid(0),
        ],
        &[Do::Load(0, Na), Do::Forbid(0), Do::Store(1, 1, Na)],
        &[Do::Load(0, Na), Do::Forbid(0)],
    ]);
    for name in ALL {
        let found = under(name, &program);
        assert_eq!(kinds(&found), [], "{name}");
        assert_eq!(found.counts.all(), 1, "{name}: nothing is left to choose");
    }
}

#[test]
fn plain_accesses_that_nothing_orders_are_a_race_where_the_model_says_so() {
    let racy = started(&[
        &[Do::Store(0, 1, Na), Do::Store(1, 1, Rlx)],
        &[
            Do::Load(1, Rlx),
            Do::Skip,
            Do::Store(1, 2, Rlx),
            Do::Load(0, Na),
        ],
    ]);
    let found = under("rc11", &racy);
    assert_eq!(kinds(&found), [FaultKind::Race]);
    let race = &found.violations[0];
    let (one, other) = race.pair.expect("two accesses");
    let site = |id: u32| race.graph.events[id as usize].site;
    let mut sites = [site(one), site(other)];
    sites.sort_unstable();
    assert_eq!(sites, [16, 35], "the store and the load of x");
    assert!(sites.contains(&race.fault.site.expect("a place")));
    assert_eq!(kinds(&under("sc", &racy)), []);
    let ordered = started(&[
        &[Do::Store(0, 1, Na), Do::Store(1, 1, Rel)],
        &[Do::Await(1, 1, Acq), Do::Load(0, Na), Do::Forbid(0)],
    ]);
    assert_eq!(kinds(&under("rc11", &ordered)), []);
}

#[test]
fn an_error_counts_where_the_model_allows_it() {
    // store buffering: both may read 0 but under sequential consistency
    let program = program(&[
        &[
            Do::Create(1),
            Do::Store(0, 1, Rlx),
            Do::Load(1, Rlx),
            Do::StoreNext(2, Rlx),
            Do::Join(1),
            Do::Load(2, Rlx),
            Do::Forbid(7),
        ],
        &[Do::Store(1, 1, Rlx), Do::Load(0, Rlx), Do::Forbid(0)],
    ]);
    for name in ALL {
        let found = under(name, &program);
        assert_eq!(kinds(&found), [FaultKind::Assertion]);
        let violation = &found.violations[0];
        assert_eq!(violation.fault.site, Some(18));
        assert_eq!(violation.count, found.counts.faulty);
        assert_eq!(found.counts.faulty, if name == "sc" { 1 } else { 2 });
    }
}

#[test]
fn a_violation_shows_the_smallest_execution_in_which_the_threads_take_turns() {
    // the reader leaves an event out, or adds one, where it reads 0
    let shorter: &[Do] = &[
        Do::Load(0, Rlx),
        Do::Skip,
        Do::Load(2, Rlx),
        Do::Load(2, Rlx),
    ];
    let longer: &[Do] = &[Do::Load(0, Rlx), Do::Again(1), Do::Load(2, Rlx)];
    for reader in [shorter, longer] {
        let reader = [reader, &[Do::Forbid(0)]].concat();
        let program = started(&[&reader, &[Do::Store(0, 1, Rlx)]]);
        for workers in [1, 2] {
            let found = explore(&program, &model("rc11"), &options(workers)).unwrap();
            assert!(found.violations[0].count > 1);
            assert_eq!(found.violations[0].graph.len(), 5, "{program:?}");
        }
    }
    // of store buffering where one thread alone must not read 0, the one in which the other does not
    let buffering = program(&[
        &[Do::Create(1), Do::Store(0, 1, Rlx), Do::Load(1, Rlx)],
        &[Do::Store(1, 1, Rlx), Do::Load(0, Rlx), Do::Forbid(0)],
    ]);
    let both = program(&[
        &[
            Do::Create(1),
            Do::Store(0, 3, Rlx),
            Do::Load(1, Rlx),
            Do::Skip,
            Do::Store(2, 1, Rlx),
        ],
        &[
            Do::Store(1, 1, Rlx),
            Do::Load(0, Rlx),
            Do::Skip,
            Do::Load(2, Rlx),
            Do::Forbid(1),
        ],
    ]);
    for (program, weak) in [(buffering, false), (both, true)] {
        let violation = &under("rc11", &program).violations[0];
        assert_eq!(violation.weak, weak, "{program:?}");
    }
}

#[test]
fn the_first_violation_ends_the_exploration_when_asked() {
    let reader: &[Do] = &[Do::Load(0, Rlx), Do::Forbid(0)];
    let program = started(&[reader, reader, reader, &[Do::Store(0, 1, Rlx)]]);
    let all = under("rc11", &program);
    let first = Options {
        first: true,
        ..options(1)
    };
    let found = explore(&program, &model("rc11"), &first).unwrap();
    assert!(!found.violations.is_empty());
    assert_eq!(found.counts.all(), 1);
    assert_eq!(all.counts.all(), 8);
}

#[test]
fn memory_is_read_after_it_is_written() {
    let x = HEAP;
    let unwritten = program(&[&[Do::Allocate(x), Do::Load(x, Na)]]);
    let written = program(&[&[Do::Allocate(x), Do::Store(x, 1, Na), Do::Load(x, Na)]]);
    let published = |write, read| {
        started(&[
            &[
                Do::Allocate(x),
                Do::Store(x, 1, Rlx),
                Do::Store(0, 1, write),
            ],
            &[Do::Await(0, 1, read), Do::Load(x, Rlx)],
        ])
    };
    for name in ALL {
        assert_eq!(kinds(&under(name, &unwritten)), [FaultKind::Uninitialised]);
        assert_eq!(kinds(&under(name, &written)), []);
        assert_eq!(kinds(&under(name, &published(Rel, Acq))), []);
        let weak = kinds(&under(name, &published(Rlx, Rlx)));
        match name {
            "rc11" | "rc20" => assert_eq!(weak, [FaultKind::Uninitialised]),
            _ => assert_eq!(weak, []),
        }
    }
}

#[test]
fn memory_is_used_between_its_beginning_and_its_end() {
    let x = HEAP;
    let outside = program(&[&[Do::Load(x, Na)]]);
    let after = program(&[&[Do::Allocate(x), Do::Free(x), Do::Store(x, 1, Na)]]);
    let twice = program(&[&[Do::Allocate(x), Do::Free(x), Do::Free(x)]]);
    let nothing = program(&[&[Do::Free(x)]]);
    let well = program(&[&[Do::Allocate(x), Do::Store(x, 1, Na), Do::Free(x)]]);
    let unordered = started(&[
        &[Do::Allocate(x), Do::Store(0, 1, Rel), Do::Free(x)],
        &[Do::Await(0, 1, Acq), Do::Store(x, 1, Rlx)],
    ]);
    let handed = started(&[
        &[
            Do::Allocate(x),
            Do::Store(0, 1, Rel),
            Do::Await(1, 1, Acq),
            Do::Free(x),
        ],
        &[
            Do::Await(0, 1, Acq),
            Do::Store(x, 1, Rlx),
            Do::Store(1, 1, Rel),
        ],
    ]);
    for name in ALL {
        for program in [&outside, &after, &twice, &nothing, &unordered] {
            assert_eq!(
                kinds(&under(name, program)),
                [FaultKind::Memory],
                "{program:?}"
            );
        }
        for program in [&well, &handed] {
            assert_eq!(kinds(&under(name, program)), [], "{program:?}");
        }
    }
}

/// Many threads that add to one location: as many executions as they have orders.
fn many(threads: usize) -> Program {
    let add: &[Do] = &[Do::Add(0, Sc)];
    started(&vec![add; threads])
}

#[test]
fn memory_that_is_handed_back_without_an_order_may_end_too_early() {
    let x = HEAP;
    let handed = |write, read| {
        started(&[
            &[
                Do::Allocate(x),
                Do::Store(0, 1, Rel),
                Do::Await(1, 1, read),
                Do::Free(x),
            ],
            &[
                Do::Await(0, 1, Acq),
                Do::Store(x, 1, Rlx),
                Do::Store(1, 1, write),
            ],
        ])
    };
    for (write, read) in [(Rlx, Acq), (Rel, Rlx), (Rlx, Rlx)] {
        let found = under("rc11", &handed(write, read));
        assert_eq!(kinds(&found), [FaultKind::Memory], "{write:?} {read:?}");
        assert_eq!(
            found.violations[0].fault.message,
            "use not ordered with a free"
        );
        for name in ["sc", "tso"] {
            assert_eq!(kinds(&under(name, &handed(write, read))), []);
        }
    }
}

#[test]
fn several_workers_find_what_one_finds() {
    let readers: &[Do] = &[Do::Load(0, Rlx), Do::Load(0, Acq), Do::Forbid(0)];
    let writer: &[Do] = &[Do::Store(0, 1, Rlx), Do::Add(0, Rel)];
    let mixed = started(&[readers, writer, writer, readers]);
    for program in [many(6), mixed] {
        let one = explore(&program, &model("rc11"), &options(1)).unwrap();
        assert!(one.counts.all() > 100);
        for workers in [2, 5] {
            let several = explore(&program, &model("rc11"), &options(workers)).unwrap();
            assert_eq!(several.counts, one.counts);
            let seen = |found: &Exploration| -> Vec<(FaultKind, Option<u32>, u64)> {
                let violations = found.violations.iter();
                violations
                    .map(|v| (v.fault.kind, v.fault.site, v.count))
                    .collect()
            };
            assert_eq!(seen(&several), seen(&one));
        }
    }
}

#[test]
fn each_order_of_additions_is_one_execution() {
    let counts = under("rc11", &many(5)).counts;
    let complete = Counts {
        complete: 120,
        represented: 120,
        ..Counts::default()
    };
    assert_eq!(counts, complete);
    let symmetric = Options {
        reductions: Reductions::ALL,
        ..options(1)
    };
    let counts = explore(&many(5), &model("rc11"), &symmetric)
        .unwrap()
        .counts;
    assert_eq!((counts.complete, counts.represented), (1, 120));
}

#[test]
fn a_limit_ends_the_exploration_and_is_reported() {
    let limited = |change: &dyn Fn(&mut Options)| {
        let mut options = options(2);
        change(&mut options);
        explore(&many(9), &model("sc"), &options).unwrap()
    };
    let found = limited(&|options| options.limits.executions = 1000);
    assert_eq!(found.limit, Some(Limit::Executions));
    assert!((1000..1100).contains(&found.counts.all()));
    let found = limited(&|options| options.limits.time = Duration::from_millis(5));
    assert_eq!(found.limit, Some(Limit::Seconds));
    let stop = Arc::new(AtomicBool::new(true));
    let found = limited(&|options| options.limits.stop = Some(stop.clone()));
    assert_eq!(found.limit, Some(Limit::Stopped));
    let found = limited(&|options| {
        options.limits.events = 10;
        options.limits.executions = 10_000;
    });
    assert_eq!(found.counts.complete, 0);
    assert_eq!(found.truncations.len(), 9, "{:?}", found.truncations);
}

#[test]
fn a_model_that_exploration_does_not_cover_is_refused() {
    let unasked = Options::default();
    let program = many(2);
    let refused =
        |model: &Model, options: &Options, why: &str| match explore(&program, model, options) {
            Err(ExploreError::Unsuitable(message)) => assert!(message.contains(why), "{message}"),
            other => panic!("{other:?}"),
        };
    refused(&model("c11"), &unasked, "po | rf");
    refused(&model("power"), &options(1), "dependencies");
    // the axiom that states it suffices
    explore(&program, &model("rc11"), &unasked).unwrap();
}
