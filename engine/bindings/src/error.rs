//! What is wrong with a test, a model or a program, as Python gets it: see `Problem` in the stub.
//! Nothing is drawn here; `weakspot/errors.py` shows the line.
use cat::CatError;
use explore::ExploreError;
use litmus::LitmusError;
use program::error::{Construct, Error as ProgramError};
use program::ir::{Program, SiteId};
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

create_exception!(
    _engine,
    EngineError,
    PyException,
    "The engine cannot use what it is given; `problem` says why."
);

/// Lines and columns count from 1; what is 0 or empty is not known.
#[derive(Clone, Debug, Default)]
pub struct Problem {
    about: &'static str,
    kind: &'static str,
    pub message: String,
    file: String,
    line: usize,
    column: usize,
    length: usize,
    /// Of the program's LLVM IR.
    line_of_ir: u32,
    help: String,
    /// The functions and variables that are not defined, the one that it is about first.
    missing: Vec<String>,
    construct: Construct,
}

impl Problem {
    pub fn dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item(intern!(py, "about"), self.about)?;
        dict.set_item(intern!(py, "kind"), self.kind)?;
        dict.set_item(intern!(py, "message"), &self.message)?;
        dict.set_item(intern!(py, "file"), &self.file)?;
        dict.set_item(intern!(py, "line"), self.line)?;
        dict.set_item(intern!(py, "column"), self.column)?;
        dict.set_item(intern!(py, "length"), self.length)?;
        dict.set_item(intern!(py, "line_of_ir"), self.line_of_ir)?;
        dict.set_item(intern!(py, "help"), &self.help)?;
        dict.set_item(intern!(py, "missing"), &self.missing)?;
        dict.set_item(intern!(py, "construct"), self.construct.name())?;
        Ok(dict)
    }

    pub fn raise(&self, py: Python<'_>) -> PyErr {
        let error = EngineError::new_err(self.message.clone());
        let set = self
            .dict(py)
            .and_then(|dict| error.value(py).setattr(intern!(py, "problem"), dict));
        set.err().unwrap_or(error)
    }

    /// With the place that `file:line:column` names.
    fn at(self, place: &str) -> Problem {
        let mut parts = place.rsplitn(3, ':');
        let column = parts.next().and_then(|n| n.parse().ok());
        let line = parts.next().and_then(|n| n.parse().ok());
        let (Some(file), Some(line), Some(column)) = (parts.next(), line, column) else {
            let file = place.to_owned();
            return Problem { file, ..self };
        };
        Problem {
            file: file.to_owned(),
            line,
            column,
            ..self
        }
    }

    pub fn in_exploration(error: ExploreError, program: &Program) -> Problem {
        match error {
            ExploreError::Model(error) => Problem::from(&error),
            ExploreError::Unsuitable(message) => Problem {
                about: "model",
                kind: "unsupported",
                message,
                ..Problem::default()
            },
            ExploreError::OtherTree | ExploreError::Refuted => {
                unreachable!("explored again from the root")
            }
            ExploreError::Unsupported { message, site } => {
                Problem::unsupported(program, message, site)
            }
        }
    }

    /// Something that the engine does not model, at a site of the program.
    pub fn unsupported(program: &Program, message: String, site: Option<SiteId>) -> Problem {
        let place = site.map(|s| program.sites[s as usize].place());
        let construct = program.refused(site, &message);
        let (message, missing) = with_the_others(program, message, site);
        let problem = Problem {
            about: "program",
            kind: "unsupported",
            message,
            missing,
            construct,
            ..Problem::default()
        };
        problem.at(&place.unwrap_or_default())
    }
}

/// The message about something that is not defined names the calls that lead there, and what else is
/// not defined. With the names of all this.
fn with_the_others(
    program: &Program,
    message: String,
    site: Option<SiteId>,
) -> (String, Vec<String>) {
    let own = |what: &str| message.starts_with(&format!("{what} is "));
    let externals = program.externals.values();
    let pointed = externals.map(|name| format!("the function {name}"));
    let declared = program.globals.iter().filter(|global| global.declared);
    let declared = declared.map(|global| global.what());
    let used = program.undefined.iter().map(|(what, _)| what.clone());
    let Some(first) = used.chain(pointed).chain(declared).find(|what| own(what)) else {
        return (message, Vec::new());
    };
    let site = site.map(|site| &program.sites[site as usize]);
    let path = site.map_or(&[][..], |site| &site.chain);
    let path = path.iter().map(|call| format!(", called by {call}"));
    let others = program.undefined.iter().filter(|(what, _)| !own(what));
    let missing = std::iter::once(&first).chain(others.clone().map(|(what, _)| what));
    let missing = missing.map(|what| name(what).to_owned()).collect();
    let others: Vec<String> = others
        .map(|(what, at)| format!("{what} ({})", program.sites[*at as usize].place()))
        .collect();
    let others = match others.is_empty() {
        true => String::new(),
        false => format!("; not defined either: {}", others.join(", ")),
    };
    (
        format!("{message}{}{others}", path.collect::<String>()),
        missing,
    )
}

/// The name in "the function f", "the variable v" or "the class c".
fn name(what: &str) -> &str {
    let kinds = ["the function ", "the variable ", "the class "];
    kinds
        .iter()
        .find_map(|kind| what.strip_prefix(kind))
        .unwrap_or(what)
}

impl From<&LitmusError> for Problem {
    fn from(e: &LitmusError) -> Problem {
        Problem {
            about: "test",
            kind: match e.unsupported {
                true => "unsupported",
                false => "invalid",
            },
            message: e.message.clone(),
            file: e.file.clone(),
            line: e.line,
            column: e.column,
            help: e.help.clone(),
            ..Problem::default()
        }
    }
}

impl From<&CatError> for Problem {
    fn from(e: &CatError) -> Problem {
        Problem {
            about: "model",
            kind: "invalid",
            message: e.message.clone(),
            file: e.file.clone(),
            line: e.line,
            column: e.column,
            help: e.advice.clone(),
            ..Problem::default()
        }
    }
}

impl From<ProgramError> for Problem {
    fn from(e: ProgramError) -> Problem {
        let problem = Problem {
            about: "program",
            kind: e.kind.name(),
            missing: match e.undefined.as_str() {
                "" => Vec::new(),
                what => vec![name(what).to_owned()],
            },
            construct: e.construct,
            message: e.message,
            line_of_ir: e.line,
            ..Problem::default()
        };
        problem.at(&e.place)
    }
}
