//! Faults: the reasons for which an expression has no value.
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
    /// Any other reason.
    Message(Arc<str>),
    /// A limit of the evaluation was reached; `try` does not catch it.
    Limit(&'static str),
    /// An error with its own position: that of an included file.
    Error(Arc<CatError>),
}

impl Fault {
    /// The error for a fault at a position.
    pub fn error(self, files: &Files, names: &Names, at: SourcePosition) -> CatError {
        let (message, advice) = match self {
            Fault::Error(error) => return CatError::clone(&error),
            Fault::Unbound(name) => (
                format!("unknown name {}", names.text(name)),
                "it is neither defined above nor provided for this kind of test".to_owned(),
            ),
            Fault::Type(expected, found) => {
                let message = format!("expected {expected}, found {found}");
                (message, String::new())
            }
            Fault::Message(message) => (message.to_string(), String::new()),
            Fault::Limit(message) => {
                let error = files.error(at, message.to_owned(), String::new());
                return CatError {
                    limit: true,
                    ..error
                };
            }
        };
        files.error(at, message, advice)
    }
}
