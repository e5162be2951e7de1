//! The answer for a test under a model.

use std::collections::BTreeSet;

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
    /// What a state gives values to, in herd7's order.
    pub observables: Vec<Observable>,
    /// The final states of the allowed executions: the values of `observables`, of which arrays
    /// have several, one after the other.
    pub states: BTreeSet<Vec<Value>>,
    /// The numbers of allowed executions whose final state satisfies the proposition, and of others.
    pub positive: u64,
    pub negative: u64,
    pub observation: Observation,
    /// The flags that some allowed execution raises.
    pub flags: BTreeSet<String>,
    /// Some allowed execution has undefined behaviour, such as a data race.
    pub undefined: bool,
    /// Some execution has more rounds of a loop than herd7 unrolls.
    pub loop_bound_reached: bool,
    /// The condition, with its quantifier, holds.
    pub condition_ok: bool,
    pub seconds: f64,
    /// The search reached a limit: the other fields hold what was found before, not a verdict.
    pub limit: Option<Limit>,
    /// A location whose accesses have mixed sizes: they were split into pieces.
    pub mixed_size: Option<String>,
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
            loop_bound_reached: false,
            condition_ok: false,
            seconds: 0.0,
            limit: None,
            mixed_size: None,
        }
    }

    /// Adds `count` allowed executions with this final state.
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
}
