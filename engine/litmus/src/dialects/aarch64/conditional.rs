//! AArch64's instructions that depend on the condition flags.

use super::operands::{named, target, FLAGS};
use crate::assembly::columns::InstructionReader;
use crate::assembly::instruction::{Instruction, Predicate, Source};
use crate::error::ParseError;
use crate::nzcv::CONDITIONS;
use crate::value::{Op, Value};

/// What a conditional select does with its second source.
type Adjustment = &'static [(Op, Value)];

const AS_IT_IS: Adjustment = &[];
const INCREMENTED: Adjustment = &[(Op::Add, Value::ONE)];
const INVERTED: Adjustment = &[(Op::Xor, Value::Int(-1))];
const NEGATED: Adjustment = &[(Op::Xor, Value::Int(-1)), (Op::Add, Value::ONE)];

/// By name, the number of sources and the adjustment. With fewer than two sources the instruction
/// is an alias under the opposite condition: both sources are the one, or the zero register.
const SELECTS: [(&str, usize, Adjustment); 9] = [
    ("CSEL", 2, AS_IT_IS),
    ("CSINC", 2, INCREMENTED),
    ("CSINV", 2, INVERTED),
    ("CSNEG", 2, NEGATED),
    ("CINC", 1, INCREMENTED),
    ("CINV", 1, INVERTED),
    ("CNEG", 1, NEGATED),
    ("CSET", 0, INCREMENTED),
    ("CSETM", 0, INVERTED),
];

/// The code of a condition.
pub fn condition(name: &str) -> Option<i64> {
    let found = CONDITIONS.iter().position(|names| names.contains(&name));
    found.and_then(|code| i64::try_from(code).ok())
}

/// `B.EQ`
pub fn branch(r: &mut InstructionReader<'_>, code: i64) -> Result<Instruction, ParseError> {
    Ok(Instruction::Branch {
        when: Predicate::Condition(r.thread.register(FLAGS), code),
        to: target(r)?,
    })
}

pub fn select(
    r: &mut InstructionReader<'_>,
    word: &str,
) -> Result<Option<Instruction>, ParseError> {
    let found = SELECTS.iter().find(|(name, ..)| *name == word);
    let Some((_, count, adjust)) = found else {
        return Ok(None);
    };
    let to = named(r)?;
    let mut sources = [Source::ZERO; 2];
    for source in &mut sources[..*count] {
        r.comma()?;
        *source = named(r)?.source();
    }
    if *count == 1 {
        sources[1] = sources[0];
    }
    r.comma()?;
    let offset = r.cursor.offset();
    let name = r.cursor.name("a condition")?.to_ascii_uppercase();
    let code = condition(&name)
        .ok_or_else(|| ParseError::new(offset, format!("unknown condition `{name}`")))?;
    let opposite = if *count < 2 { 1 } else { 0 };
    let when = Predicate::Condition(r.thread.register(FLAGS), code ^ opposite);
    Ok(Some(match to.reg {
        Some(reg) => Instruction::Select {
            to: reg,
            when,
            then: sources[0],
            otherwise: sources[1],
            adjust: adjust.to_vec(),
            width: to.width(),
        },
        None => Instruction::Nop,
    }))
}
