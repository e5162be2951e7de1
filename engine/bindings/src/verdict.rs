//! Verdicts as they are printed: one JSON object per line, and herd7's log.
use super::error::Problem;
use super::report::{Outcome, Report, State};
use enumerate::{LogEntry, Observation};
use litmus::printed::quantifier;
use litmus::Quantifier;
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::borrow::Cow;
use std::fmt::Write as _;

/// The reason of a verdict whose test has a loop that is not unrolled completely.
const LOOP: &str = "a loop is unrolled a limited number of times: outcomes may be missing";

/// What a report says, once limits are taken into account.
pub struct Said<'r> {
    observation: &'static str,
    condition_holds: Option<bool>,
    executions: Option<(u64, u64)>,
    flags: Vec<&'r str>,
    reason: String,
    reason_kind: &'static str,
    seconds: f64,
    /// Not those of an answer that is open, unless a loop leaves it open.
    shows_states: bool,
}

impl Said<'_> {
    pub fn of(report: &Report) -> Said<'_> {
        let unknown = |reason: &str| Said {
            observation: "Unknown",
            condition_holds: None,
            executions: None,
            flags: Vec::new(),
            reason: one_line(reason).into_owned(),
            reason_kind: "",
            seconds: 0.0,
            shows_states: false,
        };
        let decided = match &report.outcome {
            Outcome::Decided(decided) => decided,
            _ => return unknown(&report.reason()),
        };
        let answer = &decided.answer;
        let mut said = Said {
            seconds: (answer.seconds * 1e6).round() / 1e6,
            flags: answer.flags.iter().map(String::as_str).collect(),
            ..unknown("")
        };
        if let Some(limit) = &decided.limit {
            said.reason = one_line(limit).into_owned();
            return said;
        }
        if answer.undefined {
            said.observation = "Undefined";
            said.flags.insert(0, "*undef*");
        } else {
            said.observation = match answer.observation {
                Observation::Never => "Never",
                Observation::Sometimes => "Sometimes",
                Observation::Always => "Always",
            };
            said.condition_holds = Some(answer.condition_ok);
        }
        said.shows_states = true;
        if answer.loop_bound_reached {
            LOOP.clone_into(&mut said.reason);
            said.reason_kind = "loop";
            if matches!(said.observation, "Never" | "Always") {
                // further iterations may show more: this is no answer for the whole test
                let _ = write!(
                    said.reason,
                    "; within that limit the engine says {}",
                    said.observation
                );
                said.observation = "Unknown";
                said.condition_holds = None;
                return said;
            }
        }
        said.executions = Some((answer.positive, answer.negative));
        said
    }

    pub fn observation(&self) -> &'static str {
        self.observation
    }
}

/// A verdict as one JSON object: as msgspec encodes a Verdict, without witness and sites.
pub fn json(report: &Report, test: &str, model: &str, checker: &str) -> String {
    let said = Said::of(report);
    let mut out = String::with_capacity(512);
    out.push_str("{\"test\":");
    string(&mut out, test);
    out.push_str(",\"model\":");
    string(&mut out, model);
    out.push_str(",\"checker\":");
    string(&mut out, checker);
    let _ = write!(out, ",\"observation\":\"{}\"", said.observation);
    let holds = said
        .condition_holds
        .map_or("null".to_owned(), |holds| holds.to_string());
    let _ = write!(out, ",\"condition_holds\":{holds},\"states\":[");
    if said.shows_states {
        let mut first = true;
        for state in report.states() {
            out.push_str(if first { "{" } else { ",{" });
            first = false;
            for (number, (name, value)) in state.enumerate() {
                if number > 0 {
                    out.push(',');
                }
                string(&mut out, name);
                out.push(':');
                string(&mut out, &value.text());
            }
            out.push('}');
        }
    }
    out.push_str("],\"flags\":[");
    for (number, flag) in said.flags.iter().enumerate() {
        if number > 0 {
            out.push(',');
        }
        string(&mut out, flag);
    }
    let _ = write!(
        out,
        "],\"seconds\":{},\"sites\":[],\"condition\":",
        float(said.seconds)
    );
    string(&mut out, &report.condition);
    out.push_str(",\"witnesses\":");
    match said.executions {
        Some((satisfying, others)) => {
            let _ = write!(out, "[{satisfying},{others}]");
        }
        None => out.push_str("null"),
    }
    out.push_str(",\"reason\":");
    string(&mut out, &said.reason);
    out.push_str(",\"hash\":");
    string(&mut out, &report.hash);
    out.push_str(",\"witness\":null,\"forbidden_by\":{");
    for (number, (axiom, count)) in report.forbidden_by().enumerate() {
        if number > 0 {
            out.push(',');
        }
        string(&mut out, axiom);
        let _ = write!(out, ":{count}");
    }
    let _ = write!(out, "}},\"reason_kind\":\"{}\"}}", said.reason_kind);
    out
}

