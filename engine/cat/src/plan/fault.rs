//! Why an expression has no value.
use crate::error::CatError;
use crate::syntax::files::Files;
use crate::syntax::names::{Names, SourcePosition, Symbol};
use std::sync::Arc;

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    Unbound(Symbol),
    /// What was expected, and the type of what was found.
    Type(&'static str, &'static str),
    /// A message of its own.
    Message(Arc<str>),
    /// A limit of the evaluator: caught by no `try`.
    Limit(&'static str),
    /// An error of its own place: that of an included file.
    Error(Arc<CatError>),
}

impl Fault {
    /// The error of a fault at a place.
    pub fn error(self, files: &Files, names: &Names, at: SourcePosition) -> CatError {
        let (message, advice) = match self {
            Fault::Error(error) => return CatError::clone(&error),
            Fault::Unbound(name) => (
                format!("nothing is called {} here", names.text(name)),
                "it is neither defined before this place nor given for this kind of test"
                    .to_owned(),
            ),
            Fault::Type(expected, found) => {
                (format!("this is {found}"), format!("expected: {expected}"))
            }
            Fault::Message(message) => (message.to_string(), String::new()),
            Fault::Limit(message) => {
                let error = files.error((at, message.to_owned(), String::new()));
                return CatError {
                    limit: true,
                    ..error
                };
            }
        };
        files.error((at, message, advice))
    }
}
