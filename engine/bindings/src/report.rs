//! The result for a test, without Python values, so that any thread can create it.
use super::error::Problem;
use super::work::catch_panic;
use cat::Model;
use enumerate::{decide, explain, Answer, Configuration, EnumerateError, Explanation};
use enumerate::{Limit, Limits, Observation};
use litmus::herd_hash::herd_hash;
use litmus::value::Value;
use litmus::{LitmusError, Macros, Observable, Printer, Test};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::borrow::Cow;
use std::mem::take;
use std::path::PathBuf;

/// A test to read.
pub enum TestSource {
    /// The file name for messages, and the text.
    Text(String, String),
    File(PathBuf),
}

// not derived: that would create a Python exception for each value that is not of the first kind
impl FromPyObject<'_, '_> for TestSource {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, '_, PyAny>) -> PyResult<TestSource> {
        match given.cast::<PyTuple>() {
            Ok(pair) => pair
                .extract()
                .map(|(name, text)| TestSource::Text(name, text)),
            Err(_) => given.extract().map(TestSource::File),
        }
    }
}

impl TestSource {
    /// The test, and herd7's hash of it.
    fn read(&self, macros: Option<&Macros>) -> Result<(Test, String), LitmusError> {
        let (file, text) = match self {
            TestSource::Text(file, text) => (file.clone(), Cow::Borrowed(text)),
            TestSource::File(path) => (
                path.display().to_string(),
                Cow::Owned(Test::read_text(path)?),
            ),
        };
        let (test, outline) = Test::parse_outlined(&file, &text, macros)?;
        Ok((test, herd_hash(&outline).unwrap_or_default()))
    }
}

/// What is known about a test.
pub struct Report {
    name: String,
    pub condition: String,
    /// That of herd7; empty if it is not known.
    pub hash: String,
    pub outcome: Outcome,
}

pub enum Outcome {
    Malformed(Problem),
    Decided(Box<Decided>),
    Failed(EnumerateError),
    /// The engine panicked.
    Panicked(String),
}

pub struct Decided {
    /// Without its states and observables, which are below.
    pub answer: Answer,
    /// The limit that was reached.
    pub limit: Option<String>,
    /// What states give values to, one per line: a single allocation, since freeing memory in
    /// another thread is slow.
    observables: String,
    state_count: usize,
    /// State by state.
    values: Vec<PrintedValue>,
    pub explanation: Option<Explanation>,
}

/// A value of a state; nearly all are one digit.
pub enum PrintedValue {
    Digit(u8),
    Text(String),
}

impl PrintedValue {
    pub fn text(&self) -> Cow<'_, str> {
        const DIGITS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
        match self {
            PrintedValue::Digit(n) => Cow::Borrowed(DIGITS[usize::from(*n)]),
            PrintedValue::Text(text) => Cow::Borrowed(text),
        }
    }
}

/// What a state gives values to, with the values.
pub type State<'r> = std::iter::Zip<std::str::Lines<'r>, std::slice::Iter<'r, PrintedValue>>;

impl Report {
    pub fn new(
        given: &TestSource,
        asked: &Configuration,
        limits: &Limits,
        explained: bool,
    ) -> Report {
        let unread = |outcome| Report {
            name: String::new(),
            condition: String::new(),
            hash: String::new(),
            outcome,
        };
        let (test, hash) = match catch_panic(|| given.read(asked.macros.as_ref())) {
            Ok(Ok(read)) => read,
            Ok(Err(error)) => return unread(Outcome::Malformed(Problem::from(&error))),
            Err(message) => return unread(Outcome::Panicked(message)),
        };
        Report {
            name: test.name.clone(),
            condition: test.printer().condition(&test.condition),
            hash,
            outcome: Outcome::new(&test, &asked.model, limits, explained),
        }
    }
}

impl Outcome {
    fn new(test: &Test, model: &Model, limits: &Limits, explained: bool) -> Outcome {
        let decided = catch_panic(|| {
            let mut answer = decide(test, model, limits)?;
            let explanation = match explained && answer.limit.is_none() {
                true => Some(explain(test, model, &answer, limits)?),
                false => None,
            };
            let printer = test.printer();
            let given = take(&mut answer.observables);
            let mut observables = String::new();
            for observable in &given {
                observables.push_str(&printer.observable(observable));
                observables.push('\n');
            }
            let states = take(&mut answer.states);
            let state_count = states.len();
            let mut values = Vec::with_capacity(state_count * given.len());
            for state in states {
                let mut rest = &state[..];
                for observable in &given {
                    let (own, others) = rest.split_at(observable.count());
                    rest = others;
                    values.push(PrintedValue::of(observable, own, &printer));
                }
            }
            let limit = answer.limit.map(|limit| limit_text(limit, limits));
            Ok(Box::new(Decided {
                answer,
                limit,
                observables,
                state_count,
                values,
                explanation,
            }))
        });
        match decided {
            Ok(Ok(decided)) => Outcome::Decided(decided),
            Ok(Err(error)) => Outcome::Failed(error),
            Err(message) => Outcome::Panicked(message),
        }
    }
}

