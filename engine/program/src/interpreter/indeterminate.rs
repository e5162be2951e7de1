//! Operations on indeterminate values.
use super::environment::Environment;
use super::outcome::{Outcome, RunEnd};
use crate::ir::instruction::BinOp;
use crate::memory::value::Val;

/// An indeterminate value is used: undefined behaviour (C11, 6.3.2.1p2).
pub fn undefined<W: Environment>(environment: &W) -> Result<(), RunEnd> {
    match environment.refuses_undefined() {
        true => {
            let message = "use of an uninitialised variable";
            Err(RunEnd::new(Outcome::Uninitialised, message, None))
        }
        false => Ok(()),
    }
}

/// A number with zeros for the indeterminate bytes. Of 16 bytes, all are or none is.
pub fn determinate(value: Val) -> u64 {
    let undefined = (0..8).filter(|k| value.undefined >> k & 1 == 1);
    undefined.fold(value.bits, |bits, k| bits & !(0xff << (8 * k)))
}

/// The bytes of a result that are indeterminate, for the operators by which a compiler takes members
/// out of a value and puts them in; None for those that use the values. A byte with some determinate
/// bits counts as determinate, so that bit-fields may be initialised one by one.
pub fn undefined_bytes(op: BinOp, a: Val, b: Val) -> Option<u8> {
    let with = |byte: u64, value: Val| {
        let bytes = value.bits.to_le_bytes();
        let equal = (0..8).filter(|k| u64::from(bytes[*k]) == byte);
        equal.fold(0, |set, k| set | 1 << k) & !value.undefined
    };
    let shifted = |by: u32, shift: fn(u8, u32) -> u8| {
        let whole = shift(a.undefined, by / 8);
        match by % 8 {
            0 => whole,
            _ => whole & shift(a.undefined, by / 8 + 1),
        }
    };
    let by = (b.bits & 63) as u32;
    match op {
        // indeterminate where both are, or where the other one decides nothing
        BinOp::And => Some(
            a.undefined & (b.undefined | with(0xff, b))
                | b.undefined & (a.undefined | with(0xff, a)),
        ),
        BinOp::Or => Some(
            a.undefined & (b.undefined | with(0, b)) | b.undefined & (a.undefined | with(0, a)),
        ),
        BinOp::Xor => Some(a.undefined | b.undefined),
        BinOp::Shl if b.undefined == 0 => Some(shifted(by, |m, n| m.checked_shl(n).unwrap_or(0))),
        BinOp::Lshr | BinOp::Ashr if b.undefined == 0 => {
            Some(shifted(by, |m, n| m.checked_shr(n).unwrap_or(0)))
        }
        _ => None,
    }
}
