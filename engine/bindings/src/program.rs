//! Programs as Python sees them.
use super::arguments::{duration, load_model};
use super::error::Problem;
use super::explore::{Resumption, Task};
use super::options::{Bounds, Part};
use explore::{self, Checkpoint, Request};
use program::interpreter;
use program::interpreter::event::{EventKind, Operation};
use program::interpreter::Outcome;
use program::ir::orders::NewFence;
use program::ir::{Order, Program as Lowered, SiteId};
use program::trace::{Options, Trace, TracedEvent};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};
use rustc_hash::FxHashMap;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

/// A concurrent program, lowered from clean LLVM IR text.
#[pyclass(frozen, module = "weakspot._engine")]
pub struct Program {
    inner: Lowered,
    ir: Arc<str>,
    changes: Vec<Change>,
}

/// How a program differs from what its LLVM IR gives.
#[derive(Clone, FromPyObject, IntoPyObject)]
enum Change {
    Orders(HashMap<SiteId, String>, Vec<(SiteId, String, String)>),
    FewerSignals(Vec<SiteId>, bool),
    #[pyo3(transparent)]
    Parameters(Vec<u64>),
}

impl Program {
    /// This program after a change, as the engine sees it.
    fn changed(&self, inner: Lowered, change: Change) -> Program {
        let mut changes = self.changes.clone();
        changes.push(change);
        Program {
            inner,
            ir: self.ir.clone(),
            changes,
        }
    }
}

#[pymethods]
impl Program {
    #[new]
    #[pyo3(signature = (ir, changes=Vec::new()))]
    fn new(py: Python<'_>, ir: &str, changes: Vec<Change>) -> PyResult<Program> {
        let inner = py.detach(|| Lowered::from_ir(ir));
        let mut program = Program {
            inner: inner.map_err(|error| Problem::from(error).raise(py))?,
            ir: ir.into(),
            changes: Vec::new(),
        };
        for change in changes {
            program = match change {
                Change::Orders(orders, fences) => program.with_orders(py, orders, fences)?,
                Change::FewerSignals(sites, to_one) => program.with_fewer_signals(sites, to_one),
                Change::Parameters(parameters) => program.with_parameters(parameters),
            };
        }
        Ok(program)
    }

    /// What another process makes the same program of, when it is pickled.
    fn __getnewargs__(&self) -> (&str, Vec<Change>) {
        (&self.ir, self.changes.clone())
    }

