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
    Fadd,
    Fsub,
    Fmax,
    Fmin,
}

impl RmwOp {
    /// The operation on `float` and `double` that this is, if it is one.
    pub fn float(self) -> Option<FloatOp> {
        match self {
            RmwOp::Fadd => Some(FloatOp::Add),
            RmwOp::Fsub => Some(FloatOp::Sub),
            RmwOp::Fmax => Some(FloatOp::Max),
            RmwOp::Fmin => Some(FloatOp::Min),
            _ => None,
        }
    }

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
            RmwOp::Fadd => "fadd",
            RmwOp::Fsub => "fsub",
            RmwOp::Fmax => "fmax",
            RmwOp::Fmin => "fmin",
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
