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
    Kernel(Box<KernelExpression>),
}

/// An annotation of the Linux kernel's memory model: an index into the test's.
pub type Tag = u8;

/// The annotations of the events of a read-modify-write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RmwTags {
    pub read: Tag,
    pub write: Tag,
    /// That of the read, if it does not write.
    pub failed: Tag,
    /// That of a fence before it and a fence after it, if it writes.
    pub fences: Option<Tag>,
}

/// An operation of the Linux kernel that has a value.
#[derive(Clone, Debug)]
pub enum KernelExpression {
    Load {
        at: Expression,
        tag: Tag,
    },
    Exchange {
        at: Expression,
        value: Expression,
        tags: RmwTags,
    },
    CompareExchange {
        at: Expression,
        old: Expression,
        new: Expression,
        tags: RmwTags,
    },
    Update {
        op: Op,
        at: Expression,
        operand: Expression,
        tags: RmwTags,
        /// Its value is the one that it reads, not the one that it writes.
        returns_old: bool,
    },
    /// Adds `addend` unless the value is `unless`; its value is whether it does.
    AddUnless {
        at: Expression,
        addend: Expression,
        unless: Expression,
        tags: RmwTags,
    },
    TryLock(Expression),
    IsLocked(Expression),
    /// An operation on a `srcu_struct`; one that locks has an index as its value.
    Srcu {
        at: Expression,
        tag: Tag,
        locks: bool,
    },
}

/// An operation of the Linux kernel that has no value.
#[derive(Clone, Debug)]
pub enum KernelStatement {
    Store {
        at: Expression,
        value: Expression,
        tag: Tag,
    },
    Fence(Tag),
    Lock(Expression),
    Srcu {
        at: Expression,
        tag: Tag,
        value: Option<Expression>,
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
    Kernel(KernelStatement),
    /// The start of a block or a declaration: no event, but a position that herd7 counts.
    Position,
}

#[derive(Clone, Debug, Default)]
pub struct CThread {
    /// The names of parameters and local variables, the parameters first.
    pub variables: Vec<String>,
    /// The number of parameters; each is the address of the location with its name.
    pub parameters: usize,
    pub body: Vec<Statement>,
}
