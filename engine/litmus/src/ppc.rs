//! The dialect PPC: Power.

use super::error::ParseError;
use super::isa::{bits, Flags, Instr, Outcomes, Place, Reg, Src, Status, Test, Width};
use super::lexer::Kind;
use super::table::Reader;
use super::value::{Op, Value};

pub const TAGS: [&str; 6] = ["SYNC", "LWSYNC", "EIEIO", "ISYNC", "X", "A"];
const ATOMIC: u64 = 1 << 4;

pub fn register(name: &str) -> Option<String> {
    let number: u32 = name.strip_prefix('r')?.parse().ok()?;
    (number < 32).then(|| format!("r{number}"))
}

pub fn instruction(r: &mut Reader<'_>) -> Result<Instr, ParseError> {
    let offset = r.cursor.offset();
    let word = r.cursor.name("an instruction")?;
    let fences = ["sync", "lwsync", "eieio", "isync"];
    if let Some(bit) = fences.iter().position(|f| *f == word) {
        return Ok(Instr::Fence(1 << bit));
    }
    if let Some(instr) = memory(r, word)? {
        return Ok(instr);
    }
    let (base, dot) = match word.strip_suffix('.') {
        Some(base) => (base, true),
        None => (word, false),
    };
    match base {
        "hwsync" => return Ok(Instr::Fence(1)),
        "nop" => return Ok(Instr::Nop),
        "b" => return Ok(Instr::Jump(r.label()?)),
        "li" => {
            let to = reg(r)?;
            r.comma()?;
            let from = Src::Imm(Value::Int(r.number()?));
            return Ok(Instr::Move { to, from });
        }
        "mr" => {
            let to = reg(r)?;
            r.comma()?;
            let from = Src::Reg(reg(r)?);
            return Ok(Instr::Move { to, from });
        }
        "cmpwi" | "cmpdi" | "cmpw" | "cmpd" => return compare(r, base.ends_with('i')),
        _ => {}
    }
    if let Some(outcomes) = base.strip_prefix('b').and_then(condition) {
        let flags = condition_register(r)?;
        return Ok(Instr::Branch {
            when: Test::Flags(flags, outcomes),
            to: r.label()?,
        });
    }
    let (op, immediate) = match base {
        "add" => (Op::Add, false),
        "sub" | "subf" => (Op::Sub, false),
        "or" => (Op::Or, false),
        "and" => (Op::And, false),
        "xor" => (Op::Xor, false),
        "mullw" => (Op::Mul, false),
        "divw" => (Op::Div, false),
        "addi" => (Op::Add, true),
        "ori" => (Op::Or, true),
        "xori" => (Op::Xor, true),
        "andi" => (Op::And, true),
        "mulli" => (Op::Mul, true),
        _ => {
            return Err(r.unknown(offset, word).help(
                "of Power: li, mr, addi, add, sub, or, xor, and, cmpw, branches, lwz, stw, lwarx, stwcx., sync, lwsync, eieio, isync",
            ))
        }
    };
    let to = reg(r)?;
    r.comma()?;
    let first = reg(r)?;
    r.comma()?;
    let (mut a, mut b) = match immediate {
        true => (Src::Reg(first), Src::Imm(Value::Int(r.number()?))),
        false => (Src::Reg(first), Src::Reg(reg(r)?)),
    };
    if base == "subf" {
        std::mem::swap(&mut a, &mut b);
    }
    if base == "addi" && r.code.registers[first] == "r0" {
        return Ok(Instr::Move { to, from: b });
    }
    let flags = match dot || base == "andi" {
        true => Flags::Result(r.code.reg("cr0")),
        false => Flags::Keep,
    };
    Ok(Instr::Compute {
        to: Some(to),
        op,
        a,
        b,
        width: None,
        flags,
    })
}

fn condition(suffix: &str) -> Option<Outcomes> {
    Some(match suffix.trim_end_matches(['+', '-']) {
        "eq" => Outcomes::new(false, true, false),
        "ne" => Outcomes::new(true, false, true),
        "lt" => Outcomes::new(true, false, false),
        "ge" => Outcomes::new(false, true, true),
        "gt" => Outcomes::new(false, false, true),
        "le" => Outcomes::new(true, true, false),
        _ => return None,
    })
}

