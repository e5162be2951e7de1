//! When a program is safe: what an exploration has to show, and what its model.
#[allow(dead_code)] // only models are needed
mod found;

use cat::Model;
use explore::{request, Acyclic, Audit, Doubt, Exploration, Guarantee, Limit, Options, Request};
use found::model;
use program::interpreter::Limits;
use program::Program;
use std::fmt::Write;
use std::time::Duration;

/// Each thread writes what it has read to the location that the next one reads; main then returns
/// what is in the first.
fn copies(threads: usize) -> Program {
    let mut text = String::from(
        "target datalayout = \"e-m:e-i64:64-i128:128-f80:128-n8:16:32:64-S128\"\n\
         target triple = \"x86_64-unknown-linux-musl\"\n\
         declare i32 @pthread_create(ptr, ptr, ptr, ptr)\n",
    );
    let mut main = String::from("define i32 @main() {\n  %h = alloca i64\n");
    for thread in 0..threads {
        let next = (thread + 1) % threads;
        let _ = write!(
            text,
            "@x{thread} = global i32 0, align 4\n\
             define ptr @t{thread}(ptr %unused) {{\n\
               %v = load atomic i32, ptr @x{thread} monotonic, align 4\n\
               store atomic i32 %v, ptr @x{next} monotonic, align 4\n\
               ret ptr null\n\
             }}\n"
        );
        let _ = writeln!(
            main,
            "  call i32 @pthread_create(ptr %h, ptr null, ptr @t{thread}, ptr null)"
        );
    }
    let text = format!("{text}{main}  ret i32 0\n}}\n");
    Program::from_ir(&text).unwrap_or_else(|error| panic!("{error:?}\n{text}"))
}

fn explored(program: &Program, model: &Model, options: &Options) -> Exploration {
    let limits = Limits::default();
    let found = request(program, model, limits, options, Request::Everything, None);
    found.unwrap_or_else(|error| panic!("{error}")).found
}

fn options(acyclic: Option<Acyclic>) -> Options {
    Options {
        workers: 1,
        acyclic,
        ..Options::default()
    }
}

#[test]
fn a_model_that_may_allow_long_cycles_makes_no_program_safe() {
    // no cycle of two or three threads is allowed, and the search finds nothing
    let model = model("short_cycles");
    assert_eq!(explore::unsuitable(&model, None).unwrap(), None);
    let found = explored(&copies(2), &model, &options(None));
    assert_eq!(found.guarantee, Some(Guarantee::Asked));
    assert!(found.violations.is_empty() && found.exhausted.is_some());
    assert_eq!(found.safe().unwrap_err(), [Doubt::Model]);
}

#[test]
fn an_axiom_of_ones_own_model_makes_programs_safe() {
    let found = explored(&copies(2), &model("own_order"), &options(None));
    assert_eq!(found.guarantee, Some(Guarantee::Proved));
    assert!(found.safe().is_ok());
}

#[test]
fn what_models_guarantee_is_proved_or_stated() {
    for (name, acyclic, guarantee) in [
        ("sc", Acyclic::ProgramOrder, Guarantee::Proved),
        ("rc11", Acyclic::ProgramOrder, Guarantee::Proved),
        ("rc20", Acyclic::ProgramOrder, Guarantee::Proved),
        // the orders of a store buffer and coherence imply it together
        ("tso", Acyclic::ProgramOrder, Guarantee::Stated),
        ("pso", Acyclic::ProgramOrder, Guarantee::Stated),
        ("imm", Acyclic::Dependencies, Guarantee::Stated),
    ] {
        let found = explored(&copies(2), &model(name), &options(Some(acyclic)));
        assert_eq!(found.guarantee, Some(guarantee), "{name}");
        assert!(found.safe().is_ok(), "{name}");
    }
}

#[test]
fn what_is_not_explored_completely_is_not_safe() {
    let (program, model) = (copies(3), model("rc20"));
    let mut limited = options(Some(Acyclic::ProgramOrder));
    limited.limits.executions = 1;
    let found = explored(&program, &model, &limited);
    assert_eq!(found.safe().unwrap_err(), [Doubt::Limit(Limit::Executions)]);
    let bounded = request(
        &program,
        &model,
        Limits::default(),
        &options(Some(Acyclic::ProgramOrder)),
        Request::Within(0),
        None,
    );
    let bounded = bounded.expect("an exploration").found;
    assert_eq!(bounded.safe().unwrap_err(), [Doubt::Part]);
    assert_eq!(Exploration::default().safe().unwrap_err(), [Doubt::Part]);
}

#[test]
fn an_audit_is_part_of_the_evidence_and_can_contradict_it() {
    let (program, model) = (copies(2), model("rc20"));
    let mut audited = options(Some(Acyclic::ProgramOrder));
    audited.audit = Some(Duration::from_millis(50));
    let mut found = explored(&program, &model, &audited);
    let audit = found.audit.take().expect("an audit");
    assert!(audit.descents > 0 && audit.missed.is_empty() && audit.refused.is_none());
    assert!(found.safe().is_ok());
    let fault = explore::Fault {
        kind: explore::FaultKind::Assertion,
        message: "assertion failed".to_owned(),
        site: None,
    };
    found.audit = Some(Audit {
        missed: vec![fault],
        ..audit
    });
    assert_eq!(found.safe().unwrap_err(), [Doubt::Missed]);
    audited.audit = Some(Duration::ZERO);
    assert!(explored(&program, &model, &audited).audit.is_none());
}

#[test]
fn a_model_that_orders_by_dependencies_is_audited() {
    let mut audited = options(Some(Acyclic::Dependencies));
    audited.audit = Some(Duration::from_millis(500));
    let found = explored(&copies(2), &model("imm"), &audited);
    let audit = found.audit.expect("an audit");
    assert!(audit.descents > 0 && audit.missed.is_empty() && audit.refused.is_none());
}
