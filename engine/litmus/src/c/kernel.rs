//! The primitives of the Linux kernel's memory model (`__load{once}(…)`, `__xchg{acquire}(…)`), to
//! which the macros of linux-kernel.def expand. Syntax and annotations are those of herd7
//! (CParser.mly and CSem.ml of release 7.58).

use super::ast::{Expression, KernelExpression, KernelStatement, RmwTags, Statement, Tag};
use super::macros::Halves;
use super::parser::Parser;
use crate::error::ParseError;
use crate::lexer::TokenKind;
use crate::value::{Op, Value};

/// The number of different annotations that tests and macros can have.
pub const MAX_TAGS: usize = 40;

/// The primitives that are expressions.
const EXPRESSIONS: [&str; 9] = [
    "__load",
    "__xchg",
    "__cmpxchg",
    "__trylock",
    "__islocked",
    "__srcu",
    "__atomic_op_return",
    "__atomic_fetch_op",
    "__atomic_add_unless",
];

/// The primitives that are statements; `__srcu` is both.
const STATEMENTS: [&str; 6] = [
    "__store",
    "__fence",
    "__lock",
    "__unlock",
    "__srcu",
    "__atomic_op",
];

pub(super) fn is_expression(name: &str) -> bool {
    EXPRESSIONS.contains(&name)
}

pub(super) fn is_statement(name: &str) -> bool {
    STATEMENTS.contains(&name)
}

impl Parser<'_, '_> {
    /// The rest of a primitive that is an expression, after its name.
    pub(super) fn kernel_expression(
        &mut self,
        name: &str,
        offset: usize,
    ) -> Result<Expression, ParseError> {
        let annotation = match self.cursor.is("{") {
            true => Some(self.annotation()?),
            false => None,
        };
        let tag = |parser: &mut Self| match &annotation {
            Some(name) => parser.tag(offset, name),
            None => Err(ParseError::new(
                offset,
                format!("`{name}` needs an annotation in braces"),
            )),
        };
        self.cursor.expect("(")?;
        let expression = match name {
            "__load" => {
                let at = self.accessed(offset)?;
                let tag = tag(self)?;
                KernelExpression::Load { at, tag }
            }
            "__xchg" => {
                let at = self.expr()?;
                self.cursor.expect(",")?;
                let value = self.expr()?;
                let tags = self.rmw_tags(offset, &annotation)?;
                KernelExpression::Exchange { at, value, tags }
            }
            "__cmpxchg" => {
                let at = self.expr()?;
                self.cursor.expect(",")?;
                let old = self.expr()?;
                self.cursor.expect(",")?;
                let new = self.expr()?;
                let tags = self.rmw_tags(offset, &annotation)?;
                KernelExpression::CompareExchange { at, old, new, tags }
            }
            "__trylock" => KernelExpression::TryLock(self.expr()?),
            "__islocked" => KernelExpression::IsLocked(self.expr()?),
            "__srcu" => {
                let at = self.expr()?;
                let locks = annotation.as_deref() == Some("srcu-lock");
                let tag = tag(self)?;
                KernelExpression::Srcu { at, tag, locks }
            }
            "__atomic_op_return" | "__atomic_fetch_op" => {
                let (at, op, operand) = self.operation_arguments()?;
                KernelExpression::Update {
                    op,
                    at,
                    operand,
                    tags: self.rmw_tags(offset, &annotation)?,
                    returns_old: name == "__atomic_fetch_op",
                }
            }
            _ => self.add_unless(offset, &annotation)?,
        };
        self.cursor.expect(")")?;
        Ok(Expression::Kernel(Box::new(expression)))
    }

    /// The arguments of `__atomic_add_unless`, fully ordered where it has no annotation.
    pub(super) fn add_unless(
        &mut self,
        offset: usize,
        annotation: &Option<String>,
    ) -> Result<KernelExpression, ParseError> {
        let at = self.expr()?;
        self.cursor.expect(",")?;
        let addend = self.expr()?;
        self.cursor.expect(",")?;
        let unless = self.expr()?;
        let written = annotation.clone();
        let written = written.filter(|_| self.halves == Halves::AsWritten);
        let tags = self.rmw_tags(offset, &written.or(Some("mb".to_owned())))?;
        Ok(KernelExpression::AddUnless {
            at,
            addend,
            unless,
            tags,
        })
    }

