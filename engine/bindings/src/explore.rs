//! Explorations of programs, as Python sees them.
use super::common::{guarded, load, PATIENCE, STACK};
use super::error::Problem;
use cat::Model;
use explore::witness::{Shown, Witness};
use explore::ProgramSource;
use explore::{self, Exploration, Kind, Limit, Options, Violation};
use program::ir::{Program, SiteId};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{channel, RecvTimeoutError};
use std::sync::Arc;
use std::thread;

/// Why programs cannot be explored under the model of a cat file, "" if they can.
#[pyfunction]
#[pyo3(signature = (model, *, folders=Vec::new(), porf_acyclic=false))]
pub fn unsuitable(
    py: Python<'_>,
    model: PathBuf,
    folders: Vec<PathBuf>,
    porf_acyclic: bool,
) -> PyResult<String> {
    let model = load(py, &model, &folders)?;
    match explore::unsuitable(&model, porf_acyclic) {
        Ok(why) => Ok(why.unwrap_or_default()),
        Err(error) => Err(Problem::from(&error).raise(py)),
    }
}

/// Explores a program; see the stub for what comes back.
pub fn explore<'py>(
    py: Python<'py>,
    program: &Program,
    model: &Model,
    loops: u32,
    mut options: Options,
    done: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let stop = Arc::new(AtomicBool::new(false));
    options.limits.stop = Some(stop.clone());
    let options = &options;
    let result = thread::scope(|scope| {
        let (sender, receiver) = channel();
        let work = move || {
            let all = || {
                let mut source = ProgramSource::new(program, loops);
                let found = source.explore(model, options)?;
                let witnesses = found.violations.iter().map(|v| Witness::new(&source, v));
                let witnesses: Vec<Witness> = witnesses.collect();
                Ok((found, witnesses))
            };
            // nobody listens any more only where an error has ended the wait
            let _ = sender.send(guarded(all));
        };
        thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, work)?;
        let mut receiver = receiver;
        loop {
            let waiting = &mut receiver;
            match py.allow_threads(move || waiting.recv_timeout(PATIENCE)) {
                Ok(result) => return Ok(Some(result)),
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) => {}
            }
            let told = py.check_signals().and_then(|()| match &done {
                Some(done) => {
                    let count = options.limits.counted.load(Ordering::Relaxed);
                    done.call1((count,)).map(|_| ())
                }
                None => Ok(()),
            });
            if let Err(error) = told {
                stop.store(true, Ordering::Relaxed);
                // the scope waits for the work to end
                py.allow_threads(move || drop(receiver.recv()));
                return Err(error);
            }
        }
    })?;
    match result {
        Some(Ok(Ok((found, witnesses)))) => dict(py, program, &found, &witnesses, options),
        Some(Ok(Err(error))) => Err(Problem::in_exploration(error, program).raise(py)),
        Some(Err(fault)) => broken(py, program, &fault, options),
        None => broken(py, program, "the engine gave no answer", options),
    }
}

/// An exploration of which nothing is known.
fn broken<'py>(
    py: Python<'py>,
    program: &Program,
    reason: &str,
    options: &Options,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = dict(py, program, &Exploration::default(), &[], options)?;
    dict.set_item(intern!(py, "result"), "Unknown")?;
    dict.set_item(intern!(py, "reasons"), [reason])?;
    Ok(dict)
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Assertion => "assertion",
        Kind::Race => "race",
        Kind::Hang => "hang",
        Kind::Uninitialised => "uninitialised",
        Kind::Memory => "memory",
        Kind::Lock => "lock",
    }
}

