//! The dialect RISCV.

use super::error::ParseError;
use super::isa::{bits, Flags, Instr, Place, Reg, Src, Status, Test, Width};
use super::lexer::Kind;
use super::table::Reader;
use super::value::{Op, Value};

pub const TAGS: [&str; 19] = [
    "Acq",
    "Rel",
    "AcqRel",
    "Sc",
    "Rlx",
    "X",
    "Fence.r.r",
    "Fence.r.w",
    "Fence.r.rw",
    "Fence.w.r",
    "Fence.w.w",
    "Fence.w.rw",
    "Fence.rw.r",
    "Fence.rw.w",
    "Fence.rw.rw",
    "Fence.tso",
    "Fence.i",
    "P",
    "A",
];
pub const RLX: u64 = 1 << 4;
const ATOMIC: u64 = 1 << 5;

const NUMBERS: [&str; 32] = [
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4",
    "a5", "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4",
    "t5", "t6",
];

pub fn register(name: &str) -> Option<String> {
    if let Some(number) = name.strip_prefix('x').and_then(|n| n.parse::<u32>().ok()) {
        return (number < 32).then(|| format!("x{number}"));
    }
    let at = NUMBERS.iter().position(|n| *n == name)?;
    Some(format!("x{at}"))
}

/// Ordering annotations of memory instructions.
fn order(words: &[&str]) -> Option<u64> {
    Some(match words {
        [] => RLX,
        ["aq"] => 1,
        ["rl"] => 1 << 1,
        ["aq", "rl"] | ["rl", "aq"] | ["aqrl"] => 1 << 2,
        ["sc"] => 1 << 3,
        _ => return None,
    })
}

pub fn instruction(r: &mut Reader<'_>) -> Result<Instr, ParseError> {
    let offset = r.cursor.offset();
    let word = r.cursor.name("an instruction")?;
    let unknown = |r: &Reader<'_>| {
        r.unknown(offset, word)
            .help("of RISC-V: lw, sw, lr.w, sc.w, amoadd.w, …, fence, addi, ori, xor, beq, bne, …")
    };
    let parts: Vec<&str> = word.split('.').collect();
    let (base, rest) = (parts[0], &parts[1..]);
    if base == "fence" {
        return fence(r, rest).and_then(|f| f.ok_or_else(|| unknown(r)));
    }
    if let Some(instr) = memory(r, base, rest)? {
        return Ok(instr);
    }
    if !rest.is_empty() {
        return Err(unknown(r));
    }
    match base {
        "nop" => return Ok(Instr::Nop),
        "j" => return Ok(Instr::Jump(r.label()?)),
        "li" | "mv" => {
            let to = reg(r)?;
            r.comma()?;
            let from = match base {
                "li" => Src::Imm(Value::Int(r.number()?)),
                _ => source(r)?,
            };
            return Ok(match to {
                Some(to) => Instr::Move { to, from },
                None => Instr::Nop,
            });
        }
        _ => {}
    }
    if let Some(instr) = branch(r, base)? {
        return Ok(instr);
    }
    compute(r, base)?.ok_or_else(|| unknown(r))
}

fn compute(r: &mut Reader<'_>, base: &str) -> Result<Option<Instr>, ParseError> {
    let narrow = base.len() > 3 && base.ends_with('w');
    let name = if narrow {
        &base[..base.len() - 1]
    } else {
        base
    };
    let (op, immediate) = match name {
        "add" => (Op::Add, false),
        "sub" => (Op::Sub, false),
        "and" => (Op::And, false),
        "or" => (Op::Or, false),
        "xor" => (Op::Xor, false),
        "sll" => (Op::ShiftLeft, false),
        "slt" => (Op::Lt, false),
        "mul" => (Op::Mul, false),
        "addi" => (Op::Add, true),
        "andi" => (Op::And, true),
        "ori" => (Op::Or, true),
        "xori" => (Op::Xor, true),
        "slli" => (Op::ShiftLeft, true),
        "slti" => (Op::Lt, true),
        _ => return Ok(None),
    };
    let to = reg(r)?;
    r.comma()?;
    let a = source(r)?;
    r.comma()?;
    let b = match immediate {
        true => Src::Imm(Value::Int(r.number()?)),
        false => source(r)?,
    };
    let width = narrow.then_some(Width {
        bits: 32,
        signed: true,
    });
    Ok(Some(Instr::Compute {
        to,
        op,
        a,
        b,
        width,
        flags: Flags::Keep,
    }))
}

