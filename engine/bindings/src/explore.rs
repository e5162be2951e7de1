//! Explorations of programs, as Python sees them.
use super::arguments::load_model;
use super::error::Problem;
use super::work::{catch_panic, in_parallel, Caller};
use cat::Model;
use explore::witness::{ReturnedCalls, Witness};
use explore::{
    self, Acyclic, Checkpoint, Doubt, Estimate, Exploration, ExploreError, ExploredProgram,
    FaultKind, Guarantee, Limit, Options, ProgramSource, Reduction, Reductions, Request, Violation,
};
use program::interpreter::Limits;
use program::ir::{Program, SiteId};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Why programs cannot be explored under the model of a cat file, "" if they can.
#[pyfunction]
#[pyo3(signature = (model, *, folders=Vec::new(), acyclic=None))]
pub fn unsuitable(
    py: Python<'_>,
    model: PathBuf,
    folders: Vec<PathBuf>,
    acyclic: Option<&str>,
) -> PyResult<String> {
    let acyclic = acyclic.map(order_of).transpose()?;
    let model = load_model(py, &model, &folders)?;
    match explore::unsuitable(&model, acyclic) {
        Ok(why) => Ok(why.unwrap_or_default()),
        Err(error) => Err(Problem::from(&error).raise(py)),
    }
}

/// What the axioms of a model imply, by its name in models.toml.
pub fn order_of(name: &str) -> PyResult<Acyclic> {
    match name {
        "program order" => Ok(Acyclic::ProgramOrder),
        "dependencies" => Ok(Acyclic::Dependencies),
        _ => Err(PyValueError::new_err(format!(
            "acyclic is \"program order\" or \"dependencies\", not {name:?}"
        ))),
    }
}

/// The reductions that can be switched off, by their names, with the executions that each leaves out.
#[pyfunction]
pub fn reductions() -> Vec<(&'static str, &'static str)> {
    let all = Reduction::ALL.iter();
    all.map(|each| (each.name(), each.leaves_out())).collect()
}

/// All reductions but these.
pub fn without(names: &[String]) -> PyResult<Reductions> {
    names.iter().try_fold(Reductions::ALL, |some, name| {
        let known = Reduction::named(name);
        let unknown = || PyValueError::new_err(format!("there is no reduction {name:?}"));
        Ok(some.with(known.ok_or_else(unknown)?, false))
    })
}

/// The time for all witnesses when that for the exploration is used up.
const TO_EXPLAIN: Duration = Duration::from_millis(300);

/// How long an exploration takes before it is worth estimating how long it will take.
pub const ESTIMATES_AFTER: Duration = Duration::from_secs(2);

/// Where an exploration resumes, and what is called with what is needed to resume it in its turn.
pub struct Resumption<'py> {
    pub earlier: Option<Checkpoint>,
    pub keep: Option<Bound<'py, PyAny>>,
}

/// What is explored of a program.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// All executions, with what main returns in them.
    Results,
    /// The same, by the reference.
    Reference,
    Request(Request),
}

