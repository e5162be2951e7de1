//! What is explored of a program and within which limits: frozen values of Python, read whole.
use super::arguments::duration;
use super::explore::{without, Task};
use explore::{Limits, Options, Request};
use program::interpreter;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::time::Duration;

/// More iterations than this have to be asked for: a loop that has no end would be followed for ever
/// more of them.
const MOST_LOOPS: u32 = 64;

/// `Bounds` of the stub.
#[derive(FromPyObject)]
pub struct Bounds {
    loops: u32,
    executions: u64,
    seconds: f64,
    events: usize,
    instructions: u64,
    calls: usize,
}

impl Default for Bounds {
    fn default() -> Bounds {
        let of_thread = interpreter::Limits::default();
        Bounds {
            loops: 0,
            executions: 0,
            seconds: 0.0,
            events: Limits::default().events,
            instructions: of_thread.instructions,
            calls: of_thread.calls,
        }
    }
}

impl Bounds {
    /// Those of a thread in one execution.
    pub fn of_thread(&self) -> interpreter::Limits {
        interpreter::Limits {
            loops: match self.loops {
                0 => interpreter::Limits::default().loops,
                loops => loops,
            },
            instructions: self.instructions,
            calls: self.calls,
        }
    }

    /// Up to which bound that on the iterations of loops is doubled, if it is not given.
    pub fn most_loops(&self) -> Option<u32> {
        (self.loops == 0).then_some(MOST_LOOPS)
    }

    /// Those of the search.
    pub fn of_search(&self) -> PyResult<Limits> {
        Ok(Limits {
            executions: match self.executions {
                0 => u64::MAX,
                executions => executions,
            },
            time: match self.seconds {
                0.0 => Duration::MAX,
                seconds => duration(seconds)?,
            },
            events: self.events,
            ..Limits::default()
        })
    }
}

/// `Part` of the stub.
#[derive(FromPyObject)]
pub struct Part {
    departures: Option<u32>,
    sample: bool,
    estimate: bool,
    without: Vec<String>,
    reference: bool,
    audit: Option<f64>,
    weak_failures: String,
    mixed_sizes: bool,
    seed: u64,
}

impl Default for Part {
    fn default() -> Part {
        Part {
            departures: None,
            sample: false,
            estimate: false,
            without: Vec::new(),
            reference: false,
            audit: None,
            weak_failures: String::new(),
            mixed_sizes: true,
            seed: 0,
        }
    }
}

impl Part {
    /// What is asked of the explorer; a `share` is of what an exploration has left open.
    pub fn task(&self, share: bool, results: bool) -> PyResult<Task> {
        let seed = self.seed;
        let some = match (self.departures, self.sample, self.estimate) {
            (None, false, false) => None,
            (Some(most), false, false) => Some(Request::Within(most)),
            (None, true, false) => Some(Request::Sample { seed }),
            (None, false, true) => Some(Request::Estimate { seed }),
            _ => return Err(excluded()),
        };
        match (some, self.reference, results) {
            (None, true, false) if !share => Ok(Task::Reference),
            (None, false, true) if !share => Ok(Task::Results),
            (None, false, false) if share => Ok(Task::Request(Request::Share)),
            (None, false, false) => Ok(Task::Request(Request::Everything)),
            (Some(request), false, false) if !share => Ok(Task::Request(request)),
            _ if share => {
                let message = "a share is of every execution, without results";
                Err(PyValueError::new_err(message))
            }
            _ => Err(excluded()),
        }
    }

    /// Which executions stand for others, for the explorer.
    pub fn options(&self) -> PyResult<Options> {
        Ok(Options {
            reductions: without(&self.without)?,
            fails_once: self.weak_failures == "once",
            one_size: !self.mixed_sizes,
            audit: self.audit.map(duration).transpose()?,
            ..Options::default()
        })
    }
}

fn excluded() -> PyErr {
    PyValueError::new_err("results, reference, departures, sample and estimate exclude one another")
}
