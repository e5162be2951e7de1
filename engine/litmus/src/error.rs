//! What is wrong with a litmus test, where, and what to do about it.

use std::fmt;

/// A mistake in a litmus test, with its file, line and column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LitmusError {
    /// The file's name as the caller gave it.
    pub file: String,
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    pub message: String,
    /// What to write instead; may be empty.
    pub help: String,
    /// The test may be correct: it uses something that is not supported here.
    pub unsupported: bool,
}

impl fmt::Display for LitmusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}:{}: {}",
            self.file, self.line, self.column, self.message
        )?;
        if !self.help.is_empty() {
            write!(f, "\nhelp: {}", self.help)?;
        }
        Ok(())
    }
}

impl std::error::Error for LitmusError {}

/// A mistake at a byte offset of the text: a `LitmusError` before file and line are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    pub offset: usize,
    pub message: String,
    pub help: String,
    pub unsupported: bool,
}

impl ParseError {
    pub fn new(offset: usize, message: impl Into<String>) -> ParseError {
        ParseError {
            offset,
            message: message.into(),
            help: String::new(),
            unsupported: false,
        }
    }

    /// For a test that may be correct but uses something that is not supported here.
    pub fn unsupported(offset: usize, message: impl Into<String>) -> ParseError {
        ParseError {
            unsupported: true,
            ..ParseError::new(offset, message)
        }
    }

    pub fn help(mut self, help: impl Into<String>) -> ParseError {
        self.help = help.into();
        self
    }

    /// The error with its line and column in `text`, the contents of `file`.
    pub fn locate(self, file: &str, text: &str) -> LitmusError {
        let mut offset = self.offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &text[..offset];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        LitmusError {
            file: file.to_string(),
            line: before.matches('\n').count() + 1,
            column: text[line_start..offset].chars().count() + 1,
            message: self.message,
            help: self.help,
            unsupported: self.unsupported,
        }
    }
}
