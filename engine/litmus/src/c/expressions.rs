//! Parses C expressions: operators by precedence, and the functions of stdatomic.h.

use super::ast::{Expression, MemoryOrder};
use super::kernel;
use super::parser::Parser;
use crate::error::ParseError;
use crate::lexer::TokenKind;
use crate::value::{Op, Value};

/// The deepest nesting that is accepted, so that no input exhausts the stack.
const MAX_DEPTH: usize = 100;

/// A binary operator and its precedence in C; a higher one binds more tightly.
fn operator(sign: &str) -> Option<(u32, Op)> {
    Some(match sign {
        "|" => (0, Op::Or),
        "^" => (1, Op::Xor),
        "&" => (2, Op::And),
        "==" => (3, Op::Eq),
        "!=" => (3, Op::Ne),
        "<=" => (4, Op::Le),
        ">=" => (4, Op::Ge),
        "<" => (4, Op::Lt),
        ">" => (4, Op::Gt),
        "<<" => (5, Op::ShiftLeft),
        ">>" => (5, Op::ShiftRight),
        "+" => (6, Op::Add),
        "-" => (6, Op::Sub),
        "*" => (7, Op::Mul),
        "/" => (7, Op::Div),
        "%" => (7, Op::Rem),
        _ => return None,
    })
}

