//! AArch64's instructions that compute registers from registers: one row of a table each, with the
//! meaning that the Arm Architecture Reference Manual gives it.

use super::fields::{bit_field, converted, shifted, Convert, Field, Shift};
use super::operands::{named, Named, FLAGS};
use crate::assembly::columns::InstructionReader;
use crate::assembly::formula::Formula;
use crate::assembly::instruction::{Instruction, Source};
use crate::error::ParseError;
use crate::lexer::TokenKind;
use crate::value::Op;

/// Which flags an instruction writes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flags {
    None,
    Sum,
    Difference,
    Logic,
}

/// The operands that an instruction names, in order, and what it computes from them. `Rd` and `Rn`
/// are registers, `Op2` is a register that may be shifted or extended, or an immediate.
#[derive(Clone, Copy)]
enum Form {
    /// `Rd, Rn, Op2`; `inverted`: the complement of the second operand.
    Binary {
        op: Op,
        inverted: bool,
        flags: Flags,
    },
    /// `Rn, Op2`: only flags.
    Test { op: Op, flags: Flags },
    /// `Rd, Op2`: as the binary instruction with the zero register as its first operand.
    Unary {
        op: Op,
        inverted: bool,
        flags: Flags,
    },
    /// `Rd, Rn, Rm|#n`
    Shift(Shift),
    /// `Rd, Rn, Rm{, Ra}`: the product is added to, or subtracted from, the last operand, which is
    /// zero if the instruction names none.
    Multiply {
        op: Op,
        third: bool,
        extend: Option<bool>,
    },
    /// `Rd, Rn`
    Convert(Convert),
    /// `Rd, Rn, #a, #b`: a field of bits is moved.
    Field { signed: bool, meaning: Field },
    /// `Rd, #n{, LSL #m}`
    Wide(Wide),
    /// `Rd, Rn, Rm, #n`
    Extract,
}

#[derive(Clone, Copy)]
enum Wide {
    Zero,
    Not,
    Keep,
}

const fn binary(op: Op, inverted: bool, flags: Flags) -> Form {
    Form::Binary {
        op,
        inverted,
        flags,
    }
}

const fn unary(op: Op, inverted: bool, flags: Flags) -> Form {
    Form::Unary {
        op,
        inverted,
        flags,
    }
}

const fn multiply(op: Op, third: bool, extend: Option<bool>) -> Form {
    Form::Multiply { op, third, extend }
}

const fn extend(bits: i64, signed: bool) -> Form {
    Form::Convert(Convert::Extend { bits, signed })
}

const fn field(signed: bool, meaning: Field) -> Form {
    Form::Field { signed, meaning }
}

