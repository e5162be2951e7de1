//! C tests in straight-line form.
use litmus::straight_line::{straight_line as extract, Step, StraightLineTest};
use litmus::Test;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The straight-line form of a C test, or None; see the stub.
#[pyfunction]
pub fn straight_line<'py>(py: Python<'py>, text: &str) -> PyResult<Option<Bound<'py, PyDict>>> {
    let found = py.detach(|| Test::parse("", text).ok().as_ref().and_then(extract));
    found.map(|found| dict(py, found)).transpose()
}

fn dict(py: Python<'_>, found: StraightLineTest) -> PyResult<Bound<'_, PyDict>> {
    let threads = found.threads.iter().map(|thread| {
        let actions = thread.iter().map(|action| statement(py, action));
        actions.collect::<PyResult<Vec<_>>>()
    });
    let atom = |(thread, name, value)| {
        let dict = PyDict::new(py);
        dict.set_item("thread", thread)?;
        dict.set_item("name", name)?;
        dict.set_item("value", value)?;
        Ok(dict)
    };
    let dict = PyDict::new(py);
    dict.set_item("threads", threads.collect::<PyResult<Vec<_>>>()?)?;
    let atoms = found.atoms.into_iter().map(atom);
    dict.set_item("atoms", atoms.collect::<PyResult<Vec<_>>>()?)?;
    dict.set_item("locations", found.locations)?;
    dict.set_item("init", found.init)?;
    dict.set_item("plain", Vec::from_iter(found.plain))?;
    Ok(dict)
}

fn statement<'py>(py: Python<'py>, action: &Step) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let kind = match action {
        Step::Load { reg, loc, order } => {
            dict.set_item("reg", reg)?;
            dict.set_item("loc", loc)?;
            dict.set_item("order", order)?;
            "load"
        }
        Step::Store { loc, value, order } => {
            dict.set_item("loc", loc)?;
            dict.set_item("value", value)?;
            dict.set_item("order", order)?;
            "store"
        }
        Step::Rmw {
            reg,
            loc,
            op,
            operand,
            order,
        } => {
            dict.set_item("reg", reg)?;
            dict.set_item("loc", loc)?;
            dict.set_item("op", op)?;
            dict.set_item("operand", operand)?;
            dict.set_item("order", order)?;
            "rmw"
        }
        Step::Cas {
            reg,
            loc,
            expected,
            desired,
            success,
            failure,
            weak,
        } => {
            dict.set_item("reg", reg)?;
            dict.set_item("loc", loc)?;
            dict.set_item("expected", expected)?;
            dict.set_item("desired", desired)?;
            dict.set_item("success", success)?;
            dict.set_item("failure", failure)?;
            dict.set_item("weak", weak)?;
            "cas"
        }
        Step::Fence { order } => {
            dict.set_item("order", order)?;
            "fence"
        }
        Step::Guard { reg, value } => {
            dict.set_item("reg", reg)?;
            dict.set_item("value", value)?;
            "guard"
        }
    };
    dict.set_item("type", kind)?;
    Ok(dict)
}
