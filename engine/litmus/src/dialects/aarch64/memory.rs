//! AArch64's instructions that access memory: loads, stores, exclusive pairs, atomic instructions.

use super::operands::{named, Named, A, L, NORET, NT, Q, X};
use crate::annotation::Annotations;
use crate::assembly::columns::InstructionReader;
use crate::assembly::instruction::{BaseUpdate, Instruction, MemoryOperand, Status, Width};
use crate::error::ParseError;
use crate::lexer::TokenKind;
use crate::value::{Op, Value};

/// `[X0]`, `[X0,#4]`, `[X0,#4]!`, `[X0],#4`, `[X0,X1]`, `[X0,W1,SXTW]`, `[X0,W1,UXTW #2]`
fn memory_operand(r: &mut InstructionReader<'_>) -> Result<MemoryOperand, ParseError> {
    r.cursor.expect("[")?;
    let base = named(r)?.source();
    let mut at = MemoryOperand::at(base, 0);
    let mut immediate = true;
    if r.cursor.eat(",") {
        immediate = r.at_number();
        match immediate {
            true => at.displacement = Value::Int(r.number()?),
            false => index(r, &mut at)?,
        }
    }
    r.cursor.expect("]")?;
    if immediate && r.cursor.eat("!") {
        at.update = Some(BaseUpdate::Before);
    } else if immediate && at.displacement == Value::ZERO && r.cursor.eat(",") {
        at.update = Some(BaseUpdate::After(r.number()?));
    }
    Ok(at)
}

/// `X1`, `W1,SXTW`, `W1,UXTW #2`, `X1,LSL #3`
fn index(r: &mut InstructionReader<'_>, at: &mut MemoryOperand) -> Result<(), ParseError> {
    let index = named(r)?;
    at.index = index.reg;
    if !r.cursor.eat(",") {
        return Ok(());
    }
    let offset = r.cursor.offset();
    let word = r.cursor.name("an extension")?.to_ascii_uppercase();
    at.extend = match word.as_str() {
        "UXTW" => Some(Width::unsigned(32)),
        "SXTW" => Some(Width::signed(32)),
        "LSL" | "SXTX" => None,
        _ => {
            return Err(ParseError::new(
                offset,
                format!("expected LSL, UXTW, SXTW or SXTX, found `{word}`"),
            ))
        }
    };
    if r.at_number() {
        at.shift = u32::try_from(r.number()?).unwrap_or(0).min(4);
    }
    Ok(())
}

/// The bits that the letter at the end of an instruction's name stands for.
fn sized(suffix: &str) -> Option<Option<i64>> {
    match suffix {
        "" => Some(None),
        "B" => Some(Some(8)),
        "H" => Some(Some(16)),
        _ => None,
    }
}

/// An access whose address changes the base register has no other form than a load or a store.
fn plain_operand(r: &mut InstructionReader<'_>) -> Result<MemoryOperand, ParseError> {
    let offset = r.cursor.offset();
    let at = memory_operand(r)?;
    match at.update {
        None => Ok(at),
        Some(_) => Err(ParseError::new(
            offset,
            "this instruction does not change its base register",
        )),
    }
}

/// So many registers, with a comma after each.
fn several(r: &mut InstructionReader<'_>, count: usize) -> Result<Vec<Named>, ParseError> {
    let mut all = Vec::new();
    for _ in 0..count {
        all.push(named(r)?);
        r.comma()?;
    }
    Ok(all)
}

/// By name, the width of the part of memory that is loaded with its sign.
const SIGNED_LOADS: [(&str, i64); 6] = [
    ("LDRSB", 8),
    ("LDRSH", 16),
    ("LDRSW", 32),
    ("LDURSB", 8),
    ("LDURSH", 16),
    ("LDURSW", 32),
];

