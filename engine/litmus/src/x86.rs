//! The dialects X86 (Intel's order of operands) and X86_64 (AT&T's).

use super::error::ParseError;
use super::isa::{Flags, Instr, Outcomes, Place, Src, Test};
use super::lexer::Kind;
use super::table::Reader;
use super::value::{Op, Value};

pub const TAGS: [&str; 7] = ["MFENCE", "SFENCE", "LFENCE", "X", "P", "A", "NT"];
const MFENCE: u64 = 1;
const SFENCE: u64 = 1 << 1;
const LFENCE: u64 = 1 << 2;
const ATOMIC: u64 = 1 << 3;

/// The register that comparisons write.
const FLAGS: &str = "flags";

const NAMES: [&str; 8] = ["ax", "bx", "cx", "dx", "si", "di", "bp", "sp"];

/// `EAX`, in any case.
pub fn register_32(name: &str) -> Option<String> {
    let lower = name.trim_start_matches('%').to_ascii_lowercase();
    let base = lower.strip_prefix('e')?;
    NAMES.contains(&base).then(|| lower.to_ascii_uppercase())
}

/// `rax` for any part of it.
pub fn register_64(name: &str) -> Option<String> {
    let lower = name.trim_start_matches('%').to_ascii_lowercase();
    if let Some(number) = lower.strip_prefix('r') {
        let number = number.trim_end_matches(['d', 'w', 'b']);
        if number.parse::<u32>().is_ok_and(|n| (8..16).contains(&n)) {
            return Some(format!("r{number}"));
        }
    }
    if let Some(base) = lower.strip_prefix(['r', 'e']) {
        if NAMES.contains(&base) {
            return Some(format!("r{base}"));
        }
    }
    if NAMES.contains(&lower.as_str()) {
        return Some(format!("r{lower}"));
    }
    let base = lower
        .strip_suffix('l')
        .or_else(|| lower.strip_suffix('h'))?;
    let wide = NAMES.iter().find(|n| n.starts_with(base) || **n == base)?;
    Some(format!("r{wide}"))
}

/// The order in which herd7 prints registers.
pub fn rank(name: &str) -> (usize, u32) {
    let lower = name.to_ascii_lowercase();
    match NAMES.iter().position(|n| lower.ends_with(n)) {
        Some(at) => (at, 0),
        None => (
            NAMES.len(),
            lower.trim_start_matches('r').parse().unwrap_or(u32::MAX),
        ),
    }
}

#[derive(Clone, Copy)]
enum Operand {
    Reg(usize),
    Imm(i64),
    Memory(Place),
}

/// Reads an instruction of X86.
pub fn instruction_32(r: &mut Reader<'_>) -> Result<Instr, ParseError> {
    instruction(r, false)
}

/// Reads an instruction of X86_64.
pub fn instruction_64(r: &mut Reader<'_>) -> Result<Instr, ParseError> {
    instruction(r, true)
}

fn instruction(r: &mut Reader<'_>, wide: bool) -> Result<Instr, ParseError> {
    let mut offset = r.cursor.offset();
    let mut word = r.cursor.name("an instruction")?.to_ascii_lowercase();
    let mut locked = false;
    if word == "lock" {
        locked = true;
        offset = r.cursor.offset();
        word = r.cursor.name("an instruction")?.to_ascii_lowercase();
    }
    let instr = read(r, wide, locked, offset, &word)?;
    let allowed = matches!(
        instr,
        Instr::Modify { .. } | Instr::Swap { .. } | Instr::CompareExchange { .. }
    );
    match locked && !allowed {
        true => Err(
            ParseError::new(offset, format!("`{word}` takes no lock prefix"))
                .help("lock goes with a read-modify-write of memory"),
        ),
        false => Ok(instr),
    }
}

