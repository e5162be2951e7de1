//! What is wrong with a litmus file, where, and what to do about it.

use std::fmt;

/// A mistake in a litmus file, at a place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LitmusError {
    /// The file's name as the caller gave it.
    pub file: String,
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What to write instead; empty when the message says it all.
    pub advice: String,
    /// The text of the line.
    pub source: String,
    /// The text may be right: it uses what is not read here.
    pub unsupported: bool,
}

impl fmt::Display for LitmusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}:{}:{}: {}",
            self.file, self.line, self.column, self.message
        )?;
        let number = self.line.to_string();
        let pad = " ".repeat(number.len());
        writeln!(f, "{number} | {}", self.source)?;
        write!(f, "{pad} | {}^", " ".repeat(self.column.saturating_sub(1)))?;
        if !self.advice.is_empty() {
            write!(f, "\n{pad} = {}", self.advice)?;
        }
        Ok(())
    }
}

impl std::error::Error for LitmusError {}

/// A mistake at a byte offset, before file and line are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub offset: usize,
    pub message: String,
    pub advice: String,
    pub unsupported: bool,
}

impl Fault {
    pub fn new(offset: usize, message: impl Into<String>) -> Fault {
        Fault {
            offset,
            message: message.into(),
            advice: String::new(),
            unsupported: false,
        }
    }

    /// What is right as far as it can be told, and not read here.
    pub fn unsupported(offset: usize, message: impl Into<String>) -> Fault {
        Fault {
            unsupported: true,
            ..Fault::new(offset, message)
        }
    }

    pub fn advise(mut self, advice: impl Into<String>) -> Fault {
        self.advice = advice.into();
        self
    }

    /// The mistake with its place in `text`, the contents of `file`.
    pub fn locate(self, file: &str, text: &str) -> LitmusError {
        let mut offset = self.offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &text[..offset];
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let source = text[start..].lines().next().unwrap_or("").to_string();
        LitmusError {
            file: file.to_string(),
            line: before.matches('\n').count() + 1,
            column: text[start..offset].chars().count() + 1,
            message: self.message,
            advice: self.advice,
            source,
            unsupported: self.unsupported,
        }
    }
}