const TABLE: [(&str, Form); 60] = [
    ("ADD", binary(Op::Add, false, Flags::None)),
    ("ADDS", binary(Op::Add, false, Flags::Sum)),
    ("SUB", binary(Op::Sub, false, Flags::None)),
    ("SUBS", binary(Op::Sub, false, Flags::Difference)),
    ("AND", binary(Op::And, false, Flags::None)),
    ("ANDS", binary(Op::And, false, Flags::Logic)),
    ("BIC", binary(Op::AndNot, false, Flags::None)),
    ("BICS", binary(Op::AndNot, false, Flags::Logic)),
    ("ORR", binary(Op::Or, false, Flags::None)),
    ("ORN", binary(Op::Or, true, Flags::None)),
    ("EOR", binary(Op::Xor, false, Flags::None)),
    ("EON", binary(Op::Xor, true, Flags::None)),
    (
        "CMP",
        Form::Test {
            op: Op::Sub,
            flags: Flags::Difference,
        },
    ),
    (
        "CMN",
        Form::Test {
            op: Op::Add,
            flags: Flags::Sum,
        },
    ),
    (
        "TST",
        Form::Test {
            op: Op::And,
            flags: Flags::Logic,
        },
    ),
    ("MVN", unary(Op::Or, true, Flags::None)),
    ("NEG", unary(Op::Sub, false, Flags::None)),
    ("NEGS", unary(Op::Sub, false, Flags::Difference)),
    ("LSL", Form::Shift(Shift::Left)),
    ("LSLV", Form::Shift(Shift::Left)),
    ("LSR", Form::Shift(Shift::Right)),
    ("LSRV", Form::Shift(Shift::Right)),
    ("ASR", Form::Shift(Shift::RightSigned)),
    ("ASRV", Form::Shift(Shift::RightSigned)),
    ("ROR", Form::Shift(Shift::Rotate)),
    ("RORV", Form::Shift(Shift::Rotate)),
    ("MUL", multiply(Op::Add, false, None)),
    ("MADD", multiply(Op::Add, true, None)),
    ("MNEG", multiply(Op::Sub, false, None)),
    ("MSUB", multiply(Op::Sub, true, None)),
    ("SMULL", multiply(Op::Add, false, Some(true))),
    ("SMADDL", multiply(Op::Add, true, Some(true))),
    ("SMNEGL", multiply(Op::Sub, false, Some(true))),
    ("SMSUBL", multiply(Op::Sub, true, Some(true))),
    ("UMULL", multiply(Op::Add, false, Some(false))),
    ("UMADDL", multiply(Op::Add, true, Some(false))),
    ("UMNEGL", multiply(Op::Sub, false, Some(false))),
    ("UMSUBL", multiply(Op::Sub, true, Some(false))),
    ("SXTB", extend(8, true)),
    ("SXTH", extend(16, true)),
    ("SXTW", extend(32, true)),
    ("UXTB", extend(8, false)),
    ("UXTH", extend(16, false)),
    ("UXTW", extend(32, false)),
    ("REV", Form::Convert(Convert::ReverseBytes(None))),
    ("REV16", Form::Convert(Convert::ReverseBytes(Some(16)))),
    ("REV32", Form::Convert(Convert::ReverseBytes(Some(32)))),
    ("REV64", Form::Convert(Convert::ReverseBytes(Some(64)))),
    ("RBIT", Form::Convert(Convert::ReverseBits)),
    ("ABS", Form::Convert(Convert::Absolute)),
    ("SBFM", field(true, Field::Rotation)),
    ("UBFM", field(false, Field::Rotation)),
    ("SBFX", field(true, Field::Extracted)),
    ("UBFX", field(false, Field::Extracted)),
    ("SBFIZ", field(true, Field::Inserted)),
    ("UBFIZ", field(false, Field::Inserted)),
    ("MOVZ", Form::Wide(Wide::Zero)),
    ("MOVN", Form::Wide(Wide::Not)),
    ("MOVK", Form::Wide(Wide::Keep)),
    ("EXTR", Form::Extract),
];

pub fn compute(
    r: &mut InstructionReader<'_>,
    word: &str,
) -> Result<Option<Instruction>, ParseError> {
    match word {
        "MOV" => return mov(r).map(Some),
        "MRS" => return read_flags(r).map(Some),
        "MSR" => return write_flags(r).map(Some),
        _ => {}
    }
    let Some((_, form)) = TABLE.iter().find(|(name, _)| *name == word) else {
        return Ok(None);
    };
    evaluate(r, *form).map(Some)
}

fn mov(r: &mut InstructionReader<'_>) -> Result<Instruction, ParseError> {
    let to = named(r)?;
    r.comma()?;
    let mut operands = Operands::default();
    let value = match r.at_number() {
        true => Formula::Constant(r.number()?),
        false => operands.register(&named(r)?),
    };
    Ok(match (to.reg, value) {
        (None, _) => Instruction::Nop,
        (Some(to), Formula::Operand(_)) => Instruction::Move {
            to,
            from: operands.0[0],
        },
        (Some(reg), value) => {
            let width = to.bits;
            Instruction::Evaluate {
                to: Some(reg),
                operands: operands.0,
                value: value.zero_extended(width),
                flags: None,
            }
        }
    })
}

/// The bits of the flags in the system register NZCV.
const NZCV_SHIFT: i64 = 28;

