//! The instructions of litmus tests in assembly, in one form for all architectures: what they
//! read, compute and write. Annotations are bits that the dialect gives names.

use super::value::{Address, Op, Value};

/// Index into the thread's register names.
pub type Reg = usize;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Src {
    Reg(Reg),
    Imm(Value),
}

impl Src {
    pub const ZERO: Src = Src::Imm(Value::ZERO);
}

/// `base + (index << shift) + displacement`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub base: Src,
    pub index: Option<Reg>,
    pub shift: u32,
    pub displacement: Value,
}

impl Place {
    pub fn at(base: Src, displacement: i64) -> Place {
        Place {
            base,
            index: None,
            shift: 0,
            displacement: Value::Int(displacement),
        }
    }
}

/// What the flags are set to: the comparison of the two operands, or of the result with zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flags {
    Keep,
    /// Of the two operands, in this register.
    Operands(Reg),
    /// Of the result and zero, in this register.
    Result(Reg),
}

/// A comparison's outcome is -1, 0 or 1; a condition is a set of outcomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcomes {
    pub less: bool,
    pub equal: bool,
    pub greater: bool,
}

impl Outcomes {
    pub const fn new(less: bool, equal: bool, greater: bool) -> Outcomes {
        Outcomes {
            less,
            equal,
            greater,
        }
    }

    pub fn inverse(self) -> Outcomes {
        Outcomes::new(!self.less, !self.equal, !self.greater)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// Flags in a register.
    Flags(Reg, Outcomes),
    /// Two values compared.
    Compare(Op, Src, Src),
    /// A bit of a register is as said.
    Bit(Reg, i64, bool),
}

/// The bits of a register or an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width {
    pub bits: i64,
    pub signed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Instr {
    Nop,
    Fence(u64),
    Move {
        to: Reg,
        from: Src,
    },
    Compute {
        to: Option<Reg>,
        op: Op,
        a: Src,
        b: Src,
        width: Option<Width>,
        flags: Flags,
    },
    Load {
        to: Option<Reg>,
        at: Place,
        tags: u64,
        width: Option<Width>,
    },
    Store {
        from: Src,
        at: Place,
        tags: u64,
        width: Option<Width>,
    },
    /// x86's instructions with a memory operand that is read and written; `to` gets the old
    /// value, for xadd alone.
    Modify {
        op: Op,
        at: Place,
        with: Src,
        to: Option<Reg>,
        tags: u64,
        atomic: bool,
        flags: Flags,
    },
    /// x86's comparison with a memory operand.
    CompareMemory {
        at: Place,
        with: Src,
        swapped: bool,
        tags: u64,
        flags: Reg,
    },
    /// x86's xchg with memory.
    Swap {
        reg: Reg,
        at: Place,
        tags: u64,
    },
    LoadReserve {
        to: Option<Reg>,
        at: Place,
        tags: u64,
    },
    StoreConditional {
        status: Status,
        from: Src,
        at: Place,
        tags: u64,
    },
    /// RISC-V's amo: one event that reads and writes. No operation: the value is swapped in.
    Amo {
        op: Option<Op>,
        to: Option<Reg>,
        from: Src,
        at: Place,
        tags: u64,
    },
    /// AArch64's: a read and a write.
    AmoPair {
        op: Option<Op>,
        to: Option<Reg>,
        from: Src,
        at: Place,
        read: u64,
        write: u64,
    },
    /// Where memory holds what `expected` holds, `new` is stored; else `expected` gets the value.
    CompareExchange {
        expected: Reg,
        new: Reg,
        at: Place,
        tags: u64,
        atomic: bool,
        flags: Reg,
    },
    CompareAndSwap {
        expected: Reg,
        new: Src,
        at: Place,
        read: u64,
        write: u64,
    },
    Select {
        to: Reg,
        when: Test,
        then: Src,
        otherwise: Src,
        /// Applied to the value when the test fails: `cset`, `csinc`.
        adjust: Option<(Op, Value)>,
    },
    Jump(String),
    Branch {
        when: Test,
        to: String,
    },
    Exit,
}

impl Instr {
    /// The locations that the instruction names.
    pub fn addresses(&self, into: &mut Vec<Address>) {
        let mut add = |s: &Src| {
            if let Src::Imm(Value::Address(a)) = s {
                into.push(*a);
            }
        };
        match self {
            Instr::Load { at, .. }
            | Instr::Modify { at, .. }
            | Instr::CompareMemory { at, .. }
            | Instr::Swap { at, .. }
            | Instr::CompareExchange { at, .. } => add(&at.base),
            Instr::Store { at, from, .. } => {
                add(&at.base);
                add(from);
            }
            Instr::Move { from, .. } => add(from),
            _ => {}
        }
    }
}

/// The bits of an access of memory by the letter in its name, as RISC-V and Power have them.
pub fn bits(letter: &str) -> Option<i64> {
    Some(match letter {
        "b" => 8,
        "h" => 16,
        "w" => 32,
        "d" => 64,
        _ => return None,
    })
}

/// Where a store-conditional says whether it stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Zero when it stored, one when it did not.
    Reg(Option<Reg>),
    /// Equal in this flags register when it stored.
    Flags(Reg),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Code {
    pub registers: Vec<String>,
    pub instructions: Vec<Instr>,
    /// Offset in the file of each instruction.
    pub offsets: Vec<usize>,
    /// The bits that each instruction's accesses of memory have, where it says.
    pub sizes: Vec<Option<i64>>,
    /// The instruction a label stands before.
    pub labels: Vec<(String, usize)>,
}

impl Code {
    pub fn reg(&mut self, name: &str) -> Reg {
        match self.registers.iter().position(|r| r == name) {
            Some(at) => at,
            None => {
                self.registers.push(name.to_string());
                self.registers.len() - 1
            }
        }
    }

    pub fn label(&self, name: &str) -> Option<usize> {
        let found = self.labels.iter().find(|(label, _)| label == name);
        found.map(|(_, at)| *at)
    }
}
