//! What is wrong with a cat file, and where.
use std::fmt;

/// A mistake in a cat file, or what its evaluation stumbles over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatError {
    /// The file as it was found; empty when the text came from no file.
    pub file: String,
    /// The line, from 1; 0 when the error has no place.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What to do about it; may be empty.
    pub advice: String,
    /// The line itself; empty when there is none.
    pub excerpt: String,
    /// Whether nothing is wrong but a limit was hit: the answer is not known.
    pub limit: bool,
}

impl CatError {
    /// An error that has no place in a file.
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