fn read_flags(r: &mut InstructionReader<'_>) -> Result<Instruction, ParseError> {
    let to = named(r)?;
    r.comma()?;
    keyword(r, FLAGS)?;
    Ok(Instruction::Evaluate {
        to: to.reg,
        operands: vec![Source::Reg(r.thread.register(FLAGS))],
        value: Formula::Operand(0).shifted_left(NZCV_SHIFT),
        flags: None,
    })
}

fn write_flags(r: &mut InstructionReader<'_>) -> Result<Instruction, ParseError> {
    keyword(r, FLAGS)?;
    r.comma()?;
    let mut operands = Operands::default();
    let value = operands.whole(&named(r)?).shifted_right(NZCV_SHIFT);
    Ok(Instruction::Evaluate {
        to: Some(r.thread.register(FLAGS)),
        operands: operands.0,
        value: value.with(Op::And, 0xf),
        flags: None,
    })
}

/// The sources of an instruction, in the order in which it reads them.
#[derive(Default)]
struct Operands(Vec<Source>);

impl Operands {
    /// All bits of a register.
    fn whole(&mut self, of: &Named) -> Formula {
        match of.reg {
            None => Formula::Constant(0),
            Some(_) => {
                self.0.push(of.source());
                Formula::Operand(self.0.len() - 1)
            }
        }
    }

    /// The part of a register that the instruction names.
    fn register(&mut self, of: &Named) -> Formula {
        self.whole(of).zero_extended(of.bits)
    }
}

fn evaluate(r: &mut InstructionReader<'_>, form: Form) -> Result<Instruction, ParseError> {
    let mut operands = Operands::default();
    let first = named(r)?;
    r.comma()?;
    let bits = first.bits;
    let mut to = Some(first);
    let mut flags = None;
    let value = match form {
        Form::Binary {
            op,
            inverted,
            flags: kind,
        } => {
            let a = operands.whole(&named(r)?);
            r.comma()?;
            let b = second(r, &mut operands, bits)?;
            flags = outcome(kind, &a, &b, bits);
            combined(op, a, b, inverted)
        }
        Form::Test { op, flags: kind } => {
            let a = operands.whole(&first);
            let b = second(r, &mut operands, bits)?;
            to = None;
            flags = outcome(kind, &a, &b, bits);
            combined(op, a, b, false)
        }
        Form::Unary {
            op,
            inverted,
            flags: kind,
        } => {
            let b = second(r, &mut operands, bits)?;
            let a = Formula::Constant(0);
            flags = outcome(kind, &a, &b, bits);
            combined(op, a, b, inverted)
        }
        Form::Shift(shift) => {
            let a = operands.register(&named(r)?);
            r.comma()?;
            let by = match r.at_number() {
                true => Formula::Constant(r.number_below(bits)?),
                false => Formula::apply(
                    Op::And,
                    operands.whole(&named(r)?),
                    Formula::Constant(bits - 1),
                ),
            };
            shifted(shift, a, by, bits)
        }
        Form::Multiply { op, third, extend } => {
            let part = |formula: Formula| match extend {
                Some(true) => formula.sign_extended(32),
                _ => formula,
            };
            let a = part(operands.register(&named(r)?));
            r.comma()?;
            let b = part(operands.register(&named(r)?));
            let mut sum = Formula::Constant(0);
            if third {
                r.comma()?;
                sum = operands.whole(&named(r)?);
            }
            Formula::apply(op, sum, Formula::apply(Op::Mul, a, b))
        }
        Form::Convert(convert) => converted(convert, operands.register(&named(r)?), bits),
        Form::Field { signed, meaning } => {
            let from = operands.register(&named(r)?);
            r.comma()?;
            let first = r.number_below(bits)?;
            r.comma()?;
            let offset = r.cursor.offset();
            let second = r.number()?;
            bit_field(from, signed, meaning, (first, second), bits).ok_or_else(|| {
                ParseError::new(offset, format!("expected a field within {bits} bits"))
            })?
        }
        Form::Wide(wide) => {
            let value = r.number()? & 0xffff;
            let mut by = 0;
            if r.cursor.eat(",") {
                keyword(r, "LSL")?;
                by = r.number_below(bits)?;
            }
            let value = value << by;
            match wide {
                Wide::Zero => Formula::Constant(value),
                Wide::Not => Formula::Constant(!value),
                Wide::Keep => {
                    let others = Formula::Constant(!(0xffff << by));
                    let kept = Formula::apply(Op::And, operands.whole(&first), others);
                    Formula::apply(Op::Or, kept, Formula::Constant(value))
                }
            }
        }
        Form::Extract => {
            let high = operands.register(&named(r)?);
            r.comma()?;
            let low = operands.register(&named(r)?);
            r.comma()?;
            let by = r.number_below(bits)?;
            match by {
                0 => low,
                by => Formula::apply(Op::Or, low.shifted_right(by), high.shifted_left(bits - by)),
            }
        }
    };
    let flags_register = flags.map(|formula| (r.thread.register(FLAGS), formula));
    Ok(Instruction::Evaluate {
        to: to.and_then(|to| to.reg),
        operands: operands.0,
        value: value.zero_extended(bits),
        flags: flags_register,
    })
}

