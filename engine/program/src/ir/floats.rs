//! Arithmetic of `float` (32 bits) and `double` (64 bits), IEEE 754 with rounding to nearest.
//!
//! Rust's operations on `f32` and `f64` are those of IEEE 754. A conversion whose result does not
//! fit, which C leaves undefined, saturates.
use crate::ir::bits::{mask, sext};
use crate::ir::instruction::{Conversion, FloatOp, FloatPredicate, FloatUnary};
use std::cmp::Ordering;
use std::num::FpCategory;

/// The operations at one width.
macro_rules! operations {
    ($binary:ident, $unary:ident, $float:ty) => {
        fn $binary(op: FloatOp, a: $float, b: $float) -> $float {
            match op {
                FloatOp::Add => a + b,
                FloatOp::Sub => a - b,
                FloatOp::Mul => a * b,
                FloatOp::Div => a / b,
                FloatOp::Rem => a % b,
                FloatOp::Max => a.max(b),
                FloatOp::Min => a.min(b),
                FloatOp::CopySign => a.copysign(b),
            }
        }

        fn $unary(op: FloatUnary, a: $float) -> $float {
            match op {
                FloatUnary::Negate => -a,
                FloatUnary::Abs => a.abs(),
                FloatUnary::Floor => a.floor(),
                FloatUnary::Ceil => a.ceil(),
                FloatUnary::Truncate => a.trunc(),
                FloatUnary::Round => a.round(),
                FloatUnary::RoundEven if (a - a.trunc()).abs() == 0.5 => 2.0 * (a / 2.0).round(),
                FloatUnary::RoundEven => a.round(),
                FloatUnary::SquareRoot => a.sqrt(),
            }
        }
    };
}

operations!(binary_float, unary_float, f32);
operations!(binary_double, unary_double, f64);

fn float(value: u64) -> f32 {
    f32::from_bits(value as u32)
}

pub fn binary(op: FloatOp, bits: u32, a: u64, b: u64) -> u64 {
    match bits {
        32 => u64::from(binary_float(op, float(a), float(b)).to_bits()),
        _ => binary_double(op, f64::from_bits(a), f64::from_bits(b)).to_bits(),
    }
}

pub fn unary(op: FloatUnary, bits: u32, a: u64) -> u64 {
    match bits {
        32 => u64::from(unary_float(op, float(a)).to_bits()),
        _ => unary_double(op, f64::from_bits(a)).to_bits(),
    }
}

/// The number as a `double`: every `float` is one.
fn wide(bits: u32, value: u64) -> f64 {
    match bits {
        32 => f64::from(float(value)),
        _ => f64::from_bits(value),
    }
}

/// The class of a number, one bit as in LLVM's `llvm.is.fpclass`.
pub fn class(bits: u32, value: u64) -> u16 {
    let fraction = if bits == 32 { 23 } else { 52 };
    let is_quiet = value >> (fraction - 1) & 1 == 1;
    // a subnormal float is a normal double
    let category = match bits {
        32 => float(value).classify(),
        _ => f64::from_bits(value).classify(),
    };
    let (positive, negative) = match category {
        FpCategory::Nan => return if is_quiet { 1 << 1 } else { 1 << 0 },
        FpCategory::Infinite => (9, 2),
        FpCategory::Normal => (8, 3),
        FpCategory::Subnormal => (7, 4),
        FpCategory::Zero => (6, 5),
    };
    let is_negative = value >> (bits - 1) & 1 == 1;
    1 << if is_negative { negative } else { positive }
}

pub fn compare(predicate: FloatPredicate, bits: u32, a: u64, b: u64) -> bool {
    match wide(bits, a).partial_cmp(&wide(bits, b)) {
        Some(Ordering::Less) => predicate.less,
        Some(Ordering::Equal) => predicate.equal,
        Some(Ordering::Greater) => predicate.greater,
        None => predicate.unordered,
    }
}

pub fn convert(op: Conversion, from: u32, to: u32, a: u64) -> u64 {
    match op {
        Conversion::FloatToUnsigned => {
            let most = mask(u64::MAX, to);
            (wide(from, a) as u64).min(most)
        }
        Conversion::FloatToSigned => {
            let most = mask(u64::MAX, to) >> 1;
            let value = (wide(from, a) as i64).clamp(-(most as i64) - 1, most as i64);
            mask(value as u64, to)
        }
        Conversion::UnsignedToFloat => match to {
            32 => u64::from((a as f32).to_bits()),
            _ => (a as f64).to_bits(),
        },
        Conversion::SignedToFloat => {
            let value = sext(a, from) as i64;
            match to {
                32 => u64::from((value as f32).to_bits()),
                _ => (value as f64).to_bits(),
            }
        }
        Conversion::FloatToFloat => match to {
            32 => u64::from((wide(from, a) as f32).to_bits()),
            _ => wide(from, a).to_bits(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn double(value: f64) -> u64 {
        value.to_bits()
    }

    #[test]
    fn arithmetic_rounds_at_the_width() {
        let (a, b) = (0.1f32.to_bits().into(), 0.2f32.to_bits().into());
        let sum = binary(FloatOp::Add, 32, a, b);
        assert_eq!(f32::from_bits(sum as u32), 0.1f32 + 0.2f32);
        assert_eq!(
            binary(FloatOp::Div, 64, double(1.0), double(0.0)),
            double(f64::INFINITY)
        );
        assert_eq!(unary(FloatUnary::Ceil, 64, double(1.5)), double(2.0));
    }

    #[test]
    fn halves_are_rounded_to_the_even_number() {
        for (value, rounded) in [(0.5, 0.0), (1.5, 2.0), (2.5, 2.0), (-1.5, -2.0), (2.6, 3.0)] {
            let found = unary(FloatUnary::RoundEven, 64, double(value));
            assert_eq!(found, double(rounded));
        }
    }

    #[test]
    fn classes_are_those_of_llvm() {
        let doubles = [
            -f64::INFINITY,
            -1.0,
            -5e-324,
            -0.0,
            0.0,
            5e-324,
            1.0,
            f64::INFINITY,
        ];
        for (k, value) in doubles.into_iter().enumerate() {
            assert_eq!(class(64, double(value)), 4 << k);
        }
        assert_eq!(class(64, double(f64::NAN)), 2);
        assert_eq!(class(32, 0x7f80_0001), 1);
        assert_eq!(class(32, 1), 1 << 7);
    }

    #[test]
    fn a_comparison_with_nan_is_unordered() {
        let ordered = FloatPredicate {
            less: true,
            equal: true,
            greater: true,
            unordered: false,
        };
        assert!(!compare(ordered, 64, double(f64::NAN), double(1.0)));
        assert!(compare(ordered, 64, double(-0.0), double(0.0)));
    }

    #[test]
    fn conversions_know_the_sign_and_the_width() {
        assert_eq!(
            convert(Conversion::SignedToFloat, 32, 64, 0xffff_ffff),
            double(-1.0)
        );
        assert_eq!(
            convert(Conversion::UnsignedToFloat, 32, 64, 0xffff_ffff),
            double(4_294_967_295.0)
        );
        assert_eq!(
            convert(Conversion::FloatToSigned, 64, 32, double(-2.5)),
            0xffff_fffe
        );
        assert_eq!(
            convert(Conversion::FloatToUnsigned, 64, 8, double(300.0)),
            255
        );
        // rounded once, not by way of double
        let odd = (1u64 << 60) + (1 << 36) + 1;
        let once = convert(Conversion::UnsignedToFloat, 64, 32, odd);
        assert_eq!(once, u64::from((odd as f32).to_bits()));
    }
}