    #[getter]
    fn sites<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for site in &self.inner.sites {
            let dict = PyDict::new(py);
            dict.set_item("file", &site.file)?;
            dict.set_item("line", site.line)?;
            dict.set_item("column", site.column)?;
            dict.set_item("function", &site.function)?;
            dict.set_item("chain", &site.chain)?;
            dict.set_item("kind", site.kind)?;
            dict.set_item("order", site.order.name())?;
            list.append(dict)?;
        }
        Ok(list)
    }

    #[getter]
    fn fingerprint(&self) -> String {
        format!("{:016x}", self.inner.fingerprint())
    }

    #[getter]
    fn of_kernel(&self) -> bool {
        self.inner.of_kernel
    }

    #[getter]
    fn may_lack_definitions(&self) -> bool {
        !self.inner.undefined.is_empty() || self.inner.points_outside
    }

    #[getter]
    fn orders(&self) -> Vec<String> {
        self.inner.orders()
    }

    #[pyo3(signature = (orders, *, fences=Vec::new()))]
    fn with_orders(
        &self,
        py: Python<'_>,
        orders: HashMap<SiteId, String>,
        fences: Vec<(SiteId, String, String)>,
    ) -> PyResult<Program> {
        let by_site = orders.iter().map(|(site, order)| (*site, order.as_str()));
        let mut inner = self.inner.with_orders(&by_site.collect());
        if !fences.is_empty() {
            let mut inserted = Vec::new();
            for (at, side, order) in &fences {
                let after = match side.as_str() {
                    "before" => false,
                    "after" => true,
                    _ => {
                        return Err(PyValueError::new_err(
                            "a fence is inserted before or after a site",
                        ))
                    }
                };
                let at = *at;
                inserted.push(NewFence { at, after, order });
            }
            inner = inner.and_then(|program| program.with_fences(&inserted));
        }
        let inner = inner.map_err(|error| Problem::from(error).raise(py))?;
        Ok(self.changed(inner, Change::Orders(orders, fences)))
    }

    #[getter]
    fn signals(&self) -> Vec<(SiteId, &'static str, bool)> {
        let signals = self.inner.signals().into_iter();
        signals.map(|s| (s.site, s.what, s.wakes_several)).collect()
    }

    #[getter]
    fn volatile_sites(&self) -> Vec<SiteId> {
        let sites = self.inner.sites.iter().zip(0..);
        let volatile = sites.filter(|(site, _)| site.volatile);
        volatile.map(|(_, number)| number).collect()
    }

    fn with_fewer_signals(&self, sites: Vec<SiteId>, to_one: bool) -> Program {
        let inner = self.inner.with_fewer_signals(&sites, to_one);
        self.changed(inner, Change::FewerSignals(sites, to_one))
    }

    fn with_parameters(&self, parameters: Vec<u64>) -> Program {
        let mut inner = self.inner.clone();
        inner.parameters.clone_from(&parameters);
        self.changed(inner, Change::Parameters(parameters))
    }

    #[getter]
    fn functions(&self) -> Vec<String> {
        let lowered = self.inner.functions.iter().filter(|f| !f.code.is_empty());
        lowered.map(|f| f.name.clone()).collect()
    }

    #[pyo3(signature = (*, loops=interpreter::Limits::default().loops, events=4000,
                        interleavings=4000, seed=0, shared_only=true, spurious=true, seconds=0.0))]
    #[allow(clippy::too_many_arguments)] // each has its name in Python
    fn trace<'py>(
        &self,
        py: Python<'py>,
        loops: u32,
        events: u64,
        interleavings: u64,
        seed: u64,
        shared_only: bool,
        spurious: bool,
        seconds: f64,
    ) -> PyResult<Bound<'py, PyDict>> {
        if interleavings == 0 {
            return Err(PyValueError::new_err("interleavings must be at least 1"));
        }
        let options = Options {
            loops,
            events,
            interleavings,
            seed,
            shared_only,
            spurious,
            time: match seconds {
                0.0 => None,
                seconds => Some(duration(seconds)?),
            },
        };
        let trace = py.detach(|| self.inner.trace(&options));
        if let Some(run) = trace
            .runs
            .iter()
            .find(|r| r.outcome == Outcome::Unsupported)
        {
            let error = Problem::unsupported(&self.inner, run.message.clone(), run.site);
            return Err(error.raise(py));
        }
        without_garbage_collection(py, || Converter::new(py, &self.inner).trace(&trace))
    }

    #[pyo3(signature = (model, *, bounds=None, part=None, folders=Vec::new(), acyclic=None, jobs=0,
                        stop_at_first=false, results=false, share=false, resume=None, keep=None,
                        done=None))]
    #[allow(clippy::too_many_arguments)] // each has its name in Python
    fn explore<'py>(
        &self,
        py: Python<'py>,
        model: PathBuf,
        bounds: Option<Bounds>,
        part: Option<Part>,
        folders: Vec<PathBuf>,
        acyclic: Option<&str>,
        jobs: usize,
        stop_at_first: bool,
        results: bool,
        share: bool,
        resume: Option<&[u8]>,
        keep: Option<Bound<'py, PyAny>>,
        done: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (bounds, part) = (bounds.unwrap_or_default(), part.unwrap_or_default());
        let task = part.task(share, results)?;
        let resumes = matches!(task, Task::Request(Request::Everything | Request::Share));
        if (resume.is_some() || keep.is_some()) && !resumes {
            let message = "only an exploration of every execution resumes, without results";
            return Err(PyValueError::new_err(message));
        }
        let limits = bounds.of_search()?;
        let options = explore::Options {
            workers: jobs,
            first: stop_at_first,
            // a share is a small part of what would be drawn
            estimates_after: (!share)
                .then_some(super::explore::ESTIMATES_AFTER.min(limits.time / 4)),
            limits,
            acyclic: acyclic.map(super::explore::order_of).transpose()?,
            most_loops: bounds.most_loops(),
            ..part.options()?
        };
        let model = load_model(py, &model, &folders)?;
        let resumption = Resumption {
            earlier: resume.and_then(Checkpoint::from_bytes),
            keep,
        };
        super::explore::explore(
            py,
            &self.inner,
            &model,
            bounds.of_thread(),
            options,
            task,
            resumption,
            done,
        )
    }

    fn join<'py>(
        &self,
        py: Python<'py>,
        one: &[u8],
        other: &[u8],
        bounds: Bounds,
    ) -> PyResult<(Bound<'py, PyBytes>, bool)> {
        let (one, other) = (stored(one)?, stored(other)?);
        let limits = bounds.of_thread();
        let joined = py.detach(|| explore::join(&self.inner, limits, one, other));
        let (both, anew) =
            joined.map_err(|error| Problem::in_exploration(error, &self.inner).raise(py))?;
        Ok((PyBytes::new(py, &both.to_bytes()), anew))
    }
}

