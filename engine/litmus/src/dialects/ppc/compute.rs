//! Power's rotations, shifted immediates and unsigned comparisons, one row of a table each, as the
//! Power ISA, book I, defines them.

use super::bitwise;
use super::operands::{condition_register, reg};
use crate::assembly::columns::InstructionReader;
use crate::assembly::formula::Formula;
use crate::assembly::instruction::{Instruction, Source};
use crate::error::ParseError;
use crate::value::{Op, Value};

#[derive(Clone, Copy)]
enum Form {
    /// `rD, n`: the immediate in the upper halfword.
    LoadShifted,
    /// `rD, rA, n`; r0 means zero.
    AddShifted,
    /// `rD, rA`
    SignExtend(i64),
    /// `rD, rA, n`: the leftmost bits become zero.
    ClearLeft,
    /// `rD, rA, by, from, to`: a word is rotated, and only the bits of a mask are written.
    Rotate { insert: bool },
    /// `rD, rA, rB`, of words with signs; `dot`: cr0 gets the comparison of the result with zero.
    Words { op: Op, dot: bool },
    /// `crN, rA, n`
    CompareUnsigned,
    /// `crN, rA, rB` or `crN, rA, n`, of words with signs
    Compare { immediate: bool },
}

const TABLE: [(&str, Form); 15] = [
    ("lis", Form::LoadShifted),
    ("addis", Form::AddShifted),
    ("extsb", Form::SignExtend(8)),
    ("extsh", Form::SignExtend(16)),
    ("extsw", Form::SignExtend(32)),
    ("clrldi", Form::ClearLeft),
    ("rlwinm", Form::Rotate { insert: false }),
    ("rlwimi", Form::Rotate { insert: true }),
    ("mullw", words(Op::Mul, false)),
    ("mullw.", words(Op::Mul, true)),
    ("divw", words(Op::Div, false)),
    ("divw.", words(Op::Div, true)),
    ("cmplwi", Form::CompareUnsigned),
    ("cmpw", Form::Compare { immediate: false }),
    ("cmpwi", Form::Compare { immediate: true }),
];

const fn words(op: Op, dot: bool) -> Form {
    Form::Words { op, dot }
}

pub fn compute(
    r: &mut InstructionReader<'_>,
    word: &str,
) -> Result<Option<Instruction>, ParseError> {
    let Some((_, form)) = TABLE.iter().find(|(name, _)| *name == word) else {
        return bitwise::bitwise(r, word);
    };
    match form {
        Form::CompareUnsigned => return compare_unsigned(r).map(Some),
        Form::Compare { immediate } => return compare(r, *immediate).map(Some),
        _ => {}
    }
    let to = reg(r)?;
    r.comma()?;
    if let Form::LoadShifted = form {
        let from = Source::Imm(Value::Int(r.number()? << 16));
        return Ok(Some(Instruction::Move { to, from }));
    }
    let from = reg(r)?;
    let mut operands = vec![Source::Reg(from)];
    let mut flags = None;
    let value = match form {
        Form::Words { op, dot } => {
            r.comma()?;
            operands.push(Source::Reg(reg(r)?));
            if *dot {
                let outcome = Formula::Result.with(Op::Compare, 0);
                flags = Some((r.thread.register("cr0"), outcome));
            }
            let word = |n: usize| Formula::Operand(n).sign_extended(32);
            Formula::apply(*op, word(0), word(1))
        }
        Form::SignExtend(bits) => Formula::Operand(0).sign_extended(*bits),
        Form::AddShifted => {
            r.comma()?;
            let shifted = Formula::Constant(r.number()? << 16);
            match r.thread.registers[from] == "r0" {
                true => {
                    operands.clear();
                    shifted
                }
                false => Formula::apply(Op::Add, Formula::Operand(0), shifted),
            }
        }
        Form::ClearLeft => {
            r.comma()?;
            let cleared = r.number_below(64)?;
            Formula::Operand(0).zero_extended(64 - cleared)
        }
        _ => {
            let mut numbers = [0; 3];
            for number in &mut numbers {
                r.comma()?;
                *number = r.number_below(32)?;
            }
            let insert = matches!(form, Form::Rotate { insert: true });
            if insert {
                operands.insert(0, Source::Reg(to));
            }
            rotated(numbers, insert)
        }
    };
    Ok(Some(Instruction::Evaluate {
        to: Some(to),
        operands,
        value,
        flags,
    }))
}

/// Bits are numbered from the left of the word; a mask whose end precedes its start wraps around.
fn rotated([by, from, to]: [i64; 3], insert: bool) -> Formula {
    let bit = |n: i64| 1u64 << (31 - n);
    let upward = |a: i64, b: i64| (a..=b).map(bit).fold(0, |mask, bit| mask | bit);
    let mask = match from <= to {
        true => upward(from, to),
        // of 64 bits, of which the upper word has a copy of the rotated one
        false => !upward(to + 1, from - 1),
    };
    let constant = |mask: u64| Formula::Constant(mask as i64);
    let word = Formula::Operand(usize::from(insert)).zero_extended(32);
    let twice = Formula::apply(Op::Or, word.clone(), word.shifted_left(32));
    let rotated = match by {
        0 => twice,
        by => Formula::apply(
            Op::Or,
            twice.clone().shifted_left(by),
            twice.shifted_right(64 - by),
        ),
    };
    let part = Formula::apply(Op::And, rotated, constant(mask));
    match insert {
        false => part,
        true => Formula::apply(
            Op::Or,
            part,
            Formula::apply(Op::And, Formula::Operand(0), constant(!mask)),
        ),
    }
}

fn compare(r: &mut InstructionReader<'_>, immediate: bool) -> Result<Instruction, ParseError> {
    let flags = condition_register(r)?;
    let mut operands = vec![Source::Reg(reg(r)?)];
    r.comma()?;
    let b = match immediate {
        true => Formula::Constant(r.number()?),
        false => {
            operands.push(Source::Reg(reg(r)?));
            Formula::Operand(1).sign_extended(32)
        }
    };
    let a = Formula::Operand(0).sign_extended(32);
    Ok(Instruction::Evaluate {
        to: None,
        operands,
        value: Formula::Constant(0),
        flags: Some((flags, Formula::apply(Op::Compare, a, b))),
    })
}

fn compare_unsigned(r: &mut InstructionReader<'_>) -> Result<Instruction, ParseError> {
    let flags = condition_register(r)?;
    let a = Source::Reg(reg(r)?);
    r.comma()?;
    let b = Formula::Constant(r.number()? & 0xffff);
    let word = Formula::Operand(0).zero_extended(32);
    Ok(Instruction::Evaluate {
        to: None,
        operands: vec![a],
        value: Formula::Constant(0),
        flags: Some((flags, Formula::apply(Op::Compare, word, b))),
    })
}