/// `LDP`, `STP`, `LDPSW`, `LDNP`, `STNP`, `LDIAPP`, `STILP`: two registers and consecutive locations.
fn pair(r: &mut InstructionReader<'_>, word: &str) -> Result<Option<Instruction>, ParseError> {
    let (loads, annotations, ordered) = match word {
        "LDP" | "LDPSW" => (true, 0, false),
        "STP" => (false, 0, false),
        "LDNP" => (true, NT, false),
        "STNP" => (false, NT, false),
        "LDIAPP" => (true, Q, true),
        "STILP" => (false, L, true),
        _ => return Ok(None),
    };
    let signed = word == "LDPSW";
    let first = named(r)?;
    r.comma()?;
    let second = named(r)?;
    r.comma()?;
    let bits = if signed { 32 } else { first.bits };
    let offset = r.cursor.offset();
    let at = match word {
        "LDNP" | "STNP" => plain_operand(r)?,
        _ => memory_operand(r)?,
    };
    // those that are ordered move the base register by both, or not at all
    let both = bits / 4;
    let moved = match loads {
        true => (0, Some(BaseUpdate::After(both))),
        false => (-both, Some(BaseUpdate::Before)),
    };
    let form = (at.displacement, at.update);
    if ordered && form != (Value::ZERO, None) && form != (Value::Int(moved.0), moved.1) {
        return Err(ParseError::new(
            offset,
            format!("unsupported address of `{word}`"),
        ));
    }
    r.access_bits = Some(bits);
    Ok(Some(match loads {
        false => Instruction::StorePair {
            from: [first.source(), second.source()],
            at,
            annotations,
            ordered,
            bits,
        },
        true => Instruction::LoadPair {
            to: [first.reg, second.reg],
            at,
            annotations,
            ordered,
            bits,
            width: match signed {
                true => Some(Width::signed(32)),
                false => first.width(),
            },
        },
    }))
}

pub fn memory(
    r: &mut InstructionReader<'_>,
    word: &str,
) -> Result<Option<Instruction>, ParseError> {
    let loads = [
        ("LDAPR", Q),
        ("LDAPUR", Q),
        ("LDAR", A),
        ("LDUR", 0),
        ("LDR", 0),
    ];
    let suffix = |name: &str| word.strip_prefix(name).and_then(sized);
    if let Some(instruction) = pair(r, word)? {
        return Ok(Some(instruction));
    }
    if let Some((_, bits)) = SIGNED_LOADS.iter().find(|(name, _)| *name == word) {
        let to = named(r)?;
        r.comma()?;
        let at = memory_operand(r)?;
        r.access_bits = Some(*bits);
        return Ok(Some(Instruction::Load {
            to: to.reg,
            at,
            annotations: 0,
            width: Some(Width {
                within: to.bits,
                ..Width::signed(*bits)
            }),
        }));
    }
    for (name, annotations) in loads {
        if let Some(bits) = suffix(name) {
            let to = named(r)?;
            r.comma()?;
            let at = memory_operand(r)?;
            let width = bits.map(Width::unsigned).or(to.width());
            r.access_bits = Some(to.access_bits(bits));
            return Ok(Some(Instruction::Load {
                to: to.reg,
                at,
                annotations: if to.reg.is_none() {
                    annotations & !(A | Q)
                } else {
                    annotations
                },
                width,
            }));
        }
    }
    for (name, annotations) in [("STLUR", L), ("STLR", L), ("STUR", 0), ("STR", 0)] {
        if let Some(bits) = suffix(name) {
            let from = named(r)?;
            r.comma()?;
            let at = memory_operand(r)?;
            let width = bits.map(Width::unsigned).or(from.width());
            r.access_bits = Some(from.access_bits(bits));
            return Ok(Some(Instruction::Store {
                from: from.source(),
                at,
                annotations,
                width,
            }));
        }
    }
    for (name, annotations, count) in [
        ("LDAXR", A | X, 1),
        ("LDXR", X, 1),
        ("LDAXP", A | X, 2),
        ("LDXP", X, 2),
    ] {
        if let Some(bits) = suffix(name).filter(|bits| count == 1 || bits.is_none()) {
            let to = several(r, count)?;
            r.access_bits = Some(to[0].access_bits(bits));
            let at = plain_operand(r)?;
            let to = to.iter().map(|to| to.reg).collect();
            return Ok(Some(Instruction::LoadReserve {
                to,
                at,
                annotations,
            }));
        }
    }
    for (name, annotations, count) in [
        ("STLXR", L | X, 1),
        ("STXR", X, 1),
        ("STLXP", L | X, 2),
        ("STXP", X, 2),
    ] {
        if let Some(bits) = suffix(name).filter(|bits| count == 1 || bits.is_none()) {
            let status = Status::Reg(named(r)?.reg);
            r.comma()?;
            let from = several(r, count)?;
            r.access_bits = Some(from[0].access_bits(bits));
            let from = from.iter().map(Named::source).collect();
            let at = plain_operand(r)?;
            return Ok(Some(Instruction::StoreConditional {
                status,
                from,
                at,
                annotations,
            }));
        }
    }
    atomic(r, word)
}

