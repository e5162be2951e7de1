//! Arguments that several functions take.
use super::error::Problem;
use cat::Model;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub fn load_model(py: Python<'_>, model: &Path, folders: &[PathBuf]) -> PyResult<Model> {
    let loaded = py.allow_threads(|| Model::load(model, folders));
    loaded.map_err(|error| Problem::from(&error).raise(py))
}

pub fn duration(seconds: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| PyValueError::new_err("seconds must be a number that is not negative"))
}
