//! Expressions, from the words of a file.
use super::ast::*;
use super::lexer::{Fault, Token, Word};
use super::names::Place;
use super::parser::Parser;
use super::patterns::pattern;
use std::sync::Arc;

/// How tightly operators bind, loosest first, as herd7 has it: `|`, `++`, `;`, `\`, `&`,
/// then `*` of sets and the prefix and postfix operators.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Level {
    Union,
    Add,
    Sequence,
    Difference,
    Intersection,
    Product,
}

/// How deep expressions may stand in one another.
const MAX_DEPTH: u32 = 400;

fn exp(at: Place, kind: Kind) -> ExpRef {
    Arc::new(Exp::new(at, kind))
}

impl Parser<'_> {
    pub fn exp(&mut self) -> Result<ExpRef, Fault> {
        let parsed = self.deeper(|parser| parser.any_exp())?;
        self.shallow(parsed)
    }

    fn any_exp(&mut self) -> Result<ExpRef, Fault> {
        let at = self.place();
        let Token::Word(word) = *self.peek() else {
            return self.tuple();
        };
        let kind = match word {
            Word::Let => {
                self.skip();
                let recursive = self.take_word(Word::Rec);
                let bindings = self.bindings()?;
                self.need_word(Word::In)?;
                let body = self.exp()?;
                if recursive {
                    Kind::LetRec(bindings, body)
                } else {
                    Kind::Let(bindings, body)
                }
            }
            Word::Fun => {
                self.skip();
                let parameter = self.parameter()?;
                self.need_sign("->")?;
                let body = self.exp()?;
                Kind::Fun(Arc::new(Function { parameter, body }))
            }
            Word::Try => {
                self.skip();
                let first = self.exp()?;
                self.need_word(Word::With)?;
                Kind::Try(first, self.exp()?)
            }
            Word::If => {
                self.skip();
                let condition = self.condition()?;
                self.need_word(Word::Then)?;
                let yes = self.exp()?;
                self.need_word(Word::Else)?;
                Kind::If(condition, yes, self.exp()?)
            }
            Word::Match => self.match_exp()?,
            _ => return self.tuple(),
        };
        Ok(exp(at, kind))
    }

    fn tuple(&mut self) -> Result<ExpRef, Fault> {
        let at = self.place();
        let first = self.base()?;
        if *self.peek() != Token::Sign(",") {
            return Ok(first);
        }
        let mut items = vec![first];
        while self.take_sign(",") {
            items.push(self.base()?);
        }
        Ok(exp(at, Kind::Tuple(items)))
    }

    /// `"a" && not ("b" || "c")`
    pub fn variant(&mut self) -> Result<Variant, Fault> {
        let mut left = self.variant_and()?;
        while self.take_sign("||") {
            left = Variant::Or(Box::new(left), Box::new(self.variant_and()?));
        }
        Ok(left)
    }

    fn variant_and(&mut self) -> Result<Variant, Fault> {
        let mut left = self.deeper(|parser| parser.variant_one())?;
        while self.take_sign("&&") {
            left = Variant::And(
                Box::new(left),
                Box::new(self.deeper(|parser| parser.variant_one())?),
            );
        }
        Ok(left)
    }

    fn variant_one(&mut self) -> Result<Variant, Fault> {
        if self.take_word(Word::Not) {
            return Ok(Variant::Not(Box::new(
                self.deeper(|parser| parser.variant_one())?,
            )));
        }
        if self.take_sign("(") {
            let inner = self.deeper(|parser| parser.variant())?;
            self.need_sign(")")?;
            return Ok(inner);
        }
        let Token::Text(name) = self.peek().clone() else {
            return Err(self.unexpected("a variant in quotes"));
        };
        self.skip();
        self.variants.push(name.clone());
        Ok(Variant::Is(name))
    }

    fn starts_variant(&self) -> bool {
        match self.peek() {
            Token::Text(_) | Token::Word(Word::Not) => true,
            Token::Sign("(") => {
                matches!(self.peek_second(), Token::Text(_) | Token::Word(Word::Not))
            }
            _ => false,
        }
    }

    fn condition(&mut self) -> Result<Condition, Fault> {
        if self.starts_variant() {
            return self.variant().map(Condition::Variant);
        }
        let left = self.exp()?;
        if self.take_sign("=") {
            return Ok(Condition::Equal(left, self.exp()?));
        }
        if self.take_word(Word::Subset) {
            return Ok(Condition::Subset(left, self.exp()?));
        }
        if self.take_word(Word::In) {
            return Ok(Condition::In(left, self.exp()?));
        }
        Err(self.unexpected("=, subset or in"))
    }

    pub fn base(&mut self) -> Result<ExpRef, Fault> {
        self.deeper(|parser| parser.operators(Level::Union))
    }

    /// Operators that bind at least as tightly as `least`.
    fn operators(&mut self, least: Level) -> Result<ExpRef, Fault> {
        let mut left = self.operand()?;
        loop {
            let (level, right_level) = match self.peek() {
                Token::Sign("|") => (Level::Union, Level::Add),
                Token::Sign("++") => (Level::Add, Level::Add),
                Token::Sign(";") => (Level::Sequence, Level::Difference),
                Token::Sign("\\") => (Level::Difference, Level::Intersection),
                Token::Sign("&") => (Level::Intersection, Level::Intersection),
                Token::Sign("*") => (Level::Product, Level::Product),
                _ => return Ok(left),
            };
            if level < least {
                return Ok(left);
            }
            if level == Level::Product && least == Level::Product {
                let advice = "put one of the products in parentheses".to_owned();
                return Err((self.place(), "* of three sets".to_owned(), advice));
            }
            let at = left.at;
            if matches!(level, Level::Union | Level::Sequence) {
                left = self.several(left, level, right_level)?;
                continue;
            }
            self.skip();
            let right = self.deeper(|parser| parser.operators(right_level))?;
            let op = match level {
                Level::Add => Binary::Add,
                Level::Difference => Binary::Difference,
                Level::Intersection => Binary::Intersection,
                _ => Binary::Product,
            };
            left = self.shallow(exp(at, Kind::Binary(op, left, right)))?;
        }
    }

    /// The operands of an associative operation, with those of the same operation among
    /// them taken up.
    fn several(
        &mut self,
        first: ExpRef,
        level: Level,
        right_level: Level,
    ) -> Result<ExpRef, Fault> {
        let at = first.at;
        let sign = if level == Level::Union { "|" } else { ";" };
        let mut items = Vec::new();
        let mut take = |item: ExpRef| match (&item.kind, level) {
            (Kind::Union(inner), Level::Union) => items.extend(inner.iter().cloned()),
            (Kind::Sequence(inner), Level::Sequence) => items.extend(inner.iter().cloned()),
            _ => items.push(item),
        };
        take(first);
        while self.take_sign(sign) {
            take(self.deeper(|parser| parser.operators(right_level))?);
        }
        let kind = if level == Level::Union {
            Kind::Union(items)
        } else {
            Kind::Sequence(items)
        };
        self.shallow(exp(at, kind))
    }

    /// The expression, unless parts of it stand too deep in one another.
    fn shallow(&self, exp: ExpRef) -> Result<ExpRef, Fault> {
        if exp.depth <= MAX_DEPTH {
            return Ok(exp);
        }
        let message = "this expression stands too deep in itself".to_owned();
        Err((exp.at, message, "name parts of it with let".to_owned()))
    }

    /// An expression with its prefix and postfix operators. After `~`, herd7 takes `^-1`
    /// and no other postfix operator, so that `~r+` says what it means with parentheses.
    fn operand(&mut self) -> Result<ExpRef, Fault> {
        let at = self.place();
        if self.take_sign("~") {
            let inner = self.deeper(|parser| parser.complemented())?;
            let closes = matches!(self.peek(), Token::Sign("+" | "?"));
            if closes || (*self.peek() == Token::Sign("*") && !self.star_is_product()) {
                let (place, found, _) = self.unexpected("");
                let advice = "write (~r)+ or ~(r+), whichever is meant".to_owned();
                return Err((place, found, advice));
            }
            return Ok(exp(at, Kind::Unary(Unary::Complement, inner)));
        }
        let mut inner = self.application()?;
        loop {
            let unary = match self.peek() {
                Token::Sign("+") => Unary::Plus,
                Token::Sign("?") => Unary::Optional,
                Token::Sign("*") if !self.star_is_product() => Unary::Star,
                Token::Sign("^") => {
                    inner = self.inverse(at, inner)?;
                    continue;
                }
                _ => return Ok(inner),
            };
            self.skip();
            inner = self.shallow(exp(at, Kind::Unary(unary, inner)))?;
        }
    }

    fn complemented(&mut self) -> Result<ExpRef, Fault> {
        let at = self.place();
        if *self.peek() == Token::Sign("~") {
            return self.operand();
        }
        let mut inner = self.application()?;
        while *self.peek() == Token::Sign("^") {
            inner = self.inverse(at, inner)?;
        }
        Ok(inner)
    }

    fn inverse(&mut self, at: Place, inner: ExpRef) -> Result<ExpRef, Fault> {
        self.skip();
        self.need_sign("-1")?;
        self.shallow(exp(at, Kind::Unary(Unary::Inverse, inner)))
    }

    /// Whether the `*` here stands between sets, and does not close a relation.
    fn star_is_product(&self) -> bool {
        match self.peek_second() {
            Token::Name(_) | Token::Tag(_) | Token::Word(Word::Begin) => true,
            Token::Sign("~") => !matches!(
                self.peek_third(),
                Token::Word(Word::Acyclic | Word::Irreflexive | Word::Empty)
            ),
            Token::Sign(sign) => matches!(*sign, "(" | "[" | "{" | "_" | "0"),
            _ => false,
        }
    }

    /// `f x y`: a name applied to arguments.
    fn application(&mut self) -> Result<ExpRef, Fault> {
        let at = self.place();
        let Token::Name(name) = self.peek().clone() else {
            return self
                .simple()?
                .ok_or_else(|| self.unexpected("an expression"));
        };
        self.skip();
        let mut function = exp(at, Kind::Var(self.names.sym(&name)));
        loop {
            let at_argument = self.place();
            let argument = match self.peek().clone() {
                Token::Name(name) => {
                    self.skip();
                    exp(at_argument, Kind::Var(self.names.sym(&name)))
                }
                _ => match self.simple()? {
                    Some(argument) => argument,
                    None => return Ok(function),
                },
            };
            function = self.shallow(exp(at, Kind::Apply(function, argument)))?;
        }
    }

    /// An expression that needs no parentheses as an argument, when one stands here.
    pub fn simple(&mut self) -> Result<Option<ExpRef>, Fault> {
        let at = self.place();
        let kind = match self.peek() {
            Token::Sign("0") => Kind::EmptyRelation,
            Token::Sign("_") => Kind::Universe,
            Token::Tag(_) => return self.tag().map(|tag| Some(exp(at, Kind::Tag(tag)))),
            Token::Sign("{") => {
                self.skip();
                return self
                    .list("}")
                    .map(|items| Some(exp(at, Kind::Explicit(items))));
            }
            Token::Sign("(") => {
                self.skip();
                if self.take_sign(")") {
                    return Ok(Some(exp(at, Kind::Tuple(Vec::new()))));
                }
                let inner = self.exp()?;
                self.need_sign(")")?;
                return Ok(Some(inner));
            }
            Token::Word(Word::Begin) => {
                self.skip();
                let inner = self.exp()?;
                self.need_word(Word::End)?;
                return Ok(Some(inner));
            }
            Token::Sign("[") => {
                self.skip();
                let inner = self.exp()?;
                self.need_sign("]")?;
                return Ok(Some(exp(at, Kind::Unary(Unary::Identity, inner))));
            }
            _ => return Ok(None),
        };
        self.skip();
        Ok(Some(exp(at, kind)))
    }

    /// Expressions between commas, up to the sign `close`.
    pub fn list(&mut self, close: &str) -> Result<Vec<ExpRef>, Fault> {
        let mut items = Vec::new();
        if self.take_sign(close) {
            return Ok(items);
        }
        loop {
            items.push(self.base()?);
            if self.take_sign(close) {
                return Ok(items);
            }
            if !self.take_sign(",") {
                return Err(self.unexpected(&format!(", or {close}")));
            }
        }
    }

    fn match_exp(&mut self) -> Result<Kind, Fault> {
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