impl Parser<'_, '_> {
    pub(super) fn expr(&mut self) -> Result<Expression, ParseError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(ParseError::new(
                self.cursor.offset(),
                "expected a less deeply nested expression",
            ));
        }
        let e = self.operation(0);
        if self.cursor.is("&&") || self.cursor.is("||") {
            return Err(self
                .cursor
                .unexpected("a supported operator")
                .help("write nested ifs: && and || are not supported"));
        }
        self.depth -= 1;
        e
    }

    /// An operand, and operators of at least this precedence with their operands.
    fn operation(&mut self, least: u32) -> Result<Expression, ParseError> {
        let mut left = self.unary()?;
        while let TokenKind::Sign(sign) = self.cursor.kind() {
            let Some((binds, op)) = operator(sign).filter(|(binds, _)| *binds >= least) else {
                break;
            };
            self.cursor.step();
            let right = self.operation(binds + 1)?;
            left = Expression::Binary(op, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expression, ParseError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.cursor.unexpected("a less deeply nested expression"));
        }
        let e = self.unary_at_depth();
        self.depth -= 1;
        e
    }

    fn unary_at_depth(&mut self) -> Result<Expression, ParseError> {
        let constant = |v: i64| Box::new(Expression::Const(Value::Int(v)));
        if self.cursor.eat("*") {
            return Ok(Expression::Load(Box::new(self.unary()?), None));
        }
        if self.cursor.eat("!") {
            return Ok(Expression::Binary(
                Op::Eq,
                Box::new(self.unary()?),
                constant(0),
            ));
        }
        if self.cursor.eat("~") {
            return Ok(Expression::Binary(
                Op::Xor,
                Box::new(self.unary()?),
                constant(-1),
            ));
        }
        if self.cursor.eat("-") {
            if let TokenKind::Number(n) = self.cursor.kind() {
                self.cursor.step();
                return Ok(Expression::Const(Value::Int(n.wrapping_neg())));
            }
            return Ok(Expression::Binary(
                Op::Sub,
                constant(0),
                Box::new(self.unary()?),
            ));
        }
        if self.cursor.is("&") {
            return Err(self
                .cursor
                .unexpected("an expression")
                .help("the address of a local variable is not supported: pass a location, as in P0 (atomic_int* x, int* expected)"));
        }
        if self.cursor.eat("(") {
            if self.starts_type() {
                self.type_name()?;
                self.cursor.expect(")")?;
                return self.unary();
            }
            let e = self.expr()?;
            self.cursor.expect(")")?;
            return Ok(e);
        }
        match self.cursor.kind() {
            TokenKind::Number(n) => {
                self.cursor.step();
                Ok(Expression::Const(Value::Int(n)))
            }
            TokenKind::Name(name) => {
                if self.for_kernel() && kernel::is_expression(name) {
                    let offset = self.cursor.offset();
                    self.cursor.step();
                    return self.kernel_expression(name, offset);
                }
                if matches!(self.cursor.ahead(1), TokenKind::Sign("(")) {
                    return self.call(name);
                }
                if name == "NULL" {
                    self.cursor.step();
                    return Ok(Expression::Const(Value::ZERO));
                }
                self.cursor.step();
                if self.cursor.eat("[") {
                    let index = self.expr()?;
                    self.cursor.expect("]")?;
                    let scaled = Expression::Binary(Op::Mul, Box::new(index), constant(4));
                    let base = self.variable(name);
                    let at = Expression::Binary(Op::Add, Box::new(base), Box::new(scaled));
                    return Ok(Expression::Load(Box::new(at), None));
                }
                Ok(self.variable(name))
            }
            _ => Err(self.cursor.unexpected("an expression")),
        }
    }

    fn call(&mut self, name: &str) -> Result<Expression, ParseError> {
        let offset = self.cursor.offset();
        self.cursor.step();
        if self.is_expression_macro(name) {
            return self.expand_expression(name, offset);
        }
        if self.for_kernel() && name == "atomic_add_unless" {
            self.cursor.expect("(")?;
            let expression = self.add_unless(offset, &None)?;
            self.cursor.expect(")")?;
            return Ok(Expression::Kernel(Box::new(expression)));
        }
        let explicit = name.ends_with("_explicit");
        let base = name.strip_suffix("_explicit").unwrap_or(name);
        let fetch = base.strip_prefix("atomic_fetch_").and_then(|op| match op {
            "add" => Some(Op::Add),
            "sub" => Some(Op::Sub),
            "or" => Some(Op::Or),
            "and" => Some(Op::And),
            "xor" => Some(Op::Xor),
            _ => None,
        });
        let strong = match base {
            "atomic_compare_exchange_strong" | "SCAS" => Some(true),
            "atomic_compare_exchange_weak" | "WCAS" => Some(false),
            _ => None,
        };
        self.cursor.expect("(")?;
        if base == "atomic_load" {
            let at = Box::new(self.expr()?);
            let order = self.order_argument(explicit)?;
            self.cursor.expect(")")?;
            return Ok(Expression::Load(at, Some(order)));
        }
        if base == "atomic_exchange" || fetch.is_some() {
            let at = Box::new(self.expr()?);
            self.cursor.expect(",")?;
            let value = Box::new(self.expr()?);
            let order = self.order_argument(explicit)?;
            self.cursor.expect(")")?;
            return Ok(match fetch {
                Some(op) => Expression::Fetch {
                    op,
                    at,
                    value,
                    order,
                },
                None => Expression::Exchange { at, value, order },
            });
        }
        if let Some(strong) = strong {
            let at = Box::new(self.expr()?);
            self.cursor.expect(",")?;
            let expected = Box::new(self.expr()?);
            self.cursor.expect(",")?;
            let desired = Box::new(self.expr()?);
            let explicit = explicit || self.cursor.is(",");
            let success = self.order_argument(explicit)?;
            let failure = self.order_argument(explicit)?;
            self.cursor.expect(")")?;
            return Ok(Expression::CompareExchange {
                at,
                expected,
                desired,
                success,
                failure,
                strong,
            });
        }
        Err(self.unknown_call(offset, name))
    }

    fn order_argument(&mut self, explicit: bool) -> Result<MemoryOrder, ParseError> {
        if !explicit {
            return Ok(MemoryOrder::SeqCst);
        }
        self.cursor.expect(",")?;
        self.order()
    }

    pub(super) fn order(&mut self) -> Result<MemoryOrder, ParseError> {
        let order = match self.cursor.kind() {
            TokenKind::Name(n) => match n {
                "memory_order_relaxed" => Some(MemoryOrder::Relaxed),
                "memory_order_consume" => Some(MemoryOrder::Consume),
                "memory_order_acquire" => Some(MemoryOrder::Acquire),
                "memory_order_release" => Some(MemoryOrder::Release),
                "memory_order_acq_rel" => Some(MemoryOrder::AcqRel),
                "memory_order_seq_cst" => Some(MemoryOrder::SeqCst),
                _ => None,
            },
            _ => None,
        };
        let order = order.ok_or_else(|| {
            self.cursor.unexpected("a memory order").help(
                "write memory_order_relaxed, _consume, _acquire, _release, _acq_rel or _seq_cst",
            )
        })?;
        self.cursor.step();
        Ok(order)
    }
}

impl Parser<'_, '_> {
    pub(super) fn unknown_call(&self, offset: usize, name: &str) -> ParseError {
        const KERNEL: [&str; 12] = [
            "READ_ONCE",
            "WRITE_ONCE",
            "smp_",
            "rcu_",
            "srcu_",
            "spin_",
            "xchg",
            "cmpxchg",
            "atomic_read",
            "atomic_set",
            "atomic_add",
            "__",
        ];
        let error = ParseError::unsupported(offset, format!("unknown function `{name}`"));
        if self.macros.is_some() {
            return error.help("it is neither a macro of the model nor a function of stdatomic.h");
        }
        match KERNEL.iter().any(|k| name.starts_with(k)) {
            true => error.help(
                "the Linux kernel's macros come with its model: -m FOLDER, with the folder \
                 tools/memory-model of a kernel tree",
            ),
            false => error.help(
                "supported are the functions of stdatomic.h (atomic_load_explicit, …), lock and unlock",
            ),
        }
    }
}