impl PrintedValue {
    fn of(observable: &Observable, values: &[Value], printer: &Printer<'_>) -> PrintedValue {
        match (observable, values) {
            (Observable::Array { .. }, values) => {
                PrintedValue::Text(printer.values(observable, values))
            }
            (_, [Value::Int(n @ 0..=9)]) => PrintedValue::Digit(*n as u8),
            (_, values) => PrintedValue::Text(printer.values(observable, values)),
        }
    }
}

impl Report {
    /// Why the test cannot be read.
    pub fn malformed(&self) -> Option<&Problem> {
        match &self.outcome {
            Outcome::Malformed(problem) => Some(problem),
            _ => None,
        }
    }

    /// Why the model cannot be applied to the test.
    pub fn error(&self) -> Option<Problem> {
        match &self.outcome {
            Outcome::Failed(EnumerateError::Model(e)) if !e.limit => Some(Problem::from(e)),
            _ => None,
        }
    }

    /// Why there is no answer; empty if there is one.
    pub fn reason(&self) -> String {
        match &self.outcome {
            Outcome::Decided(decided) => decided.limit.clone().unwrap_or_default(),
            Outcome::Malformed(problem) => problem.message.clone(),
            Outcome::Failed(EnumerateError::Model(e)) => e.message.clone(),
            Outcome::Failed(error) => error.to_string(),
            Outcome::Panicked(message) => message.clone(),
        }
    }

    /// The final states, in herd7's order.
    pub fn states(&self) -> impl Iterator<Item = State<'_>> {
        let decided = match &self.outcome {
            Outcome::Decided(decided) => Some(&**decided),
            _ => None,
        };
        decided.into_iter().flat_map(|decided| {
            let width = decided.observables.lines().count();
            (0..decided.state_count).map(move |at| {
                let values = &decided.values[at * width..(at + 1) * width];
                decided.observables.lines().zip(values)
            })
        })
    }

    /// How many candidates each axiom is the first to forbid.
    pub fn forbidden_by(&self) -> impl Iterator<Item = (&str, u64)> {
        let found = match &self.outcome {
            Outcome::Decided(decided) => decided.explanation.as_ref(),
            _ => None,
        };
        let axioms = found.into_iter().flat_map(|found| &found.forbidden_by);
        axioms.map(|(axiom, count)| (axiom.as_str(), *count))
    }

    /// The answer before limits are taken into account; see the stub.
    pub fn dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item(intern!(py, "name"), &self.name)?;
        dict.set_item(intern!(py, "condition"), &self.condition)?;
        dict.set_item(intern!(py, "reason"), self.reason())?;
        let mut observation = "Unknown";
        let mut holds = None;
        let mut flags: Vec<&str> = Vec::new();
        let (mut positive, mut negative, mut seconds, mut bounded) = (0, 0, 0.0, false);
        if let Outcome::Decided(decided) = &self.outcome {
            let answer = &decided.answer;
            if decided.limit.is_none() && answer.undefined {
                observation = "Undefined";
                flags.push("*undef*");
            } else if decided.limit.is_none() {
                observation = match answer.observation {
                    Observation::Never => "Never",
                    Observation::Sometimes => "Sometimes",
                    Observation::Always => "Always",
                };
                holds = Some(answer.condition_ok);
            }
            flags.extend(answer.flags.iter().map(String::as_str));
            (positive, negative) = (answer.positive, answer.negative);
            (seconds, bounded) = (answer.seconds, answer.loop_bound_reached);
        }
        dict.set_item(intern!(py, "observation"), observation)?;
        dict.set_item(intern!(py, "condition_holds"), holds)?;
        dict.set_item(intern!(py, "flags"), PyTuple::new(py, flags)?)?;
        dict.set_item(intern!(py, "positive"), positive)?;
        dict.set_item(intern!(py, "negative"), negative)?;
        dict.set_item(intern!(py, "seconds"), seconds)?;
        dict.set_item(intern!(py, "loop_bound_reached"), bounded)?;
        let mut states = Vec::new();
        for values in self.states() {
            let state = PyDict::new(py);
            for (name, value) in values {
                state.set_item(name, &*value.text())?;
            }
            states.push(state);
        }
        dict.set_item(intern!(py, "states"), PyTuple::new(py, states)?)?;
        let forbidden_by = PyDict::new(py);
        for (axiom, count) in self.forbidden_by() {
            forbidden_by.set_item(axiom, count)?;
        }
        dict.set_item(intern!(py, "forbidden_by"), forbidden_by)?;
        let incomplete = match &self.outcome {
            Outcome::Decided(decided) => decided.explanation.as_ref(),
            _ => None,
        };
        let incomplete = incomplete.is_some_and(|found| found.incomplete);
        dict.set_item(intern!(py, "explanation_incomplete"), incomplete)?;
        Ok(dict)
    }
}

fn limit_text(limit: Limit, limits: &Limits) -> String {
    match limit {
        Limit::Seconds => format!("time limit of {} s", limits.time.as_secs_f64()),
        Limit::Candidates => format!("limit of {} candidate executions", limits.candidates),
        Limit::Memory => format!("memory limit of {} MiB", limits.memory >> 20),
        other => format!("too many {other}"),
    }
}