fn combined(op: Op, a: Formula, b: Formula, inverted: bool) -> Formula {
    Formula::apply(op, a, if inverted { b.inverted() } else { b })
}

/// The formula of the flags. Those of 32 bits are those of 64 with both operands in the upper half.
fn outcome(flags: Flags, a: &Formula, b: &Formula, bits: i64) -> Option<Formula> {
    let upper = |of: &Formula| of.clone().shifted_left(64 - bits);
    Some(match flags {
        Flags::None => return None,
        Flags::Sum => Formula::apply(Op::SumFlags, upper(a), upper(b)),
        Flags::Difference => Formula::apply(Op::DifferenceFlags, upper(a), upper(b)),
        Flags::Logic => Formula::apply(Op::LogicFlags, Formula::Result, Formula::Constant(bits)),
    })
}

/// `#1`, `#1, LSL #12`, `W1`, `W1, LSL #2`, `W1, SXTB #1`
fn second(
    r: &mut InstructionReader<'_>,
    operands: &mut Operands,
    bits: i64,
) -> Result<Formula, ParseError> {
    if r.at_number() {
        let mut value = r.number()?;
        if r.cursor.eat(",") {
            keyword(r, "LSL")?;
            value = value.wrapping_shl(u32::try_from(r.number_below(bits)?).unwrap_or(0));
        }
        return Ok(Formula::Constant(value));
    }
    let from = named(r)?;
    if !r.cursor.eat(",") {
        return Ok(operands.whole(&from));
    }
    let offset = r.cursor.offset();
    let word = r
        .cursor
        .name("a shift or an extension")?
        .to_ascii_uppercase();
    let mut by = 0;
    if r.at_number() {
        by = r.number_below(bits)?;
    }
    let by_constant = Formula::Constant(by);
    let shift = match word.as_str() {
        "LSL" => Some(Shift::Left),
        "LSR" => Some(Shift::Right),
        "ASR" => Some(Shift::RightSigned),
        "ROR" => Some(Shift::Rotate),
        _ => None,
    };
    if let Some(shift) = shift {
        let from = operands.register(&from);
        return Ok(shifted(shift, from, by_constant, bits));
    }
    let whole = operands.whole(&from);
    let part = match word.as_str() {
        "UXTB" => whole.zero_extended(8),
        "UXTH" => whole.zero_extended(16),
        "UXTW" => whole.zero_extended(32),
        "SXTB" => whole.sign_extended(8),
        "SXTH" => whole.sign_extended(16),
        "SXTW" => whole.sign_extended(32),
        "UXTX" | "SXTX" => whole,
        _ => {
            return Err(ParseError::new(
                offset,
                format!("unknown shift or extension `{word}`"),
            ))
        }
    };
    Ok(part.shifted_left(by))
}

fn keyword(r: &mut InstructionReader<'_>, word: &str) -> Result<(), ParseError> {
    match r.cursor.kind() {
        TokenKind::Name(name) if name.eq_ignore_ascii_case(word) => {
            r.cursor.step();
            Ok(())
        }
        _ => Err(r.cursor.unexpected(&format!("`{word}`"))),
    }
}
