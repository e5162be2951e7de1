//! Arguments that several functions take.
use super::error::Problem;
use cat::Model;
use enumerate::{Configuration, ConfigurationError};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The models that were loaded last: what explorations have asked of one is asked again only where
/// one of its files has changed.
static MODELS: Mutex<Vec<Arc<Model>>> = Mutex::new(Vec::new());
const MOST_MODELS: usize = 32;

/// The model of a cat file or of a configuration, for programs.
pub fn load_model(py: Python<'_>, model: &Path, folders: &[PathBuf]) -> PyResult<Arc<Model>> {
    let loaded = load_configuration(py, model, folders)?.model;
    let mut models = MODELS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = models.iter().find(|known| known.is_same(&loaded)) {
        return Ok(known.clone());
    }
    models.truncate(MOST_MODELS - 1);
    let loaded = Arc::new(loaded);
    models.insert(0, loaded.clone());
    Ok(loaded)
}

/// The model of a cat file or of a configuration, for litmus tests.
pub fn load_configuration(
    py: Python<'_>,
    path: &Path,
    folders: &[PathBuf],
) -> PyResult<Configuration> {
    let loaded = py.detach(|| Configuration::load(path, folders));
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
