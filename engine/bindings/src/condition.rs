//! Final conditions of printed states; see the stub.
use super::error::Problem;
use litmus::printed::{self, PrintedCondition};
use litmus::Quantifier;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use std::collections::BTreeMap;

#[pyclass(module = "weakspot._engine", frozen)]
pub struct Condition(PrintedCondition);

#[pymethods]
impl Condition {
    #[new]
    fn new(py: Python<'_>, text: &str) -> PyResult<Condition> {
        let read = PrintedCondition::read(text);
        Ok(Condition(
            read.map_err(|error| Problem::from(&error).raise(py))?,
        ))
    }

    fn holds(&self, state: BTreeMap<String, String>) -> PyResult<bool> {
        let state = state.iter().map(|(k, v)| (k.as_str(), v.as_str()));
        let holds = self.0.holds(state);
        holds.map_err(|missing| PyKeyError::new_err(missing.0))
    }
}

#[pyfunction]
pub fn quantifier(condition: &str) -> &'static str {
    match printed::quantifier(condition) {
        Some(Quantifier::NotExists) => "~exists",
        Some(Quantifier::Forall) => "forall",
        Some(Quantifier::Exists) | None => "exists",
    }
}
