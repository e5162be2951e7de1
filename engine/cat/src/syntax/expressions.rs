//! The grammar of expressions.
use super::ast::*;
use super::lexer::{Keyword, SyntaxError, Token};
use super::names::SourcePosition;
use super::parser::Parser;
use std::sync::Arc;

/// The precedence of operators, lowest first, as in herd7: `|`, `++`, `;`, `\`, `&`, then `*` on
/// sets and the prefix and postfix operators.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Level {
    Union,
    Add,
    Sequence,
    Difference,
    Intersection,
    Product,
}

/// The greatest height of an expression.
const MAX_DEPTH: u32 = 400;

pub(super) fn exp(at: SourcePosition, kind: ExpKind) -> ExpRef {
    Arc::new(Exp::new(at, kind))
}

impl Parser<'_> {
    pub fn exp(&mut self) -> Result<ExpRef, SyntaxError> {
        let parsed = self.nested(|parser| parser.any_exp())?;
        self.limit_depth(parsed)
    }

    fn any_exp(&mut self) -> Result<ExpRef, SyntaxError> {
        let at = self.position();
        let Token::Keyword(word) = *self.peek() else {
            return self.tuple();
        };
        let kind = match word {
            Keyword::Let => {
                self.skip();
                let recursive = self.take_keyword(Keyword::Rec);
                let bindings = self.bindings()?;
                self.expect_keyword(Keyword::In)?;
                let body = self.exp()?;
                if recursive {
                    ExpKind::LetRec(bindings, body)
                } else {
                    ExpKind::Let(bindings, body)
                }
            }
            Keyword::Fun => {
                self.skip();
                let parameter = self.parameter()?;
                self.expect_punct("->")?;
                let body = self.exp()?;
                ExpKind::Fun(Arc::new(Function { parameter, body }))
            }
            Keyword::Try => {
                self.skip();
                let first = self.exp()?;
                self.expect_keyword(Keyword::With)?;
                ExpKind::Try(first, self.exp()?)
            }
            Keyword::If => {
                self.skip();
                let condition = self.condition()?;
                self.expect_keyword(Keyword::Then)?;
                let yes = self.exp()?;
                self.expect_keyword(Keyword::Else)?;
                ExpKind::If(condition, yes, self.exp()?)
            }
            Keyword::Match => self.match_exp()?,
            _ => return self.tuple(),
        };
        Ok(exp(at, kind))
    }

    fn tuple(&mut self) -> Result<ExpRef, SyntaxError> {
        let at = self.position();
        let first = self.base()?;
        if *self.peek() != Token::Punct(",") {
            return Ok(first);
        }
        let mut items = vec![first];
        while self.take_punct(",") {
            items.push(self.base()?);
        }
        Ok(exp(at, ExpKind::Tuple(items)))
    }

    pub fn base(&mut self) -> Result<ExpRef, SyntaxError> {
        self.nested(|parser| parser.operators(Level::Union))
    }

    /// Parses operators with at least this precedence.
    fn operators(&mut self, least: Level) -> Result<ExpRef, SyntaxError> {
        let mut left = self.operand()?;
        loop {
            let (level, right_level) = match self.peek() {
                Token::Punct("|") => (Level::Union, Level::Add),
                Token::Punct("++") => (Level::Add, Level::Add),
                Token::Punct(";") => (Level::Sequence, Level::Difference),
                Token::Punct("\\") => (Level::Difference, Level::Intersection),
                Token::Punct("&") => (Level::Intersection, Level::Intersection),
                Token::Punct("*") => (Level::Product, Level::Product),
                _ => return Ok(left),
            };
            if level < least {
                return Ok(left);
            }
            if level == Level::Product && least == Level::Product {
                let advice = "put one of the products in parentheses";
                let message = "a product of three sets";
                return Err(SyntaxError::new(self.position(), message, advice));
            }
            let at = left.at;
            if matches!(level, Level::Union | Level::Sequence) {
                left = self.several(left, level, right_level)?;
                continue;
            }
            self.skip();
            let right = self.nested(|parser| parser.operators(right_level))?;
            let op = match level {
                Level::Add => Binary::Add,
                Level::Difference => Binary::Difference,
                Level::Intersection => Binary::Intersection,
                _ => Binary::Product,
            };
            left = self.limit_depth(exp(at, ExpKind::Binary(op, left, right)))?;
        }
    }

    /// The operands of an associative operator; nested occurrences of the same operator are
    /// flattened.
    fn several(
        &mut self,
        first: ExpRef,
        level: Level,
        right_level: Level,
    ) -> Result<ExpRef, SyntaxError> {
        let at = first.at;
        let sign = if level == Level::Union { "|" } else { ";" };
        let mut items = Vec::new();
        let mut take = |item: ExpRef| match (&item.kind, level) {
            (ExpKind::Union(inner), Level::Union) => items.extend(inner.iter().cloned()),
            (ExpKind::Sequence(inner), Level::Sequence) => items.extend(inner.iter().cloned()),
            _ => items.push(item),
        };
        take(first);
        while self.take_punct(sign) {
            take(self.nested(|parser| parser.operators(right_level))?);
        }
        let kind = if level == Level::Union {
            ExpKind::Union(items)
        } else {
            ExpKind::Sequence(items)
        };
        self.limit_depth(exp(at, kind))
    }

    /// The expression, unless it nests too deeply.
    fn limit_depth(&self, exp: ExpRef) -> Result<ExpRef, SyntaxError> {
        if exp.depth <= MAX_DEPTH {
            return Ok(exp);
        }
        let message = "this expression nests too deeply";
        Err(SyntaxError::new(
            exp.at,
            message,
            "name parts of it with let",
        ))
    }

    /// An expression with its prefix and postfix operators. After `~`, herd7 accepts `^-1` and no
    /// other postfix operator, so `~r+` requires parentheses.
    fn operand(&mut self) -> Result<ExpRef, SyntaxError> {
        let at = self.position();
        if self.take_punct("~") {
            let inner = self.nested(|parser| parser.complemented())?;
            let closes = matches!(self.peek(), Token::Punct("+" | "?"));
            if closes || (*self.peek() == Token::Punct("*") && !self.star_is_product()) {
                let advice = "write (~r)+ or ~(r+), whichever is meant".to_owned();
                let unexpected = self.unexpected("");
                return Err(SyntaxError {
                    advice,
                    ..unexpected
                });
            }
            return Ok(exp(at, ExpKind::Unary(Unary::Complement, inner)));
        }
        let mut inner = self.application()?;
        loop {
            let unary = match self.peek() {
                Token::Punct("+") => Unary::Plus,
                Token::Punct("?") => Unary::Optional,
                Token::Punct("*") if !self.star_is_product() => Unary::Star,
                Token::Punct("^") => {
                    inner = self.inverse(at, inner)?;
                    continue;
                }
                _ => return Ok(inner),
            };
            self.skip();
            inner = self.limit_depth(exp(at, ExpKind::Unary(unary, inner)))?;
        }
    }

    fn complemented(&mut self) -> Result<ExpRef, SyntaxError> {
        let at = self.position();
        if *self.peek() == Token::Punct("~") {
            return self.operand();
        }
        let mut inner = self.application()?;
        while *self.peek() == Token::Punct("^") {
            inner = self.inverse(at, inner)?;
        }
        Ok(inner)
    }

    fn inverse(&mut self, at: SourcePosition, inner: ExpRef) -> Result<ExpRef, SyntaxError> {
        self.skip();
        self.expect_punct("-1")?;
        self.limit_depth(exp(at, ExpKind::Unary(Unary::Inverse, inner)))
    }

    /// Whether this `*` is the product of sets, not the reflexive transitive closure.
    fn star_is_product(&self) -> bool {
        match self.peek_second() {
            Token::Name(_) | Token::Tag(_) | Token::Keyword(Keyword::Begin) => true,
            Token::Punct("~") => !matches!(
                self.peek_third(),
                Token::Keyword(Keyword::Acyclic | Keyword::Irreflexive | Keyword::Empty)
            ),
            Token::Punct(sign) => matches!(*sign, "(" | "[" | "{" | "_" | "0"),
            _ => false,
        }
    }

    /// `f x y`: a name applied to arguments.
    fn application(&mut self) -> Result<ExpRef, SyntaxError> {
        let at = self.position();
        let Token::Name(name) = self.peek().clone() else {
            return self
                .simple()?
                .ok_or_else(|| self.unexpected("an expression"));
        };
        self.skip();
        let mut function = exp(at, ExpKind::Var(self.names.symbol(&name)));
        loop {
            let at_argument = self.position();
            let argument = match self.peek().clone() {
                Token::Name(name) => {
                    self.skip();
                    exp(at_argument, ExpKind::Var(self.names.symbol(&name)))
                }
                _ => match self.simple()? {
                    Some(argument) => argument,
                    None => return Ok(function),
                },
            };
            function = self.limit_depth(exp(at, ExpKind::Apply(function, argument)))?;
        }
    }

    /// An expression that needs no parentheses as an argument; none if there is none here.
    pub fn simple(&mut self) -> Result<Option<ExpRef>, SyntaxError> {
        let at = self.position();
        let kind = match self.peek() {
            Token::Punct("0") => ExpKind::EmptyRelation,
            Token::Punct("_") => ExpKind::Universe,
            Token::Tag(_) => return self.tag().map(|tag| Some(exp(at, ExpKind::Tag(tag)))),
            Token::Punct("{") => {
                self.skip();
                return self
                    .list("}")
                    .map(|items| Some(exp(at, ExpKind::Explicit(items))));
            }
            Token::Punct("(") => {
                self.skip();
                if self.take_punct(")") {
                    return Ok(Some(exp(at, ExpKind::Tuple(Vec::new()))));
                }
                let inner = self.exp()?;
                self.expect_punct(")")?;
                return Ok(Some(inner));
            }
            Token::Keyword(Keyword::Begin) => {
                self.skip();
                let inner = self.exp()?;
                self.expect_keyword(Keyword::End)?;
                return Ok(Some(inner));
            }
            Token::Punct("[") => {
                self.skip();
                let inner = self.exp()?;
                self.expect_punct("]")?;
                return Ok(Some(exp(at, ExpKind::Unary(Unary::Identity, inner))));
            }
            _ => return Ok(None),
        };
        self.skip();
        Ok(Some(exp(at, kind)))
    }

    /// Expressions separated by commas, up to `close`.
    pub fn list(&mut self, close: &str) -> Result<Vec<ExpRef>, SyntaxError> {
        let mut items = Vec::new();
        if self.take_punct(close) {
            return Ok(items);
        }
        loop {
            items.push(self.base()?);
            if self.take_punct(close) {
                return Ok(items);
            }
            if !self.take_punct(",") {
                return Err(self.unexpected(&format!(", or {close}")));
            }
        }
    }

    fn match_exp(&mut self) -> Result<ExpKind, SyntaxError> {
        self.skip();
        let value = self.exp()?;
        self.expect_keyword(Keyword::With)?;
        self.take_punct("||");
        let on_tags = match self.peek() {
            Token::Tag(_) => true,
            Token::Punct("_") => *self.peek_second() == Token::Punct("->"),
            _ => false,
        };
        let kind = if on_tags {
            self.match_tag(value)?
        } else {
            self.match_set(value)?
        };
        self.expect_keyword(Keyword::End)?;
        Ok(kind)
    }

    fn match_tag(&mut self, value: ExpRef) -> Result<ExpKind, SyntaxError> {
        let mut clauses = Vec::new();
        loop {
            if self.take_punct("_") {
                self.expect_punct("->")?;
                return Ok(ExpKind::MatchTag(value, clauses, Some(self.exp()?)));
            }
            let tag = self.tag()?;
            self.expect_punct("->")?;
            clauses.push((tag, self.exp()?));
            if !self.take_punct("||") {
                return Ok(ExpKind::MatchTag(value, clauses, None));
            }
        }
    }

    /// The two clauses `{} -> e` and `x ++ xs -> e`, in either order.
    fn match_set(&mut self, value: ExpRef) -> Result<ExpKind, SyntaxError> {
        let (mut empty, mut element) = (None, None);
        for number in 0..2 {
            if number == 1 {
                self.expect_punct("||")?;
            }
            if empty.is_none() && self.take_punct("{") {
                self.expect_punct("}")?;
                self.expect_punct("->")?;
                empty = Some(self.exp()?);
            } else if element.is_none() {
                let pattern = self.set_pattern()?;
                self.expect_punct("->")?;
                element = Some((pattern, self.exp()?));
            } else {
                return Err(self.unexpected("the clause {} -> …"));
            }
        }
        match (empty, element) {
            (Some(empty), Some((pattern, body))) => {
                Ok(ExpKind::MatchSet(value, empty, pattern, body))
            }
            _ => Err(self.unexpected("the clauses {} -> … and x ++ xs -> …")),
        }
    }
}