fn dict<'py>(
    py: Python<'py>,
    program: &Program,
    found: &Exploration,
    witnesses: &[Witness],
    options: &Options,
) -> PyResult<Bound<'py, PyDict>> {
    let mut reasons: Vec<String> = Vec::new();
    let place = |site: SiteId| program.sites[site as usize].place();
    for cut in &found.cuts {
        let at = cut
            .site
            .map_or(String::new(), |s| format!(" at {}", place(s)));
        reasons.push(format!("{}{at}", cut.message));
    }
    let limits = &options.limits;
    match found.limit {
        Some(Limit::Executions) => {
            reasons.push(format!("limit of {} executions", limits.executions));
        }
        Some(Limit::Seconds) => {
            reasons.push(format!("time limit of {} s", limits.time.as_secs_f64()));
        }
        Some(Limit::Stopped) => reasons.push("stopped".to_owned()),
        None => {}
    }
    let is_loop = |site: &SiteId| program.sites[*site as usize].kind == "loop";
    let loops: Vec<Option<SiteId>> = found.cuts.iter().map(|c| c.site.filter(is_loop)).collect();
    let fixed = loops.contains(&None);
    let mut sites: Vec<SiteId> = loops.into_iter().flatten().collect();
    sites.sort_unstable();
    sites.dedup();
    let result = match (found.violations.is_empty(), reasons.is_empty()) {
        (false, _) => "Violated",
        (true, false) => "Unknown",
        (true, true) => "Safe",
    };
    let violations = PyList::empty(py);
    for (violation, witness) in found.violations.iter().zip(witnesses) {
        violations.append(violation_dict(py, program, violation, witness)?)?;
    }
    let counts = &found.counts;
    let dict = PyDict::new(py);
    dict.set_item(intern!(py, "result"), result)?;
    dict.set_item(intern!(py, "reasons"), reasons)?;
    dict.set_item(intern!(py, "limit"), found.limit.map(Limit::name))?;
    dict.set_item(intern!(py, "cut_sites"), sites)?;
    dict.set_item(intern!(py, "fixed"), fixed)?;
    dict.set_item(intern!(py, "violations"), violations)?;
    dict.set_item(intern!(py, "complete"), counts.complete)?;
    dict.set_item(intern!(py, "blocked"), counts.blocked)?;
    dict.set_item(intern!(py, "cut"), counts.cut)?;
    dict.set_item(intern!(py, "faulty"), counts.faulty)?;
    dict.set_item(intern!(py, "seconds"), found.seconds)?;
    Ok(dict)
}

fn violation_dict<'py>(
    py: Python<'py>,
    program: &Program,
    violation: &Violation,
    witness: &Witness,
) -> PyResult<Bound<'py, PyDict>> {
    let fault = &violation.fault;
    let (mut message, mut site) = (fault.message.clone(), fault.site);
    if let Some((a, b)) = witness.conflict {
        let (a, b) = (&witness.events[a], &witness.events[b]);
        let place = |shown: &Shown| {
            let site = shown.site.map(|s| program.sites[s as usize].place());
            site.unwrap_or_default()
        };
        message = format!(
            "{message} on {} between {} and {}",
            a.location,
            place(a),
            place(b)
        );
        site = a.site;
    }
    let dict = PyDict::new(py);
    dict.set_item(intern!(py, "kind"), kind(fault.kind))?;
    dict.set_item(intern!(py, "message"), message)?;
    dict.set_item(intern!(py, "site"), site)?;
    dict.set_item(intern!(py, "executions"), violation.count)?;
    dict.set_item(intern!(py, "witness"), witness_dict(py, witness)?)?;
    Ok(dict)
}

fn witness_dict<'py>(py: Python<'py>, witness: &Witness) -> PyResult<Bound<'py, PyDict>> {
    let events = PyList::empty(py);
    for event in &witness.events {
        let dict = PyDict::new(py);
        dict.set_item(intern!(py, "thread"), event.thread)?;
        dict.set_item(intern!(py, "label"), &event.label)?;
        dict.set_item(intern!(py, "kind"), event.kind)?;
        dict.set_item(intern!(py, "order"), event.order)?;
        dict.set_item(intern!(py, "location"), &event.location)?;
        dict.set_item(intern!(py, "read"), &event.read)?;
        dict.set_item(intern!(py, "written"), &event.written)?;
        dict.set_item(intern!(py, "site"), event.site)?;
        events.append(dict)?;
    }
    let waits = PyList::empty(py);
    for wait in &witness.waits {
        let dict = PyDict::new(py);
        dict.set_item(intern!(py, "thread"), wait.thread)?;
        dict.set_item(intern!(py, "what"), &wait.what)?;
        dict.set_item(intern!(py, "site"), wait.site)?;
        waits.append(dict)?;
    }
    let dict = PyDict::new(py);
    dict.set_item(intern!(py, "functions"), &witness.functions)?;
    dict.set_item(intern!(py, "events"), events)?;
    dict.set_item(intern!(py, "rf"), &witness.rf)?;
    dict.set_item(intern!(py, "co"), &witness.co)?;
    dict.set_item(intern!(py, "fr"), &witness.fr)?;
    dict.set_item(intern!(py, "cycle"), &witness.cycle)?;
    dict.set_item(intern!(py, "conflict"), witness.conflict)?;
    dict.set_item(intern!(py, "waits"), waits)?;
    Ok(dict)
}
