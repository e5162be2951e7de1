//! What is said about a test under a model.

use std::collections::{BTreeMap, BTreeSet};

use super::limits::Limit;
use litmus::value::Value;
use litmus::{Observable, Quantifier, Test};

/// How often the condition's proposition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observation {
    Never,
    Sometimes,
    Always,
}

impl std::fmt::Display for Observation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Observation::Never => "Never",
            Observation::Sometimes => "Sometimes",
            Observation::Always => "Always",
        })
    }
}

/// herd7's answer.
#[derive(Clone, Debug)]
pub struct Answer {
    pub test: String,
    /// What a state gives values to, in order.
    pub observables: Vec<Observable>,
    /// The final states of the allowed executions, in order; values in the order above.
    pub states: BTreeSet<Vec<Value>>,
    /// Allowed executions whose final state satisfies the proposition, and others.
    pub positive: u64,
    pub negative: u64,
    pub observation: Observation,
    /// Names of the flags raised by some allowed execution.
    pub flags: BTreeSet<String>,
    /// Some allowed execution has no defined meaning, such as a data race.
    pub undefined: bool,
    /// A loop was cut at its bound in some execution.
    pub cut: bool,
    /// The condition, with its quantifier, holds.
    pub condition_ok: bool,
    pub seconds: f64,
    /// The search ended early: the rest is what was found so far, no verdict.
    pub limit: Option<Limit>,
}

impl Answer {
    pub fn new(test: &Test) -> Answer {
        Answer {
            test: test.name.clone(),
            observables: test.displayed(),
            states: BTreeSet::new(),
            positive: 0,
            negative: 0,
            observation: Observation::Never,
            flags: BTreeSet::new(),
            undefined: false,
            cut: false,
            condition_ok: false,
            seconds: 0.0,
            limit: None,
        }
    }

    /// Counts so many allowed executions with this final state.
    pub fn add(&mut self, state: Vec<Value>, holds: bool, count: u64) {
        self.states.insert(state);
        match holds {
            true => self.positive += count,
            false => self.negative += count,
        }
    }

    pub fn conclude(&mut self, quantifier: Quantifier) {
        self.observation = match (self.positive, self.negative) {
            (0, _) => Observation::Never,
            (_, 0) => Observation::Always,
            _ => Observation::Sometimes,
        };
        self.condition_ok = match quantifier {
            Quantifier::Exists => self.positive > 0,
            Quantifier::NotExists => self.positive == 0,
            Quantifier::Forall => self.negative == 0,
        };
    }

    /// A state as a map.
    pub fn state<'a>(&'a self, values: &'a [Value]) -> BTreeMap<&'a Observable, Value> {
        self.observables
            .iter()
            .zip(values.iter().copied())
            .collect()
    }
}
