//! RISC-V's instructions that compute registers from registers, one row of a table each: those of
//! RV64I and RV64M in the RISC-V Instruction Set Manual, volume I, and the pseudo-instructions.

use super::operands::{reg, source};
use crate::assembly::columns::InstructionReader;
use crate::assembly::formula::Formula;
use crate::assembly::instruction::{Instruction, Source};
use crate::error::ParseError;
use crate::value::Op;

/// How an instruction of 32 bits sees its operands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    /// It has 64 bits.
    Whole,
    /// Only the low bits matter. herd7 does not narrow the result, which therefore has to fit.
    Any,
    Signed,
    Unsigned,
}

#[derive(Clone, Copy)]
enum Form {
    /// `rd, rs1, rs2`
    Registers(Op, Word),
    /// `rd, rs1, n`
    Immediate(Op, Word),
    /// `rd, rs`: an operation with a constant first.
    After(i64, Op),
    /// `rd, rs`: an operation with a constant second.
    Before(Op, i64),
    /// `rd, n`: the upper 20 bits of 32.
    Upper,
}

const TABLE: [(&str, Form); 54] = [
    ("add", Form::Registers(Op::Add, Word::Whole)),
    ("sub", Form::Registers(Op::Sub, Word::Whole)),
    ("and", Form::Registers(Op::And, Word::Whole)),
    ("or", Form::Registers(Op::Or, Word::Whole)),
    ("xor", Form::Registers(Op::Xor, Word::Whole)),
    ("sll", Form::Registers(Op::ShiftLeft, Word::Whole)),
    ("srl", Form::Registers(Op::ShiftRight, Word::Whole)),
    ("sra", Form::Registers(Op::ShiftRightSigned, Word::Whole)),
    ("slt", Form::Registers(Op::Lt, Word::Whole)),
    ("sltu", Form::Registers(Op::Below, Word::Whole)),
    ("mul", Form::Registers(Op::Mul, Word::Whole)),
    ("mulh", Form::Registers(Op::MulHigh, Word::Whole)),
    ("mulhu", Form::Registers(Op::MulHighUnsigned, Word::Whole)),
    ("mulhsu", Form::Registers(Op::MulHighMixed, Word::Whole)),
    ("div", Form::Registers(Op::Quotient, Word::Whole)),
    ("divu", Form::Registers(Op::QuotientUnsigned, Word::Whole)),
    ("rem", Form::Registers(Op::Remainder, Word::Whole)),
    ("remu", Form::Registers(Op::RemainderUnsigned, Word::Whole)),
    ("addw", Form::Registers(Op::Add, Word::Any)),
    ("subw", Form::Registers(Op::Sub, Word::Any)),
    ("mulw", Form::Registers(Op::Mul, Word::Any)),
    ("sllw", Form::Registers(Op::ShiftLeft, Word::Any)),
    ("srlw", Form::Registers(Op::ShiftRight, Word::Unsigned)),
    ("sraw", Form::Registers(Op::ShiftRightSigned, Word::Signed)),
    ("divw", Form::Registers(Op::Quotient, Word::Signed)),
    (
        "divuw",
        Form::Registers(Op::QuotientUnsigned, Word::Unsigned),
    ),
    ("remw", Form::Registers(Op::Remainder, Word::Signed)),
    (
        "remuw",
        Form::Registers(Op::RemainderUnsigned, Word::Unsigned),
    ),
    ("addi", Form::Immediate(Op::Add, Word::Whole)),
    ("andi", Form::Immediate(Op::And, Word::Whole)),
    ("ori", Form::Immediate(Op::Or, Word::Whole)),
    ("xori", Form::Immediate(Op::Xor, Word::Whole)),
    ("slli", Form::Immediate(Op::ShiftLeft, Word::Whole)),
    ("srli", Form::Immediate(Op::ShiftRight, Word::Whole)),
    ("srai", Form::Immediate(Op::ShiftRightSigned, Word::Whole)),
    ("slti", Form::Immediate(Op::Lt, Word::Whole)),
    ("sltiu", Form::Immediate(Op::Below, Word::Whole)),
    ("addiw", Form::Immediate(Op::Add, Word::Any)),
    ("slliw", Form::Immediate(Op::ShiftLeft, Word::Any)),
    ("srliw", Form::Immediate(Op::ShiftRight, Word::Unsigned)),
    ("sraiw", Form::Immediate(Op::ShiftRightSigned, Word::Signed)),
    ("neg", Form::After(0, Op::Sub)),
    ("snez", Form::After(0, Op::Below)),
    ("sgtz", Form::After(0, Op::Lt)),
    ("not", Form::Before(Op::Xor, -1)),
    ("seqz", Form::Before(Op::Below, 1)),
    ("sltz", Form::Before(Op::Lt, 0)),
    ("sext.b", Form::Before(Op::Narrow, 8)),
    ("sext.h", Form::Before(Op::Narrow, 16)),
    ("sext.w", Form::Before(Op::Narrow, 32)),
    ("zext.b", Form::Before(Op::Mask, 8)),
    ("zext.h", Form::Before(Op::Mask, 16)),
    ("zext.w", Form::Before(Op::Mask, 32)),
    ("lui", Form::Upper),
];

pub fn compute(
    r: &mut InstructionReader<'_>,
    word: &str,
) -> Result<Option<Instruction>, ParseError> {
    let Some((_, form)) = TABLE.iter().find(|(name, _)| *name == word) else {
        return Ok(None);
    };
    let to = reg(r)?;
    r.comma()?;
    let mut operands = Vec::new();
    let first = |operands: &mut Vec<Source>, source| {
        operands.push(source);
        Formula::Operand(operands.len() - 1)
    };
    let value = match *form {
        Form::Registers(op, word) => {
            let a = first(&mut operands, source(r)?);
            r.comma()?;
            let b = first(&mut operands, source(r)?);
            result(op, word, a, b)
        }
        Form::Immediate(op, word) => {
            let a = first(&mut operands, source(r)?);
            r.comma()?;
            result(op, word, a, Formula::Constant(r.number()?))
        }
        Form::After(n, op) => {
            let b = first(&mut operands, source(r)?);
            Formula::apply(op, Formula::Constant(n), b)
        }
        Form::Before(op, n) => {
            let a = first(&mut operands, source(r)?);
            let value = Formula::apply(op, a, Formula::Constant(n));
            // herd7 extends with signs here: the two agree on values that fit
            match op {
                Op::Mask => value.with(Op::ExactNarrow, n),
                _ => value,
            }
        }
        Form::Upper => Formula::Constant(r.number()?)
            .shifted_left(12)
            .with(Op::ExactNarrow, 32),
    };
    Ok(Some(Instruction::Evaluate {
        to,
        operands,
        value,
        flags: None,
    }))
}

fn result(op: Op, word: Word, a: Formula, b: Formula) -> Formula {
    let shift = matches!(op, Op::ShiftLeft | Op::ShiftRight | Op::ShiftRightSigned);
    let bits = if word == Word::Whole { 64 } else { 32 };
    let part = |formula: Formula| match word {
        Word::Whole | Word::Any => formula,
        Word::Signed => formula.sign_extended(32),
        Word::Unsigned => formula.zero_extended(32),
    };
    let b = match shift {
        true => Formula::apply(Op::And, b, Formula::Constant(bits - 1)),
        false => part(b),
    };
    let value = Formula::apply(op, part(a), b);
    match word {
        Word::Whole => value,
        Word::Any => value.with(Op::ExactNarrow, 32),
        Word::Signed | Word::Unsigned => value.sign_extended(32),
    }
}
