//! The instructions of assembly tests in one form for all architectures: what they read, compute
//! and write.

use std::ops::Range;

use super::formula::Formula;
use crate::annotation::Annotations;
use crate::value::{Address, Op, RegisterId, Value};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Reg(RegisterId),
    Imm(Value),
}

impl Source {
    pub const ZERO: Source = Source::Imm(Value::ZERO);
}

/// `base + (index << shift) + displacement`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryOperand {
    pub base: Source,
    pub index: Option<RegisterId>,
    /// The part of the index that is used.
    pub extend: Option<Width>,
    pub shift: u32,
    pub displacement: Value,
    pub update: Option<BaseUpdate>,
}

impl MemoryOperand {
    pub fn at(base: Source, displacement: i64) -> MemoryOperand {
        MemoryOperand {
            base,
            index: None,
            extend: None,
            shift: 0,
            displacement: Value::Int(displacement),
            update: None,
        }
    }
}

/// How a memory access changes its base register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BaseUpdate {
    /// It becomes the address of the access.
    Before,
    /// This is added to it.
    After(i64),
}

/// Which comparison an instruction writes to a field of Power's condition register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlagUpdate {
    None,
    /// Of the two operands.
    Operands(RegisterId),
    /// Of the result and zero.
    Result(RegisterId),
}

/// What a branch or a conditional select depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Predicate {
    /// The flags of AArch64 in this register satisfy the condition of a code.
    Condition(RegisterId, i64),
    /// Two values compared.
    Compare(Op, Source, Source),
    /// This bit of a register is set, or is clear.
    Bit(RegisterId, i64, bool),
}

/// The part of a register that an instruction uses or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width {
    pub bits: i64,
    /// What it does with a value: one of `Mask`, `Narrow` and their exact forms.
    pub op: Op,
    /// The bits of the register that get the part; those above become zero.
    pub within: i64,
}

impl Width {
    pub const fn new(op: Op, bits: i64) -> Width {
        Width {
            bits,
            op,
            within: 64,
        }
    }

    pub const fn unsigned(bits: i64) -> Width {
        Width::new(Op::Mask, bits)
    }

    pub const fn signed(bits: i64) -> Width {
        Width::new(Op::Narrow, bits)
    }
}

/// An instruction of x86, which computes registers and a value that it stores from what it reads.
/// In its formulas operand 0 is the value in memory, and those after it are `operands`; the upper
/// half of a value of 128 bits is the last one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transform {
    pub at: Option<MemoryOperand>,
    /// It reads memory; otherwise it stores at most.
    pub reads: bool,
    pub annotations: Annotations,
    /// What it reads and stores are an rmw pair.
    pub atomic: bool,
    /// It accesses 128 bits, as two halves.
    pub halves: bool,
    pub operands: Vec<Source>,
    /// `Formula::Result` in the formulas below.
    pub result: Formula,
    pub flags: Option<(RegisterId, Formula)>,
    /// Whether the first outcome is the one, or the second; without it there is one.
    pub when: Option<Formula>,
    pub outcomes: Vec<Outcome>,
}

/// What an instruction stores and the registers that it writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// None, one value or two halves.
    pub stored: Vec<Formula>,
    pub registers: Vec<(RegisterId, Formula)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Instruction {
    Nop,
    Fence(Annotations),
    Move {
        to: RegisterId,
        from: Source,
    },
    Compute {
        to: Option<RegisterId>,
        op: Op,
        a: Source,
        b: Source,
        flags: FlagUpdate,
    },
    /// Computes a value, and flags if there is a second formula, from operands.
    Evaluate {
        to: Option<RegisterId>,
        operands: Vec<Source>,
        value: Formula,
        flags: Option<(RegisterId, Formula)>,
    },
    /// Two loads from consecutive locations of so many bits, one after the other if `ordered`.
    LoadPair {
        to: [Option<RegisterId>; 2],
        at: MemoryOperand,
        annotations: Annotations,
        ordered: bool,
        bits: i64,
        width: Option<Width>,
    },
    /// Two stores to consecutive locations of so many bits, one after the other if `ordered`.
    StorePair {
        from: [Source; 2],
        at: MemoryOperand,
        annotations: Annotations,
        ordered: bool,
        bits: i64,
    },
    Load {
        to: Option<RegisterId>,
        at: MemoryOperand,
        annotations: Annotations,
        width: Option<Width>,
    },
    Store {
        from: Source,
        at: MemoryOperand,
        annotations: Annotations,
        width: Option<Width>,
    },
    /// Of x86.
    Transform(Box<Transform>),
    /// Of one register, or of two and consecutive locations.
    LoadReserve {
        to: Vec<Option<RegisterId>>,
        at: MemoryOperand,
        annotations: Annotations,
    },
    StoreConditional {
        status: Status,
        from: Vec<Source>,
        at: MemoryOperand,
        annotations: Annotations,
    },
    /// RISC-V's atomic memory operation: one event that reads and writes. Without an operation it
    /// is a swap.
    Amo {
        op: Option<Op>,
        to: Option<RegisterId>,
        from: Source,
        at: MemoryOperand,
        annotations: Annotations,
    },
    /// RISC-V's AMOCAS: stores `from` if memory holds the value `expected`; `to` gets the value in
    /// memory. One event that reads and writes, or only reads when it fails.
    AmoCompare {
        expected: Source,
        to: Option<RegisterId>,
        from: Source,
        at: MemoryOperand,
        stored: Annotations,
        failed: Annotations,
    },
    /// AArch64's atomic memory operation: a read and a write.
    AmoPair {
        op: Option<Op>,
        to: Option<RegisterId>,
        from: Source,
        at: MemoryOperand,
        read: Annotations,
        write: Annotations,
    },
    /// AArch64's CAS: stores `new` if memory holds the value of `expected`, which gets the value
    /// in memory. CASP: of two registers and consecutive locations.
    CompareAndSwap {
        expected: Vec<RegisterId>,
        new: Vec<Source>,
        at: MemoryOperand,
        read: Annotations,
        write: Annotations,
    },
    Select {
        to: RegisterId,
        when: Predicate,
        then: Source,
        otherwise: Source,
        /// Applied to the value when the test fails: `cset`, `csinc`.
        adjust: Vec<(Op, Value)>,
        width: Option<Width>,
    },
    Jump(String),
    /// To a label, or to the address in a register, of which these are the values that the test has
    /// and their places. `link` gets the address of the next instruction.
    JumpTo {
        to: JumpTarget,
        link: Option<(RegisterId, Value)>,
        targets: Vec<(Value, String)>,
    },
    /// The address of a label of the thread.
    LabelAddress {
        to: RegisterId,
        label: String,
        value: Value,
    },
    /// One that the engine does not execute at this place.
    Unsupported,
    Branch {
        when: Predicate,
        to: String,
    },
    Exit,
}

