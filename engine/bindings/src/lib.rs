//! The only part that knows Python.
mod common;
mod error;
mod explore;
mod litmus;
mod program;
mod straight;

use pyo3::prelude::*;

#[pymodule]
fn _engine(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let version = concat!(env!("CARGO_PKG_VERSION"), "+", env!("ENGINE_SOURCES"));
    m.add("__version__", version)?;
    m.add("EngineError", m.py().get_type::<error::EngineError>())?;
    m.add_class::<program::Program>()?;
    m.add_function(wrap_pyfunction!(litmus::check, m)?)?;
    m.add_function(wrap_pyfunction!(straight::straight, m)?)?;
    m.add_function(wrap_pyfunction!(explore::unsuitable, m)?)?;
    Ok(())
}
