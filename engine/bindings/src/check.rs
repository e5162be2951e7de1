//! Checks a batch of litmus tests under a model; answers are handed over as they come.
use super::arguments::{duration, load_configuration};
use super::error::Problem;
use super::work::{catch_panic, in_parallel, Caller};
use cat::Model;
use enumerate::{decide, explain, Answer, Configuration, EnumerateError, Explanation};
use enumerate::{Limit, Limits, Observation, Witness};
use litmus::value::Value;
use litmus::{LitmusError, Macros, Observable, Printer, Test};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use rustc_hash::FxHashMap;
use std::mem::take;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::Arc;

/// A test to read.
pub enum TestSource {
    /// The file name for messages, and the text.
    Text(String, String),
    File(PathBuf),
}

// not derived: that would create a Python exception for each value that is not of the first kind
impl FromPyObject<'_> for TestSource {
    fn extract_bound(given: &Bound<'_, PyAny>) -> PyResult<TestSource> {
        match given.downcast::<PyTuple>() {
            Ok(pair) => pair
                .extract()
                .map(|(name, text)| TestSource::Text(name, text)),
            Err(_) => given.extract().map(TestSource::File),
        }
    }
}

impl TestSource {
    fn read(&self, macros: Option<&Macros>) -> Result<Test, LitmusError> {
        match self {
            TestSource::Text(file, text) => Test::parse_with(file, text, macros),
            TestSource::File(path) => Test::read(path, macros),
        }
    }
}

/// Decides tests under the model of a cat file or of a configuration (.cfg); see the stub for what comes back.
#[pyfunction]
#[pyo3(signature = (tests, model, *, folders=Vec::new(), seconds, candidates, memory,
                    done, jobs=0, explained=false))]
#[allow(clippy::too_many_arguments)] // they are keyword arguments in Python
pub fn check(
    py: Python<'_>,
    tests: Vec<TestSource>,
    model: PathBuf,
    folders: Vec<PathBuf>,
    seconds: f64,
    candidates: u64,
    memory: usize,
    done: Bound<'_, PyAny>,
    jobs: usize,
    explained: bool,
) -> PyResult<()> {
    let time = duration(seconds)?;
    let stop = Arc::new(AtomicBool::new(false));
    let limits = Limits {
        candidates,
        time,
        memory,
        stop: Some(stop.clone()),
    };
    let asked = load_configuration(py, &model, &folders)?;
    let report = |number: usize| Report::new(&tests[number], &asked, &limits, explained);
    let mut callback = Callback {
        done,
        dicts: AnswerDicts::new(py)?,
        limits: &limits,
    };
    in_parallel(py, tests.len(), jobs, &stop, report, &mut callback)
}

/// Calls `done` with each answer.
struct Callback<'py, 'l> {
    done: Bound<'py, PyAny>,
    dicts: AnswerDicts<'py>,
    limits: &'l Limits,
}

impl Caller<Report> for Callback<'_, '_> {
    fn take(&mut self, test: usize, report: Report) -> PyResult<()> {
        let answer = report.dict(&mut self.dicts, self.limits)?;
        self.done.call1((test, answer)).map(drop)
    }
}

/// The result for a test, without Python values, so that any thread can create it.
struct Report {
    name: String,
    condition: String,
    outcome: Outcome,
}

enum Outcome {
    Malformed(Problem),
    Decided(Box<Decided>),
    Failed(EnumerateError),
    /// The engine panicked.
    Panicked(String),
}

struct Decided {
    /// Without its states and observables, which are below.
    answer: Answer,
    /// What states give values to, one per line: a single allocation, since freeing memory in
    /// another thread is slow.
    observables: String,
    state_count: usize,
    /// State by state.
    values: Vec<PrintedValue>,
    explanation: Option<Explanation>,
}

/// A value of a state; nearly all are one digit.
enum PrintedValue {
    Digit(u8),
    Text(String),
}