/// How verdicts are printed.
#[derive(Clone, Copy)]
pub enum Form {
    /// Only what tables and exit codes need.
    Brief,
    Json,
    Herd,
}

impl Form {
    pub fn of(name: &str) -> PyResult<Form> {
        match name {
            "" => Ok(Form::Brief),
            "json" => Ok(Form::Json),
            "herd" => Ok(Form::Herd),
            _ => Err(PyValueError::new_err("the forms are json and herd")),
        }
    }
}

/// A verdict that is printed already; see the stub.
#[pyclass(module = "weakspot._engine", frozen)]
pub struct PrintedAnswer {
    #[pyo3(get)]
    observation: &'static str,
    #[pyo3(get)]
    reason: String,
    #[pyo3(get)]
    seconds: f64,
    #[pyo3(get)]
    text: String,
    malformed: Option<Problem>,
    error: Option<Problem>,
}

impl PrintedAnswer {
    pub fn new(
        report: &Report,
        form: Form,
        test: &str,
        model: &str,
        checker: &str,
    ) -> PrintedAnswer {
        let text = match form {
            Form::Brief => String::new(),
            Form::Json => json(report, test, model, checker) + "\n",
            Form::Herd => Logged::of(report, test, model).text(),
        };
        let said = Said::of(report);
        PrintedAnswer {
            observation: said.observation,
            reason: said.reason,
            seconds: said.seconds,
            text,
            malformed: report.malformed().cloned(),
            error: report.error(),
        }
    }
}

#[pymethods]
impl PrintedAnswer {
    #[getter]
    fn malformed<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let problem = self.malformed.as_ref();
        problem.map(|problem| problem.dict(py)).transpose()
    }

    #[getter]
    fn error<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let problem = self.error.as_ref();
        problem.map(|problem| problem.dict(py)).transpose()
    }
}

/// What a log of herd7 says about a verdict.
pub struct Logged {
    test: String,
    model: String,
    observation: String,
    condition_holds: Option<bool>,
    states: Vec<String>,
    executions: Option<(u64, u64)>,
    flags: Vec<String>,
    reason: String,
    loop_bound_reached: bool,
    condition: String,
    seconds: f64,
    hash: String,
}

