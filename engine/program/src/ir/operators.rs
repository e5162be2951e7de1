//! The operators of instructions: integers, floating-point numbers, comparisons, atomic updates.

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RmwOp {
    Xchg,
    Add,
    Sub,
    And,
    Nand,
    Or,
    Xor,
    Max,
    Min,
    Umax,
    Umin,
    Float(FloatRmw),
}

/// An update of a `float` or `double`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FloatRmw {
    Add,
    Sub,
    Max,
    Min,
}

impl RmwOp {
    pub fn name(self) -> &'static str {
        match self {
            RmwOp::Xchg => "xchg",
            RmwOp::Add => "add",
            RmwOp::Sub => "sub",
            RmwOp::And => "and",
            RmwOp::Nand => "nand",
            RmwOp::Or => "or",
            RmwOp::Xor => "xor",
            RmwOp::Max => "max",
            RmwOp::Min => "min",
            RmwOp::Umax => "umax",
            RmwOp::Umin => "umin",
            RmwOp::Float(FloatRmw::Add) => "fadd",
            RmwOp::Float(FloatRmw::Sub) => "fsub",
            RmwOp::Float(FloatRmw::Max) => "fmax",
            RmwOp::Float(FloatRmw::Min) => "fmin",
        }
    }
}

impl FloatRmw {
    pub fn operator(self) -> FloatOp {
        match self {
            FloatRmw::Add => FloatOp::Add,
            FloatRmw::Sub => FloatOp::Sub,
            FloatRmw::Max => FloatOp::Max,
            FloatRmw::Min => FloatOp::Min,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    Udiv,
    Sdiv,
    Urem,
    Srem,
    And,
    Or,
    Xor,
    Shl,
    Lshr,
    Ashr,
    Umax,
    Umin,
    Smax,
    Smin,
    Float(FloatOp),
}

impl BinOp {
    /// A division of integers has no result for some operands.
    pub fn is_division(self) -> bool {
        matches!(self, BinOp::Udiv | BinOp::Urem) || self.is_signed_division()
    }

    pub fn is_signed_division(self) -> bool {
        matches!(self, BinOp::Sdiv | BinOp::Srem)
    }
}

/// Arithmetic of `float` and `double`, IEEE 754.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FloatOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Max,
    Min,
    CopySign,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Predicate {
    Eq,
    Ne,
    Ugt,
    Uge,
    Ult,
    Ule,
    Sgt,
    Sge,
    Slt,
    Sle,
    Float(FloatPredicate),
}

/// A comparison of floating-point numbers: what it returns if the first is less than the second,
/// equal to it, greater, or if one of them is not a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FloatPredicate {
    pub less: bool,
    pub equal: bool,
    pub greater: bool,
    pub unordered: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unary {
    Popcount,
    LeadingZeros,
    TrailingZeros,
    ByteSwap,
    BitReverse,
    Abs,
    Float(FloatUnary),
    /// Whether a floating-point number is of one of these classes (LangRef, `llvm.is.fpclass`).
    IsOfClass(u16),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FloatUnary {
    Negate,
    Abs,
    Floor,
    Ceil,
    Truncate,
    /// To the nearest integer, halves away from zero.
    Round,
    /// To the nearest integer, halves to the even one.
    RoundEven,
    SquareRoot,
}

/// Conversions from and to floating-point numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conversion {
    FloatToUnsigned,
    FloatToSigned,
    UnsignedToFloat,
    SignedToFloat,
    FloatToFloat,
}