fn read(
    r: &mut Reader<'_>,
    wide: bool,
    locked: bool,
    offset: usize,
    word: &str,
) -> Result<Instr, ParseError> {
    let flags = r.code.reg(FLAGS);
    match word {
        "mfence" => return Ok(Instr::Fence(MFENCE)),
        "sfence" => return Ok(Instr::Fence(SFENCE)),
        "lfence" => return Ok(Instr::Fence(LFENCE)),
        "nop" => return Ok(Instr::Nop),
        "jmp" => return Ok(Instr::Jump(r.label()?)),
        _ => {}
    }
    if let Some(outcomes) = word.strip_prefix('j').and_then(condition) {
        return Ok(Instr::Branch {
            when: Test::Flags(flags, outcomes),
            to: r.label()?,
        });
    }
    let sized = |name: &str| {
        let rest = word.strip_prefix(name);
        rest.is_some_and(|s| matches!(s, "" | "b" | "w" | "l" | "q"))
    };
    if let Some(name) = ["inc", "dec", "neg"].into_iter().find(|n| sized(n)) {
        r.size = bits(&word[name.len()..]);
        let op = if name == "inc" { Op::Add } else { Op::Sub };
        let to = operand(r, wide)?;
        let instr = arithmetic(op, to, Operand::Imm(1), locked, flags);
        return instr.ok_or_else(|| bad_operands(offset, word));
    }
    let names = [
        "mov", "xchg", "xadd", "cmpxchg", "cmp", "test", "add", "sub", "xor", "or", "and",
    ];
    let Some(name) = names.into_iter().find(|n| sized(n)) else {
        return Err(r.unknown(offset, word).help(
            "of x86: mov, xchg, xadd, cmpxchg (X86_64), cmp, test, add, sub, xor, or, and, inc, dec, \
             jumps and fences",
        ));
    };
    r.size = bits(&word[name.len()..]);
    let first = operand(r, wide)?;
    r.comma()?;
    let second = operand(r, wide)?;
    let (to, from) = match wide {
        true => (second, first),
        false => (first, second),
    };
    let instr = match name {
        "mov" => mov(to, from),
        "xchg" => exchange(to, from),
        // herd7 does not read it; the operands are as in Intel's and AT&T's manuals
        "xadd" => match (to, from) {
            (Operand::Memory(at), Operand::Reg(reg)) => Some(Instr::Modify {
                op: Op::Add,
                at,
                with: Src::Reg(reg),
                to: Some(reg),
                tags: if locked { ATOMIC } else { 0 },
                atomic: locked,
                flags: Flags::Result(flags),
            }),
            _ => None,
        },
        // herd7 has it in X86_64 alone, memory first
        "cmpxchg" => match (wide, first, second) {
            (true, Operand::Memory(at), Operand::Reg(new)) => Some(Instr::CompareExchange {
                expected: r.code.reg("rax"),
                new,
                at,
                tags: if locked { ATOMIC } else { 0 },
                atomic: locked,
                flags,
            }),
            _ => None,
        },
        "cmp" => compare(to, from, flags),
        "test" => match (to, from) {
            (Operand::Reg(_), Operand::Reg(_) | Operand::Imm(_)) => Some(Instr::Compute {
                to: None,
                op: Op::And,
                a: source(to),
                b: source(from),
                width: None,
                flags: Flags::Result(flags),
            }),
            _ => None,
        },
        _ => {
            let op = match name {
                "add" => Op::Add,
                "sub" => Op::Sub,
                "xor" => Op::Xor,
                "or" => Op::Or,
                _ => Op::And,
            };
            arithmetic(op, to, from, locked, flags)
        }
    };
    instr.ok_or_else(|| bad_operands(offset, word))
}

/// Of an access of memory, by the letter that may end the instruction's name.
fn bits(suffix: &str) -> Option<i64> {
    Some(match suffix {
        "b" => 8,
        "w" => 16,
        "l" => 32,
        "q" => 64,
        _ => return None,
    })
}

fn bad_operands(offset: usize, word: &str) -> ParseError {
    ParseError::unsupported(offset, format!("`{word}` does not take these operands"))
        .help("one of them may be in memory, and an immediate is not written to")
}

/// herd7 takes jl for jle.
fn condition(suffix: &str) -> Option<Outcomes> {
    Some(match suffix {
        "e" | "z" => Outcomes::new(false, true, false),
        "ne" | "nz" => Outcomes::new(true, false, true),
        "le" | "ng" | "l" | "lt" => Outcomes::new(true, true, false),
        "ge" | "nl" => Outcomes::new(false, true, true),
        "g" | "gt" | "s" => Outcomes::new(false, false, true),
        "ns" => Outcomes::new(true, true, false),
        _ => return None,
    })
}

