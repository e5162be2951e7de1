//! The Python module `weakspot._engine`, described in `weakspot/_engine.pyi`: the only crate that
//! knows Python. Litmus tests, models and LLVM IR come in as text or paths; dictionaries go out.
mod arguments;
mod check;
mod condition;
mod error;
mod explore;
mod files;
mod options;
mod outline;
mod program;
mod report;
mod straight_line;
mod verdict;
mod work;

use pyo3::prelude::*;
use pyo3::types::PyTuple;

#[pymodule]
fn _engine(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let version = concat!(env!("CARGO_PKG_VERSION"), "+", env!("ENGINE_SOURCES"));
    m.add("__version__", version)?;
    m.add("EngineError", m.py().get_type::<error::EngineError>())?;
    let dialects = litmus::dialects::DIALECTS.map(|dialect| dialect.name);
    m.add("DIALECTS", PyTuple::new(m.py(), dialects)?)?;
    m.add_class::<check::EngineAnswer>()?;
    m.add_class::<check::LoadedModel>()?;
    m.add_class::<verdict::PrintedAnswer>()?;
    m.add_class::<files::LitmusFile>()?;
    m.add_class::<files::LitmusFiles>()?;
    m.add_class::<program::Program>()?;
    m.add_class::<condition::Condition>()?;
    m.add_function(wrap_pyfunction!(check::check, m)?)?;
    m.add_function(wrap_pyfunction!(check::check_files, m)?)?;
    m.add_function(wrap_pyfunction!(files::below, m)?)?;
    m.add_function(wrap_pyfunction!(files::litmus_files, m)?)?;
    m.add_function(wrap_pyfunction!(condition::quantifier, m)?)?;
    m.add_function(wrap_pyfunction!(outline::herd_hash, m)?)?;
    m.add_function(wrap_pyfunction!(outline::outline, m)?)?;
    m.add_function(wrap_pyfunction!(outline::renamed, m)?)?;
    m.add_function(wrap_pyfunction!(straight_line::straight_line, m)?)?;
    m.add_function(wrap_pyfunction!(explore::unsuitable, m)?)?;
    m.add_function(wrap_pyfunction!(explore::reductions, m)?)?;
    m.add_function(wrap_pyfunction!(program::divide, m)?)?;
    m.add_function(wrap_pyfunction!(verdict::herd_log, m)?)?;
    Ok(())
}
