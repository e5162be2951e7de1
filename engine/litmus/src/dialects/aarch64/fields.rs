//! The values of AArch64's shifts, conversions and bitfield instructions, as the Arm Architecture
//! Reference Manual defines them, as formulas.

use crate::assembly::formula::Formula;
use crate::value::Op;

#[derive(Clone, Copy)]
pub enum Shift {
    Left,
    Right,
    RightSigned,
    Rotate,
}

#[derive(Clone, Copy)]
pub enum Convert {
    Extend {
        bits: i64,
        signed: bool,
    },
    /// In groups of so many bits, or all of the register.
    ReverseBytes(Option<i64>),
    ReverseBits,
    Absolute,
}

/// What the two numbers of a bitfield instruction say.
#[derive(Clone, Copy)]
pub enum Field {
    /// The rotation and the last bit.
    Rotation,
    /// The first bit in the source, and the width.
    Extracted,
    /// The first bit in the destination, and the width.
    Inserted,
}

/// `a` has no bits above its `bits`; `by` is less than these.
pub fn shifted(shift: Shift, a: Formula, by: Formula, bits: i64) -> Formula {
    match shift {
        Shift::Left => Formula::apply(Op::ShiftLeft, a, by).zero_extended(bits),
        Shift::Right => Formula::apply(Op::ShiftRight, a, by),
        Shift::RightSigned => {
            Formula::apply(Op::ShiftRightSigned, a.sign_extended(bits), by).zero_extended(bits)
        }
        Shift::Rotate => {
            let rest = Formula::apply(Op::Sub, Formula::Constant(bits), by.clone());
            let low = Formula::apply(Op::ShiftRight, a.clone(), by);
            let high = Formula::apply(Op::ShiftLeft, a, rest).zero_extended(bits);
            Formula::apply(Op::Or, low, high)
        }
    }
}

pub fn converted(convert: Convert, from: Formula, bits: i64) -> Formula {
    let by = |op, n| Formula::apply(op, from.clone(), Formula::Constant(n));
    match convert {
        Convert::Extend { bits, signed: true } => from.sign_extended(bits),
        Convert::Extend { bits, .. } => from.zero_extended(bits),
        Convert::ReverseBytes(group) => by(Op::ReverseBytes, group.unwrap_or(bits)),
        Convert::ReverseBits => by(Op::ReverseBits, bits),
        Convert::Absolute => {
            let signed = from.sign_extended(bits);
            Formula::apply(Op::Max, signed.clone(), signed.negated())
        }
    }
}

/// The field that the two numbers describe; none if it does not fit.
pub fn bit_field(
    from: Formula,
    signed: bool,
    meaning: Field,
    numbers: (i64, i64),
    bits: i64,
) -> Option<Formula> {
    let (rotation, last) = match (meaning, numbers) {
        (Field::Rotation, numbers) => numbers,
        (Field::Extracted, (first, width)) => (first, first.checked_add(width)?.checked_sub(1)?),
        (Field::Inserted, (first, width)) => {
            let fits = width >= 1 && width <= bits - first;
            return fits.then(|| moved(from, signed, (bits - first) % bits, width - 1, bits));
        }
    };
    let fits =
        (0..bits).contains(&last) && (!matches!(meaning, Field::Extracted) || last >= rotation);
    fits.then(|| moved(from, signed, rotation, last, bits))
}

/// `UBFM` and `SBFM`: bits `rotation` to `last` become the lowest, or bits 0 to `last` move up.
fn moved(from: Formula, signed: bool, rotation: i64, last: i64, bits: i64) -> Formula {
    let (part, width, up) = match last >= rotation {
        true => (from.shifted_right(rotation), last - rotation + 1, 0),
        false => (from, last + 1, bits - rotation),
    };
    let part = match signed {
        true => part.sign_extended(width),
        false => part.zero_extended(width),
    };
    part.shifted_left(up)
}