impl Report {
    fn new(given: &TestSource, asked: &Configuration, limits: &Limits, explained: bool) -> Report {
        let unread = |outcome| Report {
            name: String::new(),
            condition: String::new(),
            outcome,
        };
        let test = match catch_panic(|| given.read(asked.macros.as_ref())) {
            Ok(Ok(test)) => test,
            Ok(Err(error)) => return unread(Outcome::Malformed(Problem::from(&error))),
            Err(message) => return unread(Outcome::Panicked(message)),
        };
        Report {
            name: test.name.clone(),
            condition: test.printer().condition(&test.condition),
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
            Ok(Box::new(Decided {
                answer,
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

/// Creates the dictionaries of answers, and shares values between them.
struct AnswerDicts<'py> {
    py: Python<'py>,
    /// The answer Unknown; each starts as a copy.
    template: Bound<'py, PyDict>,
    digits: Vec<Bound<'py, PyString>>,
    /// What states give values to: most tests use the same few names.
    names: FxHashMap<String, Bound<'py, PyString>>,
}

/// The maximum number of names that are shared.
const MAX_NAMES: usize = 1000;

impl<'py> AnswerDicts<'py> {
    fn new(py: Python<'py>) -> PyResult<AnswerDicts<'py>> {
        let template = PyDict::new(py);
        template.set_item(intern!(py, "name"), "")?;
        template.set_item(intern!(py, "condition"), "")?;
        template.set_item(intern!(py, "observation"), "Unknown")?;
        template.set_item(intern!(py, "condition_holds"), py.None())?;
        template.set_item(intern!(py, "states"), PyTuple::empty(py))?;
        template.set_item(intern!(py, "flags"), PyTuple::empty(py))?;
        template.set_item(intern!(py, "positive"), 0)?;
        template.set_item(intern!(py, "negative"), 0)?;
        template.set_item(intern!(py, "seconds"), 0.0)?;
        template.set_item(intern!(py, "loop_bound_reached"), false)?;
        template.set_item(intern!(py, "reason"), "")?;
        template.set_item(intern!(py, "error"), py.None())?;
        template.set_item(intern!(py, "malformed"), py.None())?;
        template.set_item(intern!(py, "witness"), py.None())?;
        template.set_item(intern!(py, "forbidden_by"), py.None())?;
        template.set_item(intern!(py, "explanation_incomplete"), false)?;
        let digits = (0..10).map(|n: u8| PyString::new(py, &n.to_string()));
        Ok(AnswerDicts {
            py,
            template,
            digits: digits.collect(),
            names: FxHashMap::default(),
        })
    }

    fn name(&mut self, name: &str) -> Bound<'py, PyString> {
        if let Some(known) = self.names.get(name) {
            return known.clone();
        }
        let made = PyString::new(self.py, name);
        if self.names.len() < MAX_NAMES {
            self.names.insert(name.to_owned(), made.clone());
        }
        made
    }

    fn value(&self, value: &PrintedValue) -> Bound<'py, PyString> {
        match value {
            PrintedValue::Digit(n) => self.digits[usize::from(*n)].clone(),
            PrintedValue::Text(text) => PyString::new(self.py, text),
        }
    }
}

impl Report {
    fn dict<'py>(
        &self,
        dicts: &mut AnswerDicts<'py>,
        limits: &Limits,
    ) -> PyResult<Bound<'py, PyDict>> {
        let py = dicts.py;
        let dict = dicts.template.copy()?;
        dict.set_item(intern!(py, "name"), &self.name)?;
        dict.set_item(intern!(py, "condition"), &self.condition)?;
        dict.set_item(intern!(py, "forbidden_by"), PyDict::new(py))?;
        let reason = match &self.outcome {
            Outcome::Decided(decided) => return decided.fill(dict, dicts, limits),
            Outcome::Malformed(problem) => {
                dict.set_item(intern!(py, "malformed"), problem.dict(py)?)?;
                problem.message.clone()
            }
            Outcome::Failed(EnumerateError::Model(e)) => {
                if !e.limit {
                    dict.set_item(intern!(py, "error"), Problem::from(e).dict(py)?)?;
                }
                e.message.clone()
            }
            Outcome::Failed(error) => error.to_string(),
            Outcome::Panicked(message) => message.clone(),
        };
        dict.set_item(intern!(py, "reason"), reason)?;
        Ok(dict)
    }
}

impl Decided {
    fn fill<'py>(
        &self,
        dict: Bound<'py, PyDict>,
        dicts: &mut AnswerDicts<'py>,
        limits: &Limits,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (py, answer) = (dicts.py, &self.answer);
        let mut flags: Vec<&str> = Vec::new();
        if let Some(limit) = answer.limit {
            dict.set_item(intern!(py, "reason"), limit_text(limit, limits))?;
        } else if answer.undefined {
            dict.set_item(intern!(py, "observation"), intern!(py, "Undefined"))?;
            flags.push("*undef*");
        } else {
            let observation = match answer.observation {
                Observation::Never => intern!(py, "Never"),
                Observation::Sometimes => intern!(py, "Sometimes"),
                Observation::Always => intern!(py, "Always"),
            };
            dict.set_item(intern!(py, "observation"), observation)?;
            dict.set_item(intern!(py, "condition_holds"), answer.condition_ok)?;
        }
        flags.extend(answer.flags.iter().map(String::as_str));
        if !flags.is_empty() {
            dict.set_item(intern!(py, "flags"), PyTuple::new(py, flags)?)?;
        }
        dict.set_item(intern!(py, "states"), self.states(dicts)?)?;
        dict.set_item(intern!(py, "positive"), answer.positive)?;
        dict.set_item(intern!(py, "negative"), answer.negative)?;
        dict.set_item(intern!(py, "seconds"), answer.seconds)?;
        dict.set_item(intern!(py, "loop_bound_reached"), answer.loop_bound_reached)?;
        if let Some(found) = &self.explanation {
            if let Some(found) = &found.witness {
                dict.set_item(intern!(py, "witness"), witness_dict(py, found)?)?;
            }
            let forbidden_by = PyDict::new(py);
            for (axiom, count) in &found.forbidden_by {
                forbidden_by.set_item(axiom, count)?;
            }
            dict.set_item(intern!(py, "forbidden_by"), forbidden_by)?;
            dict.set_item(intern!(py, "explanation_incomplete"), found.incomplete)?;
        }
        Ok(dict)
    }

    fn states<'py>(&self, dicts: &mut AnswerDicts<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let names: Vec<Bound<'py, PyString>> = self
            .observables
            .lines()
            .map(|name| dicts.name(name))
            .collect();
        let mut values = self.values.iter();
        let mut states = Vec::with_capacity(self.state_count);
        for _ in 0..self.state_count {
            let state = PyDict::new(dicts.py);
            for (name, value) in names.iter().zip(&mut values) {
                state.set_item(name, dicts.value(value))?;
            }
            states.push(state);
        }
        PyTuple::new(dicts.py, states)
    }
}

