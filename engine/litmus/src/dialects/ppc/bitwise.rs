//! Power's logic with complements and its shifts, as the Power ISA, book I, 3.3.13 and 3.3.14, defines
//! them. A dot at the end of a name compares the result with zero. The carry bit is not computed.

use super::operands::reg;
use crate::assembly::columns::InstructionReader;
use crate::assembly::formula::Formula;
use crate::assembly::instruction::{Instruction, Source};
use crate::error::ParseError;
use crate::value::Op;

#[derive(Clone, Copy)]
enum Form {
    /// `rD, rA, rB`: the second operand, or the result, is complemented.
    Logic {
        op: Op,
        second_inverted: bool,
        inverted: bool,
    },
    /// `rD, rA`
    Not,
    Negate,
    /// `rD, rA, n`
    SubtractImmediate,
    /// `rD, rA, rB`, or `rD, rA, n`
    Shift {
        op: Op,
        bits: i64,
        immediate: bool,
    },
}

const fn logic(op: Op, second_inverted: bool, inverted: bool) -> Form {
    Form::Logic {
        op,
        second_inverted,
        inverted,
    }
}

const fn shift(op: Op, bits: i64, immediate: bool) -> Form {
    Form::Shift {
        op,
        bits,
        immediate,
    }
}

const TABLE: [(&str, Form); 20] = [
    ("nor", logic(Op::Or, false, true)),
    ("nand", logic(Op::And, false, true)),
    ("eqv", logic(Op::Xor, false, true)),
    ("andc", logic(Op::And, true, false)),
    ("orc", logic(Op::Or, true, false)),
    ("not", Form::Not),
    ("neg", Form::Negate),
    ("subi", Form::SubtractImmediate),
    ("slw", shift(Op::ShiftLeft, 32, false)),
    ("srw", shift(Op::ShiftRight, 32, false)),
    ("sraw", shift(Op::ShiftRightSigned, 32, false)),
    ("slwi", shift(Op::ShiftLeft, 32, true)),
    ("srwi", shift(Op::ShiftRight, 32, true)),
    ("srawi", shift(Op::ShiftRightSigned, 32, true)),
    ("sld", shift(Op::ShiftLeft, 64, false)),
    ("srd", shift(Op::ShiftRight, 64, false)),
    ("srad", shift(Op::ShiftRightSigned, 64, false)),
    ("sldi", shift(Op::ShiftLeft, 64, true)),
    ("srdi", shift(Op::ShiftRight, 64, true)),
    ("sradi", shift(Op::ShiftRightSigned, 64, true)),
];

pub fn bitwise(
    r: &mut InstructionReader<'_>,
    word: &str,
) -> Result<Option<Instruction>, ParseError> {
    let (base, dot) = match word.strip_suffix('.') {
        Some(base) => (base, true),
        None => (word, false),
    };
    let Some((_, form)) = TABLE.iter().find(|(name, _)| *name == base) else {
        return Ok(None);
    };
    if dot && matches!(form, Form::SubtractImmediate) {
        return Ok(None);
    }
    let to = reg(r)?;
    r.comma()?;
    let from = reg(r)?;
    let mut operands = vec![Source::Reg(from)];
    let a = Formula::Operand(0);
    let value = match *form {
        Form::Logic {
            op,
            second_inverted,
            inverted,
        } => {
            r.comma()?;
            operands.push(Source::Reg(reg(r)?));
            let complement = |of: Formula, when: bool| if when { of.inverted() } else { of };
            let second = complement(Formula::Operand(1), second_inverted);
            complement(Formula::apply(op, a, second), inverted)
        }
        Form::Not => a.inverted(),
        Form::Negate => a.negated(),
        Form::SubtractImmediate => {
            r.comma()?;
            let number = r.number()?;
            // as in addi, r0 means zero
            if r.thread.registers[from] == "r0" {
                operands.clear();
                Formula::Constant(number.wrapping_neg())
            } else {
                a.with(Op::Sub, number)
            }
        }
        Form::Shift {
            op,
            bits,
            immediate,
        } => {
            r.comma()?;
            let by = match immediate {
                true => Formula::Constant(r.number_below(bits)?),
                false => {
                    operands.push(Source::Reg(reg(r)?));
                    // a number not less than `bits` shifts everything out
                    Formula::Operand(1).with(Op::And, 2 * bits - 1)
                }
            };
            let a = match op {
                Op::ShiftRightSigned => a.sign_extended(bits),
                _ => a.zero_extended(bits),
            };
            let shifted = Formula::apply(op, a, by);
            match op {
                Op::ShiftLeft => shifted.zero_extended(bits),
                _ => shifted,
            }
        }
    };
    let flags = dot.then(|| {
        let outcome = Formula::Result.with(Op::Compare, 0);
        (r.thread.register("cr0"), outcome)
    });
    Ok(Some(Instruction::Evaluate {
        to: Some(to),
        operands,
        value,
        flags,
    }))
}
