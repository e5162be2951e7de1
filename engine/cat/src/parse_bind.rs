//! What binds names: definitions, parameters and the clauses of `match`.
use super::ast::*;
use super::lex::{Fault, Token, Word};
use super::parse::Parser;
use super::parse_exp::exp;
use std::sync::Arc;

impl Parser<'_> {
    pub fn match_exp(&mut self) -> Result<Kind, Fault> {
        self.skip();
        let value = self.exp()?;
        self.need_word(Word::With)?;
        self.take_sign("||");
        let on_tags = match self.peek() {
            Token::Tag(_) => true,
            Token::Sign("_") => *self.peek_second() == Token::Sign("->"),
            _ => false,
        };
        let kind = if on_tags {
            self.match_tag(value)?
        } else {
            self.match_set(value)?
        };
        self.need_word(Word::End)?;
        Ok(kind)
    }

    fn match_tag(&mut self, value: ExpRef) -> Result<Kind, Fault> {
        let mut clauses = Vec::new();
        loop {
            if self.take_sign("_") {
                self.need_sign("->")?;
                return Ok(Kind::MatchTag(value, clauses, Some(self.exp()?)));
            }
            let tag = self.tag()?;
            self.need_sign("->")?;
            clauses.push((tag, self.exp()?));
            if !self.take_sign("||") {
                return Ok(Kind::MatchTag(value, clauses, None));
            }
        }
    }

    /// The two clauses `{} -> e` and `x ++ xs -> e`, in either order.
    fn match_set(&mut self, value: ExpRef) -> Result<Kind, Fault> {
        let (mut empty, mut element) = (None, None);
        for number in 0..2 {
            if number == 1 {
                self.need_sign("||")?;
            }
            if empty.is_none() && self.take_sign("{") {
                self.need_sign("}")?;
                self.need_sign("->")?;
                empty = Some(self.exp()?);
            } else if element.is_none() {
                let pattern = self.set_pattern()?;
                self.need_sign("->")?;
                element = Some((pattern, self.exp()?));
            } else {
                return Err(self.unexpected("the clause {} -> …"));
            }
        }
        match (empty, element) {
            (Some(empty), Some((pattern, body))) => Ok(Kind::MatchSet(value, empty, pattern, body)),
            _ => Err(self.unexpected("the clauses {} -> … and x ++ xs -> …")),
        }
    }

    fn set_pattern(&mut self) -> Result<SetPattern, Fault> {
        let first = self.pattern_name()?;
        if self.take_sign("|") {
            let element = self.pattern_name()?;
            self.need_sign("++")?;
            return Ok(SetPattern::Middle(first, element, self.pattern_name()?));
        }
        self.need_sign("++")?;
        Ok(SetPattern::First(first, self.pattern_name()?))
    }

    fn pattern_name(&mut self) -> Result<Option<Sym>, Fault> {
        if self.take_sign("_") {
            return Ok(None);
        }
        self.need_name("a name or _").map(Some)
    }

    fn starts_pattern(&self) -> bool {
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

    fn pattern_names(&mut self) -> Result<Vec<Option<Sym>>, Fault> {
        let mut names = vec![self.pattern_name()?];
        while self.take_sign(",") {
            names.push(self.pattern_name()?);
        }
        Ok(names)
    }

    pub fn bindings(&mut self) -> Result<Vec<Binding>, Fault> {
        let mut bindings = vec![self.binding()?];
        while self.take_word(Word::And) {
            bindings.push(self.binding()?);
        }
        Ok(bindings)
    }

    fn binding(&mut self) -> Result<Binding, Fault> {
        let at = self.place();
        if *self.peek() == Token::Sign("(") {
            let pattern = self.parameter()?;
            self.need_sign("=")?;
            return Ok(Binding {
                at,
                pattern,
                value: self.exp()?,
            });
        }
        let first = self.pattern_name()?;
        if *self.peek() == Token::Sign(",") {
            self.skip();
            let mut names = vec![first];
            names.extend(self.pattern_names()?);
            self.need_sign("=")?;
            return Ok(Binding {
                at,
                pattern: pattern(names),
                value: self.exp()?,
            });
        }
        if self.take_sign("=") {
            return Ok(Binding {
                at,
                pattern: Pattern::One(first),
                value: self.exp()?,
            });
        }
        if first.is_none() || !(self.starts_pattern() || *self.peek() == Token::Sign("(")) {
            return Err(self.unexpected("="));
        }
        let parameter = self.parameter()?;
        if !self.take_sign("=") {
            let (place, found, _) = self.unexpected("=");
            let advice =
                "expected: =; a function of several arguments is written f(x, y)".to_owned();
            return Err((place, found, advice));
        }
        let body = self.exp()?;
        let function = Function { parameter, body };
        let value = exp(at, Kind::Fun(Arc::new(function)));
        Ok(Binding {
            at,
            pattern: Pattern::One(first),
            value,
        })
    }
}

fn pattern(names: Vec<Option<Sym>>) -> Pattern {
    match names[..] {
        [name] => Pattern::One(name),
        _ => Pattern::Tuple(names),
    }
}
