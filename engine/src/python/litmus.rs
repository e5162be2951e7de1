//! Litmus tests under models, as Python sees them: a batch on all cores, answers as they come.
use super::common::{cat_error, duration, guarded, kept, litmus_error, load};
use super::common::{Wrong, PATIENCE, STACK};
use crate::cat::Model;
use crate::enumerate::{decide, explain, Answer, EngineError as Failure, Explanation};
use crate::enumerate::{Limit, Limits, Observation, Witness};
use crate::litmus::value::Value;
use crate::litmus::{LitmusError, Printer, Test};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
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
#[derive(FromPyObject)]
pub enum Given {
    /// The name for messages, and the text.
    Text(String, String),
    File(PathBuf),
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
                    jobs=0, explained=false, done=None))]
#[allow(clippy::too_many_arguments)] // each has its name in Python
pub fn check<'py>(
    py: Python<'py>,
    tests: Vec<Given>,
    model: PathBuf,
    folders: Vec<PathBuf>,
    seconds: f64,
    candidates: u64,
    memory: usize,
    jobs: usize,
    explained: bool,
    done: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
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
    let mut common = Common::new(py);
    let mut answers: Vec<Option<Bound<'py, PyDict>>> = vec![None; count];
    let take = &mut |i: usize, told: Told| {
        let answer = told.dict(&mut common, &limits)?;
        if let Some(done) = &done {
            done.call1((i, &answer))?;
        }
        answers[i] = Some(answer);
        Ok(())
    };
    match done {
        // what the caller does may leave garbage
        Some(_) => crew.collect(py, take)?,
        None => kept(py, || crew.collect(py, take))?,
    }
    PyList::new(py, answers)
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
    Malformed(Wrong),
    Decided(Box<Decided>),
    Failed(Failure),
    /// A fault of the engine's own.
    Broken(String),
}

struct Decided {
    /// Its states stand in `values`.
    answer: Answer,
    /// What a state gives values to.
    names: Vec<String>,
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
            Ok(Err(wrong)) => return nameless(Outcome::Malformed(litmus_error(&wrong))),
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
            let names = answer.observables.iter();
            let names = names.map(|o| printer.observable(o)).collect();
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
    digits: Vec<Bound<'py, PyString>>,
    /// What states give values to. Tests use the same few names.
    names: FxHashMap<String, Bound<'py, PyString>>,
}

/// How many names are remembered.
const NAMES: usize = 1000;

impl<'py> Common<'py> {
    fn new(py: Python<'py>) -> Common<'py> {
        let digits = (0..10).map(|n: u8| PyString::new(py, &n.to_string()));
        Common {
            py,
            digits: digits.collect(),
            names: FxHashMap::default(),
        }
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
        let dict = PyDict::new(py);
        dict.set_item(intern!(py, "name"), &self.name)?;
        dict.set_item(intern!(py, "condition"), &self.condition)?;
        let mut observation = intern!(py, "Unknown");
        let mut holds = None;
        let mut reason = String::new();
        let (mut error, mut malformed) = (None, None);
        let mut flags: Vec<&str> = Vec::new();
        let states = PyList::empty(py);
        let mut counts = (0, 0);
        let mut seconds = 0.0;
        let mut cut = false;
        let mut witness = None;
        let killed = PyDict::new(py);
        let mut killed_cut = false;
        match &self.outcome {
            Outcome::Malformed(wrong) => {
                reason.clone_from(&wrong.1);
                malformed = Some(wrong.clone());
            }
            Outcome::Failed(Failure::Model(e)) if e.limit => reason.clone_from(&e.message),
            Outcome::Failed(Failure::Model(e)) => {
                reason.clone_from(&e.message);
                error = Some(cat_error(e));
            }
            Outcome::Failed(failure) => reason = failure.to_string(),
            Outcome::Broken(fault) => reason.clone_from(fault),
            Outcome::Decided(decided) => {
                let answer = &decided.answer;
                seconds = answer.seconds;
                cut = answer.cut;
                counts = (answer.positive, answer.negative);
                if let Some(limit) = answer.limit {
                    reason = limit_text(limit, limits);
                } else if answer.undefined {
                    observation = intern!(py, "Undefined");
                    flags.push("*undef*");
                } else {
                    observation = match answer.observation {
                        Observation::Never => intern!(py, "Never"),
                        Observation::Sometimes => intern!(py, "Sometimes"),
                        Observation::Always => intern!(py, "Always"),
                    };
                    holds = Some(answer.condition_ok);
                }
                flags.extend(answer.flags.iter().map(String::as_str));
                let names: Vec<Bound<'py, PyString>> =
                    decided.names.iter().map(|name| common.name(name)).collect();
                let mut values = decided.values.iter();
                for _ in 0..decided.count {
                    let state = PyDict::new(py);
                    for (name, value) in names.iter().zip(&mut values) {
                        state.set_item(name, common.value(value))?;
                    }
                    states.append(state)?;
                }
                if let Some(found) = &decided.explanation {
                    if let Some(found) = &found.witness {
                        witness = Some(witness_dict(py, found)?);
                    }
                    for (axiom, count) in &found.killed {
                        killed.set_item(axiom, count)?;
                    }
                    killed_cut = found.cut;
                }
            }
        }
        dict.set_item(intern!(py, "observation"), observation)?;
        dict.set_item(intern!(py, "condition_holds"), holds)?;
        dict.set_item(intern!(py, "states"), states)?;
        dict.set_item(intern!(py, "flags"), flags)?;
        dict.set_item(intern!(py, "positive"), counts.0)?;
        dict.set_item(intern!(py, "negative"), counts.1)?;
        dict.set_item(intern!(py, "seconds"), seconds)?;
        dict.set_item(intern!(py, "loop_cut"), cut)?;
        dict.set_item(intern!(py, "reason"), reason)?;
        dict.set_item(intern!(py, "error"), error)?;
        dict.set_item(intern!(py, "malformed"), malformed)?;
        dict.set_item(intern!(py, "witness"), witness)?;
        dict.set_item(intern!(py, "forbidden_by"), killed)?;
        dict.set_item(intern!(py, "explanation_cut"), killed_cut)?;
        Ok(dict)
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
