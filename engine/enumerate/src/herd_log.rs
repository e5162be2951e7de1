//! Prints an answer as herd7 does.

use std::fmt::Write as _;

use super::answer::Answer;
use litmus::{Quantifier, Test};

pub fn herd(answer: &Answer, test: &Test) -> String {
    let printer = test.printer();
    let quantifier = test.condition.quantifier;
    let kind = match quantifier {
        Quantifier::Exists => "Allowed",
        Quantifier::NotExists => "Forbidden",
        Quantifier::Forall => "Required",
    };
    let mut out = format!("Test {} {kind}\n", answer.test);
    let _ = writeln!(out, "States {}", answer.states.len());
    for state in &answer.states {
        let line = printer.state(&answer.observables, state);
        let _ = writeln!(out, "{line}");
    }
    let verdict = match (answer.undefined, answer.condition_ok) {
        (true, _) => "Undef",
        (false, true) => "Ok",
        (false, false) => "No",
    };
    let _ = writeln!(
        out,
        "{}{verdict}",
        if answer.loop_bound_reached {
            "Loop "
        } else {
            ""
        }
    );
    let (witnesses, others) = match quantifier {
        Quantifier::NotExists => (answer.negative, answer.positive),
        _ => (answer.positive, answer.negative),
    };
    let _ = writeln!(out, "Witnesses\nPositive: {witnesses} Negative: {others}");
    if answer.undefined {
        out.push_str("Flag *undef*\n");
    }
    for flag in &answer.flags {
        let _ = writeln!(out, "Flag {flag}");
    }
    let _ = writeln!(out, "Condition {}", printer.condition(&test.condition));
    let _ = writeln!(
        out,
        "Observation {} {} {} {}",
        answer.test, answer.observation, answer.positive, answer.negative
    );
    let _ = writeln!(out, "Time {} {:.2}", answer.test, answer.seconds);
    out
}
