//! What a C litmus program is made of.

use crate::value::{Op, Value};

/// A C11 memory order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    Relaxed,
    Consume,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

/// A local variable or a parameter: an index into the thread's names.
pub type Reg = usize;

#[derive(Clone, Debug)]
pub enum Expr {
    Const(Value),
    Reg(Reg),
    /// Plain when it has no order.
    Load(Box<Expr>, Option<Order>),
    Binary(Op, Box<Expr>, Box<Expr>),
    Exchange {
        at: Box<Expr>,
        value: Box<Expr>,
        order: Order,
    },
    Fetch {
        op: Op,
        at: Box<Expr>,
        value: Box<Expr>,
        order: Order,
    },
    CompareExchange {
        at: Box<Expr>,
        expected: Box<Expr>,
        desired: Box<Expr>,
        success: Order,
        failure: Order,
        strong: bool,
    },
}

#[derive(Clone, Debug)]
pub enum Stmt {
    Assign(Reg, Expr),
    /// Plain when it has no order.
    Store(Expr, Expr, Option<Order>),
    /// For its effects only.
    Effect(Expr),
    Fence(Order),
    Lock(Expr),
    Unlock(Expr),
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    While(Expr, Vec<Stmt>),
}

#[derive(Clone, Debug, Default)]
pub struct Thread {
    /// Parameters first.
    pub names: Vec<String>,
    /// How many of the names are parameters, each the address of the location of its name.
    pub parameters: usize,
    pub body: Vec<Stmt>,
}
