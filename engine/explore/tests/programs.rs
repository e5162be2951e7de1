//! What exploring compiled C programs must find.
use cat::Model;
use explore::ProgramSource;
use explore::{explore, Acyclic, Exploration, Fault, FaultKind, Options, Reduction, Reductions};
use program::interpreter::Limits;
use program::Program;
use std::path::{Path, PathBuf};

fn explored(name: &str, model: &str, workers: usize) -> Exploration {
    explored_twice(name, model, workers).0
}

/// An exploration, and another one in which dependencies are tracked.
fn explored_twice(name: &str, model: &str, workers: usize) -> (Exploration, Exploration) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let fixture = root.join("../program/tests/fixtures");
    let text = std::fs::read_to_string(fixture.join(format!("{name}.ll"))).expect("a fixture");
    let program = Program::from_ir(&text).expect("a supported program");
    let models = root.join("../../models");
    let model = Model::load(&models.join(model), std::slice::from_ref(&models)).expect("a model");
    let options = Options {
        workers,
        acyclic: Some(Acyclic::ProgramOrder),
        ..Options::default()
    };
    let mut source = ProgramSource::new(&program, Limits::default());
    let found = source.explore(&model, &options);
    source.track_dependencies(true, false);
    let tracked = explore(&source, &model, &options);
    let both = found.and_then(|found| tracked.map(|tracked| (found, tracked)));
    both.expect("two explorations")
}

fn kinds(found: &Exploration) -> Vec<FaultKind> {
    found.violations.iter().map(|v| v.fault.kind).collect()
}

#[test]
fn store_buffering_has_three_executions_under_sc_and_one_more_under_tso_and_rc11() {
    let found = explored("sb", "sc.cat", 1);
    assert_eq!((found.counts.complete, found.counts.all()), (3, 3));
    assert!(found.violations.is_empty() && found.truncations.is_empty());
    for model in ["tso.cat", "rc11.cat"] {
        let found = explored("sb", model, 1);
        assert_eq!(
            (found.counts.complete, found.counts.all()),
            (3, 4),
            "{model}"
        );
        assert_eq!(kinds(&found), [FaultKind::Assertion], "{model}");
        let fault = &found.violations[0].fault;
        assert_eq!(fault.message, "assertion failed: r0 || r1");
    }
}

#[test]
fn two_mutexes_in_two_orders_hang_both_threads() {
    for model in ["sc.cat", "tso.cat", "rc11.cat"] {
        let found = explored("locks", model, 1);
        assert_eq!(kinds(&found), [FaultKind::Hang, FaultKind::Hang], "{model}");
        assert_eq!(
            (found.counts.complete, found.counts.truncated),
            (2, 0),
            "{model}"
        );
    }
}

#[test]
fn waits_need_no_bound() {
    for name in ["ticket", "waiting", "stack"] {
        for model in ["sc.cat", "tso.cat", "rc11.cat"] {
            let found = explored(name, model, 1);
            assert!(found.violations.is_empty(), "{name} {model}: {found:?}");
            assert!(found.truncations.is_empty(), "{name} {model}: {found:?}");
            assert!(found.counts.complete > 0, "{name} {model}");
        }
    }
}

#[test]
fn two_workers_count_as_one() {
    for name in ["sb", "deps", "locks", "stack", "ticket", "waiting"] {
        let (one, two) = (explored(name, "rc11.cat", 1), explored(name, "rc11.cat", 2));
        assert_eq!(one.counts, two.counts, "{name}");
        assert_eq!(kinds(&one), kinds(&two), "{name}");
    }
}

#[test]
fn tracking_dependencies_changes_no_answer() {
    for name in ["sb", "deps", "locks", "stack", "ticket", "waiting"] {
        for model in ["sc.cat", "rc11.cat"] {
            let (off, on) = explored_twice(name, model, 1);
            assert_eq!(off.counts, on.counts, "{name} {model}");
            assert_eq!(kinds(&off), kinds(&on), "{name} {model}");
        }
    }
}

#[test]
fn both_searches_find_the_same_where_program_order_and_reads_from_are_acyclic() {
    // PROGRAMS names a folder with more programs
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let fixtures = root.join("../program/tests/fixtures");
    let folders = [
        Some(fixtures),
        std::env::var_os("PROGRAMS").map(PathBuf::from),
    ];
    let files = folders.into_iter().flatten().flat_map(|folder| {
        let entries = std::fs::read_dir(folder).expect("a folder");
        entries.map(|entry| entry.expect("a file").path())
    });
    let models = root.join("../../models");
    for path in files.filter(|path| path.extension().is_some_and(|e| e == "ll")) {
        let text = std::fs::read_to_string(&path).expect("a program");
        let program = Program::from_ir(&text).expect("a supported program");
        for name in ["sc.cat", "rc11.cat"] {
            let model = Model::load(&models.join(name), std::slice::from_ref(&models));
            let model = model.expect("a model");
            let [one, other] = [Acyclic::ProgramOrder, Acyclic::Dependencies].map(|acyclic| {
                let options = Options {
                    workers: 1,
                    acyclic: Some(acyclic),
                    reductions: Reductions::ALL.without([Reduction::Symmetry]),
                    ..Options::default()
                };
                let mut source = ProgramSource::new(&program, Limits::default());
                let found = source.explore(&model, &options).expect("an exploration");
                let faults = found.violations.iter().map(|v| v.fault.clone());
                let faults: Vec<Fault> = faults.collect();
                (found.counts.complete, faults, found.truncations.len())
            });
            assert_eq!(one, other, "{} {name}", path.display());
        }
    }
}
