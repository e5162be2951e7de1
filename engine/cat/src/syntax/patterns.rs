//! What binds names: definitions, parameters and the clauses of `match`.
use super::ast::*;
use super::lexer::{Fault, Token};
use super::names::Sym;
use super::parser::Parser;

impl Parser<'_> {
    pub fn set_pattern(&mut self) -> Result<SetPattern, Fault> {
        let first = self.pattern_name()?;
        if self.take_sign("|") {
            let element = self.pattern_name()?;
            self.need_sign("++")?;
            return Ok(SetPattern::Middle(first, element, self.pattern_name()?));
        }
        self.need_sign("++")?;
        Ok(SetPattern::First(first, self.pattern_name()?))
    }

    pub fn pattern_name(&mut self) -> Result<Option<Sym>, Fault> {
        if self.take_sign("_") {
            return Ok(None);
        }
        self.need_name("a name or _").map(Some)
    }

    pub fn starts_pattern(&self) -> bool {
        matches!(self.peek(), Token::Name(_) | Token::Sign("_"))
    }

    /// What a function or procedure takes: `x`, `_`, `(x, y)` or `()`.
    pub fn parameter(&mut self) -> Result<Pattern, Fault> {
        if !self.take_sign("(") {
            return Ok(Pattern::One(self.pattern_name()?));
        }
        let names = if self.starts_pattern() {
            self.pattern_names()?
        } else {
            Vec::new()
        };
        self.need_sign(")")?;
        Ok(pattern(names))
    }

    pub fn pattern_names(&mut self) -> Result<Vec<Option<Sym>>, Fault> {
        let mut names = vec![self.pattern_name()?];
        while self.take_sign(",") {
            names.push(self.pattern_name()?);
        }
        Ok(names)
    }
}

pub fn pattern(names: Vec<Option<Sym>>) -> Pattern {
    match names[..] {
        [name] => Pattern::One(name),
        _ => Pattern::Tuple(names),
    }
}