/// Explores a program; see the stub for what comes back.
#[allow(clippy::too_many_arguments)]
pub fn explore<'py>(
    py: Python<'py>,
    program: &Program,
    model: &Model,
    limits: Limits,
    mut options: Options,
    task: Task,
    resumption: Resumption<'py>,
    done: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let checkpoint = Mutex::new(None);
    let earlier = Mutex::new(resumption.earlier);
    let stop = Arc::new(AtomicBool::new(false));
    options.limits.stop = Some(stop.clone());
    let work = |_| {
        catch_panic(|| {
            let begun = Instant::now();
            let (source, found, results) = match task {
                Task::Reference => {
                    let asked = explore::explore_reference(program, model, limits, &options)?;
                    let witnesses = asked.found.violations.iter().map(|_| None).collect();
                    return Ok((asked.found, witnesses, asked.results));
                }
                Task::Results => {
                    let mut source = ProgramSource::new(program, limits);
                    let (found, results) = source.results(model, &options)?;
                    (source, found, results)
                }
                Task::Request(request) => {
                    let earlier = earlier
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .take();
                    let asked =
                        explore::request(program, model, limits, &options, request, earlier);
                    let ExploredProgram {
                        source,
                        mut found,
                        checkpoint: left,
                    } = asked?;
                    if request == Request::Share {
                        // they are shown when all shares are joined
                        found.violations.clear();
                        found.warnings.clear();
                    }
                    *checkpoint.lock().unwrap_or_else(PoisonError::into_inner) = left;
                    (source, found, BTreeMap::new())
                }
            };
            let end = begun.checked_add(options.limits.time);
            let end = end.map(|end| end.max(Instant::now() + TO_EXPLAIN));
            let witnesses = found.violations.iter().chain(&found.warnings);
            let searched = found.guarantee != Some(Guarantee::Unneeded);
            let witnesses = witnesses.map(|v| searched.then(|| Witness::new(&source, v, end)));
            let witnesses: Vec<Option<Witness>> = witnesses.collect();
            Ok((found, witnesses, results))
        })
    };
    let mut caller = Progress {
        done,
        options: &options,
        result: None,
    };
    let explored = in_parallel(py, 1, 1, &stop, work, &mut caller);
    let left = checkpoint
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    if let (Some(left), Some(keep)) = (left, resumption.keep) {
        keep.call1((PyBytes::new(py, &left.to_bytes()),))?;
    }
    explored?;
    match caller.result {
        Some(Ok(Ok((found, witnesses, results)))) => {
            let dict = dict(py, program, &found, &witnesses, &options)?;
            dict.set_item(intern!(py, "results"), results)?;
            Ok(dict)
        }
        Some(Ok(Err(error))) => Err(Problem::in_exploration(error, program).raise(py)),
        Some(Err(panic)) => unknown(py, program, &panic, &options),
        None => unknown(py, program, "the engine gave no answer", &options),
    }
}

type Results = BTreeMap<u64, u64>;
type Explored = Result<Result<(Exploration, Vec<Option<Witness>>, Results), ExploreError>, String>;

/// Reports how many executions there are so far, and takes the result.
struct Progress<'py, 'o> {
    done: Option<Bound<'py, PyAny>>,
    options: &'o Options,
    result: Option<Explored>,
}

impl Caller<Explored> for Progress<'_, '_> {
    fn take(&mut self, _: usize, result: Explored) -> PyResult<()> {
        self.result = Some(result);
        Ok(())
    }

    fn idle(&mut self) -> PyResult<()> {
        if let Some(done) = &self.done {
            let limits = &self.options.limits;
            let count = limits.counted.load(Ordering::Relaxed);
            let estimate = *limits.estimate();
            let estimate = estimate.map(|estimate| (estimate.executions, estimate.error));
            done.call1((count, estimate))?;
        }
        Ok(())
    }
}

/// The result Unknown: the program is not explored at all, for a reason.
fn unknown<'py>(
    py: Python<'py>,
    program: &Program,
    why: &str,
    options: &Options,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = dict(py, program, &Exploration::default(), &[], options)?;
    dict.set_item(intern!(py, "result"), "Unknown")?;
    let reason = reason_dict(py, "refused", "")?;
    reason.set_item(intern!(py, "message"), why)?;
    dict.set_item(intern!(py, "reasons"), [reason])?;
    dict.set_item(intern!(py, "results"), Results::new())?;
    Ok(dict)
}

fn kind(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::Assertion => "assertion",
        FaultKind::Race => "race",
        FaultKind::Hang => "hang",
        FaultKind::Uninitialised => "uninitialised",
        FaultKind::Memory => "memory",
        FaultKind::Lock => "lock",
        FaultKind::Unjoined => "unjoined",
        FaultKind::Linearizability => "linearizability",
        FaultKind::Flag => "flag",
    }
}

/// Why not everything was explored; see the stub.
fn reason_dict<'py>(py: Python<'py>, kind: &str, limit: &str) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item(intern!(py, "kind"), kind)?;
    dict.set_item(intern!(py, "limit"), limit)?;
    dict.set_item(intern!(py, "message"), "")?;
    dict.set_item(intern!(py, "because"), "")?;
    dict.set_item(intern!(py, "site"), "")?;
    dict.set_item(intern!(py, "number"), py.None())?;
    Ok(dict)
}