fn witness_dict<'py>(py: Python<'py>, witness: &Witness) -> PyResult<Bound<'py, PyDict>> {
    let events = PyList::empty(py);
    for event in &witness.events {
        let dict = PyDict::new(py);
        dict.set_item(intern!(py, "thread"), event.thread)?;
        dict.set_item(intern!(py, "label"), &event.label)?;
        dict.set_item(intern!(py, "kind"), event.kind)?;
        dict.set_item(intern!(py, "order"), &event.order)?;
        dict.set_item(intern!(py, "location"), &event.location)?;
        dict.set_item(intern!(py, "read"), &event.read)?;
        dict.set_item(intern!(py, "written"), &event.written)?;
        events.append(dict)?;
    }
    let state = PyDict::new(py);
    for (name, value) in &witness.state {
        state.set_item(name, value)?;
    }
    let dict = PyDict::new(py);
    dict.set_item(intern!(py, "events"), events)?;
    dict.set_item(intern!(py, "rf"), &witness.rf)?;
    dict.set_item(intern!(py, "co"), &witness.co)?;
    dict.set_item(intern!(py, "fr"), &witness.fr)?;
    dict.set_item(intern!(py, "cycle"), &witness.cycle)?;
    dict.set_item(intern!(py, "state"), state)?;
    dict.set_item(intern!(py, "axiom"), witness.axiom.as_deref().unwrap_or(""))?;
    Ok(dict)
}

fn limit_text(limit: Limit, limits: &Limits) -> String {
    match limit {
        Limit::Seconds => format!("time limit of {} s", limits.time.as_secs_f64()),
        Limit::Candidates => format!("limit of {} candidate executions", limits.candidates),
        Limit::Memory => format!("memory limit of {} MiB", limits.memory >> 20),
        other => format!("too many {other}"),
    }
}
