//! The values that threads compute with: integers and addresses of shared locations.

use std::cmp::Ordering;

use crate::nzcv;

/// A register or local variable: an index into its thread's names.
pub type RegisterId = usize;

/// The address of a shared location, or of an element of an array, `offset` bytes into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address {
    /// Index into the test's location names.
    pub name: u32,
    pub offset: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// A value that a cycle of reads-from leaves undetermined (herd7 prints S1, S2, …).
    Undetermined(u32),
    Int(i64),
    Address(Address),
    /// The address of an instruction: an index into the test's location names.
    Code(u32),
}

impl Value {
    pub const ZERO: Value = Value::Int(0);
    pub const ONE: Value = Value::Int(1);

    pub fn address(&self) -> Option<Address> {
        match self {
            Value::Address(address) => Some(*address),
            _ => None,
        }
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        let rank = |v: &Value| match v {
            Value::Undetermined(_) => 0,
            Value::Int(_) => 1,
            Value::Address(_) => 2,
            Value::Code(_) => 3,
        };
        match (self, other) {
            (Value::Undetermined(a), Value::Undetermined(b)) => a.cmp(b),
            (Value::Int(a), Value::Int(b)) => a.cmp(b),
            (Value::Address(a), Value::Address(b)) => a.cmp(b),
            (Value::Code(a), Value::Code(b)) => a.cmp(b),
            _ => rank(self).cmp(&rank(other)),
        }
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    Xor,
    /// a & !b
    AndNot,
    ShiftLeft,
    /// Logical.
    ShiftRight,
    ShiftRightSigned,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Max,
    Min,
    UMax,
    UMin,
    /// The bits of a field of Power's condition register: 8 less, 4 greater, 2 equal.
    Compare,
    /// Sign-extends from as many bits as the second operand says (8, 16, 32).
    Narrow,
    /// Zero-extends from as many bits as the second operand says (8, 16, 32).
    Mask,
    /// As `Narrow` and `Mask`, for a value that has that form already: there is no result where
    /// the architecture would change the value and herd7 does not.
    ExactNarrow,
    ExactMask,
    /// The value, if it has either form.
    Exact,
    /// `a < b` and `a >= b` without signs.
    Below,
    NotBelow,
    /// The upper 64 bits of the product: with signs, without, and with that of the first alone.
    MulHigh,
    MulHighUnsigned,
    MulHighMixed,
    /// Of RISC-V, which defines the results of divisions by zero and of overflows.
    Quotient,
    QuotientUnsigned,
    Remainder,
    RemainderUnsigned,
    /// Reverses the bytes of each group of as many bits as the second operand says.
    ReverseBytes,
    /// Reverses as many bits as the second operand says.
    ReverseBits,
    /// The condition flags of AArch64 after a sum, a difference, and a logical operation whose
    /// result has as many bits as the second operand says (`assembly::nzcv`).
    SumFlags,
    DifferenceFlags,
    LogicFlags,
    /// Whether flags of AArch64 satisfy the condition of a code.
    Satisfy,
    /// 0 for the address of an instruction; no result for other values.
    NoCode,
}

/// The operation has no result for these operands, such as the product of two addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoResult;

impl Op {
    /// The result, with herd7's special cases for addresses.
    pub fn apply(self, a: Value, b: Value) -> Result<Value, NoResult> {
        use Value::{Address as A, Code, Int};
        let truth = |t: bool| Ok(Int(i64::from(t)));
        match (self, a, b) {
            (Op::Add, Int(0), v)
            | (Op::Add | Op::Sub | Op::Or, v, Int(0))
            | (Op::Or, Int(0), v) => Ok(v),
            (Op::Add, A(p), Int(i)) | (Op::Add, Int(i), A(p)) => Ok(A(Address {
                offset: p.offset.wrapping_add(i),
                ..p
            })),
            (Op::Sub, A(p), Int(i)) => Ok(A(Address {
                offset: p.offset.wrapping_sub(i),
                ..p
            })),
            (Op::Sub, A(p), A(q)) if p.name == q.name => Ok(Int(p.offset.wrapping_sub(q.offset))),
            (Op::Xor, v, w) if v == w => Ok(Value::ZERO),
            (Op::Eq, A(p), A(q)) => truth(p == q),
            (Op::Ne, A(p), A(q)) => truth(p != q),
            (Op::Eq, A(_), Int(0)) | (Op::Eq, Int(0), A(_)) => truth(false),
            (Op::Ne, A(_), Int(0)) | (Op::Ne, Int(0), A(_)) => truth(true),
            (Op::Compare, A(p), A(q)) => Ok(Int(condition_field(p.cmp(&q)))),
            (Op::Compare, A(_), Int(0)) => Ok(Int(condition_field(Ordering::Greater))),
            (Op::Mask | Op::Narrow | Op::ExactMask | Op::ExactNarrow | Op::Exact, A(p), Int(_)) => {
                Ok(A(p))
            }
            (Op::DifferenceFlags, A(p), A(q)) => Ok(Int(nzcv::of_addresses(p.cmp(&q)))),
            (Op::DifferenceFlags, A(_), Int(0)) => Ok(Int(nzcv::of_addresses(Ordering::Greater))),
            (Op::Eq, Code(p), Code(q)) => truth(p == q),
            (Op::Ne, Code(p), Code(q)) => truth(p != q),
            (Op::Eq, Code(_), Int(0)) | (Op::Eq, Int(0), Code(_)) => truth(false),
            (Op::Ne, Code(_), Int(0)) | (Op::Ne, Int(0), Code(_)) => truth(true),
            (Op::NoCode, Code(_), _) => truth(false),
            (_, Int(a), Int(b)) => self.integers(a, b),
            _ => Err(NoResult),
        }
    }