fn dict<'py>(
    py: Python<'py>,
    program: &Program,
    found: &Exploration,
    witnesses: &[Option<Witness>],
    options: &Options,
) -> PyResult<Bound<'py, PyDict>> {
    let reasons = PyList::empty(py);
    for truncation in &found.truncations {
        let reason = reason_dict(py, "truncated", &truncation.limit)?;
        reason.set_item(intern!(py, "message"), &truncation.message)?;
        reason.set_item(intern!(py, "because"), &truncation.because)?;
        let place = |site: SiteId| program.sites[site as usize].place();
        reason.set_item(
            intern!(py, "site"),
            truncation.site.map(place).unwrap_or_default(),
        )?;
        reasons.append(reason)?;
    }
    let limits = &options.limits;
    let doubts = found.safe().err();
    for doubt in doubts.iter().flatten() {
        let reason = match doubt {
            Doubt::Limit(limit) => {
                let reason = reason_dict(py, "limit", limit.name())?;
                match limit {
                    Limit::Executions => reason.set_item("number", limits.executions)?,
                    Limit::Seconds => reason.set_item("number", limits.time.as_secs_f64())?,
                    Limit::Stopped => {}
                }
                reason
            }
            Doubt::NoExecution => reason_dict(py, "no execution", "")?,
            Doubt::Model if found.guarantee == Some(Guarantee::Refuted) => {
                reason_dict(py, "refuted", "")?
            }
            Doubt::Model => reason_dict(py, "unproved", "")?,
            Doubt::Missed => reason_dict(py, "missed", "")?,
            Doubt::Violated | Doubt::Truncated | Doubt::Part => continue,
        };
        reasons.append(reason)?;
    }
    let of_loops = found.truncations.iter().filter(|t| t.limit == "loops");
    let sites: BTreeSet<SiteId> = of_loops.filter_map(|t| t.site).collect();
    let reached: BTreeSet<&str> = found.truncations.iter().map(|t| &t.limit[..]).collect();
    let result = match (&doubts, found.violations.is_empty()) {
        (None, _) => "Safe",
        (Some(_), false) => "Violated",
        (Some(_), true) => "Unknown",
    };
    let (violations, warnings) = (PyList::empty(py), PyList::empty(py));
    let all = found.violations.iter().chain(&found.warnings);
    for (number, (violation, witness)) in all.zip(witnesses).enumerate() {
        let list = match number < found.violations.len() {
            true => &violations,
            false => &warnings,
        };
        list.append(violation_dict(py, program, violation, witness.as_ref())?)?;
    }
    let counts = &found.counts;
    let dict = PyDict::new(py);
    dict.set_item(intern!(py, "result"), result)?;
    dict.set_item(intern!(py, "reasons"), reasons)?;
    dict.set_item(intern!(py, "limit"), found.limit.map(Limit::name))?;
    dict.set_item(intern!(py, "bound_sites"), Vec::from_iter(sites))?;
    dict.set_item(intern!(py, "limits"), Vec::from_iter(reached))?;
    dict.set_item(intern!(py, "violations"), violations)?;
    dict.set_item(intern!(py, "warnings"), warnings)?;
    dict.set_item(intern!(py, "threads"), found.threads)?;
    dict.set_item(intern!(py, "complete"), counts.complete)?;
    dict.set_item(intern!(py, "blocked"), counts.blocked)?;
    dict.set_item(intern!(py, "represented"), counts.represented)?;
    dict.set_item(intern!(py, "truncated"), counts.truncated)?;
    dict.set_item(intern!(py, "faulty"), counts.faulty)?;
    dict.set_item(intern!(py, "seconds"), found.seconds)?;
    dict.set_item(intern!(py, "departures"), found.departures)?;
    dict.set_item(intern!(py, "rounds"), found.loops)?;
    dict.set_item(intern!(py, "loop_bound"), found.loop_bound)?;
    dict.set_item(intern!(py, "rate"), found.rate)?;
    dict.set_item(intern!(py, "earlier"), found.earlier)?;
    dict.set_item(intern!(py, "resumed"), found.resumed)?;
    dict.set_item(intern!(py, "skips_calls"), found.skips_calls)?;
    dict.set_item(intern!(py, "mixed_sizes"), found.mixed_sizes)?;
    dict.set_item(intern!(py, "not_asserted"), &found.not_asserted)?;
    dict.set_item(intern!(py, "fails"), program.has_weak_exchanges())?;
    let estimate = |found: Estimate| (found.executions, found.error, found.draws);
    let doubled = found.doubled.map(|(found, rate)| (estimate(found), rate));
    dict.set_item(intern!(py, "doubled"), doubled)?;
    dict.set_item(intern!(py, "estimate"), found.estimate.map(estimate))?;
    let sample = found.sample;
    let sample = sample.map(|sample| (sample.draws, sample.distinct, sample.known));
    dict.set_item(intern!(py, "sample"), sample)?;
    dict.set_item(intern!(py, "evidence"), evidence_dict(py, found)?)?;
    Ok(dict)
}

