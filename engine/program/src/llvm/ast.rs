//! The syntax tree of a module. Names are not resolved.
use crate::llvm::metadata::Metadata;
use crate::llvm::types::{TypeId, Types};

#[derive(Debug, Default)]
pub struct Module<'a> {
    pub types: Types,
    pub globals: Vec<Global<'a>>,
    pub functions: Vec<Function<'a>>,
    /// Declared, not defined.
    pub externals: Vec<&'a str>,
    pub metadata: Metadata<'a>,
}

#[derive(Debug)]
pub struct Global<'a> {
    pub name: &'a str,
    pub ty: TypeId,
    pub init: Option<Value<'a>>,
    pub constant: bool,
    pub thread_local: bool,
    pub alias: bool,
    pub align: u64,
    pub dbg: Option<u32>,
}

#[derive(Debug)]
pub struct Function<'a> {
    pub name: &'a str,
    pub params: Vec<(TypeId, &'a str)>,
    pub vararg: bool,
    pub blocks: Vec<Block<'a>>,
    pub dbg: Option<u32>,
    pub variables: Vec<Declared<'a>>,
    /// register → a variable that has its value, from `#dbg_value`; in the order of the text
    pub values: Vec<(&'a str, u32)>,
}

/// `#dbg_declare`: the variable that an alloca contains.
#[derive(Debug)]
pub struct Declared<'a> {
    pub name: &'a str,
    pub variable: u32,
    /// The `DILocation` of the declaration.
    pub location: Option<u32>,
    /// The number of the block, and of the instruction that follows the declaration.
    pub block: usize,
    pub inst: usize,
}

#[derive(Debug)]
pub struct Block<'a> {
    pub name: String,
    pub insts: Vec<Inst<'a>>,
}

#[derive(Debug)]
pub struct Inst<'a> {
    pub result: Option<&'a str>,
    pub kind: InstKind<'a>,
    pub dbg: Option<u32>,
    /// The type that a `new` expression allocates.
    pub allocated: Option<u32>,
    pub line: u32,
}

#[derive(Debug, Clone)]
pub enum Value<'a> {
    Local(&'a str),
    Global(&'a str),
    Int(i128),
    Float(&'a str),
    Null,
    Undef,
    Zero,
    Bytes(Vec<u8>),
    /// Elements of an array, vector or structure.
    List(Vec<(TypeId, Value<'a>)>),
    /// A vector whose elements are all this one.
    Splat(Box<Typed<'a>>),
    Expr(Box<Expr<'a>>),
    /// Inline assembly: its text.
    Asm(&'a str),
    /// Metadata operands, and others without a value here.
    Opaque,
}

pub type Typed<'a> = (TypeId, Value<'a>);

#[derive(Debug, Clone)]
pub enum Expr<'a> {
    Gep {
        source: TypeId,
        base: Value<'a>,
        indices: Vec<Typed<'a>>,
    },
    Cast {
        op: &'a str,
        value: Typed<'a>,
    },
    Bin {
        op: &'a str,
        a: Typed<'a>,
        b: Typed<'a>,
    },
    Other(&'a str),
}

/// What a landing pad handles: the type of an exception, null for any; any type but these.
#[derive(Debug)]
pub enum Clause<'a> {
    Catch(Value<'a>),
    Filter(Value<'a>),
}

impl<'a> InstKind<'a> {
    /// The call of an `invoke`; else the instruction itself.
    pub fn called(&self) -> &InstKind<'a> {
        match self {
            InstKind::Invoke { call, .. } => call,
            kind => kind,
        }
    }
}

#[derive(Debug)]
pub enum InstKind<'a> {
    Alloca {
        ty: TypeId,
        count: Option<Typed<'a>>,
        align: u64,
    },
    Load {
        ty: TypeId,
        address: Value<'a>,
        order: Option<&'a str>,
        volatile: bool,
    },
    Store {
        value: Typed<'a>,
        address: Value<'a>,
        order: Option<&'a str>,
        volatile: bool,
    },
    Rmw {
        op: &'a str,
        address: Value<'a>,
        value: Typed<'a>,
        order: &'a str,
        volatile: bool,
    },
    Cas {
        weak: bool,
        address: Value<'a>,
        expected: Typed<'a>,
        desired: Value<'a>,
        success: &'a str,
        failure: &'a str,
        volatile: bool,
    },
    Fence {
        order: &'a str,
        signal: bool,
    },
    Br(&'a str),
    CondBr {
        condition: Value<'a>,
        then: &'a str,
        otherwise: &'a str,
    },
    Switch {
        value: Typed<'a>,
        default: &'a str,
        cases: Vec<(Value<'a>, &'a str)>,
    },
    Phi {
        ty: TypeId,
        incoming: Vec<(Value<'a>, &'a str)>,
    },
    Select {
        condition: Typed<'a>,
        a: Typed<'a>,
        b: Value<'a>,
    },
    Call {
        result: TypeId,
        callee: Value<'a>,
        args: Vec<Typed<'a>>,
        /// A structure passed by value: the callee gets a copy.
        byval: bool,
    },
    /// A call that continues at `unwind` if it throws.
    Invoke {
        call: Box<InstKind<'a>>,
        normal: &'a str,
        unwind: &'a str,
    },
    LandingPad {
        ty: TypeId,
        cleanup: bool,
        clauses: Vec<Clause<'a>>,
    },
    /// Continues to unwind.
    Resume(Typed<'a>),
    Ret(Option<Typed<'a>>),
    Unreachable,
    Gep {
        source: TypeId,
        base: Typed<'a>,
        indices: Vec<Typed<'a>>,
    },
    Extract {
        from: Typed<'a>,
        path: Vec<u64>,
    },
    Insert {
        into: Typed<'a>,
        value: Typed<'a>,
        path: Vec<u64>,
    },
    /// An element of a vector; the index may be a variable.
    ExtractElement {
        from: Typed<'a>,
        index: Typed<'a>,
    },
    InsertElement {
        into: Typed<'a>,
        value: Typed<'a>,
        index: Typed<'a>,
    },
    /// Elements of two vectors, by their numbers in both, which are constants.
    ShuffleVector {
        a: Typed<'a>,
        b: Value<'a>,
        mask: Typed<'a>,
    },
    /// `icmp` and `fcmp`.
    Compare {
        float: bool,
        predicate: &'a str,
        a: Typed<'a>,
        b: Value<'a>,
    },
    Bin {
        op: &'a str,
        a: Typed<'a>,
        b: Value<'a>,
    },
    Cast {
        op: &'a str,
        value: Typed<'a>,
        to: TypeId,
    },
    /// `fneg`.
    Negate(Typed<'a>),
    Freeze(Typed<'a>),
    /// An instruction that is only refused if it is reachable.
    Unsupported(&'a str),
}
