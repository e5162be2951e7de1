//! What parsing statements and expressions share: the position, variables, types.

use super::ast::{CThread, Expression};
use super::macros::{Frame, Halves, Macros};
use crate::error::ParseError;
use crate::lexer::{Cursor, Syntax, TokenKind};
use crate::value::RegisterId;

pub(super) const SYNTAX: Syntax = Syntax::new(
    &[
        "==", "=", "!=", "!", "<=", "<<", "<", ">=", ">>", ">", "&&", "&", "||", "|", "{", "}",
        "(", ")", "[", "]", ";", ",", "*", "+", "-", "/", "%", "^", "~", ".", ":",
    ],
    false,
    "",
);

/// A reading position in the threads, and the thread that is being read.
pub struct Parser<'p, 't> {
    pub(super) cursor: Cursor<'t>,
    pub(super) thread: &'p mut CThread,
    pub(super) depth: usize,
    /// Those of the Linux kernel, if the model comes with some.
    pub(super) macros: Option<&'t Macros>,
    /// The annotations that the test and the macros mention.
    pub(super) tags: &'p mut Vec<String>,
    /// Of the macro that is being expanded.
    pub(super) frame: Frame,
    pub(super) expansions: usize,
    /// It reads the definitions of macros, which may refer to later ones.
    pub(super) defining: bool,
    pub(super) halves: Halves,
}

impl<'p, 't> Parser<'p, 't> {
    pub(super) fn new(
        cursor: Cursor<'t>,
        thread: &'p mut CThread,
        macros: Option<&'t Macros>,
        tags: &'p mut Vec<String>,
    ) -> Parser<'p, 't> {
        Parser {
            cursor,
            thread,
            depth: 0,
            macros,
            tags,
            frame: Frame::default(),
            expansions: 0,
            defining: false,
            halves: macros.map_or(Halves::default(), |macros| macros.halves),
        }
    }

    /// Whether the primitives of the Linux kernel's model are known.
    pub(super) fn for_kernel(&self) -> bool {
        self.defining || self.macros.is_some()
    }

    /// A variable, or the argument of a macro with this name.
    pub(super) fn variable(&mut self, name: &str) -> Expression {
        match self.frame.argument(name) {
            Some(argument) => argument.clone(),
            None => Expression::Reg(self.register(name)),
        }
    }
}

impl Parser<'_, '_> {
    /// The number of a variable of the thread; a new one for a new name.
    pub(super) fn register(&mut self, name: &str) -> RegisterId {
        match self.thread.variables.iter().position(|n| n == name) {
            Some(at) => at,
            None => {
                self.thread.variables.push(name.to_string());
                self.thread.variables.len() - 1
            }
        }
    }

    /// Whether a type starts here.
    pub(super) fn starts_type(&self) -> bool {
        let TokenKind::Name(name) = self.cursor.kind() else {
            return false;
        };
        const WORDS: [&str; 15] = [
            "volatile", "const", "_Atomic", "unsigned", "signed", "char", "short", "int", "long",
            "float", "double", "void", "struct", "_Bool", "bool",
        ];
        WORDS.contains(&name)
            || name.starts_with("atomic_") && !matches!(self.cursor.ahead(1), TokenKind::Sign("("))
            || name.ends_with("_t") && !matches!(self.cursor.ahead(1), TokenKind::Sign("="))
    }

    /// Reads a type; returns how many `*` it has.
    pub(super) fn type_name(&mut self) -> Result<usize, ParseError> {
        let mut pointers = 0;
        let mut words = 0;
        loop {
            if self.cursor.eat("*") {
                pointers += 1;
            } else if self.cursor.is_word("_Atomic")
                && matches!(self.cursor.ahead(1), TokenKind::Sign("("))
            {
                self.cursor.step();
                self.cursor.step();
                pointers += self.type_name()?;
                self.cursor.expect(")")?;
                words += 1;
            } else if self.starts_type()
                || words == 0 && matches!(self.cursor.kind(), TokenKind::Name(_))
            {
                if self.cursor.is_word("struct") {
                    self.cursor.step();
                }
                self.cursor.step();
                words += 1;
            } else if words == 0 {
                return Err(self.cursor.unexpected("a type"));
            } else {
                return Ok(pointers);
            }
        }
    }
}