impl Logged {
    fn of(report: &Report, test: &str, model: &str) -> Logged {
        let said = Said::of(report);
        let shown = said.shows_states.then(|| report.states());
        let line = |state: State<'_>| {
            state_line(state.map(|(name, value)| (Cow::Borrowed(name), value.text())))
        };
        Logged {
            test: test.to_owned(),
            model: model.to_owned(),
            observation: said.observation.to_owned(),
            condition_holds: said.condition_holds,
            states: shown.into_iter().flatten().map(line).collect(),
            executions: said.executions,
            flags: said.flags.into_iter().map(str::to_owned).collect(),
            reason: said.reason,
            loop_bound_reached: said.reason_kind == "loop",
            condition: report.condition.clone(),
            seconds: said.seconds,
            hash: report.hash.clone(),
        }
    }

    fn text(&self) -> String {
        let (test, reason) = (&self.test, one_line(&self.reason));
        if self.observation == "Unknown" {
            // herd7 prints nothing without an answer; readers of logs skip comments
            return format!("# {test} {}: unknown: {reason}\n\n", self.model);
        }
        let quantifier = quantifier(&self.condition).unwrap_or(Quantifier::Exists);
        let undefined = self.observation == "Undefined";
        let observation = match (undefined, self.executions.unwrap_or((0, 0))) {
            (false, _) => &*self.observation,
            (true, (0, _)) => "Never",
            (true, (_, 0)) => "Always",
            (true, _) => "Sometimes",
        };
        let observed = match quantifier {
            Quantifier::Forall => observation == "Always",
            Quantifier::Exists => observation != "Never",
            Quantifier::NotExists => observation == "Never",
        };
        let mut text = LogEntry {
            test,
            quantifier,
            states: &self.states,
            holds: (!undefined).then(|| self.condition_holds.unwrap_or(observed)),
            loop_bound_reached: self.loop_bound_reached,
            executions: self.executions,
            flags: self.flags.iter().map(String::as_str).collect(),
            condition: &one_line(&self.condition),
            observation,
            seconds: self.seconds,
            hash: &self.hash,
        }
        .text();
        text.push('\n');
        text
    }
}

impl FromPyObject<'_, '_> for Logged {
    type Error = PyErr;

    /// Reads a Verdict.
    fn extract(given: Borrowed<'_, '_, PyAny>) -> PyResult<Logged> {
        let py = given.py();
        let mut states = Vec::new();
        for state in given.getattr(intern!(py, "states"))?.try_iter()? {
            let state = state?.cast_into::<PyDict>()?;
            let mut values: Vec<(Cow<'_, str>, Cow<'_, str>)> = Vec::new();
            for (name, value) in state {
                values.push((Cow::Owned(name.extract()?), Cow::Owned(value.extract()?)));
            }
            states.push(state_line(values));
        }
        Ok(Logged {
            test: given.getattr(intern!(py, "test"))?.extract()?,
            model: given.getattr(intern!(py, "model"))?.extract()?,
            observation: given.getattr(intern!(py, "observation"))?.extract()?,
            condition_holds: given.getattr(intern!(py, "condition_holds"))?.extract()?,
            states,
            executions: given.getattr(intern!(py, "witnesses"))?.extract()?,
            flags: given.getattr(intern!(py, "flags"))?.extract()?,
            reason: given.getattr(intern!(py, "reason"))?.extract()?,
            loop_bound_reached: given
                .getattr(intern!(py, "reason_kind"))?
                .extract::<String>()?
                == "loop",
            condition: given.getattr(intern!(py, "condition"))?.extract()?,
            seconds: given.getattr(intern!(py, "seconds"))?.extract()?,
            hash: given.getattr(intern!(py, "hash"))?.extract()?,
        })
    }
}

/// A verdict as an entry of a log of herd7, with the empty line after it; without an answer, a
/// comment, which readers of logs skip.
#[pyfunction]
pub fn herd_log(verdict: Logged) -> String {
    verdict.text()
}

/// A final state as herd7 writes it; a fault has no value.
fn state_line<'s>(values: impl IntoIterator<Item = (Cow<'s, str>, Cow<'s, str>)>) -> String {
    let mut line = String::new();
    for (number, (name, value)) in values.into_iter().enumerate() {
        if number > 0 {
            line.push(' ');
        }
        line.push_str(&name);
        if !value.is_empty() {
            line.push('=');
            line.push_str(&value);
        }
        line.push(';');
    }
    line
}

fn one_line(text: &str) -> Cow<'_, str> {
    let mut words = text.split_whitespace();
    if text.split(' ').eq(words.by_ref()) {
        return Cow::Borrowed(text);
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    Cow::Owned(words.join(" "))
}

/// Writes a string of JSON.
fn string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// A number of JSON, in the shortest form.
fn float(number: f64) -> String {
    match number {
        0.0 => "0.0".to_owned(),
        n if n < 1e-5 => format!("{n:?}"),
        n if n.fract() == 0.0 => format!("{n:.1}"),
        n => format!("{n}"),
    }
}