    /// The rest of a primitive that is a statement, after its name, up to the semicolon.
    pub(super) fn kernel_statement(
        &mut self,
        name: &str,
        offset: usize,
    ) -> Result<Statement, ParseError> {
        let annotation = match self.cursor.is("{") {
            true => Some(self.annotation()?),
            false => None,
        };
        let missing = || {
            let message = format!("`{name}` needs an annotation in braces");
            ParseError::new(offset, message)
        };
        if name == "__fence" {
            let tag = self.tag(offset, &annotation.ok_or_else(missing)?)?;
            return Ok(Statement::Kernel(KernelStatement::Fence(tag)));
        }
        self.cursor.expect("(")?;
        let statement = match name {
            "__store" => {
                let at = self.accessed(offset)?;
                self.cursor.expect(",")?;
                let value = self.expr()?;
                let tag = self.tag(offset, &annotation.ok_or_else(missing)?)?;
                KernelStatement::Store { at, value, tag }
            }
            "__lock" => KernelStatement::Lock(self.expr()?),
            "__unlock" => {
                let mutex = self.expr()?;
                self.cursor.expect(")")?;
                return Ok(Statement::Unlock(mutex));
            }
            "__srcu" => {
                let at = self.expr()?;
                let value = match self.cursor.eat(",") {
                    true => Some(self.expr()?),
                    false => None,
                };
                let tag = self.tag(offset, &annotation.ok_or_else(missing)?)?;
                KernelStatement::Srcu { at, tag, value }
            }
            _ => {
                let (at, op, operand) = self.operation_arguments()?;
                let tags = match self.halves {
                    Halves::AsWritten => self.rmw_tags(offset, &annotation)?,
                    Halves::ByMeaning => RmwTags {
                        read: self.tag(offset, "noreturn")?,
                        write: self.tag(offset, "once")?,
                        failed: self.tag(offset, "once")?,
                        fences: None,
                    },
                };
                self.cursor.expect(")")?;
                return Ok(Statement::Effect(Expression::Kernel(Box::new(
                    KernelExpression::Update {
                        op,
                        at,
                        operand,
                        tags,
                        returns_old: false,
                    },
                ))));
            }
        };
        self.cursor.expect(")")?;
        Ok(Statement::Kernel(statement))
    }

    /// `X, +, V`
    fn operation_arguments(&mut self) -> Result<(Expression, Op, Expression), ParseError> {
        let at = self.expr()?;
        self.cursor.expect(",")?;
        let op = match self.cursor.kind() {
            TokenKind::Sign("+") => Op::Add,
            TokenKind::Sign("-") => Op::Sub,
            TokenKind::Sign("&") => Op::And,
            TokenKind::Sign("^") => Op::Xor,
            TokenKind::Sign("|") => Op::Or,
            _ => return Err(self.cursor.unexpected("an operator")),
        };
        self.cursor.step();
        let complemented = op == Op::And && self.cursor.eat("~");
        self.cursor.expect(",")?;
        let mut operand = self.expr()?;
        if complemented {
            let ones = Expression::Const(Value::Int(-1));
            operand = Expression::Binary(Op::Xor, Box::new(operand), Box::new(ones));
        }
        Ok((at, op, operand))
    }

    /// The address that `__load` and `__store` access: their argument is a plain access.
    fn accessed(&mut self, offset: usize) -> Result<Expression, ParseError> {
        match self.expr()? {
            Expression::Load(at, None) => Ok(*at),
            _ => Err(
                ParseError::new(offset, "the argument is not an access to memory")
                    .help("write the location that is accessed: READ_ONCE(*x)"),
            ),
        }
    }

    /// `{once}`, `{after-atomic}`
    fn annotation(&mut self) -> Result<String, ParseError> {
        self.cursor.expect("{")?;
        let mut name = self.cursor.name("an annotation")?.to_owned();
        while self.cursor.eat("-") {
            name.push('-');
            name.push_str(self.cursor.name("an annotation")?);
        }
        if self.cursor.is(",") {
            let message = "several annotations of one operation are not supported";
            return Err(ParseError::unsupported(self.cursor.offset(), message));
        }
        self.cursor.expect("}")?;
        Ok(name)
    }

    fn tag(&mut self, offset: usize, name: &str) -> Result<Tag, ParseError> {
        let known = self.tags.iter().position(|tag| tag == name);
        let number = known.unwrap_or_else(|| {
            self.tags.push(name.to_owned());
            self.tags.len() - 1
        });
        match number < MAX_TAGS {
            true => Ok(number as Tag),
            false => {
                let message = format!("more than {MAX_TAGS} annotations are not supported");
                Err(ParseError::unsupported(offset, message))
            }
        }
    }

    /// The annotations of the events of a read-modify-write.
    fn rmw_tags(
        &mut self,
        offset: usize,
        annotation: &Option<String>,
    ) -> Result<RmwTags, ParseError> {
        if let (Halves::AsWritten, Some(written)) = (self.halves, annotation) {
            let tag = self.tag(offset, written)?;
            return Ok(RmwTags {
                read: tag,
                write: tag,
                failed: tag,
                fences: None,
            });
        }
        let once = self.tag(offset, "once")?;
        let (mut read, mut write, mut fences) = (once, once, None);
        match annotation.as_deref() {
            Some("acquire") => read = self.tag(offset, "acquire")?,
            Some("release") => write = self.tag(offset, "release")?,
            Some("mb") => fences = Some(self.tag(offset, "mb")?),
            _ => {}
        }
        Ok(RmwTags {
            read,
            write,
            failed: once,
            fences,
        })
    }
}
