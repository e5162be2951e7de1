//! The only part that knows Python.
mod common;
mod explore;
mod litmus;
mod program;
mod straight;

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(
    _engine,
    EngineError,
    PyException,
    "What the engine is given cannot be used as it is: (kind, message, place), and for litmus \
     tests and models (kind, message, place, excerpt, advice)."
);

#[pymodule]
fn _engine(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let version = concat!(env!("CARGO_PKG_VERSION"), "+", env!("ENGINE_SOURCES"));
    m.add("__version__", version)?;
    m.add("EngineError", m.py().get_type::<EngineError>())?;
    m.add_class::<program::Program>()?;
    m.add_function(wrap_pyfunction!(litmus::check, m)?)?;
    m.add_function(wrap_pyfunction!(straight::straight, m)?)?;
    m.add_function(wrap_pyfunction!(explore::unsuitable, m)?)?;
    Ok(())
}
