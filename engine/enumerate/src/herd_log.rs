//! Prints answers as herd7 does.

use std::fmt::Write as _;

use super::answer::Answer;
use litmus::{Quantifier, Test};

/// What a log says about a test.
#[derive(Clone, Debug)]
pub struct LogEntry<'a> {
    pub test: &'a str,
    pub quantifier: Quantifier,
    /// One per line, as herd7 writes it.
    pub states: &'a [String],
    /// Whether the condition with its quantifier holds; None if the test has undefined behaviour.
    pub holds: Option<bool>,
    pub loop_bound_reached: bool,
    /// The numbers of executions that satisfy the proposition, and of others, if they are known.
    pub executions: Option<(u64, u64)>,
    pub flags: Vec<&'a str>,
    /// In one line; may be empty.
    pub condition: &'a str,
    pub observation: &'a str,
    pub seconds: f64,
    /// May be empty.
    pub hash: &'a str,
}

impl LogEntry<'_> {
    pub fn text(&self) -> String {
        let kind = match self.quantifier {
            Quantifier::Exists => "Allowed",
            Quantifier::NotExists => "Forbidden",
            Quantifier::Forall => "Required",
        };
        let mut out = format!("Test {} {kind}\nStates {}\n", self.test, self.states.len());
        for state in self.states {
            out.push_str(state);
            out.push('\n');
        }
        let result = match self.holds {
            None => "Undef",
            Some(true) => "Ok",
            Some(false) => "No",
        };
        let bounded = if self.loop_bound_reached { "Loop " } else { "" };
        let _ = writeln!(out, "{bounded}{result}");
        if let Some((satisfying, others)) = self.executions {
            let (positive, negative) = match self.quantifier {
                Quantifier::NotExists => (others, satisfying),
                _ => (satisfying, others),
            };
            let _ = writeln!(out, "Witnesses\nPositive: {positive} Negative: {negative}");
        }
        for flag in &self.flags {
            let _ = writeln!(out, "Flag {flag}");
        }
        if !self.condition.is_empty() {
            let _ = writeln!(out, "Condition {}", self.condition);
        }
        let _ = write!(out, "Observation {} {}", self.test, self.observation);
        if let Some((satisfying, others)) = self.executions {
            let _ = write!(out, " {satisfying} {others}");
        }
        let _ = writeln!(out, "\nTime {} {:.2}", self.test, self.seconds);
        if !self.hash.is_empty() {
            let _ = writeln!(out, "Hash={}", self.hash);
        }
        out
    }
}

pub fn herd(answer: &Answer, test: &Test) -> String {
    let printer = test.printer();
    let undefined = answer.undefined.then_some("*undef*");
    let flags = answer.flags.iter().map(String::as_str);
    let states = answer.states.iter();
    let states = states.map(|state| printer.state(&answer.observables, state).to_string());
    LogEntry {
        test: &answer.test,
        quantifier: test.condition.quantifier,
        states: &states.collect::<Vec<String>>(),
        holds: (!answer.undefined).then_some(answer.condition_ok),
        loop_bound_reached: answer.loop_bound_reached,
        executions: Some((answer.positive, answer.negative)),
        flags: undefined.into_iter().chain(flags).collect(),
        condition: &printer.condition(&test.condition),
        observation: &answer.observation.to_string(),
        seconds: answer.seconds,
        hash: "",
    }
    .text()
}
