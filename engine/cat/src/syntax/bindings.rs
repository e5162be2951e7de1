//! The grammar of bindings: `x = e`, `(x, y) = e`, `f(x) = e`.
use super::ast::*;
use super::expressions::exp;
use super::lexer::{Keyword, SyntaxError, Token};
use super::parser::Parser;
use super::patterns::pattern;
use std::sync::Arc;

impl Parser<'_> {
    pub fn bindings(&mut self) -> Result<Vec<Binding>, SyntaxError> {
        let mut bindings = vec![self.binding()?];
        while self.take_keyword(Keyword::And) {
            bindings.push(self.binding()?);
        }
        Ok(bindings)
    }

    fn binding(&mut self) -> Result<Binding, SyntaxError> {
        let at = self.position();
        if *self.peek() == Token::Punct("(") {
            let pattern = self.parameter()?;
            self.expect_punct("=")?;
            return Ok(Binding {
                at,
                pattern,
                value: self.exp()?,
            });
        }
        let first = self.pattern_name()?;
        if *self.peek() == Token::Punct(",") {
            self.skip();
            let mut names = vec![first];
            names.extend(self.pattern_names()?);
            self.expect_punct("=")?;
            return Ok(Binding {
                at,
                pattern: pattern(names),
                value: self.exp()?,
            });
        }
        if self.take_punct("=") {
            return Ok(Binding {
                at,
                pattern: Pattern::One(first),
                value: self.exp()?,
            });
        }
        if first.is_none() || !(self.starts_pattern() || *self.peek() == Token::Punct("(")) {
            return Err(self.unexpected("="));
        }
        let parameter = self.parameter()?;
        if !self.take_punct("=") {
            let advice = "expected: =; a function of several arguments is written f(x, y)";
            let unexpected = self.unexpected("=");
            return Err(SyntaxError {
                advice: advice.to_owned(),
                ..unexpected
            });
        }
        let body = self.exp()?;
        let function = Function { parameter, body };
        let value = exp(at, ExpKind::Fun(Arc::new(function)));
        Ok(Binding {
            at,
            pattern: Pattern::One(first),
            value,
        })
    }
}
