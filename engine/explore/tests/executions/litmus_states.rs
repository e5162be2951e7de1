//! Exploration and enumeration agree on the final states of C litmus tests.
use crate::litmus_threads::states;
use crate::models::{by_dependencies, dependencies, model, options, root, MACHINES};
use cat::Model;
use enumerate::{decide, Limits};
use explore::Options;
use litmus::Test;
use std::path::{Path, PathBuf};

fn tests_in(folder: &str) -> Vec<PathBuf> {
    let folder = root().join(folder);
    let files = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<PathBuf> = files.filter_map(|file| Some(file.ok()?.path())).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "litmus"));
    files.sort();
    files
}

/// Compares the final states of every C test of a folder; how many were compared.
fn agree(folder: &str, name: &str) -> usize {
    agree_under(
        tests_in(folder).into_iter(),
        name,
        &model(name),
        &options(1),
    )
}

fn has_locks(path: &Path) -> bool {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.contains("lock(")
}

fn agree_under(
    tests: impl Iterator<Item = PathBuf>,
    name: &str,
    model: &Model,
    options: &Options,
) -> usize {
    let mut compared = 0;
    for path in tests {
        let test = Test::read(&path, None).unwrap_or_else(|error| panic!("{error}"));
        if test.dialect.name != "C" {
            continue;
        }
        let answer = decide(&test, model, &Limits::default());
        let answer = answer.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(answer.limit.is_none(), "{}", path.display());
        let (found, exploration) = states(&test, model, options)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let text = |states: &std::collections::BTreeSet<_>| format!("{states:?}");
        assert_eq!(
            text(&found),
            text(&answer.states),
            "{} under {name}: {:?}",
            path.display(),
            exploration.counts
        );
        let undefined = exploration
            .violations
            .iter()
            .any(|violation| violation.fault.kind == explore::FaultKind::Race);
        if !answer.loop_bound_reached {
            assert_eq!(
                undefined,
                answer.undefined,
                "{} under {name}",
                path.display()
            );
        }
        compared += 1;
    }
    compared
}

#[test]
fn hand_written_tests_have_the_same_states() {
    for name in ["sc", "tso", "rc11", "rc20"] {
        assert!(agree("tests/agreement/litmus", name) > 40);
    }
}

#[test]
fn hand_written_tests_have_the_same_states_where_loads_wait_for_later_stores() {
    let model = dependencies();
    let options = by_dependencies(1);
    for folder in ["tests/agreement/litmus", "engine/enumerate/tests/cases"] {
        // without the axioms of locks, the model lets enumeration take a lock twice
        let tests = tests_in(folder).into_iter().filter(|path| !has_locks(path));
        assert!(agree_under(tests, "dependencies", &model, &options) > 10);
    }
}

#[test]
fn tests_of_dependencies_have_the_same_states_under_the_models_of_machines() {
    for name in MACHINES {
        let (model, options) = (model(name), by_dependencies(1));
        for folder in ["tests/agreement/litmus", "tests/agreement/dependencies"] {
            let tests = tests_in(folder).into_iter().filter(|path| !has_locks(path));
            assert!(agree_under(tests, name, &model, &options) > 10);
        }
    }
}

#[test]
fn a_forwarded_acquire_load_is_found_once() {
    let path = root().join("tests/agreement/dependencies/LB+data-rfi-acq+data.litmus");
    let test = Test::read(&path, None).unwrap_or_else(|error| panic!("{error}"));
    for name in MACHINES {
        let (model, options) = (model(name), by_dependencies(1));
        let answer = decide(&test, &model, &Limits::default()).unwrap();
        let (_, found) = states(&test, &model, &options).unwrap();
        assert_eq!(found.counts.complete, answer.positive + answer.negative);
    }
}

#[test]
fn every_construct_has_the_same_states() {
    for name in ["sc", "tso", "rc11", "rc20"] {
        assert!(agree("engine/enumerate/tests/cases", name) > 10);
    }
}

#[test]
#[ignore = "needs folders of tests that diy7 made: SUITES=a:b cargo test -p explore suites -- --ignored"]
fn suites_have_the_same_states() {
    let folders = std::env::var("SUITES").expect("SUITES names folders of C tests");
    for folder in folders.split(':') {
        for name in ["sc", "tso", "rc11", "rc20"] {
            assert!(agree(folder, name) > 0, "{folder} has tests of C");
        }
    }
}
