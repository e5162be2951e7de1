//! The answers for `cases/` under `general.cat` are those of herd7 7.58, which `promote` records.

use std::path::{Path, PathBuf};

use cat::Model;
use enumerate::{decide, herd, Limits};
use litmus::Test;

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

pub fn cases() -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder().join("cases")).expect("the folder of cases");
    let mut files: Vec<PathBuf> = files.filter_map(|f| Some(f.ok()?.path())).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "litmus"));
    files.sort();
    files
}

pub fn model() -> Model {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    Model::load(&folder().join("general.cat"), &[models]).expect("the model")
}

/// The log without times, and without the numbers of undetermined values, which are arbitrary.
fn comparable(text: &str) -> String {
    let lines = text
        .lines()
        .filter(|l| !l.starts_with("Time") && !l.is_empty());
    let name = |l: &str| match l.contains("=S") {
        true => l.replace(|c: char| c.is_ascii_digit(), "#"),
        false => l.to_string(),
    };
    lines.map(name).collect::<Vec<String>>().join("\n")
}

#[test]
fn every_case_is_answered_as_herd7_answers() {
    let model = model();
    let cases = cases();
    assert!(cases.len() > 30);
    for case in cases {
        let test = Test::read(&case, None).unwrap_or_else(|e| panic!("{e}"));
        let answer = decide(&test, &model, &Limits::default());
        let answer = answer.unwrap_or_else(|e| panic!("{}: {e}", case.display()));
        let expected = std::fs::read_to_string(case.with_extension("herd")).expect("herd7's log");
        let found = herd(&answer, &test);
        assert_eq!(
            comparable(&found),
            comparable(&expected),
            "{}",
            case.display()
        );
    }
}

#[test]
fn a_limit_gives_no_verdict() {
    let model = model();
    let case = folder().join("cases/expressions.litmus");
    let test = Test::read(&case, None).unwrap_or_else(|e| panic!("{e}"));
    let limits = Limits {
        candidates: 3,
        ..Limits::default()
    };
    let answer = decide(&test, &model, &limits).unwrap_or_else(|e| panic!("{e}"));
    assert!(answer.limit.is_some());
}
