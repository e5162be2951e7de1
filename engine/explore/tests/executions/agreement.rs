//! Exploration finds the executions that a naive explorer finds, each once.
use crate::models::{model, options};
use crate::naive::{canonical, Canonical, Naive};
use crate::random::Program;
use crate::seeds::seeds;
use cat::Model;
use explore::{explore_each, ExecutionEnd, Options, Search};
use std::collections::BTreeSet;
use std::sync::Mutex;

fn found(program: &Program, model: &Model, options: &Options) -> Vec<(Canonical, ExecutionEnd)> {
    let found = Mutex::new(Vec::new());
    let result = explore_each(program, model, options, |execution, end| {
        found.lock().unwrap().push((canonical(execution), end));
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    found.into_inner().unwrap()
}

fn compare(name: &str, model: &Model, seed: u64, program: &Program) -> usize {
    let all = found(program, model, &options(1));
    let distinct: BTreeSet<(Canonical, ExecutionEnd)> = all.iter().cloned().collect();
    let expected = Naive::explore(program, model);
    let missing = expected.difference(&distinct).next();
    let wrong = distinct.difference(&expected).next();
    assert!(
        missing.is_none() && wrong.is_none(),
        "program {seed} under {name}: {program:#?}\nmissing: {missing:#?}\nwrong: {wrong:#?}"
    );
    assert_eq!(
        all.len(),
        distinct.len(),
        "program {seed} under {name} has executions that are found twice: {program:#?}"
    );
    all.len()
}

const MODELS: [&str; 4] = ["sc", "tso", "rc11", "rc20"];

#[test]
fn random_programs_have_the_executions_of_the_naive_explorer_once_each() {
    let mut executions = 0;
    for (number, name) in MODELS.iter().enumerate() {
        let model = model(name);
        let programs = (0..200).filter(|seed| seed % MODELS.len() == number);
        executions += programs
            .map(|seed| compare(name, &model, seed as u64, &Program::random(seed as u64)))
            .sum::<usize>();
    }
    assert!(executions > 1000, "{executions}");
}

#[test]
fn random_programs_with_asymmetric_fences_have_the_executions_of_the_naive_explorer_once_each() {
    let mut executions = 0;
    for name in ["tso", "rc20"] {
        let model = model(name);
        for seed in 0..100 {
            let program = Program::random(seed).with_asymmetric_fences();
            executions += compare(name, &model, seed, &program);
        }
    }
    assert!(executions > 500, "{executions}");
}

#[test]
fn random_programs_of_locks_have_the_executions_of_the_naive_explorer_once_each() {
    let mut executions = 0;
    for (number, name) in MODELS.iter().enumerate() {
        let model = model(name);
        for seed in (number as u64..60).step_by(MODELS.len()) {
            executions += compare(name, &model, seed, &Program::of_locks(seed));
        }
    }
    assert!(executions > 250, "{executions}");
}

#[test]
fn states_of_threads_that_are_forgotten_and_made_again_are_the_same() {
    for (number, name) in MODELS.iter().enumerate() {
        let model = model(name);
        let seeds = (number as u64..300).step_by(MODELS.len());
        let programs = seeds.flat_map(|seed| [Program::random(seed), Program::of_locks(seed)]);
        for program in programs {
            for search in [Search::Revisits, Search::Postpones] {
                let mut many = options(1);
                many.search = Some(search);
                let mut few = many.clone();
                few.limits.states = 3;
                assert_eq!(
                    found(&program, &model, &few),
                    found(&program, &model, &many),
                    "{program:#?}"
                );
            }
        }
    }
}

#[test]
#[ignore = "takes minutes: cargo test --release -p explore -- --ignored"]
fn ten_thousand_random_programs_have_the_executions_of_the_naive_explorer_once_each() {
    for name in MODELS {
        let model = model(name);
        let all = |seed| compare(name, &model, seed, &Program::random(seed));
        let programs = seeds(10_000);
        let executions: usize = programs.clone().map(all).sum();
        println!("{name}: {programs:?}, {executions} executions");
        assert!(
            executions as u64 > 4 * programs.count() as u64,
            "{name}: {executions}"
        );
        let locks = |seed| compare(name, &model, seed, &Program::of_locks(seed));
        let programs = seeds(5_000);
        let executions: usize = programs.clone().map(locks).sum();
        println!("{name}, with locks: {programs:?}, {executions} executions");
        assert!(
            executions as u64 > 3 * programs.count() as u64,
            "{name}: {executions}"
        );
    }
    for name in ["tso", "rc20"] {
        let model = model(name);
        let programs = seeds(5_000);
        let fences = |seed| Program::random(seed).with_asymmetric_fences();
        let all = |seed| compare(name, &model, seed, &fences(seed));
        let executions: usize = programs.clone().map(all).sum();
        println!("{name}, with asymmetric fences: {programs:?}, {executions} executions");
        assert!(
            executions as u64 > 2 * programs.count() as u64,
            "{name}: {executions}"
        );
    }
}
