//! Checks a batch of litmus tests under a model; answers are handed over as they come.
use super::arguments::{duration, load_configuration};
use super::files::LitmusFile;
use super::report::{Outcome, Report, TestSource};
use super::verdict::{self, Form, PrintedAnswer, Said};
use super::work::{in_parallel, Caller};
use enumerate::{Configuration, Limits, Witness};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::Arc;

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
    let stop = Arc::new(AtomicBool::new(false));
    let limits = limits(seconds, candidates, memory, &stop)?;
    let asked = load_configuration(py, &model, &folders)?;
    let report = |number: usize| Report::new(&tests[number], &asked, &limits, explained);
    let mut callback = Callback { done };
    in_parallel(py, tests.len(), jobs, &stop, report, &mut callback)
}

/// A model that several calls use, with what is computed from it alone.
#[pyclass(module = "weakspot._engine", frozen)]
pub struct LoadedModel(Configuration);

#[pymethods]
impl LoadedModel {
    #[new]
    #[pyo3(signature = (path, *, folders=Vec::new()))]
    fn new(py: Python<'_>, path: PathBuf, folders: Vec<PathBuf>) -> PyResult<LoadedModel> {
        load_configuration(py, &path, &folders).map(LoadedModel)
    }
}

/// Decides the tests in files, and prints the verdicts; see the stub.
#[pyfunction]
#[pyo3(signature = (files, model, *, names, form, seconds, candidates, memory, done, jobs=0))]
#[allow(clippy::too_many_arguments)] // they are keyword arguments in Python
pub fn check_files(
    py: Python<'_>,
    files: Vec<LitmusFile>,
    model: &Bound<'_, LoadedModel>,
    names: (String, String),
    form: &str,
    seconds: f64,
    candidates: u64,
    memory: usize,
    done: Bound<'_, PyAny>,
    jobs: usize,
) -> PyResult<()> {
    let form = Form::of(form)?;
    let stop = Arc::new(AtomicBool::new(false));
    let limits = limits(seconds, candidates, memory, &stop)?;
    let asked = &model.get().0;
    let (model, checker) = &names;
    let print = |number: usize| {
        let file = &files[number];
        let source = match file.text() {
            Some(text) => TestSource::Text(file.path().display().to_string(), text.to_owned()),
            None => TestSource::File(file.path()),
        };
        let report = Report::new(&source, asked, &limits, false);
        PrintedAnswer::new(&report, form, &file.name(), model, checker)
    };
    let mut callback = Callback { done };
    in_parallel(py, files.len(), jobs, &stop, print, &mut callback)
}

/// The limits of one test; `stop` ends all.
fn limits(
    seconds: f64,
    candidates: u64,
    memory: usize,
    stop: &Arc<AtomicBool>,
) -> PyResult<Limits> {
    Ok(Limits {
        candidates,
        time: duration(seconds)?,
        memory,
        stop: Some(stop.clone()),
    })
}

/// Calls `done` with each answer.
struct Callback<'py> {
    done: Bound<'py, PyAny>,
}

impl Caller<PrintedAnswer> for Callback<'_> {
    fn take(&mut self, test: usize, answer: PrintedAnswer) -> PyResult<()> {
        self.done.call1((test, answer)).map(drop)
    }
}

impl Caller<Report> for Callback<'_> {
    fn take(&mut self, test: usize, report: Report) -> PyResult<()> {
        self.done.call1((test, EngineAnswer(report))).map(drop)
    }
}

/// The answer for a test; see the stub.
#[pyclass(module = "weakspot._engine", frozen, name = "Answer")]
pub struct EngineAnswer(Report);

#[pymethods]
impl EngineAnswer {
    #[getter]
    fn observation(&self) -> &'static str {
        Said::of(&self.0).observation()
    }

    #[getter]
    fn malformed<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let problem = self.0.malformed();
        problem.map(|problem| problem.dict(py)).transpose()
    }

    #[getter]
    fn error<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let problem = self.0.error();
        problem.map(|problem| problem.dict(py)).transpose()
    }

    #[getter]
    fn witness<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Outcome::Decided(decided) = &self.0.outcome else {
            return Ok(None);
        };
        let found = decided.explanation.as_ref();
        let found = found.and_then(|explanation| explanation.witness.as_ref());
        found.map(|found| witness_dict(py, found)).transpose()
    }

    fn json(&self, test: &str, model: &str, checker: &str) -> String {
        verdict::json(&self.0, test, model, checker)
    }

    fn as_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = self.0.dict(py)?;
        dict.set_item(intern!(py, "error"), self.error(py)?)?;
        dict.set_item(intern!(py, "malformed"), self.malformed(py)?)?;
        dict.set_item(intern!(py, "witness"), self.witness(py)?)?;
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
