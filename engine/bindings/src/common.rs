//! What every binding needs: models, limits, work that may panic.
use super::error::Problem;
use cat::Model;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::any::Any;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The stack of a worker: deeply nested tests must not end the process.
pub const STACK: usize = 64 << 20;
/// How long a wait for an answer lasts before Ctrl-C is looked for.
pub const PATIENCE: Duration = Duration::from_millis(50);

pub fn load(py: Python<'_>, model: &Path, folders: &[PathBuf]) -> PyResult<Model> {
    let loaded = py.allow_threads(|| Model::load(model, folders));
    loaded.map_err(|error| Problem::from(&error).raise(py))
}

pub fn duration(seconds: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| PyValueError::new_err("seconds must be a number that is not negative"))
}

/// Work of the engine; where it panics, a reason for an answer that is not known.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| fault(&*panic))
}

fn fault(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    match text {
        Some(text) => format!("a fault of the engine: {text}"),
        None => "a fault of the engine".to_owned(),
    }
}

/// Makes values that all live on: Python looks for no garbage meanwhile, which would take most of
/// the time.
pub fn kept<T>(py: Python<'_>, make: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    let gc = py.import("gc")?;
    let collects: bool = gc.call_method0("isenabled")?.extract()?;
    gc.call_method0("disable")?;
    let made = make();
    if collects {
        gc.call_method0("enable")?;
    }
    made
}