fn source(o: Operand) -> Src {
    match o {
        Operand::Reg(r) => Src::Reg(r),
        Operand::Imm(i) => Src::Imm(Value::Int(i)),
        Operand::Memory(_) => Src::ZERO,
    }
}

fn mov(to: Operand, from: Operand) -> Option<Instr> {
    Some(match (to, from) {
        (Operand::Reg(to), Operand::Memory(at)) => Instr::Load {
            to: Some(to),
            at,
            tags: 0,
            width: None,
        },
        (Operand::Reg(to), from) => Instr::Move {
            to,
            from: source(from),
        },
        (Operand::Memory(_), Operand::Memory(_)) | (Operand::Imm(_), _) => return None,
        (Operand::Memory(at), from) => Instr::Store {
            from: source(from),
            at,
            tags: 0,
            width: None,
        },
    })
}

fn exchange(to: Operand, from: Operand) -> Option<Instr> {
    let tags = ATOMIC;
    match (to, from) {
        (Operand::Memory(at), Operand::Reg(reg)) | (Operand::Reg(reg), Operand::Memory(at)) => {
            Some(Instr::Swap { reg, at, tags })
        }
        (Operand::Reg(a), Operand::Reg(b)) if a == b => Some(Instr::Nop),
        _ => None,
    }
}

fn compare(to: Operand, from: Operand, flags: usize) -> Option<Instr> {
    let memory = |at, with, swapped| Instr::CompareMemory {
        at,
        with: source(with),
        swapped,
        tags: 0,
        flags,
    };
    Some(match (to, from) {
        (Operand::Memory(_), Operand::Memory(_)) => return None,
        (Operand::Memory(at), with) => memory(at, with, false),
        (with, Operand::Memory(at)) => memory(at, with, true),
        (a, b) => Instr::Compute {
            to: None,
            op: Op::Sub,
            a: source(a),
            b: source(b),
            width: None,
            flags: Flags::Operands(flags),
        },
    })
}

fn arithmetic(op: Op, to: Operand, with: Operand, locked: bool, flags: usize) -> Option<Instr> {
    Some(match (to, with) {
        (Operand::Imm(_), _) | (_, Operand::Memory(_)) => return None,
        (Operand::Reg(to), with) => Instr::Compute {
            to: Some(to),
            op,
            a: Src::Reg(to),
            b: source(with),
            width: None,
            flags: Flags::Result(flags),
        },
        (Operand::Memory(at), with) => Instr::Modify {
            op,
            at,
            with: source(with),
            to: None,
            tags: if locked { ATOMIC } else { 0 },
            atomic: locked,
            flags: Flags::Result(flags),
        },
    })
}

fn operand(r: &mut Reader<'_>, wide: bool) -> Result<Operand, ParseError> {
    let displaced = matches!(r.cursor.ahead(1), Kind::Sign("("));
    if r.cursor.is("$") || r.at_number() && !displaced {
        return Ok(Operand::Imm(r.number()?));
    }
    let mut displacement = 0;
    if displaced && r.at_number() {
        displacement = r.number()?;
    }
    let close = match (r.cursor.is("("), r.cursor.is("[")) {
        (true, _) => ")",
        (_, true) => "]",
        _ => {
            r.cursor.eat("%");
            let offset = r.cursor.offset();
            let name = r.cursor.name("an operand")?;
            return match register(name, wide) {
                Some(name) => Ok(Operand::Reg(r.code.reg(&name))),
                None => Err(
                    ParseError::new(offset, format!("`{name}` is not a register"))
                        .help("a location stands in brackets: [x] in X86, (x) in X86_64"),
                ),
            };
        }
    };
    r.cursor.step();
    r.cursor.eat("%");
    let name = r.cursor.name("a register or a location")?;
    let base = match register(name, wide) {
        Some(name) => Src::Reg(r.code.reg(&name)),
        None => Src::Imm(r.names.value(name)),
    };
    if r.cursor.eat("+") {
        displacement = r.number()?;
    }
    r.cursor.expect(close)?;
    Ok(Operand::Memory(Place::at(base, displacement)))
}

fn register(name: &str, wide: bool) -> Option<String> {
    match wide {
        true => register_64(name),
        false => register_32(name),
    }
}
