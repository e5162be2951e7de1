//! C threads: parameters, statements, loops.

use super::ast::{Expr, Reg, Stmt, Thread};
use super::expressions::unknown_call;
use crate::error::ParseError;
use crate::lexer::{tokens, Cursor, Kind, Syntax};
use crate::sections::Part;

const SYNTAX: Syntax = Syntax::new(
    &[
        "==", "=", "!=", "!", "<=", "<<", "<", ">=", ">>", ">", "&&", "&", "||", "|", "{", "}",
        "(", ")", "[", "]", ";", ",", "*", "+", "-", "/", "%", "^", "~", ".", ":",
    ],
    false,
    "",
);

/// Nesting of blocks beyond this is refused, so that no input exhausts the stack.
const DEEP: usize = 60;

pub struct Parser<'p, 't> {
    pub(super) cursor: Cursor<'t>,
    pub(super) thread: &'p mut Thread,
    pub(super) depth: usize,
}

/// The threads in the order of their numbers.
pub fn program(part: Part<'_>) -> Result<Vec<Thread>, ParseError> {
    let mut cursor = Cursor::new(tokens(part.text, part.offset, &SYNTAX)?);
    let mut threads: Vec<Option<Thread>> = Vec::new();
    while !cursor.at_end() {
        cursor.eat_word("static");
        cursor.eat_word("void");
        let offset = cursor.offset();
        let name = cursor.name("a thread: P0, P1, …")?;
        let number: usize = name
            .strip_prefix('P')
            .and_then(|n| n.parse().ok())
            .filter(|n| *n < 64)
            .ok_or_else(|| {
                ParseError::new(offset, format!("`{name}` is not a thread"))
                    .help("threads are functions named P0, P1, … up to P63")
            })?;
        let mut thread = Thread::default();
        let mut parser = Parser {
            cursor,
            thread: &mut thread,
            depth: 0,
        };
        parser.parameters()?;
        let body = parser.block()?;
        cursor = parser.cursor;
        thread.body = body;
        if threads.len() <= number {
            threads.resize(number + 1, None);
        }
        if threads[number].replace(thread).is_some() {
            return Err(ParseError::new(offset, format!("{name} is written twice")));
        }
    }
    if threads.is_empty() {
        return Err(ParseError::new(part.offset, "the test has no thread")
            .help("write P0 (atomic_int* x) { … }"));
    }
    threads
        .into_iter()
        .enumerate()
        .map(|(n, t)| {
            t.ok_or_else(|| ParseError::new(part.offset, format!("thread P{n} is missing")))
        })
        .collect()
}

impl Parser<'_, '_> {
    pub(super) fn reg(&mut self, name: &str) -> Reg {
        match self.thread.names.iter().position(|n| n == name) {
            Some(at) => at,
            None => {
                self.thread.names.push(name.to_string());
                self.thread.names.len() - 1
            }
        }
    }

    fn parameters(&mut self) -> Result<(), ParseError> {
        self.cursor.expect("(")?;
        while !self.cursor.eat(")") {
            if self.cursor.is_word("void") && matches!(self.cursor.ahead(1), Kind::Sign(")")) {
                self.cursor.step();
                continue;
            }
            let offset = self.cursor.offset();
            let pointers = self.type_name()?;
            let name = self.cursor.name("the parameter's name")?;
            if pointers == 0 {
                return Err(
                    ParseError::new(offset, format!("`{name}` is not a pointer"))
                        .help("a parameter is the address of the location of its name: int* x"),
                );
            }
            self.reg(name);
            self.thread.parameters = self.thread.names.len();
            if !self.cursor.eat(",") && !self.cursor.is(")") {
                return Err(self.cursor.unexpected("`,` or `)`"));
            }
        }
        Ok(())
    }

    /// Whether a type starts here: a word of one, or two names in a row, or `name *`.
    pub(super) fn starts_type(&self) -> bool {
        let Kind::Name(name) = self.cursor.kind() else {
            return false;
        };
        const WORDS: [&str; 15] = [
            "volatile", "const", "_Atomic", "unsigned", "signed", "char", "short", "int", "long",
            "float", "double", "void", "struct", "_Bool", "bool",
        ];
        WORDS.contains(&name)
            || name.starts_with("atomic_") && !matches!(self.cursor.ahead(1), Kind::Sign("("))
            || name.ends_with("_t") && !matches!(self.cursor.ahead(1), Kind::Sign("="))
    }

