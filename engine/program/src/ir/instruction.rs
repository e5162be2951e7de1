//! Instructions: operations on numbered registers, and their control flow.

pub use super::annotation::Annotation;
pub use super::library_function::*;
pub use super::operators::*;
use crate::error::Construct;
use borsh::{BorshDeserialize, BorshSerialize};

pub type Register = u32;
pub type SiteId = u32;
pub type FuncId = u32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operand {
    Register(Register),
    Const(u64),
    /// LLVM's undef and poison: the value of a variable that was not initialised.
    Undefined,
}

#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, BorshSerialize, BorshDeserialize,
)]
pub enum Order {
    Na,
    Rlx,
    Acq,
    Rel,
    AcqRel,
    Sc,
    /// Of a fence that is ordered with heavy ones alone; of a heavy one, which is seq_cst besides
    /// (P1202R5, asymmetric fences).
    Light,
    Heavy,
    /// Of the Linux kernel alone.
    Kernel(Annotation),
}

impl From<Annotation> for Order {
    fn from(annotation: Annotation) -> Order {
        Order::Kernel(annotation)
    }
}

impl Order {
    /// Whether an access of this order is plain: one of a read-modify-write is atomic.
    #[inline]
    pub fn is_plain(self, rmw: bool) -> bool {
        self == Order::Na && !rmw
    }

    pub fn name(self) -> &'static str {
        match self {
            Order::Na => "na",
            Order::Rlx => "rlx",
            Order::Acq => "acq",
            Order::Rel => "rel",
            Order::AcqRel => "acq_rel",
            Order::Sc => "sc",
            Order::Light => "light",
            Order::Heavy => "heavy",
            Order::Kernel(annotation) => annotation.name(),
        }
    }

    /// Whether the events after an access with this order wait for it.
    pub fn acquires(self) -> bool {
        use Order::{Acq, AcqRel, Kernel, Sc};
        matches!(self, Acq | AcqRel | Sc | Kernel(Annotation::Lock))
    }

    /// Whether an access with this order waits for the events before it.
    pub fn releases(self) -> bool {
        use Order::{AcqRel, Kernel, Rel, Sc};
        matches!(self, Rel | AcqRel | Sc | Kernel(Annotation::Unlock))
    }
}

/// The attributes of a memory instruction, besides its operands.
#[derive(Debug, Clone, Copy)]
pub struct Access {
    pub site: SiteId,
    pub order: Order,
    /// Bytes.
    pub size: u32,
    pub bits: u32,
    pub volatile: bool,
    /// The object is a local variable whose address does not escape the function.
    pub private: bool,
    /// Nothing depends on the value read, except what is written to the same location; or the
    /// write of such a value, as in `count++`.
    pub update: bool,
    /// The value read is only changed in part and written back, as for a bit-field, or copied with
    /// the structure that it is in: it need not be initialised.
    pub partial: bool,
}

/// Where the alternatives of a branch meet again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Join {
    /// All but one end in `unreachable`, as after a failed assertion.
    Asserts,
    /// At this code, the immediate post-dominator of the branch.
    At(u32),
    /// Where the function ends.
    End,
}

#[derive(Debug, Clone)]
pub struct Edge {
    pub to: u32,
    /// The start of the target block's code.
    pub pc: u32,
    /// The phis of the target, all read before any is written.
    pub moves: Vec<(Register, Operand)>,
    /// The target is a loop's header: index into `Function::loops`.
    pub header: Option<u32>,
    /// A back edge of the loop.
    pub back: bool,
}

#[derive(Debug, Clone)]
pub struct Inst {
    pub op: Op,
    /// The `DILocation`, 0 if none.
    pub dbg: u32,
    /// Index into `Program::calls`: the outermost inlined call around the instruction; `NO_CALL`
    /// for code of the function itself, `SAME_CALL` if the debug information does not contain it.
    pub call: u32,
    /// Where a call that throws continues: a landing pad.
    pub unwind: Option<Box<Edge>>,
}

impl Inst {
    pub fn edges(&self) -> Vec<&Edge> {
        let mut edges = self.op.edges();
        edges.extend(self.unwind.as_deref());
        edges
    }

    /// The edges of a terminator, and that of a call that throws.
    pub fn edges_mut(&mut self) -> Vec<&mut Edge> {
        let mut edges = self.op.edges_mut();
        edges.extend(self.unwind.as_deref_mut());
        edges
    }
}

/// What a landing pad handles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Handled {
    Any,
    Type(TypeInfoId),
    AnyBut(Vec<TypeInfoId>),
}

/// A type that can be thrown: a number from `Program::exceptions`.
pub type TypeInfoId = u32;

pub const NO_CALL: u32 = u32::MAX;
pub const SAME_CALL: u32 = u32::MAX - 1;

/// An index, its width in bits, its stride.
pub type Scaled = (Operand, u32, u64);

/// When a compare-exchange writes, and what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CasWrite {
    /// The desired value, if the value read is the expected one.
    Desired,
    /// The sum of the value read and the desired one, unless the value read is the expected one.
    SumUnless,
    /// The sum, if the value read is greater than the expected one, as a signed integer.
    SumIfGreater,
}

