//! Arguments that several functions take.
use super::error::Problem;
use cat::Model;
use enumerate::{Configuration, ConfigurationError};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The model of a cat file or of a configuration, for programs.
pub fn load_model(py: Python<'_>, model: &Path, folders: &[PathBuf]) -> PyResult<Model> {
    Ok(load_configuration(py, model, folders)?.model)
}

/// The model of a cat file or of a configuration, for litmus tests.
pub fn load_configuration(
    py: Python<'_>,
    path: &Path,
    folders: &[PathBuf],
) -> PyResult<Configuration> {
    let loaded = py.allow_threads(|| Configuration::load(path, folders));
    loaded.map_err(|error| {
        let problem = match error {
            ConfigurationError::Model(error) => Problem::from(&error),
            ConfigurationError::Macros(error) => Problem::from(&error),
        };
        problem.raise(py)
    })
}

pub fn duration(seconds: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| PyValueError::new_err("seconds must be a number that is not negative"))
}
