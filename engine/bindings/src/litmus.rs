//! Litmus tests under models, as Python sees them: a batch on all cores, answers as they come.
use super::common::{duration, guarded, load, PATIENCE, STACK};
use super::error::Problem;
use cat::Model;
use enumerate::{decide, explain, Answer, EngineError as Failure, Explanation};
use enumerate::{Limit, Limits, Observation, Witness};
use litmus::value::Value;
use litmus::{LitmusError, Printer, Test};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use rustc_hash::FxHashMap;
use std::mem::take;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Answers that come within so long are taken together: a thread that is woken for each of
/// thousands costs as much as deciding them.
const PAUSE: Duration = Duration::from_millis(1);

/// A test to read.
pub enum Given {
    /// The name for messages, and the text.
    Text(String, String),
    File(PathBuf),
}

// derived, it would make an exception of each that is not of the first kind
impl FromPyObject<'_> for Given {
    fn extract_bound(given: &Bound<'_, PyAny>) -> PyResult<Given> {
        match given.downcast::<PyTuple>() {
            Ok(pair) => pair.extract().map(|(name, text)| Given::Text(name, text)),
            Err(_) => given.extract().map(Given::File),
        }
    }
}

impl Given {
    fn read(&self) -> Result<Test, LitmusError> {
        match self {
            Given::Text(file, text) => Test::parse(file, text),
            Given::File(path) => Test::read(path),
        }
    }
}

/// Decides the tests under the model of a cat file; see the stub for what comes back.
#[pyfunction]
#[pyo3(signature = (tests, model, *, folders=Vec::new(), seconds, candidates, memory,
                    done, jobs=0, explained=false))]
#[allow(clippy::too_many_arguments)] // each has its name in Python
pub fn check(
    py: Python<'_>,
    tests: Vec<Given>,
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
    let model = load(py, &model, &folders)?;
    let count = tests.len();
    let decide = {
        let limits = limits.clone();
        move |i: usize| Told::of(&tests[i], &model, &limits, explained)
    };
    let crew = Crew::start(count, jobs, decide, stop);
    let mut common = Common::new(py)?;
    crew.collect(py, &mut |i, told: Told| {
        let answer = told.dict(&mut common, &limits)?;
        done.call1((i, answer)).map(drop)
    })
}

/// Threads that work through numbered tasks; told to stop, each ends with the task it is at.
struct Crew<T> {
    results: Receiver<(usize, T)>,
    stop: Arc<AtomicBool>,
}

impl<T: Send + 'static> Crew<T> {
    fn start(
        count: usize,
        jobs: usize,
        task: impl Fn(usize) -> T + Send + Sync + 'static,
        stop: Arc<AtomicBool>,
    ) -> Crew<T> {
        let cores = || thread::available_parallelism().map_or(1, usize::from);
        let jobs = if jobs == 0 { cores() } else { jobs };
        let (task, next) = (Arc::new(task), Arc::new(AtomicUsize::new(0)));
        let (sender, results) = channel();
        for _ in 0..jobs.min(count) {
            let (task, next, stop) = (task.clone(), next.clone(), stop.clone());
            let sender = sender.clone();
            let work = move || {
                while !stop.load(Ordering::Relaxed) {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    if i >= count || sender.send((i, task(i))).is_err() {
                        break;
                    }
                }
            };
            // with fewer threads than asked for, the others do the work
            let _ = thread::Builder::new().stack_size(STACK).spawn(work);
        }
        Crew { results, stop }
    }

    /// Hands each result to `take`, in the calling thread; ends early on Ctrl-C or its error.
    fn collect(
        mut self,
        py: Python<'_>,
        take: &mut dyn FnMut(usize, T) -> PyResult<()>,
    ) -> PyResult<()> {
        loop {
            let results = &mut self.results;
            let waited = py.allow_threads(move || {
                let first = results.recv_timeout(PATIENCE);
                if first.is_ok() {
                    thread::sleep(PAUSE);
                }
                first
            });
            match waited {
                Ok((i, result)) => take(i, result)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            for (i, result) in self.results.try_iter() {
                take(i, result)?;
                py.check_signals()?;
            }
            py.check_signals()?;
        }
    }
}