impl Instruction {
    /// It reads or writes memory.
    pub fn accesses_memory(&self) -> bool {
        match self {
            Instruction::LoadPair { .. }
            | Instruction::StorePair { .. }
            | Instruction::Load { .. }
            | Instruction::Store { .. }
            | Instruction::LoadReserve { .. }
            | Instruction::StoreConditional { .. }
            | Instruction::Amo { .. }
            | Instruction::AmoCompare { .. }
            | Instruction::AmoPair { .. }
            | Instruction::CompareAndSwap { .. } => true,
            Instruction::Transform(t) => t.at.is_some(),
            Instruction::Nop
            | Instruction::Fence(_)
            | Instruction::Move { .. }
            | Instruction::Compute { .. }
            | Instruction::Evaluate { .. }
            | Instruction::Select { .. }
            | Instruction::Jump(_)
            | Instruction::JumpTo { .. }
            | Instruction::LabelAddress { .. }
            | Instruction::Unsupported
            | Instruction::Branch { .. }
            | Instruction::Exit => false,
        }
    }

    /// Its accesses of two registers are one, or in an order.
    pub fn is_atomic_pair(&self) -> bool {
        match self {
            Instruction::LoadPair { ordered, .. } | Instruction::StorePair { ordered, .. } => {
                *ordered
            }
            Instruction::LoadReserve { to, .. } => to.len() > 1,
            Instruction::StoreConditional { from, .. } => from.len() > 1,
            Instruction::CompareAndSwap { expected, .. } => expected.len() > 1,
            _ => false,
        }
    }

    /// Adds the locations that the instruction names.
    pub fn addresses(&self, into: &mut Vec<Address>) {
        let mut add = |s: &Source| {
            if let Source::Imm(Value::Address(a)) = s {
                into.push(*a);
            }
        };
        match self {
            Instruction::Load { at, .. } => add(&at.base),
            Instruction::Transform(t) => {
                if let Some(at) = &t.at {
                    add(&at.base);
                }
            }
            Instruction::Store { at, from, .. } => {
                add(&at.base);
                add(from);
            }
            Instruction::Move { from, .. } => add(from),
            _ => {}
        }
    }
}

/// The bits of a memory access by the letter in the instruction's name, for RISC-V and Power.
pub fn access_bits(letter: &str) -> Option<i64> {
    Some(match letter {
        "b" => 8,
        "h" => 16,
        "w" => 32,
        "d" => 64,
        _ => return None,
    })
}

/// Where a store-conditional reports whether it succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Zero for success, one for failure.
    Reg(Option<RegisterId>),
    /// This field of the condition register says "equal" for success.
    Flags(RegisterId),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JumpTarget {
    Label(String),
    Register(RegisterId),
}

/// What starts the name of a place that has no label.
const PLACE: char = '@';

/// The name of the place at an instruction, for a branch to it.
pub fn place_of(instruction: usize) -> String {
    format!("{PLACE}{instruction}")
}

/// The code of one thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AssemblyThread {
    pub registers: Vec<String>,
    pub instructions: Vec<Instruction>,
    /// By instruction, its byte offset in the text.
    pub offsets: Vec<usize>,
    /// By instruction, the bits of its memory access, where the instruction determines them.
    pub access_bits: Vec<Option<i64>>,
    /// Labels, and the index of the instruction that follows each.
    pub labels: Vec<(String, usize)>,
    /// The instructions of this thread, at the first of which it starts; the others are those of
    /// threads whose code it may jump to.
    pub own: Range<usize>,
}

impl AssemblyThread {
    pub fn register(&mut self, name: &str) -> RegisterId {
        match self.registers.iter().position(|r| r == name) {
            Some(at) => at,
            None => {
                self.registers.push(name.to_string());
                self.registers.len() - 1
            }
        }
    }

    /// The index of the instruction at a label, or at the place that `place_of` has named.
    pub fn label(&self, name: &str) -> Option<usize> {
        if let Some(place) = name.strip_prefix(PLACE) {
            return place
                .parse()
                .ok()
                .filter(|at| *at <= self.instructions.len());
        }
        let found = self.labels.iter().find(|(label, _)| label == name);
        found.map(|(_, at)| *at)
    }
}
