//! Random C litmus tests with dependencies: exploration finds as many executions as enumeration, and
//! the same states.
use crate::dice::Dice;
use crate::litmus_threads::states;
use crate::models::{by_dependencies, dependencies, model, MACHINES};
use crate::seeds::seeds;
use cat::Model;
use enumerate::{decide, Limits};
use explore::Options;
use litmus::Test;
use std::fmt::Write;

const LOCATIONS: [&str; 3] = ["x", "y", "z"];

/// A test of two or three threads; every register is shown.
pub fn random_test(seed: u64) -> String {
    let mut dice = Dice::new(seed);
    let threads = 2 + dice.below(3) / 2;
    let mut text = format!("C random{seed}\n{{}}\n\n");
    let mut shown: Vec<String> = LOCATIONS.map(str::to_owned).into();
    for thread in 0..threads {
        let names = LOCATIONS.map(|name| format!("atomic_int* {name}"));
        let _ = writeln!(text, "P{thread} ({}) {{", names.join(", "));
        let count = 2 + dice.below(if threads == 2 { 3 } else { 2 });
        let mut registers = 0;
        let mut open = false;
        for step in 0..count {
            let line = statement(&mut dice, &mut registers, step > 0);
            let _ = writeln!(text, "  {line}");
            if !open && registers > 0 && step + 1 < count && dice.happens(4) {
                let register = dice.below(registers);
                let _ = writeln!(text, "  if (r{register} == 1) {{");
                open = true;
            }
        }
        text.push_str(if open { "  }\n}\n\n" } else { "}\n\n" });
        if !open {
            shown.extend((0..registers).map(|register| format!("{thread}:r{register}")));
        }
    }
    let _ = writeln!(text, "locations [{};]\nexists (x=0)", shown.join("; "));
    text
}

fn statement(dice: &mut Dice, registers: &mut u64, later: bool) -> String {
    let location = LOCATIONS[dice.below(3) as usize];
    let orders = [
        "relaxed", "relaxed", "relaxed", "acquire", "release", "acq_rel", "seq_cst",
    ];
    let order = orders[dice.below(7) as usize];
    let order = |allowed: &[&str]| {
        let order = if allowed.contains(&order) {
            order
        } else {
            "relaxed"
        };
        format!("memory_order_{order}")
    };
    let loads = ["acquire", "seq_cst"];
    let stores = ["release", "seq_cst"];
    let value = match (*registers, dice.below(3)) {
        (0, _) | (_, 0) => format!("{}", 1 + dice.below(2)),
        (known, 1) => format!("r{}", dice.below(known)),
        (known, _) => format!("(r{} + 1)", dice.below(known)),
    };
    let mut register = || {
        *registers += 1;
        *registers - 1
    };
    match dice.below(if later { 12 } else { 10 }) {
        0..=3 => {
            let (to, order) = (register(), order(&loads));
            format!("int r{to} = atomic_load_explicit({location}, {order});")
        }
        4..=6 => format!(
            "atomic_store_explicit({location}, {value}, {});",
            order(&stores)
        ),
        7 => {
            let order = order(&orders);
            let to = register();
            format!("int r{to} = atomic_fetch_add_explicit({location}, {value}, {order});")
        }
        8 | 9 => {
            let order = order(&orders);
            let to = register();
            format!("int r{to} = atomic_exchange_explicit({location}, {value}, {order});")
        }
        _ => {
            let fences = ["acquire", "release", "acq_rel", "seq_cst"];
            let order = fences[dice.below(4) as usize];
            format!("atomic_thread_fence(memory_order_{order});")
        }
    }
}

/// Compares the executions of one test; how many there are.
fn agree(model: &Model, options: &Options, seed: u64) -> u64 {
    let text = random_test(seed);
    let test = Test::parse("random.litmus", &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let answer = decide(&test, model, &Limits::default()).unwrap_or_else(|e| panic!("{e}"));
    let (found, exploration) =
        states(&test, model, options).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let counts = exploration.counts;
    assert_eq!(
        format!("{found:?}"),
        format!("{:?}", answer.states),
        "{text}{counts:?}"
    );
    assert_eq!(counts.complete, answer.positive + answer.negative, "{text}");
    counts.complete
}

#[test]
fn random_tests_have_as_many_executions_where_loads_wait_for_later_stores() {
    let (weak, options) = (dependencies(), by_dependencies(1));
    let mut executions: u64 = (0..100).map(|seed| agree(&weak, &options, seed)).sum();
    for (number, name) in MACHINES.iter().enumerate() {
        let model = model(name);
        let seeds = (number as u64..100).step_by(MACHINES.len());
        executions += seeds.map(|seed| agree(&model, &options, seed)).sum::<u64>();
    }
    assert!(executions > 1000, "{executions}");
}

#[test]
#[ignore = "takes minutes: cargo test --release -p explore -- --ignored"]
fn a_hundred_thousand_random_tests_have_as_many_executions() {
    let (weak, options) = (dependencies(), by_dependencies(2));
    let tests = seeds(25_000);
    let count = 4 * tests.clone().count() as u64;
    let executions: u64 = tests.clone().map(|seed| agree(&weak, &options, seed)).sum();
    println!("{tests:?}, {executions} executions");
    assert!(executions > count, "{executions}");
    for name in MACHINES {
        let model = model(name);
        let tests = tests.clone();
        let executions: u64 = tests.map(|seed| agree(&model, &options, seed)).sum();
        println!("{name}: {executions} executions");
        assert!(executions > count, "{name}: {executions}");
    }
}

#[test]
fn models_that_do_not_guarantee_that_dependencies_are_acyclic_are_refused() {
    let (model, options) = (dependencies(), by_dependencies(1));
    let cause = |model: &Model| explore::unsuitable(model, options.acyclic).unwrap();
    for known in MACHINES {
        assert_eq!(cause(&crate::models::model(known)), None);
    }
    assert_eq!(cause(&model), None);
    assert_eq!(explore::unsuitable(&model, None).unwrap(), None);
    let text = std::fs::read_to_string("tests/executions/dependencies.cat").unwrap();
    for (needed, cycle) in [
        ("data | ", "data; rfe"),
        ("addr | ", "addr; rfe"),
        ("| addr; [M \\ RMW]; po ", "addr; po; rfe"),
        ("| ctrl; po?", "ctrl; rfe"),
        ("| po; [F]; po", "po; [F & ACQ]; po; rfe"),
        ("[R & (ACQ | ACQ_REL | SC | CON)]; po", "[ACQ]; po; rfe"),
    ] {
        let weaker = text.replacen(needed, if needed.starts_with('[') { "0" } else { "" }, 1);
        assert_ne!(weaker, text);
        let folder = crate::models::root().join("models");
        let file = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
        let weaker = Model::parse(&weaker, "weaker.cat", &file).unwrap();
        let cause = cause(&weaker).unwrap_or_default();
        assert!(cause.contains(cycle), "{needed}: {cause}");
    }
}
