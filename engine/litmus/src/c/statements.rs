//! Parses the threads of C tests: parameters and statements.

use super::ast::{CThread, Expression, MemoryOrder, Statement};
use super::kernel;
use super::macros::Macros;
use super::parser::{Parser, SYNTAX};
use crate::error::ParseError;
use crate::lexer::{tokens, Cursor, TokenKind};
use crate::sections::SourceSpan;

/// The deepest nesting of blocks that is accepted, so that no input exhausts the stack.
const MAX_DEPTH: usize = 60;

/// The threads in the order of their numbers, and whether regions of memory follow them. `tags` are
/// the annotations that the macros mention; those of the test are added.
pub fn program(
    section: SourceSpan<'_>,
    macros: Option<&Macros>,
    tags: &mut Vec<String>,
) -> Result<(Vec<CThread>, bool), ParseError> {
    let mut cursor = Cursor::new(tokens(section.text, section.offset, &SYNTAX)?);
    let mut threads: Vec<Option<CThread>> = Vec::new();
    let mut has_regions = false;
    while !cursor.at_end() {
        if !threads.is_empty() && matches!(cursor.ahead(1), TokenKind::Sign(":")) {
            regions(&mut cursor)?;
            has_regions = true;
            break;
        }
        cursor.eat_word("static");
        cursor.eat_word("void");
        let offset = cursor.offset();
        let name = cursor.name("a thread")?;
        let number: usize = name
            .strip_prefix('P')
            .and_then(|n| n.parse().ok())
            .filter(|n| *n < 64)
            .ok_or_else(|| {
                ParseError::new(offset, format!("expected a thread, found `{name}`"))
                    .help("threads are functions named P0, P1, … up to P63")
            })?;
        let mut thread = CThread::default();
        let mut parser = Parser::new(cursor, &mut thread, macros, tags);
        parser.parameters()?;
        let body = parser.block()?;
        cursor = parser.cursor;
        thread.body = body;
        if threads.len() <= number {
            threads.resize(number + 1, None);
        }
        if threads[number].replace(thread).is_some() {
            return Err(ParseError::new(
                offset,
                format!("duplicate thread `{name}`"),
            ));
        }
    }
    if threads.is_empty() {
        return Err(
            ParseError::new(section.offset, "expected a thread, found end of text")
                .help("write P0 (atomic_int* x) { … }"),
        );
    }
    let threads: Result<_, _> = threads
        .into_iter()
        .enumerate()
        .map(|(n, t)| {
            t.ok_or_else(|| ParseError::new(section.offset, format!("missing thread `P{n}`")))
        })
        .collect();
    Ok((threads?, has_regions))
}

/// `regions: x:PROP, y:PROP REPLACEABLE`: the sets of a bell file that accesses of locations are in.
fn regions(cursor: &mut Cursor<'_>) -> Result<(), ParseError> {
    let offset = cursor.offset();
    let name = cursor.name("regions")?;
    if matches!(name, "scopes" | "levels") {
        return Err(ParseError::unsupported(
            offset,
            format!("{name} are not supported"),
        ));
    }
    if name != "regions" {
        return Err(ParseError::new(
            offset,
            format!("expected a thread or regions, found `{name}`"),
        ));
    }
    cursor.expect(":")?;
    while !cursor.at_end() {
        cursor.name("a location")?;
        cursor.expect(":")?;
        cursor.name("a region")?;
        while !cursor.at_end() && !cursor.is(",") {
            cursor.name("a region or `,`")?;
        }
        if cursor.eat(",") && cursor.at_end() {
            return Err(cursor.unexpected("a location"));
        }
    }
    Ok(())
}

impl Parser<'_, '_> {
    fn parameters(&mut self) -> Result<(), ParseError> {
        self.cursor.expect("(")?;
        while !self.cursor.eat(")") {
            if self.cursor.is_word("void") && matches!(self.cursor.ahead(1), TokenKind::Sign(")")) {
                self.cursor.step();
                continue;
            }
            let offset = self.cursor.offset();
            let pointers = self.type_name()?;
            let name = self.cursor.name("a parameter name")?;
            if pointers == 0 {
                return Err(ParseError::new(
                    offset,
                    format!("parameter `{name}` is not a pointer"),
                )
                .help("a parameter is the address of the location with its name: int* x"));
            }
            self.register(name);
            self.thread.parameters = self.thread.variables.len();
            if !self.cursor.eat(",") && !self.cursor.is(")") {
                return Err(self.cursor.unexpected("`,` or `)`"));
            }
        }
        Ok(())
    }

    pub(super) fn block(&mut self) -> Result<Vec<Statement>, ParseError> {
        self.cursor.expect("{")?;
        let mut out = Vec::new();
        while !self.cursor.eat("}") {
            self.statement(&mut out)?;
        }
        Ok(out)
    }