fn compare(r: &mut Reader<'_>, immediate: bool) -> Result<Instr, ParseError> {
    let flags = condition_register(r)?;
    let a = Src::Reg(reg(r)?);
    r.comma()?;
    let b = match immediate {
        true => Src::Imm(Value::Int(r.number()?)),
        false => Src::Reg(reg(r)?),
    };
    Ok(Instr::Compute {
        to: None,
        op: Op::Sub,
        a,
        b,
        width: None,
        flags: Flags::Operands(flags),
    })
}

/// `cr3,` when it is given; else cr0. A `+` or `-` that hints at the branch is passed over.
fn condition_register(r: &mut Reader<'_>) -> Result<Reg, ParseError> {
    if r.cursor.is("+") || r.cursor.is("-") {
        r.cursor.step();
    }
    let name = match r.cursor.kind() {
        Kind::Name(n) if n.len() == 3 && n.starts_with("cr") => n,
        _ => return Ok(r.code.reg("cr0")),
    };
    r.cursor.step();
    r.comma()?;
    Ok(r.code.reg(name))
}

fn reg(r: &mut Reader<'_>) -> Result<Reg, ParseError> {
    let offset = r.cursor.offset();
    let name = r.cursor.name("a register")?;
    match register(name) {
        Some(name) => Ok(r.code.reg(&name)),
        None => Err(
            ParseError::new(offset, format!("`{name}` is not a register"))
                .help("registers are r0 to r31"),
        ),
    }
}

fn memory(r: &mut Reader<'_>, word: &str) -> Result<Option<Instr>, ParseError> {
    let instr = match word {
        "lwarx" | "ldarx" => {
            let (to, at) = indexed(r)?;
            Instr::LoadReserve {
                to: Some(to),
                at,
                tags: ATOMIC,
            }
        }
        "stwcx." | "stdcx." => {
            let (from, at) = indexed(r)?;
            Instr::StoreConditional {
                status: Status::Flags(r.code.reg("cr0")),
                from: Src::Reg(from),
                at,
                tags: ATOMIC,
            }
        }
        "lbz" | "lhz" | "lwz" | "ld" => {
            let (to, at) = displaced(r)?;
            load(to, at, &word[1..2])
        }
        "lbzx" | "lhzx" | "lwzx" | "ldx" => {
            let (to, at) = indexed(r)?;
            load(to, at, &word[1..2])
        }
        "stb" | "sth" | "stw" | "std" => {
            let (from, at) = displaced(r)?;
            store(from, at, &word[2..3])
        }
        "stbx" | "sthx" | "stwx" | "stdx" => {
            let (from, at) = indexed(r)?;
            store(from, at, &word[2..3])
        }
        _ => return Ok(None),
    };
    let size = word.trim_start_matches("st").trim_start_matches('l');
    r.size = bits(&size[..1]);
    Ok(Some(instr))
}

fn width(letter: &str) -> Option<Width> {
    let bits = match letter {
        "b" => 8,
        "h" => 16,
        _ => return None,
    };
    Some(Width {
        bits,
        signed: false,
    })
}

fn load(to: Reg, at: Place, letter: &str) -> Instr {
    Instr::Load {
        to: Some(to),
        at,
        tags: 0,
        width: width(letter),
    }
}

fn store(from: Reg, at: Place, letter: &str) -> Instr {
    Instr::Store {
        from: Src::Reg(from),
        at,
        tags: 0,
        width: width(letter),
    }
}

/// `r1,8(r2)`
fn displaced(r: &mut Reader<'_>) -> Result<(Reg, Place), ParseError> {
    let first = reg(r)?;
    r.comma()?;
    let displacement = r.number()?;
    r.cursor.expect("(")?;
    let base = reg(r)?;
    r.cursor.expect(")")?;
    Ok((first, Place::at(Src::Reg(base), displacement)))
}

/// `r1,r2,r3`; r0 as the base is zero.
fn indexed(r: &mut Reader<'_>) -> Result<(Reg, Place), ParseError> {
    let first = reg(r)?;
    r.comma()?;
    let base = reg(r)?;
    r.comma()?;
    let index = reg(r)?;
    let mut at = Place::at(Src::Reg(index), 0);
    if r.code.registers[base] != "r0" {
        at.base = Src::Reg(base);
        at.index = Some(index);
    }
    Ok((first, at))
}