fn branch(r: &mut Reader<'_>, base: &str) -> Result<Option<Instr>, ParseError> {
    let (name, zero) = match base.strip_suffix('z') {
        Some(name) => (name, true),
        None => (base, false),
    };
    let (op, swapped) = match name {
        "beq" => (Op::Eq, false),
        "bne" => (Op::Ne, false),
        "blt" => (Op::Lt, false),
        "bge" => (Op::Ge, false),
        "bgt" => (Op::Lt, true),
        "ble" => (Op::Ge, true),
        _ => return Ok(None),
    };
    let mut a = source(r)?;
    r.comma()?;
    let mut b = Src::ZERO;
    if !zero {
        b = source(r)?;
        r.comma()?;
    }
    if swapped {
        std::mem::swap(&mut a, &mut b);
    }
    Ok(Some(Instr::Branch {
        when: Test::Compare(op, a, b),
        to: r.label()?,
    }))
}

fn fence(r: &mut Reader<'_>, rest: &[&str]) -> Result<Option<Instr>, ParseError> {
    let kind = match rest {
        ["tso"] => "Fence.tso".to_string(),
        ["i"] => "Fence.i".to_string(),
        [] if r.cursor.at_end() => "Fence.rw.rw".to_string(),
        [] => {
            let side = |r: &mut Reader<'_>| -> Result<String, ParseError> {
                let name = r.cursor.name("r, w or rw")?;
                Ok(name.replace(['i', 'o'], ""))
            };
            let before = side(r)?;
            r.comma()?;
            format!("Fence.{before}.{}", side(r)?)
        }
        _ => return Ok(None),
    };
    let bit = TAGS.iter().position(|t| *t == kind);
    Ok(bit.map(|bit| Instr::Fence(1 << bit)))
}

fn memory(r: &mut Reader<'_>, base: &str, rest: &[&str]) -> Result<Option<Instr>, ParseError> {
    let width = |name: &str, signed: bool| {
        let bits = match name.trim_end_matches('u') {
            "b" => 8,
            "h" => 16,
            _ => return None,
        };
        Some(Width { bits, signed })
    };
    if let ("lb" | "lbu" | "lh" | "lhu" | "lw" | "lwu" | "ld", Some(tags)) = (base, order(rest)) {
        let to = reg(r)?;
        r.comma()?;
        let at = displaced(r)?;
        let width = width(&base[1..], !base.ends_with('u'));
        r.size = bits(&base[1..2]);
        return Ok(Some(Instr::Load {
            to,
            at,
            tags,
            width,
        }));
    }
    if let ("sb" | "sh" | "sw" | "sd", Some(tags)) = (base, order(rest)) {
        let from = source(r)?;
        r.comma()?;
        let at = displaced(r)?;
        let width = width(&base[1..], true);
        r.size = bits(&base[1..2]);
        return Ok(Some(Instr::Store {
            from,
            at,
            tags,
            width,
        }));
    }
    let [size @ ("w" | "d"), words @ ..] = rest else {
        return Ok(None);
    };
    r.size = bits(size);
    let Some(tags) = order(words) else {
        return Ok(None);
    };
    let tags = tags | ATOMIC;
    if base == "lr" {
        let to = reg(r)?;
        r.comma()?;
        let at = displaced(r)?;
        return Ok(Some(Instr::LoadReserve { to, at, tags }));
    }
    let op = match base.strip_prefix("amo") {
        None if base == "sc" => None,
        Some("swap") => None,
        Some("add") => Some(Op::Add),
        Some("and") => Some(Op::And),
        Some("or") => Some(Op::Or),
        Some("xor") => Some(Op::Xor),
        Some("max") => Some(Op::Max),
        Some("min") => Some(Op::Min),
        Some("maxu") => Some(Op::UMax),
        Some("minu") => Some(Op::UMin),
        _ => return Ok(None),
    };
    let to = reg(r)?;
    r.comma()?;
    let from = source(r)?;
    r.comma()?;
    let at = displaced(r)?;
    Ok(Some(match base {
        "sc" => Instr::StoreConditional {
            status: Status::Reg(to),
            from,
            at,
            tags,
        },
        _ => Instr::Amo {
            op,
            to,
            from,
            at,
            tags,
        },
    }))
}

/// A register to write; none for x0.
fn reg(r: &mut Reader<'_>) -> Result<Option<Reg>, ParseError> {
    let offset = r.cursor.offset();
    let name = r.cursor.name("a register")?;
    match register(name) {
        Some(name) if name == "x0" => Ok(None),
        Some(name) => Ok(Some(r.code.reg(&name))),
        None => Err(
            ParseError::new(offset, format!("`{name}` is not a register"))
                .help("registers are x0 to x31, or a0, t0, …"),
        ),
    }
}

fn source(r: &mut Reader<'_>) -> Result<Src, ParseError> {
    Ok(reg(r)?.map_or(Src::ZERO, Src::Reg))
}

/// `4(x5)` or `(x5)`
fn displaced(r: &mut Reader<'_>) -> Result<Place, ParseError> {
    let mut displacement = 0;
    if r.at_number() || matches!(r.cursor.kind(), Kind::Number(_)) {
        displacement = r.number()?;
    }
    r.cursor.expect("(")?;
    let base = source(r)?;
    r.cursor.expect(")")?;
    Ok(Place::at(base, displacement))
}
