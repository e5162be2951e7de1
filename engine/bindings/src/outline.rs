//! The outlines of litmus tests; see the stub.
use super::error::Problem;
use litmus::herd_hash::herd_hash as hash;
use litmus::outline::{renamed as rename, Outline};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The header and the sections of a litmus test.
#[pyfunction]
pub fn outline<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyDict>> {
    let outline = Outline::read("", text).map_err(|error| Problem::from(&error).raise(py))?;
    let dict = PyDict::new(py);
    dict.set_item("dialect", outline.dialect)?;
    dict.set_item("name", outline.name)?;
    dict.set_item("condition", outline.condition())?;
    dict.set_item("preamble", outline.preamble)?;
    dict.set_item("initial", outline.initial)?;
    dict.set_item("program", outline.program)?;
    dict.set_item("end", outline.end)?;
    Ok(dict)
}

/// A litmus test under another name.
#[pyfunction]
pub fn renamed(text: &str, name: &str) -> Option<String> {
    rename(text, name)
}

/// herd7's hash of a litmus test.
#[pyfunction]
pub fn herd_hash(text: &str) -> String {
    let outline = Outline::read("", text).ok();
    outline
        .and_then(|outline| hash(&outline))
        .unwrap_or_default()
}