/// What an answer rests on.
fn evidence_dict<'py>(py: Python<'py>, found: &Exploration) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let names = found.reductions.iter().map(Reduction::name);
    dict.set_item(intern!(py, "reductions"), Vec::from_iter(names))?;
    dict.set_item(intern!(py, "exhausted"), found.exhausted.is_some())?;
    dict.set_item(
        intern!(py, "model"),
        found.guarantee.map_or("", Guarantee::name),
    )?;
    dict.set_item(intern!(py, "checks"), found.checks)?;
    let audit = found.audit.as_ref().map(|audit| {
        let missed = audit.missed.iter();
        let missed = missed.map(|fault| (kind(fault.kind), &fault.message, fault.site));
        let of = PyDict::new(py);
        of.set_item(intern!(py, "descents"), audit.descents)?;
        of.set_item(intern!(py, "seconds"), (audit.seconds * 1e6).round() / 1e6)?;
        let refused = audit.refused.as_deref().unwrap_or_default();
        of.set_item(intern!(py, "refused"), refused)?;
        of.set_item(intern!(py, "missed"), Vec::from_iter(missed))?;
        Ok::<_, PyErr>(of)
    });
    dict.set_item(intern!(py, "audit"), audit.transpose()?)?;
    Ok(dict)
}

fn violation_dict<'py>(
    py: Python<'py>,
    program: &Program,
    violation: &Violation,
    witness: Option<&Witness>,
) -> PyResult<Bound<'py, PyDict>> {
    let fault = &violation.fault;
    let (mut message, mut site) = (fault.message.clone(), fault.site);
    let mut accesses = Vec::new();
    if let Some((witness, (a, b))) = witness.and_then(|w| Some((w, w.conflict?))) {
        let mut pair = [&witness.events[a], &witness.events[b]];
        // a race is one violation, whichever access comes first in an execution
        pair.sort_by_key(|shown| {
            let site = shown.site.map(|s| &program.sites[s as usize]);
            site.map(|site| (&site.file, site.line, site.column))
        });
        message = format!("{message} on {}", pair[0].location);
        accesses.extend(pair.map(|shown| shown.site));
        site = pair[0].site;
    }
    let dict = PyDict::new(py);
    dict.set_item(intern!(py, "kind"), kind(fault.kind))?;
    dict.set_item(intern!(py, "message"), message)?;
    dict.set_item(intern!(py, "site"), site)?;
    dict.set_item(intern!(py, "accesses"), accesses)?;
    // one that was drawn, and not explored, is not counted
    dict.set_item(intern!(py, "executions"), violation.count.max(1))?;
    let witness = witness
        .map(|witness| witness_dict(py, program, witness))
        .transpose()?;
    dict.set_item(intern!(py, "witness"), witness)?;
    Ok(dict)
}

fn witness_dict<'py>(
    py: Python<'py>,
    program: &Program,
    witness: &Witness,
) -> PyResult<Bound<'py, PyDict>> {
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
        let call = event.site.map(|site| &program.sites[site as usize].call);
        dict.set_item(intern!(py, "call"), call)?;
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
    let calls = witness.calls.as_ref();
    let calls = calls.map(|calls| calls_dict(py, calls)).transpose()?;
    dict.set_item(intern!(py, "calls"), calls)?;
    Ok(dict)
}

fn calls_dict<'py>(py: Python<'py>, found: &ReturnedCalls) -> PyResult<Bound<'py, PyDict>> {
    let calls = PyList::empty(py);
    for call in &found.calls {
        let dict = PyDict::new(py);
        dict.set_item(intern!(py, "thread"), call.thread)?;
        dict.set_item(intern!(py, "call"), &call.call)?;
        dict.set_item(intern!(py, "result"), call.result)?;
        dict.set_item(intern!(py, "before"), &call.before)?;
        calls.append(dict)?;
    }
    let dict = PyDict::new(py);
    dict.set_item(intern!(py, "calls"), calls)?;
    dict.set_item(intern!(py, "nearest"), &found.nearest)?;
    dict.set_item(intern!(py, "differs"), found.differs)?;
    Ok(dict)
}