    /// Reads a type; says how many pointers it has.
    pub(super) fn type_name(&mut self) -> Result<usize, ParseError> {
        let mut pointers = 0;
        let mut words = 0;
        loop {
            if self.cursor.eat("*") {
                pointers += 1;
            } else if self.cursor.is_word("_Atomic")
                && matches!(self.cursor.ahead(1), Kind::Sign("("))
            {
                self.cursor.step();
                self.cursor.step();
                pointers += self.type_name()?;
                self.cursor.expect(")")?;
                words += 1;
            } else if self.starts_type()
                || words == 0 && matches!(self.cursor.kind(), Kind::Name(_))
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

    fn block(&mut self) -> Result<Vec<Stmt>, ParseError> {
        self.cursor.expect("{")?;
        let mut out = Vec::new();
        while !self.cursor.eat("}") {
            self.statement(&mut out)?;
        }
        Ok(out)
    }

    fn statement(&mut self, out: &mut Vec<Stmt>) -> Result<(), ParseError> {
        self.depth += 1;
        if self.depth > DEEP {
            return Err(self.cursor.unexpected("blocks nested less deeply"));
        }
        self.statement_at_depth(out)?;
        self.depth -= 1;
        Ok(())
    }

    fn nested(&mut self) -> Result<Vec<Stmt>, ParseError> {
        if self.cursor.is("{") {
            return self.block();
        }
        let mut out = Vec::new();
        self.statement(&mut out)?;
        Ok(out)
    }

    fn statement_at_depth(&mut self, out: &mut Vec<Stmt>) -> Result<(), ParseError> {
        if self.cursor.is("{") {
            out.extend(self.block()?);
            return Ok(());
        }
        if self.cursor.eat(";") {
            return Ok(());
        }
        if self.cursor.eat_word("if") {
            self.cursor.expect("(")?;
            let condition = self.expr()?;
            self.cursor.expect(")")?;
            let then = self.nested()?;
            let otherwise = match self.cursor.eat_word("else") {
                true => self.nested()?,
                false => Vec::new(),
            };
            out.push(Stmt::If(condition, then, otherwise));
            return Ok(());
        }
        if self.cursor.eat_word("while") {
            self.cursor.expect("(")?;
            let condition = self.expr()?;
            self.cursor.expect(")")?;
            let body = self.nested()?;
            out.push(Stmt::While(condition, body));
            return Ok(());
        }
        if self.cursor.eat_word("do") {
            let body = self.nested()?;
            if !self.cursor.eat_word("while") {
                return Err(self.cursor.unexpected("`while`"));
            }
            self.cursor.expect("(")?;
            let condition = self.expr()?;
            self.cursor.expect(")")?;
            self.cursor.expect(";")?;
            out.extend(body.iter().cloned());
            out.push(Stmt::While(condition, body));
            return Ok(());
        }
        self.simple(out)?;
        self.cursor.expect(";")
    }

    fn simple(&mut self, out: &mut Vec<Stmt>) -> Result<(), ParseError> {
        for word in ["for", "goto", "return", "switch", "break", "continue"] {
            if self.cursor.is_word(word) {
                return Err(self
                    .cursor
                    .unexpected("a statement that litmus tests have")
                    .help("assignments, atomic operations, fences, if and while"));
            }
        }
        if self.cursor.eat("*") {
            let at = self.pointer()?;
            self.cursor.expect("=")?;
            let value = self.expr()?;
            out.push(Stmt::Store(at, value, None));
            return Ok(());
        }
        if self.starts_type() {
            self.type_name()?;
            return self.declarators(out);
        }
        let offset = self.cursor.offset();
        let name = match self.cursor.kind() {
            Kind::Name(n) => n,
            _ => return Err(self.cursor.unexpected("a statement")),
        };
        match self.cursor.ahead(1) {
            Kind::Sign("=") => self.declarators(out),
            Kind::Sign("(") => self.call_statement(name, offset, out),
            Kind::Sign("[") => {
                let Expr::Load(at, None) = self.expr()? else {
                    return Err(ParseError::new(offset, "expected an element of an array"));
                };
                self.cursor.expect("=")?;
                let value = self.expr()?;
                out.push(Stmt::Store(*at, value, None));
                Ok(())
            }
            Kind::Name(_) => {
                self.cursor.step();
                self.declarators(out)
            }
            _ => {
                self.cursor.step();
                Err(self.cursor.unexpected("`=` or `(`"))
            }
        }
    }

    /// `*location`, without the star already read: a name, a dereference or an expression.
    fn pointer(&mut self) -> Result<Expr, ParseError> {
        if self.cursor.eat("*") {
            return Ok(Expr::Load(Box::new(self.pointer()?), None));
        }
        if self.cursor.eat("(") {
            let e = self.expr()?;
            self.cursor.expect(")")?;
            return Ok(e);
        }
        let name = self.cursor.name("a pointer")?;
        Ok(Expr::Reg(self.reg(name)))
    }

    fn declarators(&mut self, out: &mut Vec<Stmt>) -> Result<(), ParseError> {
        loop {
            while self.cursor.eat("*") {}
            let name = self.cursor.name("a variable")?;
            let reg = self.reg(name);
            if self.cursor.eat("=") {
                let value = self.expr()?;
                out.push(Stmt::Assign(reg, value));
            }
            if !self.cursor.eat(",") {
                return Ok(());
            }
        }
    }

    fn call_statement(
        &mut self,
        name: &str,
        offset: usize,
        out: &mut Vec<Stmt>,
    ) -> Result<(), ParseError> {
        match name {
            "atomic_store" | "atomic_store_explicit" => {
                self.cursor.step();
                self.cursor.expect("(")?;
                let at = self.expr()?;
                self.cursor.expect(",")?;
                let value = self.expr()?;
                let mut order = super::ast::Order::SeqCst;
                if name.ends_with("_explicit") {
                    self.cursor.expect(",")?;
                    order = self.order()?;
                }
                self.cursor.expect(")")?;
                out.push(Stmt::Store(at, value, Some(order)));
            }
            "atomic_thread_fence" | "fence" => {
                self.cursor.step();
                self.cursor.expect("(")?;
                let order = self.order()?;
                self.cursor.expect(")")?;
                out.push(Stmt::Fence(order));
            }
            "lock"
            | "unlock"
            | "mtx_lock"
            | "mtx_unlock"
            | "pthread_mutex_lock"
            | "pthread_mutex_unlock" => {
                self.cursor.step();
                self.cursor.expect("(")?;
                let mutex = self.expr()?;
                self.cursor.expect(")")?;
                out.push(match name.ends_with("unlock") {
                    true => Stmt::Unlock(mutex),
                    false => Stmt::Lock(mutex),
                });
            }
            _ if name.starts_with("atomic_") || name == "SCAS" || name == "WCAS" => {
                let e = self.expr()?;
                out.push(Stmt::Effect(e));
            }
            _ => return Err(unknown_call(offset, name)),
        }
        Ok(())
    }
}