/// Divides what an exploration has left open.
#[pyfunction]
pub fn divide<'py>(
    py: Python<'py>,
    exploration: &[u8],
    most: usize,
) -> PyResult<(Bound<'py, PyBytes>, Vec<Bound<'py, PyBytes>>)> {
    let mut rest = stored(exploration)?;
    let bytes = |share: &Checkpoint| PyBytes::new(py, &share.to_bytes());
    let shares = rest.divide(most).iter().map(bytes).collect();
    Ok((bytes(&rest), shares))
}

fn stored(bytes: &[u8]) -> PyResult<Checkpoint> {
    let read = Checkpoint::from_bytes(bytes);
    read.ok_or_else(|| PyValueError::new_err("not what an exploration has left open"))
}

/// Makes Python's values, equal strings and lists of dependencies once.
struct Converter<'py, 'p> {
    py: Python<'py>,
    program: &'p Lowered,
    strings: HashMap<String, Bound<'py, PyString>>,
    lists: HashMap<Vec<u32>, Bound<'py, PyList>>,
    templates: FxHashMap<Key, Bound<'py, PyDict>>,
}

/// Site, kind, order, address and size; operation; other thread; thread.
type Key = (
    (u32, EventKind, Order, u64, u32),
    u32,
    Operation,
    Option<u32>,
    usize,
);

impl<'py, 'p> Converter<'py, 'p> {
    fn new(py: Python<'py>, program: &'p Lowered) -> Self {
        Converter {
            py,
            program,
            strings: HashMap::new(),
            lists: HashMap::new(),
            templates: FxHashMap::default(),
        }
    }

