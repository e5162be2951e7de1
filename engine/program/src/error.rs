//! Errors in an IR text.
use std::fmt;

/// Whether the text is malformed, or only beyond what the engine models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    Unsupported,
    Invalid,
}

impl ErrorKind {
    pub fn name(self) -> &'static str {
        match self {
            ErrorKind::Unsupported => "unsupported",
            ErrorKind::Invalid => "invalid",
        }
    }
}

/// What an error is about, where the advice to the user depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Construct {
    InlineAssembly,
    RandomNumber,
    NoMain,
    #[default]
    Other,
}

impl Construct {
    pub fn name(self) -> &'static str {
        match self {
            Construct::InlineAssembly => "inline assembly",
            Construct::RandomNumber => "random number",
            Construct::NoMain => "no main",
            Construct::Other => "",
        }
    }
}

/// An error in an IR text; `place` is `file:line:column` in the C source where debug information
/// gives it, else empty; `line` is that of the text, 0 if it is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    pub kind: ErrorKind,
    pub message: String,
    pub place: String,
    pub line: u32,
    /// What the program uses and does not define, "the function f"; empty for other errors.
    pub undefined: String,
    pub construct: Construct,
}

pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    fn new(kind: ErrorKind, message: String) -> Error {
        Error {
            kind,
            message,
            place: String::new(),
            line: 0,
            undefined: String::new(),
            construct: Construct::Other,
        }
    }

    /// `construct` is a noun phrase for what is not supported: "the instruction fadd".
    pub fn unsupported(construct: impl std::fmt::Display) -> Error {
        Error::new(
            ErrorKind::Unsupported,
            format!("{construct} is not supported"),
        )
    }

    /// The program uses something that it does not define, `what` for short.
    pub fn undefined(what: impl Into<String>, message: impl Into<String>) -> Error {
        Error {
            undefined: what.into(),
            ..Error::new(ErrorKind::Unsupported, message.into())
        }
    }

    pub fn invalid(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Invalid, message.into())
    }

    pub fn about(self, construct: Construct) -> Error {
        Error { construct, ..self }
    }

    /// With the line of the text.
    pub fn on_line(self, line: u32) -> Error {
        Error { line, ..self }
    }

    /// Adds the source position, unless a more precise one is known.
    pub fn at(mut self, place: impl FnOnce() -> String) -> Error {
        if self.place.is_empty() {
            self.place = place();
        }
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        } else if self.line != 0 {
            write!(f, "line {} of the IR: ", self.line)?;
        }
        write!(f, "{}: {}", self.kind.name(), self.message)
    }
}

impl std::error::Error for Error {}
