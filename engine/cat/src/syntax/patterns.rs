//! The grammar of patterns: parameters and the clauses of `match`.
use super::ast::*;
use super::lexer::{SyntaxError, Token};
use super::names::Symbol;
use super::parser::Parser;

impl Parser<'_> {
    pub fn set_pattern(&mut self) -> Result<SetPattern, SyntaxError> {
        let first = self.pattern_name()?;
        if self.take_punct("|") {
            let element = self.pattern_name()?;
            self.expect_punct("++")?;
            return Ok(SetPattern::Middle(first, element, self.pattern_name()?));
        }
        self.expect_punct("++")?;
        Ok(SetPattern::First(first, self.pattern_name()?))
    }

    pub fn pattern_name(&mut self) -> Result<Option<Symbol>, SyntaxError> {
        if self.take_punct("_") {
            return Ok(None);
        }
        self.expect_name("a name or _").map(Some)
    }

    pub fn starts_pattern(&self) -> bool {
        matches!(self.peek(), Token::Name(_) | Token::Punct("_"))
    }

    /// A parameter: `x`, `_`, `(x, y)` or `()`.
    pub fn parameter(&mut self) -> Result<Pattern, SyntaxError> {
        if !self.take_punct("(") {
            return Ok(Pattern::One(self.pattern_name()?));
        }
        let names = if self.starts_pattern() {
            self.pattern_names()?
        } else {
            Vec::new()
        };
        self.expect_punct(")")?;
        Ok(pattern(names))
    }

    pub fn pattern_names(&mut self) -> Result<Vec<Option<Symbol>>, SyntaxError> {
        let mut names = vec![self.pattern_name()?];
        while self.take_punct(",") {
            names.push(self.pattern_name()?);
        }
        Ok(names)
    }
}

pub fn pattern(names: Vec<Option<Symbol>>) -> Pattern {
    match names[..] {
        [name] => Pattern::One(name),
        _ => Pattern::Tuple(names),
    }
}