    fn statement(&mut self, out: &mut Vec<Statement>) -> Result<(), ParseError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.cursor.unexpected("less deeply nested blocks"));
        }
        self.statement_at_depth(out)?;
        self.depth -= 1;
        Ok(())
    }

    fn nested(&mut self) -> Result<Vec<Statement>, ParseError> {
        let mut out = Vec::new();
        match self.cursor.is("{") {
            true => {
                self.position(&mut out);
                out.extend(self.block()?);
            }
            false => self.statement(&mut out)?,
        }
        Ok(out)
    }

    /// Notes a position that has no event.
    fn position(&self, out: &mut Vec<Statement>) {
        if self.for_kernel() {
            out.push(Statement::Position);
        }
    }

    fn statement_at_depth(&mut self, out: &mut Vec<Statement>) -> Result<(), ParseError> {
        if self.cursor.is("{") {
            self.position(out);
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
            out.push(Statement::If(condition, then, otherwise));
            return Ok(());
        }
        if self.cursor.eat_word("while") {
            self.cursor.expect("(")?;
            let condition = self.expr()?;
            self.cursor.expect(")")?;
            let body = self.nested()?;
            out.push(Statement::While(condition, body));
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
            out.push(Statement::While(condition, body));
            return Ok(());
        }
        self.simple(out)?;
        self.cursor.expect(";")
    }

    fn simple(&mut self, out: &mut Vec<Statement>) -> Result<(), ParseError> {
        // as in herd7, these are also names of variables
        let assigned = self.cursor.ahead(1) == TokenKind::Sign("=");
        for word in ["for", "goto", "return", "switch", "break", "continue"] {
            if self.cursor.is_word(word) && !assigned {
                return Err(self
                    .cursor
                    .unexpected("a supported statement")
                    .help("supported are assignments, atomic operations, fences, if and while"));
            }
        }
        if self.cursor.eat("*") {
            let at = self.pointer()?;
            self.cursor.expect("=")?;
            let value = self.expr()?;
            out.push(Statement::Store(at, value, None));
            return Ok(());
        }
        if self.starts_type() {
            self.type_name()?;
            return self.declarators(out);
        }
        let offset = self.cursor.offset();
        if self.for_kernel() && self.cursor.is("(") {
            let value = self.expr()?;
            out.push(Statement::Effect(value));
            return Ok(());
        }
        let name = match self.cursor.kind() {
            TokenKind::Name(n) => n,
            _ => return Err(self.cursor.unexpected("a statement")),
        };
        if self.for_kernel() && kernel::is_statement(name) {
            self.cursor.step();
            let statement = self.kernel_statement(name, offset)?;
            out.push(statement);
            return Ok(());
        }
        match self.cursor.ahead(1) {
            TokenKind::Sign("=") => self.declarators(out),
            TokenKind::Sign("(") => self.call_statement(name, offset, out),
            TokenKind::Sign("[") => {
                let Expression::Load(at, None) = self.expr()? else {
                    return Err(ParseError::new(offset, "expected an element of an array"));
                };
                self.cursor.expect("=")?;
                let value = self.expr()?;
                out.push(Statement::Store(*at, value, None));
                Ok(())
            }
            TokenKind::Name(_) => {
                self.cursor.step();
                self.declarators(out)
            }
            _ => {
                self.cursor.step();
                Err(self.cursor.unexpected("`=` or `(`"))
            }
        }
    }

    /// What follows a `*`: a name, a dereference or an expression.
    fn pointer(&mut self) -> Result<Expression, ParseError> {
        if self.cursor.eat("*") {
            return Ok(Expression::Load(Box::new(self.pointer()?), None));
        }
        if self.cursor.eat("(") {
            let e = self.expr()?;
            self.cursor.expect(")")?;
            return Ok(e);
        }
        let name = self.cursor.name("a pointer")?;
        Ok(self.variable(name))
    }

    fn declarators(&mut self, out: &mut Vec<Statement>) -> Result<(), ParseError> {
        loop {
            while self.cursor.eat("*") {}
            let at = self.cursor.offset();
            let name = self.cursor.name("a variable")?;
            if self.frame.argument(name).is_some() {
                let message = "assignments to parameters of macros are not supported";
                return Err(ParseError::unsupported(at, message));
            }
            let reg = self.register(name);
            if self.cursor.eat("=") {
                let value = self.expr()?;
                out.push(Statement::Assign(reg, value));
            } else if self.depth > 1 {
                self.position(out);
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
        out: &mut Vec<Statement>,
    ) -> Result<(), ParseError> {
        if self.is_statement_macro(name) {
            self.cursor.step();
            self.position(out);
            out.extend(self.expand_statement(name, offset)?);
            return Ok(());
        }
        let is_expression = self.is_expression_macro(name)
            || self.for_kernel() && (kernel::is_expression(name) || name == "atomic_add_unless");
        if is_expression {
            let value = self.expr()?;
            out.push(Statement::Effect(value));
            return Ok(());
        }
        match name {
            "atomic_store" | "atomic_store_explicit" => {
                self.cursor.step();
                self.cursor.expect("(")?;
                let at = self.expr()?;
                self.cursor.expect(",")?;
                let value = self.expr()?;
                let mut order = MemoryOrder::SeqCst;
                if name.ends_with("_explicit") {
                    self.cursor.expect(",")?;
                    order = self.order()?;
                }
                self.cursor.expect(")")?;
                out.push(Statement::Store(at, value, Some(order)));
            }
            "atomic_thread_fence" | "fence" => {
                self.cursor.step();
                self.cursor.expect("(")?;
                let order = self.order()?;
                self.cursor.expect(")")?;
                out.push(Statement::Fence(order));
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
                    true => Statement::Unlock(mutex),
                    false => Statement::Lock(mutex),
                });
            }
            _ if name.starts_with("atomic_") || name == "SCAS" || name == "WCAS" => {
                let e = self.expr()?;
                out.push(Statement::Effect(e));
            }
            _ => return Err(self.unknown_call(offset, name)),
        }
        Ok(())
    }
}