#[derive(Debug, Clone)]
pub enum Op {
    Bin {
        op: BinOp,
        bits: u32,
        dst: Register,
        a: Operand,
        b: Operand,
    },
    /// Of indeterminate values the result is indeterminate if it is only an `alternative` of
    /// selections, which may choose the other one.
    Compare {
        predicate: Predicate,
        bits: u32,
        dst: Register,
        a: Operand,
        b: Operand,
        alternative: bool,
    },
    Unary {
        op: Unary,
        bits: u32,
        dst: Register,
        a: Operand,
    },
    /// `llvm.uadd.with.overflow` and its like: the value and the flag.
    Overflow {
        op: BinOp,
        signed: bool,
        bits: u32,
        dst: Register,
        flag: Register,
        a: Operand,
        b: Operand,
    },
    Sext {
        from: u32,
        to: u32,
        dst: Register,
        a: Operand,
    },
    Convert {
        op: Conversion,
        from: u32,
        to: u32,
        dst: Register,
        a: Operand,
    },
    /// Makes one number of the halves of a 16-byte value; see [`crate::ir::wide`].
    Pack {
        dst: Register,
        low: Operand,
        high: Operand,
    },
    /// Sets `dst` and the register after it to the halves.
    Unpack {
        dst: Register,
        a: Operand,
    },
    /// Truncates to `bits`; with 64 bits a copy.
    Copy {
        bits: u32,
        dst: Register,
        a: Operand,
    },
    Select {
        dst: Register,
        condition: Operand,
        a: Operand,
        b: Operand,
    },
    Gep {
        dst: Register,
        base: Operand,
        offset: u64,
        scaled: Vec<Scaled>,
    },
    Alloca {
        dst: Register,
        size: u64,
        count: Option<Operand>,
        align: u64,
        /// Index into `Program::locals`.
        local: u32,
        private: bool,
        /// Nothing that the function does depends on its contents.
        idle: bool,
        site: SiteId,
    },
    Load {
        dst: Register,
        address: Operand,
        access: Access,
    },
    Store {
        value: Operand,
        address: Operand,
        access: Access,
    },
    Rmw {
        dst: Register,
        op: RmwOp,
        address: Operand,
        value: Operand,
        access: Access,
    },
    Cas {
        dst: Register,
        flag: Register,
        weak: bool,
        writes: CasWrite,
        address: Operand,
        expected: Operand,
        desired: Operand,
        access: Access,
        failure: Order,
    },
    Fence {
        /// `Na`: there is no fence.
        order: Order,
        signal: bool,
        site: SiteId,
    },
    /// The lifetime of the object that an [`Op::Alloca`] has made begins or ends. `local` holds its
    /// address.
    Lifetime {
        begins: bool,
        local: Register,
        site: SiteId,
    },
    ThreadLocal {
        dst: Register,
        global: u32,
    },
    Br(Edge),
    CondBr {
        condition: Operand,
        then: Edge,
        otherwise: Edge,
        /// Loops that one of the edges leaves for code that does not end in `unreachable`.
        exits: Vec<u32>,
        join: Join,
        /// The assertion that fails on one of the edges, if there is one.
        asserts: Option<SiteId>,
        /// It only skips the store of what a compare-exchange has read over what it expected, if
        /// that was the same: compilers select between the two values.
        selects: bool,
    },
    Switch {
        value: Operand,
        cases: Vec<(u64, Edge)>,
        default: Edge,
        exits: Vec<u32>,
        join: Join,
    },
    Call {
        callee: Callee,
        args: Vec<Operand>,
        dst: Register,
        results: u32,
        /// The site of a call of a library function, whose own code has no line of the user's.
        site: Option<SiteId>,
    },
    Extern {
        function: Extern,
        args: Vec<Operand>,
        dst: Option<Register>,
        site: SiteId,
        /// `memcpy` has a read and a write; `private` is as in `Access`
        write_site: SiteId,
        private: (bool, bool),
    },
    /// The start of the code that runs when a call throws: sets the exception and the selector of
    /// what handles it.
    LandingPad {
        dst: Register,
        cleanup: bool,
        handled: Vec<Handled>,
    },
    Ret(Vec<Operand>),
    Unreachable,
    /// An instruction that is not supported, or calls what is not defined: only running it is an error.
    Refused {
        message: String,
        site: SiteId,
        construct: Construct,
    },
}

impl Op {
    pub fn is_branch(&self) -> bool {
        matches!(self, Op::Br(_) | Op::CondBr { .. } | Op::Switch { .. })
    }

    /// The edges of a terminator.
    pub fn edges(&self) -> Vec<&Edge> {
        match self {
            Op::Br(edge) => vec![edge],
            Op::CondBr {
                then, otherwise, ..
            } => vec![then, otherwise],
            Op::Switch { cases, default, .. } => {
                let mut out: Vec<&Edge> = cases.iter().map(|c| &c.1).collect();
                out.push(default);
                out
            }
            _ => Vec::new(),
        }
    }

    /// As `edges`.
    pub fn edges_mut(&mut self) -> Vec<&mut Edge> {
        match self {
            Op::Br(edge) => vec![edge],
            Op::CondBr {
                then, otherwise, ..
            } => vec![then, otherwise],
            Op::Switch { cases, default, .. } => {
                let mut out: Vec<&mut Edge> = cases.iter_mut().map(|c| &mut c.1).collect();
                out.push(default);
                out
            }
            _ => Vec::new(),
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub enum Callee {
    Direct(FuncId),
    Through(Operand),
}
