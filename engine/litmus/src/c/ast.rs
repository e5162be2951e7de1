//! The syntax trees of C tests.

use crate::value::{Op, RegisterId, Value};

/// A C11 memory order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryOrder {
    Relaxed,
    Consume,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

#[derive(Clone, Debug)]
pub enum Expression {
    Const(Value),
    Reg(RegisterId),
    /// Plain if it has no memory order.
    Load(Box<Expression>, Option<MemoryOrder>),
    Binary(Op, Box<Expression>, Box<Expression>),
    Exchange {
        at: Box<Expression>,
        value: Box<Expression>,
        order: MemoryOrder,
    },
    Fetch {
        op: Op,
        at: Box<Expression>,
        value: Box<Expression>,
        order: MemoryOrder,
    },
    CompareExchange {
        at: Box<Expression>,
        expected: Box<Expression>,
        desired: Box<Expression>,
        success: MemoryOrder,
        failure: MemoryOrder,
        strong: bool,
    },
}

#[derive(Clone, Debug)]
pub enum Statement {
    Assign(RegisterId, Expression),
    /// Plain if it has no memory order.
    Store(Expression, Expression, Option<MemoryOrder>),
    /// An expression whose value is not used.
    Effect(Expression),
    Fence(MemoryOrder),
    Lock(Expression),
    Unlock(Expression),
    If(Expression, Vec<Statement>, Vec<Statement>),
    While(Expression, Vec<Statement>),
}

#[derive(Clone, Debug, Default)]
pub struct CThread {
    /// The names of parameters and local variables, the parameters first.
    pub variables: Vec<String>,
    /// The number of parameters; each is the address of the location with its name.
    pub parameters: usize,
    pub body: Vec<Statement>,
}
