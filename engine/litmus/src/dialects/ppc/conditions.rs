//! Power's logic of condition registers (Power ISA, book I, 2.5): instructions that compute a bit, and
//! mcrf. As in comparisons and branches, a field of four bits is one register: an instruction that
//! computes a bit depends on the other bits of its field.

use super::operands::{condition_bit, condition_field};
use crate::assembly::columns::InstructionReader;
use crate::assembly::formula::Formula;
use crate::assembly::instruction::{Instruction, Source};
use crate::error::ParseError;
use crate::value::Op;

/// The operation of two bits, whether the second is complemented, and whether the result is; and the
/// operands that are written.
struct Logic {
    op: Op,
    second_inverted: bool,
    inverted: bool,
    written: Written,
}

#[derive(Clone, Copy, PartialEq)]
enum Written {
    /// `bt, ba, bb`
    Three,
    /// `bt, ba`, which is the second source too
    Two,
    /// `bt`, which is both sources too
    One,
}

fn named(word: &str) -> Option<Logic> {
    use Written::{One, Three, Two};
    let (op, second_inverted, inverted, written) = match word {
        "crand" => (Op::And, false, false, Three),
        "crandc" => (Op::And, true, false, Three),
        "crnand" => (Op::And, false, true, Three),
        "cror" => (Op::Or, false, false, Three),
        "crorc" => (Op::Or, true, false, Three),
        "crnor" => (Op::Or, false, true, Three),
        "crxor" => (Op::Xor, false, false, Three),
        "creqv" => (Op::Xor, false, true, Three),
        "crmove" => (Op::Or, false, false, Two),
        "crnot" => (Op::Or, false, true, Two),
        "crclr" => (Op::Xor, false, false, One),
        "crset" => (Op::Xor, false, true, One),
        _ => return None,
    };
    Some(Logic {
        op,
        second_inverted,
        inverted,
        written,
    })
}

pub fn logic(r: &mut InstructionReader<'_>, word: &str) -> Result<Option<Instruction>, ParseError> {
    if word == "mcrf" {
        let to = condition_field(r)?;
        r.comma()?;
        let from = Source::Reg(condition_field(r)?);
        return Ok(Some(Instruction::Move { to, from }));
    }
    let Some(logic) = named(word) else {
        return Ok(None);
    };
    let (to, target) = condition_bit(r)?;
    let mut sources = [(to, target); 2];
    if logic.written != Written::One {
        r.comma()?;
        sources = [condition_bit(r)?; 2];
    }
    if logic.written == Written::Three {
        r.comma()?;
        sources[1] = condition_bit(r)?;
    }
    let bit = |operand: usize, (_, at): (_, i64)| {
        let field = Formula::Operand(operand);
        field.shifted_right(at).with(Op::And, 1)
    };
    let complement = |of: Formula, when: bool| match when {
        true => of.with(Op::Xor, 1),
        false => of,
    };
    let second = complement(bit(2, sources[1]), logic.second_inverted);
    let result = Formula::apply(logic.op, bit(1, sources[0]), second);
    let result = complement(result, logic.inverted).shifted_left(target);
    let others = Formula::Operand(0).with(Op::And, !(1 << target));
    Ok(Some(Instruction::Evaluate {
        to: Some(to),
        operands: [to, sources[0].0, sources[1].0].map(Source::Reg).into(),
        value: Formula::apply(Op::Or, others, result),
        flags: None,
    }))
}