impl<T> Drop for Crew<T> {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// A test and what came of it, told without Python, so that any thread can.
struct Told {
    name: String,
    condition: String,
    outcome: Outcome,
}

enum Outcome {
    Malformed(Problem),
    Decided(Box<Decided>),
    Failed(Failure),
    /// A fault of the engine's own.
    Broken(String),
}

struct Decided {
    /// Its states stand in `values`.
    answer: Answer,
    /// What a state gives values to, a line each: what this thread allocates another frees, and
    /// that costs both.
    names: String,
    count: usize,
    /// State by state.
    values: Vec<Shown>,
    explanation: Option<Explanation>,
}

/// A value of a state; nearly all are a digit.
enum Shown {
    Digit(u8),
    Text(String),
}

impl Told {
    fn of(given: &Given, model: &Model, limits: &Limits, explained: bool) -> Told {
        let nameless = |outcome| Told {
            name: String::new(),
            condition: String::new(),
            outcome,
        };
        let test = match guarded(|| given.read()) {
            Ok(Ok(test)) => test,
            Ok(Err(error)) => return nameless(Outcome::Malformed(Problem::from(&error))),
            Err(fault) => return nameless(Outcome::Broken(fault)),
        };
        Told {
            name: test.name.clone(),
            condition: test.printer().condition(&test.condition),
            outcome: Outcome::of(&test, model, limits, explained),
        }
    }
}

impl Outcome {
    fn of(test: &Test, model: &Model, limits: &Limits, explained: bool) -> Outcome {
        let decided = guarded(|| {
            let mut answer = decide(test, model, limits)?;
            let explanation = match explained && answer.limit.is_none() {
                true => Some(explain(test, model, &answer, limits)?),
                false => None,
            };
            let printer = test.printer();
            let mut names = String::new();
            for observable in take(&mut answer.observables) {
                names.push_str(&printer.observable(&observable));
                names.push('\n');
            }
            let states = take(&mut answer.states);
            let count = states.len();
            let values = states.into_iter().flatten();
            let values = values.map(|v| Shown::of(v, &printer)).collect();
            Ok(Box::new(Decided {
                answer,
                names,
                count,
                values,
                explanation,
            }))
        });
        match decided {
            Ok(Ok(decided)) => Outcome::Decided(decided),
            Ok(Err(failure)) => Outcome::Failed(failure),
            Err(fault) => Outcome::Broken(fault),
        }
    }
}

impl Shown {
    fn of(value: Value, printer: &Printer<'_>) -> Shown {
        match value {
            Value::Int(n @ 0..=9) => Shown::Digit(n as u8),
            other => Shown::Text(printer.value(other)),
        }
    }
}

/// What answers have in common, as Python has it.
struct Common<'py> {
    py: Python<'py>,
    /// The answer about which nothing is known; each begins as a copy.
    template: Bound<'py, PyDict>,
    digits: Vec<Bound<'py, PyString>>,
    /// What states give values to. Tests use the same few names.
    names: FxHashMap<String, Bound<'py, PyString>>,
}

/// How many names are remembered.
const NAMES: usize = 1000;

impl<'py> Common<'py> {
    fn new(py: Python<'py>) -> PyResult<Common<'py>> {
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
        template.set_item(intern!(py, "loop_cut"), false)?;
        template.set_item(intern!(py, "reason"), "")?;
        template.set_item(intern!(py, "error"), py.None())?;
        template.set_item(intern!(py, "malformed"), py.None())?;
        template.set_item(intern!(py, "witness"), py.None())?;
        template.set_item(intern!(py, "forbidden_by"), py.None())?;
        template.set_item(intern!(py, "explanation_cut"), false)?;
        let digits = (0..10).map(|n: u8| PyString::new(py, &n.to_string()));
        Ok(Common {
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
        if self.names.len() < NAMES {
            self.names.insert(name.to_owned(), made.clone());
        }
        made
    }

    fn value(&self, value: &Shown) -> Bound<'py, PyString> {
        match value {
            Shown::Digit(n) => self.digits[usize::from(*n)].clone(),
            Shown::Text(text) => PyString::new(self.py, text),
        }
    }
}

impl Told {
    fn dict<'py>(&self, common: &mut Common<'py>, limits: &Limits) -> PyResult<Bound<'py, PyDict>> {
        let py = common.py;
        let dict = common.template.copy()?;
        dict.set_item(intern!(py, "name"), &self.name)?;
        dict.set_item(intern!(py, "condition"), &self.condition)?;
        dict.set_item(intern!(py, "forbidden_by"), PyDict::new(py))?;
        let reason = match &self.outcome {
            Outcome::Decided(decided) => return decided.fill(dict, common, limits),
            Outcome::Malformed(problem) => {
                dict.set_item(intern!(py, "malformed"), problem.dict(py)?)?;
                problem.message.clone()
            }
            Outcome::Failed(Failure::Model(e)) => {
                if !e.limit {
                    dict.set_item(intern!(py, "error"), Problem::from(e).dict(py)?)?;
                }
                e.message.clone()
            }
            Outcome::Failed(failure) => failure.to_string(),
            Outcome::Broken(fault) => fault.clone(),
        };
        dict.set_item(intern!(py, "reason"), reason)?;
        Ok(dict)
    }
}

impl Decided {
    fn fill<'py>(
        &self,
        dict: Bound<'py, PyDict>,
        common: &mut Common<'py>,
        limits: &Limits,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (py, answer) = (common.py, &self.answer);
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
        dict.set_item(intern!(py, "states"), self.states(common)?)?;
        dict.set_item(intern!(py, "positive"), answer.positive)?;
        dict.set_item(intern!(py, "negative"), answer.negative)?;
        dict.set_item(intern!(py, "seconds"), answer.seconds)?;
        dict.set_item(intern!(py, "loop_cut"), answer.cut)?;
        if let Some(found) = &self.explanation {
            if let Some(found) = &found.witness {
                dict.set_item(intern!(py, "witness"), witness_dict(py, found)?)?;
            }
            let killed = PyDict::new(py);
            for (axiom, count) in &found.killed {
                killed.set_item(axiom, count)?;
            }
            dict.set_item(intern!(py, "forbidden_by"), killed)?;
            dict.set_item(intern!(py, "explanation_cut"), found.cut)?;
        }
        Ok(dict)
    }

    fn states<'py>(&self, common: &mut Common<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let names: Vec<Bound<'py, PyString>> =
            self.names.lines().map(|name| common.name(name)).collect();
        let mut values = self.values.iter();
        let mut states = Vec::with_capacity(self.count);
        for _ in 0..self.count {
            let state = PyDict::new(common.py);
            for (name, value) in names.iter().zip(&mut values) {
                state.set_item(name, common.value(value))?;
            }
            states.push(state);
        }
        PyTuple::new(common.py, states)
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
