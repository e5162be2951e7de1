//! The condition flags of x86 in a value: those of AArch64 (`nzcv`), but the carry flag is set when
//! a subtraction borrows. Intel's manual, volume 1, 3.4.3.1, and volume 2 by instruction.

use crate::assembly::formula::Formula;
use crate::nzcv::{C, INVERTED_CARRY, V, Z};
use crate::value::Op;

/// The conditions by the codes of AArch64's that hold for the same flags, with that carry.
const CONDITIONS: [&[&str]; 14] = [
    &["e", "z"],
    &["ne", "nz"],
    &["ae", "nb", "nc"],
    &["b", "c", "nae"],
    &["s"],
    &["ns"],
    &["o"],
    &["no"],
    &["a", "nbe"],
    &["be", "na"],
    &["ge", "nl"],
    &["l", "lt", "nge"],
    &["g", "gt", "nle"],
    &["le", "ng"],
];

/// The code of the condition that the end of an instruction's name stands for.
pub fn condition(suffix: &str) -> Option<i64> {
    let found = CONDITIONS
        .iter()
        .position(|names| names.contains(&suffix))?;
    Some(i64::try_from(found).ok()? | INVERTED_CARRY)
}

/// The operand in the upper bits, so that its flags are those of 64 bits.
fn upper(of: Formula, bits: i64) -> Formula {
    of.shifted_left(64 - bits)
}

pub fn of_sum(a: Formula, b: Formula, bits: i64) -> Formula {
    Formula::apply(Op::SumFlags, upper(a, bits), upper(b, bits))
}

pub fn of_difference(a: Formula, b: Formula, bits: i64) -> Formula {
    Formula::apply(Op::DifferenceFlags, upper(a, bits), upper(b, bits)).with(Op::Xor, C)
}

/// Of an operation that clears the carry and overflow flags.
pub fn of_logic(result: Formula, bits: i64) -> Formula {
    result.with(Op::LogicFlags, bits)
}

/// `flags` with the carry flag of `before`.
pub fn with_carry_of(flags: Formula, before: Formula) -> Formula {
    Formula::apply(Op::Or, flags.with(Op::And, !C), before.with(Op::And, C))
}

/// `before` with the zero flag as `equal`, 0 or 1, says.
pub fn with_zero(before: Formula, equal: Formula) -> Formula {
    Formula::apply(Op::Or, before.with(Op::And, !Z), equal.with(Op::Mul, Z))
}

/// Of `a` shifted left by a number other than 0. The overflow flag has a meaning for 1 only.
pub fn of_shift_left(a: Formula, result: Formula, by: i64, bits: i64) -> Formula {
    let bit = |of: Formula, n: i64| of.shifted_right(n).with(Op::And, 1);
    let mut flags = of_logic(result.clone(), bits);
    if by <= bits {
        let carry = bit(a, bits - by);
        if by == 1 {
            let overflow = Formula::apply(Op::Xor, bit(result, bits - 1), carry.clone());
            flags = Formula::apply(Op::Or, flags, overflow.with(Op::Mul, V));
        }
        flags = Formula::apply(Op::Or, flags, carry.with(Op::Mul, C));
    }
    flags
}
