//! Errors in cat files and in their evaluation.
use std::fmt;

/// An error in a cat file or in its evaluation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatError {
    /// The path of the file; empty if the text comes from no file.
    pub file: String,
    /// The line, from 1; 0 if the error has no position.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What the user can do about it; may be empty.
    pub advice: String,
    /// The text of the line; empty if there is none.
    pub excerpt: String,
    /// Whether a limit was reached: then the answer is unknown and nothing is wrong with the file.
    pub limit: bool,
}

impl CatError {
    /// An error without a position in a file.
    pub fn placeless(message: impl Into<String>, advice: impl Into<String>) -> Self {
        CatError {
            file: String::new(),
            line: 0,
            column: 0,
            message: message.into(),
            advice: advice.into(),
            excerpt: String::new(),
            limit: false,
        }
    }
}

impl fmt::Display for CatError {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        if self.line > 0 {
            write!(out, "{}:{}:{}: ", self.file, self.line, self.column)?;
        } else if !self.file.is_empty() {
            write!(out, "{}: ", self.file)?;
        }
        out.write_str(&self.message)?;
        if !self.excerpt.is_empty() {
            let width = self.line.to_string().len();
            let before: String = self
                .excerpt
                .chars()
                .take(self.column.saturating_sub(1))
                .collect();
            let blank: String = before
                .chars()
                .map(|c| if c == '\t' { '\t' } else { ' ' })
                .collect();
            write!(
                out,
                "\n{} | {}\n{:width$} | {blank}^",
                self.line, self.excerpt, ""
            )?;
        }
        if !self.advice.is_empty() {
            write!(out, "\n{}", self.advice)?;
        }
        Ok(())
    }
}

impl std::error::Error for CatError {}
