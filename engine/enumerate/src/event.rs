//! What one thread does on one path through its code: events, equations between their values,
//! and the causality inside an instruction. The words are herd7's.

use litmus::value::{Op, Value};

/// Index of an event in its path.
pub type Id = usize;

/// A value, known or the unknown of an equation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    Known(Value),
    Var(u32),
}

impl Operand {
    pub const ZERO: Operand = Operand::Known(Value::ZERO);

    pub fn int(v: i64) -> Operand {
        Operand::Known(Value::Int(v))
    }
}

#[derive(Clone, Copy, Debug)]
pub enum Act {
    RegisterRead,
    RegisterWrite,
    Read {
        at: Operand,
        value: Operand,
    },
    Write {
        at: Operand,
        value: Operand,
    },
    /// C's read-modify-write: one event that reads and writes.
    Update {
        at: Operand,
        read: Operand,
        written: Operand,
    },
    Fence,
    /// A branch's decision; later events of the thread depend on what it depends on.
    Branch,
    /// The decision of one instruction, which some of its own events depend on.
    Decision,
    Lock {
        at: Operand,
    },
    Unlock {
        at: Operand,
    },
}

impl Act {
    pub fn is_register(&self) -> bool {
        matches!(self, Act::RegisterRead | Act::RegisterWrite)
    }

    pub fn is_load(&self) -> bool {
        matches!(self, Act::Read { .. } | Act::Update { .. })
    }

    pub fn is_store(&self) -> bool {
        matches!(self, Act::Write { .. } | Act::Update { .. })
    }

    pub fn is_memory(&self) -> bool {
        self.is_load() || self.is_store()
    }

    pub fn is_lock(&self) -> bool {
        matches!(self, Act::Lock { .. } | Act::Unlock { .. })
    }

    pub fn is_commit(&self) -> bool {
        matches!(self, Act::Branch | Act::Decision)
    }

    pub fn address(&self) -> Option<Operand> {
        match *self {
            Act::Read { at, .. }
            | Act::Write { at, .. }
            | Act::Update { at, .. }
            | Act::Lock { at }
            | Act::Unlock { at } => Some(at),
            _ => None,
        }
    }

    pub fn read(&self) -> Option<Operand> {
        match *self {
            Act::Read { value, .. } => Some(value),
            Act::Update { read, .. } => Some(read),
            _ => None,
        }
    }

    pub fn written(&self) -> Option<Operand> {
        match *self {
            Act::Write { value, .. } => Some(value),
            Act::Update { written, .. } => Some(written),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Event {
    pub act: Act,
    /// The instruction instance: events of one have no program order but through causality.
    pub instance: u32,
    /// The architecture's sets it belongs to, one bit each.
    pub tags: u64,
    /// Feeds the data, not the address, of its instruction's store.
    pub data_port: bool,
    /// Half of an exclusive or locked pair.
    pub atomic: bool,
    /// The bits of an access of memory, where its instruction says.
    pub size: Option<i64>,
}

/// `var = op(a, b)`
#[derive(Clone, Copy, Debug)]
pub struct Equation {
    pub var: u32,
    pub op: Op,
    pub a: Operand,
    pub b: Operand,
}

pub type Pairs = Vec<(Id, Id)>;

/// What a register holds.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    pub value: Operand,
    pub writer: Option<Id>,
}

impl Held {
    pub fn initial(value: Operand) -> Held {
        let writer = None;
        Held { value, writer }
    }
}

/// One path of one thread.
#[derive(Clone, Debug, Default)]
pub struct Path {
    pub events: Vec<Event>,
    pub equations: Vec<Equation>,
    /// Pairs that must be equal for the path to be taken.
    pub equal: Vec<(Operand, Operand)>,
    pub vars: u32,
    pub iico_data: Pairs,
    pub iico_ctrl: Pairs,
    /// First one, then the other, for no cause.
    pub iico_order: Pairs,
    /// From what decides a structured `if` to the events in its branches.
    pub control: Pairs,
    pub rf_reg: Pairs,
    pub registers: Vec<Held>,
    /// The bound on loops ended it.
    pub cut: bool,
    /// The instructions are statements: herd7 then orders the events inside one in `po`.
    pub structured: bool,
    /// An operation without a result, such as the product of two addresses.
    pub illegal: bool,
}

/// The result of an operation as far as its operands are known, as herd7 computes it.
pub fn partial(op: Op, a: Operand, b: Operand) -> Option<Result<Operand, ()>> {
    use Operand::{Known, Var};
    match (op, a, b) {
        (Op::Add | Op::Or, Known(Value::Int(0)), v) => Some(Ok(v)),
        (Op::Xor, Var(x), Var(y)) if x == y => Some(Ok(Operand::ZERO)),
        (Op::Eq, Var(x), Var(y)) if x == y => Some(Ok(Operand::int(1))),
        (Op::Ne, Var(x), Var(y)) if x == y => Some(Ok(Operand::ZERO)),
        (_, Known(x), Known(y)) => Some(op.apply(x, y).map(Known).map_err(|_| ())),
        _ => None,
    }
}