    fn string(&mut self, text: &str) -> Bound<'py, PyString> {
        if let Some(known) = self.strings.get(text) {
            return known.clone();
        }
        let made = PyString::new(self.py, text);
        self.strings.insert(text.to_string(), made.clone());
        made
    }

    fn list(&mut self, items: &[u32]) -> PyResult<Bound<'py, PyList>> {
        if let Some(known) = self.lists.get(items) {
            return Ok(known.clone());
        }
        let made = PyList::new(self.py, items)?;
        self.lists.insert(items.to_vec(), made.clone());
        Ok(made)
    }

    fn trace(&mut self, trace: &Trace) -> PyResult<Bound<'py, PyDict>> {
        let runs = PyList::empty(self.py);
        for run in &trace.runs {
            let threads = PyList::empty(self.py);
            for (t, events) in run.threads.iter().enumerate() {
                let start = trace.functions.get(t).map_or("", |s| s.as_str());
                let list = PyList::empty(self.py);
                for event in events {
                    list.append(self.event(event, t, start)?)?;
                }
                threads.append(list)?;
            }
            let dict = PyDict::new(self.py);
            dict.set_item("threads", threads)?;
            dict.set_item("outcome", self.string(run.outcome.name()))?;
            dict.set_item("message", &run.message)?;
            dict.set_item("site", run.site)?;
            dict.set_item("count", run.count)?;
            runs.append(dict)?;
        }
        let dict = PyDict::new(self.py);
        dict.set_item("runs", runs)?;
        dict.set_item("interleavings", trace.interleavings)?;
        dict.set_item("exhaustive", trace.exhaustive)?;
        dict.set_item("how", &trace.how)?;
        dict.set_item("interrupted", trace.interrupted)?;
        dict.set_item("bound_sites", &trace.bound_sites)?;
        dict.set_item("functions", &trace.functions)?;
        Ok(dict)
    }

    fn event(
        &mut self,
        traced: &TracedEvent,
        thread: usize,
        start: &str,
    ) -> PyResult<Bound<'py, PyDict>> {
        let py = self.py;
        let e = &traced.event;
        let place = (e.site, e.kind, e.order, e.address, e.size);
        let key = (place, e.call, e.operation, e.other, thread);
        let dict = match self.templates.get(&key) {
            Some(template) => template.copy()?,
            None => {
                let template = self.template(traced, start)?;
                self.templates.insert(key, template.clone());
                template.copy()?
            }
        };
        if e.read.is_some() {
            dict.set_item(intern!(py, "read"), e.read)?;
        }
        if e.written.is_some() {
            dict.set_item(intern!(py, "written"), e.written)?;
        }
        if e.operand.is_some() {
            dict.set_item(intern!(py, "operand"), e.operand)?;
        }
        dict.set_item(intern!(py, "addr"), self.list(&traced.addr)?)?;
        dict.set_item(intern!(py, "data"), self.list(&traced.data)?)?;
        dict.set_item(intern!(py, "ctrl"), self.list(&traced.ctrl)?)?;
        Ok(dict)
    }

    /// What all events of one site and one address have in common.
    fn template(&mut self, traced: &TracedEvent, start: &str) -> PyResult<Bound<'py, PyDict>> {
        let e = &traced.event;
        let operation = match e.operation {
            Operation::Start => start,
            Operation::Inlined(k) => &self.program.calls[k as usize].function,
            Operation::Called(id) => &self.program.functions[id as usize].name,
        };
        let nothing: Option<u64> = None;
        let dict = PyDict::new(self.py);
        dict.set_item("site", e.site)?;
        dict.set_item("kind", self.string(e.kind.name()))?;
        dict.set_item("order", self.string(e.order.name()))?;
        dict.set_item("loc", self.string(&traced.loc))?;
        dict.set_item("address", e.address)?;
        dict.set_item("size", e.size)?;
        dict.set_item("read", nothing)?;
        dict.set_item("written", nothing)?;
        dict.set_item("op", self.string(e.update.name()))?;
        dict.set_item("operand", nothing)?;
        dict.set_item("volatile", e.volatile)?;
        dict.set_item("call", e.call)?;
        dict.set_item("operation", self.string(operation))?;
        dict.set_item("addr", nothing)?;
        dict.set_item("data", nothing)?;
        dict.set_item("ctrl", nothing)?;
        dict.set_item("other", e.other)?;
        Ok(dict)
    }
}

/// Creates many values that all stay alive: Python's garbage collector, which would take most of
/// the time, is off meanwhile.
fn without_garbage_collection<T>(
    py: Python<'_>,
    create: impl FnOnce() -> PyResult<T>,
) -> PyResult<T> {
    let gc = py.import("gc")?;
    let enabled: bool = gc.call_method0("isenabled")?.extract()?;
    gc.call_method0("disable")?;
    let created = create();
    if enabled {
        gc.call_method0("enable")?;
    }
    created
}
