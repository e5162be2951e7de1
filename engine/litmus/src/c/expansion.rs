//! Reads the definitions of macros, and expands calls. As in herd7, expansion replaces parameters
//! in the syntax tree, not in the text.

use super::ast::{CThread, Expression, Statement};
use super::macros::{Frame, Halves, Macro, Macros};
use super::parser::{Parser, SYNTAX};
use crate::error::{LitmusError, ParseError};
use crate::lexer::{tokens, Cursor, TokenKind};
use crate::value::Value;
use rustc_hash::FxHashMap;

/// The number of expansions in a test, which bounds the work for macros that use one another.
const MAX_EXPANSIONS: usize = 10_000;

impl Macros {
    /// Reads the text of a .def file; `file` is for messages.
    pub fn parse(file: &str, text: &str, halves: Halves) -> Result<Macros, LitmusError> {
        let read = || {
            let mut macros = Macros {
                text: text.to_owned(),
                expressions: FxHashMap::default(),
                statements: FxHashMap::default(),
                tags: Vec::new(),
                halves,
            };
            let mut thread = CThread::default();
            let mut tags = Vec::new();
            let cursor = Cursor::new(tokens(text, 0, &SYNTAX)?);
            let mut parser = Parser::new(cursor, &mut thread, None, &mut tags);
            (parser.defining, parser.halves) = (true, halves);
            while !parser.cursor.at_end() {
                parser.definition(&mut macros)?;
            }
            macros.tags = tags;
            Ok(macros)
        };
        read().map_err(|error: ParseError| error.locate(file, text))
    }

    /// Whether a critical section of SRCU begins with a load; else with an event of its own kind.
    pub fn loads_in_srcu(&self) -> bool {
        let begins = self.expressions.get("srcu_read_lock");
        begins.is_some_and(|of| self.text[of.body.0..of.body.1].contains("__load"))
    }
}

impl Parser<'_, '_> {
    /// A definition; its body is read to find its end, and once more at each use.
    fn definition(&mut self, macros: &mut Macros) -> Result<(), ParseError> {
        let name = self.cursor.name("the name of a macro")?.to_owned();
        self.cursor.expect("(")?;
        let mut parameters = Vec::new();
        while !self.cursor.eat(")") {
            parameters.push(self.cursor.name("a parameter")?.to_owned());
            if !self.cursor.eat(",") && !self.cursor.is(")") {
                return Err(self.cursor.unexpected("`,` or `)`"));
            }
        }
        let start = self.cursor.offset();
        let location = Expression::Load(Box::new(Expression::Const(Value::ZERO)), None);
        self.frame = Frame {
            arguments: vec![location; parameters.len()],
            parameters: parameters.clone(),
        };
        let is_statement = self.cursor.is("{");
        match is_statement {
            true => drop(self.block()?),
            false => drop(self.expr()?),
        }
        let body = (start, self.cursor.offset());
        let kind = match is_statement {
            true => &mut macros.statements,
            false => &mut macros.expressions,
        };
        kind.insert(name, Macro { parameters, body });
        Ok(())
    }

    /// Whether a call of this name is a macro that is an expression.
    pub(super) fn is_expression_macro(&self, name: &str) -> bool {
        self.defining
            || self
                .macros
                .is_some_and(|m| m.expressions.contains_key(name))
    }

    /// Whether a call of this name is a macro that is a statement.
    pub(super) fn is_statement_macro(&self, name: &str) -> bool {
        self.defining || self.macros.is_some_and(|m| m.statements.contains_key(name))
    }

    /// The expression that a call stands for; the position is after the name.
    pub(super) fn expand_expression(
        &mut self,
        name: &str,
        offset: usize,
    ) -> Result<Expression, ParseError> {
        let arguments = self.arguments()?;
        if self.defining {
            return Ok(Expression::Const(Value::ZERO));
        }
        let found = self.macros.and_then(|m| m.expressions.get(name));
        self.within(found.cloned(), arguments, name, offset, |parser| {
            parser.expr()
        })
    }

    /// The statements that a call stands for; the position is after the name.
    pub(super) fn expand_statement(
        &mut self,
        name: &str,
        offset: usize,
    ) -> Result<Vec<Statement>, ParseError> {
        let arguments = self.arguments()?;
        if self.defining {
            return Ok(Vec::new());
        }
        let found = self.macros.and_then(|m| m.statements.get(name));
        self.within(found.cloned(), arguments, name, offset, |parser| {
            parser.block()
        })
    }

    fn arguments(&mut self) -> Result<Vec<Expression>, ParseError> {
        self.cursor.expect("(")?;
        let mut arguments = Vec::new();
        while !self.cursor.eat(")") {
            arguments.push(self.expr()?);
            if !self.cursor.eat(",") && !self.cursor.is(")") {
                return Err(self.cursor.unexpected("`,` or `)`"));
            }
        }
        Ok(arguments)
    }

    /// Reads the body of a macro with these arguments.
    fn within<T>(
        &mut self,
        found: Option<Macro>,
        arguments: Vec<Expression>,
        name: &str,
        offset: usize,
        read: impl FnOnce(&mut Self) -> Result<T, ParseError>,
    ) -> Result<T, ParseError> {
        let fault = |message: String| ParseError::new(offset, message);
        let (Some(found), Some(macros)) = (found, self.macros) else {
            return Err(fault(format!("unknown macro `{name}`")));
        };
        let (expected, given) = (found.parameters.len(), arguments.len());
        if expected != given {
            let message = format!("`{name}` takes {expected} arguments, found {given}");
            return Err(fault(message));
        }
        self.expansions += 1;
        if self.expansions > MAX_EXPANSIONS {
            let message = format!("more than {MAX_EXPANSIONS} expansions of macros");
            return Err(fault(message));
        }
        let body = &macros.text[found.body.0..found.body.1];
        let cursor = Cursor::new(tokens(body, found.body.0, &SYNTAX)?);
        let frame = Frame {
            parameters: found.parameters,
            arguments,
        };
        let outer = std::mem::replace(&mut self.cursor, cursor);
        let outer_frame = std::mem::replace(&mut self.frame, frame);
        let result = read(self).and_then(|read| match self.cursor.kind() {
            TokenKind::End => Ok(read),
            _ => Err(self.cursor.unexpected("the end of the macro")),
        });
        self.cursor = outer;
        self.frame = outer_frame;
        result.map_err(|error| ParseError {
            offset,
            message: match error.offset == offset {
                true => error.message,
                false => format!("in the macro `{name}`: {}", error.message),
            },
            ..error
        })
    }
}
