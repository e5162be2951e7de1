//! Integer arithmetic at any width up to 64 bits; values are zero-extended.
use crate::ir::bits::{mask, sext};
use crate::ir::floats;
use crate::ir::instruction::{BinOp, Predicate, RmwOp, Unary};
use crate::ir::wide;

/// None for a division without a result. Shifts by the width or more give 0, which stands for
/// poison.
pub fn binary(op: BinOp, bits: u32, a: u64, b: u64) -> Option<u64> {
    let (sa, sb) = (sext(a, bits) as i64, sext(b, bits) as i64);
    let shift = u32::try_from(b).ok().filter(|s| *s < bits);
    let value = match op {
        BinOp::Add => a.wrapping_add(b),
        BinOp::Sub => a.wrapping_sub(b),
        BinOp::Mul => a.wrapping_mul(b),
        BinOp::Udiv => a.checked_div(b)?,
        BinOp::Urem => a.checked_rem(b)?,
        BinOp::Sdiv => sa.checked_div(sb)? as u64,
        BinOp::Srem => sa.checked_rem(sb)? as u64,
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::Xor => a ^ b,
        BinOp::Shl => shift.map_or(0, |s| a << s),
        BinOp::Lshr => shift.map_or(0, |s| a >> s),
        BinOp::Ashr => shift.map_or(0, |s| (sa >> s) as u64),
        BinOp::Umax => a.max(b),
        BinOp::Umin => a.min(b),
        BinOp::Smax => sa.max(sb) as u64,
        BinOp::Smin => sa.min(sb) as u64,
        BinOp::Float(op) => floats::binary(op, bits, a, b),
    };
    Some(mask(value, bits))
}

/// Whether the exact result does not fit.
pub fn overflows(op: BinOp, signed: bool, bits: u32, a: u64, b: u64) -> bool {
    let wide = |v: u64| {
        if signed {
            i128::from(sext(v, bits) as i64)
        } else {
            i128::from(v)
        }
    };
    let exact = match op {
        BinOp::Add => wide(a) + wide(b),
        BinOp::Sub => wide(a) - wide(b),
        _ => match wide(a).checked_mul(wide(b)) {
            Some(exact) => exact,
            None => return true,
        },
    };
    let (low, high) = if signed {
        (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
    } else {
        (0, (1i128 << bits) - 1)
    };
    exact < low || exact > high
}

pub fn compare(predicate: Predicate, bits: u32, a: u64, b: u64) -> bool {
    let (sa, sb) = (sext(a, bits) as i64, sext(b, bits) as i64);
    match predicate {
        Predicate::Eq => a == b,
        Predicate::Ne => a != b,
        Predicate::Ugt => a > b,
        Predicate::Uge => a >= b,
        Predicate::Ult => a < b,
        Predicate::Ule => a <= b,
        Predicate::Sgt => sa > sb,
        Predicate::Sge => sa >= sb,
        Predicate::Slt => sa < sb,
        Predicate::Sle => sa <= sb,
        Predicate::Float(predicate) => floats::compare(predicate, bits, a, b),
    }
}

pub fn unary(op: Unary, bits: u32, a: u64) -> u64 {
    let zeros = 64 - bits.min(64);
    match op {
        Unary::Popcount => u64::from(a.count_ones()),
        Unary::LeadingZeros => u64::from(a.leading_zeros() - zeros.min(a.leading_zeros())),
        Unary::TrailingZeros => u64::from(a.trailing_zeros().min(bits)),
        Unary::ByteSwap => a.swap_bytes() >> zeros,
        Unary::BitReverse => a.reverse_bits() >> zeros,
        Unary::Abs => mask((sext(a, bits) as i64).unsigned_abs(), bits),
        Unary::Float(op) => floats::unary(op, bits, a),
        Unary::IsOfClass(classes) => u64::from(classes & floats::class(bits, a) != 0),
    }
}

/// The value that a read-modify-write writes. With 128 bits, numbers stand for the values.
pub fn rmw(op: RmwOp, bits: u32, old: u64, operand: u64) -> u64 {
    let is_wide = bits == 8 * wide::SIZE;
    let value = |number: u64| match is_wide {
        true => wide::unpack(number),
        false => number.into(),
    };
    let signed = |v: u128| match is_wide {
        true => v as i128,
        false => (sext(v as u64, bits) as i64).into(),
    };
    let (a, b) = (value(old), value(operand));
    let result = match op {
        RmwOp::Xchg => b,
        RmwOp::Add => a.wrapping_add(b),
        RmwOp::Sub => a.wrapping_sub(b),
        RmwOp::And => a & b,
        RmwOp::Nand => !(a & b),
        RmwOp::Or => a | b,
        RmwOp::Xor => a ^ b,
        RmwOp::Max => signed(a).max(signed(b)) as u128,
        RmwOp::Min => signed(a).min(signed(b)) as u128,
        RmwOp::Umax => a.max(b),
        RmwOp::Umin => a.min(b),
        RmwOp::Float(op) => floats::binary(op.operator(), bits, old, operand).into(),
    };
    match is_wide {
        true => wide::pack(result),
        false => mask(result as u64, bits),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_wraps_at_the_width() {
        assert_eq!(binary(BinOp::Add, 8, 255, 1), Some(0));
        assert_eq!(binary(BinOp::Sub, 32, 0, 1), Some(0xffff_ffff));
        assert_eq!(binary(BinOp::Sdiv, 8, 0xfe, 2), Some(0xff));
        assert_eq!(binary(BinOp::Ashr, 16, 0x8000, 15), Some(0xffff));
        assert_eq!(binary(BinOp::Shl, 32, 1, 32), Some(0));
        assert_eq!(binary(BinOp::Udiv, 32, 1, 0), None);
        assert_eq!(binary(BinOp::Sdiv, 64, 1 << 63, u64::MAX), None);
    }

    #[test]
    fn overflow_is_decided_by_the_exact_result() {
        assert!(overflows(BinOp::Add, false, 64, u64::MAX, 1));
        assert!(!overflows(BinOp::Add, true, 64, u64::MAX, 1));
        assert!(overflows(BinOp::Mul, true, 8, 16, 8));
        assert!(overflows(BinOp::Sub, false, 8, 0, 1));
        assert!(overflows(BinOp::Mul, false, 64, u64::MAX, u64::MAX));
    }

    #[test]
    fn bit_counts_know_the_width() {
        assert_eq!(unary(Unary::LeadingZeros, 8, 1), 7);
        assert_eq!(unary(Unary::LeadingZeros, 8, 0), 8);
        assert_eq!(unary(Unary::TrailingZeros, 8, 0), 8);
        assert_eq!(unary(Unary::ByteSwap, 16, 0x1234), 0x3412);
        assert_eq!(unary(Unary::Abs, 8, 0xff), 1);
    }

    #[test]
    fn signed_and_unsigned_extremes_differ() {
        assert_eq!(rmw(RmwOp::Max, 8, 0xff, 1), 1);
        assert_eq!(rmw(RmwOp::Umax, 8, 0xff, 1), 0xff);
        assert_eq!(rmw(RmwOp::Min, 32, 0xffff_ffff, 1), 0xffff_ffff);
        assert_eq!(rmw(RmwOp::Nand, 8, 0x0f, 0x3c), 0xf3);
        assert_eq!(rmw(RmwOp::Umin, 8, 0xff, 1), 1);
        assert_eq!(rmw(RmwOp::Sub, 8, 0, 1), 0xff);
        assert!(compare(Predicate::Slt, 8, 0xff, 0));
        assert!(compare(Predicate::Ugt, 8, 0xff, 0));
    }
}