    fn integers(self, a: i64, b: i64) -> Result<Value, NoResult> {
        let shift = |n: i64| u32::try_from(n).ok().filter(|n| *n < 64);
        let spare = |bits: i64| {
            64u32
                .saturating_sub(u32::try_from(bits).unwrap_or(64))
                .min(63)
        };
        Ok(Value::Int(match self {
            Op::Add => a.wrapping_add(b),
            Op::Sub => a.wrapping_sub(b),
            Op::Mul => a.wrapping_mul(b),
            Op::Div => a.checked_div(b).ok_or(NoResult)?,
            Op::Rem => a.checked_rem(b).ok_or(NoResult)?,
            Op::And => a & b,
            Op::Or => a | b,
            Op::Xor => a ^ b,
            Op::AndNot => a & !b,
            Op::ShiftLeft => shift(b).map_or(0, |n| a.wrapping_shl(n)),
            Op::ShiftRight => shift(b).map_or(0, |n| ((a as u64) >> n) as i64),
            Op::ShiftRightSigned => a >> shift(b).unwrap_or(63),
            Op::ExactNarrow | Op::ExactMask | Op::Exact => {
                let narrow = (a << spare(b)) >> spare(b);
                let mask = (((a as u64) << spare(b)) >> spare(b)) as i64;
                let fits =
                    self != Op::ExactMask && a == narrow || self != Op::ExactNarrow && a == mask;
                fits.then_some(a).ok_or(NoResult)?
            }
            Op::Below => i64::from((a as u64) < b as u64),
            Op::NotBelow => i64::from(a as u64 >= b as u64),
            Op::MulHigh => high(i128::from(a) * i128::from(b)),
            Op::MulHighUnsigned => high((i128::from(a as u64)).wrapping_mul(i128::from(b as u64))),
            Op::MulHighMixed => high(i128::from(a) * i128::from(b as u64)),
            Op::Quotient if b == 0 => -1,
            Op::Quotient => a.wrapping_div(b),
            Op::QuotientUnsigned => (a as u64).checked_div(b as u64).map_or(-1, |q| q as i64),
            Op::Remainder if b == 0 => a,
            Op::Remainder => a.wrapping_rem(b),
            Op::RemainderUnsigned => (a as u64).checked_rem(b as u64).map_or(a, |r| r as i64),
            Op::ReverseBytes => reverse_bytes(a, b).ok_or(NoResult)?,
            Op::ReverseBits => ((a as u64).reverse_bits() >> spare(b)) as i64,
            Op::SumFlags => nzcv::of_sum(a, b),
            Op::DifferenceFlags => nzcv::of_difference(a, b),
            Op::LogicFlags => nzcv::of_logic(a, b),
            Op::Satisfy => i64::from(nzcv::satisfy(a, b)),
            Op::NoCode => return Err(NoResult),
            Op::Eq => i64::from(a == b),
            Op::Ne => i64::from(a != b),
            Op::Lt => i64::from(a < b),
            Op::Le => i64::from(a <= b),
            Op::Gt => i64::from(a > b),
            Op::Ge => i64::from(a >= b),
            Op::Max => a.max(b),
            Op::Min => a.min(b),
            Op::UMax => (a as u64).max(b as u64) as i64,
            Op::UMin => (a as u64).min(b as u64) as i64,
            Op::Compare => condition_field(a.cmp(&b)),
            Op::Narrow => (a << spare(b)) >> spare(b),
            Op::Mask => (((a as u64) << spare(b)) >> spare(b)) as i64,
        }))
    }
}

/// Power ISA, book I, 2.3.1, without the summary overflow.
fn condition_field(order: Ordering) -> i64 {
    match order {
        Ordering::Less => 8,
        Ordering::Greater => 4,
        Ordering::Equal => 2,
    }
}

fn high(product: i128) -> i64 {
    (product >> 64) as i64
}

fn reverse_bytes(value: i64, group: i64) -> Option<i64> {
    let group = usize::try_from(group / 8)
        .ok()
        .filter(|g| matches!(g, 2 | 4 | 8))?;
    let mut bytes = value.to_le_bytes();
    bytes.chunks_mut(group).for_each(<[u8]>::reverse);
    Some(i64::from_le_bytes(bytes))
}
