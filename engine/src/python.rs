//! The only file that knows Python.
use crate::program::error::Error;
use crate::program::event::{Kind, Operation};
use crate::program::ir::Program as Lowered;
use crate::program::trace::{Options, Trace, TracedEvent};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use std::collections::HashMap;

create_exception!(
    _engine,
    EngineError,
    PyException,
    "An IR construct the engine does not model, or a broken IR text: (kind, message, place)."
);

fn engine_error(error: Error) -> PyErr {
    EngineError::new_err((error.kind.name(), error.message, error.place))
}

/// A concurrent program, lowered from clean LLVM IR text.
#[pyclass(frozen, module = "weakspot._engine")]
struct Program {
    inner: Lowered,
}

#[pymethods]
impl Program {
    #[new]
    fn new(py: Python<'_>, ir: &str) -> PyResult<Program> {
        let inner = py.allow_threads(|| Lowered::from_ir(ir));
        Ok(Program {
            inner: inner.map_err(engine_error)?,
        })
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
    fn functions(&self) -> Vec<String> {
        let lowered = self.inner.functions.iter().filter(|f| !f.code.is_empty());
        lowered.map(|f| f.name.clone()).collect()
    }

    #[pyo3(signature = (*, loops=4, interleavings=4000, seed=0, shared_only=true, spurious=true))]
    fn trace<'py>(
        &self,
        py: Python<'py>,
        loops: u32,
        interleavings: u64,
        seed: u64,
        shared_only: bool,
        spurious: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        if interleavings == 0 {
            return Err(PyValueError::new_err("interleavings must be at least 1"));
        }
        let options = Options {
            loops,
            interleavings,
            seed,
            shared_only,
            spurious,
        };
        let trace = py.allow_threads(|| self.inner.trace(&options));
        Converter::new(py, &self.inner).trace(&trace)
    }
}

/// Makes Python's values, equal strings once.
struct Converter<'py, 'p> {
    py: Python<'py>,
    program: &'p Lowered,
    strings: HashMap<String, Bound<'py, PyString>>,
}

impl<'py, 'p> Converter<'py, 'p> {
    fn new(py: Python<'py>, program: &'p Lowered) -> Self {
        Converter {
            py,
            program,
            strings: HashMap::new(),
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

    fn trace(&mut self, trace: &Trace) -> PyResult<Bound<'py, PyDict>> {
        let runs = PyList::empty(self.py);
        for run in &trace.runs {
            let threads = PyList::empty(self.py);
            for (t, events) in run.threads.iter().enumerate() {
                let start = trace.functions.get(t).map_or("", |s| s.as_str());
                let list = PyList::empty(self.py);
                for event in events {
                    list.append(self.event(event, start)?)?;
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
        dict.set_item("bound_sites", &trace.bound_sites)?;
        dict.set_item("functions", &trace.functions)?;
        Ok(dict)
    }

    fn event(&mut self, traced: &TracedEvent, start: &str) -> PyResult<Bound<'py, PyDict>> {
        let py = self.py;
        let e = &traced.event;
        let operation = match e.operation {
            Operation::Start => start,
            Operation::Inlined(k) => &self.program.calls[k as usize].function,
            Operation::Called(id) => &self.program.functions[id as usize].name,
        };
        let kind = e.kind.name();
        // a cmpxchg that fails reads; its failure order counts
        let fence = matches!(e.kind, Kind::Fence | Kind::SignalFence);
        let dict = PyDict::new(py);
        dict.set_item(intern!(py, "site"), e.site)?;
        dict.set_item(intern!(py, "kind"), self.string(kind))?;
        dict.set_item(intern!(py, "order"), self.string(e.order.name()))?;
        let loc = if fence { "" } else { traced.loc.as_str() };
        dict.set_item(intern!(py, "loc"), self.string(loc))?;
        dict.set_item(intern!(py, "address"), e.address)?;
        dict.set_item(intern!(py, "size"), e.size)?;
        dict.set_item(intern!(py, "read"), e.read)?;
        dict.set_item(intern!(py, "written"), e.written)?;
        dict.set_item(intern!(py, "op"), self.string(e.update.name()))?;
        dict.set_item(intern!(py, "operand"), e.operand)?;
        dict.set_item(intern!(py, "volatile"), e.volatile)?;
        dict.set_item(intern!(py, "call"), e.call)?;
        dict.set_item(intern!(py, "operation"), self.string(operation))?;
        dict.set_item(intern!(py, "addr"), &traced.addr)?;
        dict.set_item(intern!(py, "data"), &traced.data)?;
        dict.set_item(intern!(py, "ctrl"), &traced.ctrl)?;
        dict.set_item(intern!(py, "other"), e.other)?;
        Ok(dict)
    }
}

#[pymodule]
fn _engine(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    m.add("EngineError", m.py().get_type::<EngineError>())?;
    m.add_class::<Program>()?;
    Ok(())
}