/// What the end of an atomic instruction's name stands for (`A`, `L`, `AL`, a size): the
/// annotations of its read and of its write, and its bits.
fn orders(suffix: &str) -> Option<(Annotations, Annotations, Option<i64>)> {
    let order = suffix.trim_end_matches(['B', 'H']);
    let bits = sized(&suffix[order.len()..])?;
    let (read, write) = match order {
        "" => (X, X),
        "A" => (A | X, X),
        "L" => (X, L | X),
        "AL" => (A | X, L | X),
        _ => return None,
    };
    Some((read, write, bits))
}

fn atomic(r: &mut InstructionReader<'_>, word: &str) -> Result<Option<Instruction>, ParseError> {
    let cas = word.strip_prefix("CAS");
    let found = match cas.and_then(|rest| rest.strip_prefix('P')) {
        // the pair has no sizes in its name
        Some(rest) => orders(rest).filter(|o| o.2.is_none()).map(|o| (o, 2)),
        None => cas.and_then(orders).map(|o| (o, 1)),
    };
    if let Some(((read, write, bits), count)) = found {
        let offset = r.cursor.offset();
        let named = several(r, count)?;
        r.access_bits = Some(named[0].access_bits(bits));
        let expected: Option<Vec<_>> = named.iter().map(|each| each.reg).collect();
        let new = several(r, count)?.iter().map(Named::source).collect();
        let at = plain_operand(r)?;
        let Some(expected) = expected else {
            let message = "expected a register other than the zero register";
            return Err(ParseError::new(offset, message));
        };
        return Ok(Some(Instruction::CompareAndSwap {
            expected,
            new,
            at,
            read,
            write,
        }));
    }
    let operations = [
        ("ADD", Op::Add),
        ("EOR", Op::Xor),
        ("SET", Op::Or),
        ("CLR", Op::AndNot),
        ("SMAX", Op::Max),
        ("SMIN", Op::Min),
        ("UMAX", Op::UMax),
        ("UMIN", Op::UMin),
    ];
    let (prefix, rest) = word.split_at(word.len().min(2));
    let found = match word.strip_prefix("SWP") {
        Some(rest) => orders(rest).map(|o| (None, o)),
        None => operations.into_iter().find_map(|(name, op)| {
            let orders = rest.strip_prefix(name).and_then(orders)?;
            Some((Some(op), orders))
        }),
    };
    let Some((op, (mut read, write, bits))) = found else {
        return Ok(None);
    };
    if op.is_some() && prefix != "LD" && prefix != "ST" {
        return Ok(None);
    }
    let from = named(r)?;
    r.access_bits = Some(from.access_bits(bits));
    let from = from.source();
    r.comma()?;
    let mut to = None;
    if prefix != "ST" {
        to = named(r)?.reg;
        r.comma()?;
    }
    if to.is_none() {
        // an acquire load whose value is discarded has no acquire semantics
        read = read & !A | if op.is_some() { NORET } else { 0 };
    }
    let at = plain_operand(r)?;
    if !matches!(r.cursor.kind(), TokenKind::End) {
        return Err(r.cursor.unexpected("the end of the instruction"));
    }
    Ok(Some(Instruction::AmoPair {
        op,
        to,
        from,
        at,
        read,
        write,
    }))
}
