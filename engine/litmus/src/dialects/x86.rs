//! The dialects X86, with Intel's order of operands, and X86_64, with AT&T's.

use crate::annotation::{annotation, Annotations};
use crate::assembly::columns::{self, InstructionReader};
use crate::assembly::instruction::{
    FlagCondition, FlagUpdate, Instruction, MemoryOperand, Predicate, Source,
};
use crate::dialect::{Dialect, Reservation};
use crate::error::ParseError;
use crate::lexer::TokenKind;
use crate::program::Program;
use crate::value::{Op, RegisterId, Value};

pub static X86: Dialect = Dialect {
    name: "X86",
    program: |section, locations| {
        columns::program(section, locations, |r| instruction(r, false)).map(Program::Assembly)
    },
    register: register_32,
    register_order,
    annotations: &ANNOTATIONS,
    implied_annotations: &[],
    initial_write: 0,
    empty_sets: &[],
    branch_events: false,
    reservation: Reservation::None,
    rmw_in_one_instruction: true,
};

pub static X86_64: Dialect = Dialect {
    name: "X86_64",
    program: |section, locations| {
        columns::program(section, locations, |r| instruction(r, true)).map(Program::Assembly)
    },
    register: register_64,
    ..X86
};

const ANNOTATIONS: [&str; 7] = ["MFENCE", "SFENCE", "LFENCE", "X", "P", "A", "NT"];
const MFENCE: Annotations = annotation(&ANNOTATIONS, "MFENCE");
const SFENCE: Annotations = annotation(&ANNOTATIONS, "SFENCE");
const LFENCE: Annotations = annotation(&ANNOTATIONS, "LFENCE");
const ATOMIC: Annotations = annotation(&ANNOTATIONS, "X");

/// The register that comparisons write.
const FLAGS: &str = "flags";

const NAMES: [&str; 8] = ["ax", "bx", "cx", "dx", "si", "di", "bp", "sp"];

/// `EAX`, in any case.
fn register_32(name: &str) -> Option<String> {
    let lower = name.trim_start_matches('%').to_ascii_lowercase();
    let base = lower.strip_prefix('e')?;
    NAMES.contains(&base).then(|| lower.to_ascii_uppercase())
}

/// `rax` for any part of it.
fn register_64(name: &str) -> Option<String> {
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
    if matches!(lower.as_str(), "rip" | "cs") {
        return Some(lower);
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
fn register_order(name: &str) -> (usize, u32) {
    let lower = name.to_ascii_lowercase();
    match NAMES.iter().position(|n| lower.ends_with(n)) {
        Some(at) => (at, 0),
        None => (
            NAMES.len(),
            lower.trim_start_matches('r').parse().unwrap_or(u32::MAX),
        ),
    }
}

/// The instructions of two operands.
const NAMES_OF_TWO: [&str; 12] = [
    "mov", "xchg", "xadd", "cmpxchg", "cmp", "test", "add", "sub", "xor", "or", "and", "shl",
];

#[derive(Clone, Copy)]
enum Operand {
    Reg(RegisterId),
    Imm(i64),
    Memory(MemoryOperand),
}

/// `wide`: in X86_64.
fn instruction(r: &mut InstructionReader<'_>, wide: bool) -> Result<Instruction, ParseError> {
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
        Instruction::Modify { .. } | Instruction::Swap { .. } | Instruction::CompareExchange { .. }
    );
    match locked && !allowed {
        true => Err(
            ParseError::new(offset, format!("unexpected `lock` before `{word}`"))
                .help("the lock prefix requires a read-modify-write of memory"),
        ),
        false => Ok(instr),
    }
}

fn read(
    r: &mut InstructionReader<'_>,
    wide: bool,
    locked: bool,
    offset: usize,
    word: &str,
) -> Result<Instruction, ParseError> {
    let flags = r.thread.register(FLAGS);
    match word {
        "mfence" => return Ok(Instruction::Fence(MFENCE)),
        "sfence" => return Ok(Instruction::Fence(SFENCE)),
        "lfence" => return Ok(Instruction::Fence(LFENCE)),
        "nop" | "endbr64" => return Ok(Instruction::Nop),
        // no operation, with an operand that is not accessed
        "nopl" | "nopw" => {
            while !r.cursor.at_end() {
                r.cursor.step();
            }
            return Ok(Instruction::Nop);
        }
        "ret" => return Ok(Instruction::Exit),
        "jmp" => return Ok(Instruction::Jump(r.label()?)),
        _ => {}
    }
    if let Some(outcomes) = word.strip_prefix('j').and_then(condition) {
        return Ok(Instruction::Branch {
            when: Predicate::Flags(flags, outcomes),
            to: r.label()?,
        });
    }
    let sized = |name: &str| {
        let rest = word.strip_prefix(name);
        rest.is_some_and(|s| matches!(s, "" | "b" | "w" | "l" | "q"))
    };
    // herd7 merges a part into its register: only whole words are read
    let narrow = |name: &&str| matches!(word.strip_prefix(*name), Some("b" | "w"));
    if ["inc", "dec", "neg"]
        .iter()
        .chain(&NAMES_OF_TWO)
        .any(narrow)
    {
        return Err(ParseError::unsupported(
            offset,
            format!("`{word}`: accesses of 8 and 16 bits are not supported for x86"),
        )
        .help("accesses of 32 and 64 bits are"));
    }
    if let Some(name) = ["inc", "dec", "neg"].into_iter().find(|n| sized(n)) {
        r.access_bits = access_bits(&word[name.len()..]);
        let op = if name == "inc" { Op::Add } else { Op::Sub };
        let to = operand(r, wide)?;
        let instr = arithmetic(op, to, Operand::Imm(1), locked, flags);
        return instr.ok_or_else(|| bad_operands(offset, word));
    }
    let Some(name) = NAMES_OF_TWO.into_iter().find(|n| sized(n)) else {
        return Err(r.unknown(offset, word).help(
            "supported for x86: mov, xchg, xadd, cmpxchg (X86_64), cmp, test, add, sub, xor, or, and, inc, dec, \
             jumps and fences",
        ));
    };
    r.access_bits = access_bits(&word[name.len()..]);
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
        // not supported by herd7; the operands are those of Intel's and AT&T's manuals
        "xadd" => match (to, from) {
            (Operand::Memory(at), Operand::Reg(reg)) => Some(Instruction::Modify {
                op: Op::Add,
                at,
                with: Source::Reg(reg),
                to: Some(reg),
                annotations: if locked { ATOMIC } else { 0 },
                atomic: locked,
                flags: FlagUpdate::Result(flags),
            }),
            _ => None,
        },
        // herd7 supports it in X86_64 only, with the memory operand first
        "cmpxchg" => match (wide, first, second) {
            (true, Operand::Memory(at), Operand::Reg(new)) => Some(Instruction::CompareExchange {
                expected: r.thread.register("rax"),
                new,
                at,
                annotations: if locked { ATOMIC } else { 0 },
                atomic: locked,
                flags,
            }),
            _ => None,
        },
        "cmp" => compare(to, from, flags),
        "test" => match (to, from) {
            (Operand::Reg(_), Operand::Reg(_) | Operand::Imm(_)) => Some(Instruction::Compute {
                to: None,
                op: Op::And,
                a: source(to),
                b: source(from),
                flags: FlagUpdate::Result(flags),
            }),
            _ => None,
        },
        _ => {
            let op = match name {
                "add" => Op::Add,
                "sub" => Op::Sub,
                "xor" => Op::Xor,
                "shl" => Op::ShiftLeft,
                "or" => Op::Or,
                _ => Op::And,
            };
            arithmetic(op, to, from, locked, flags)
        }
    };
    instr.ok_or_else(|| bad_operands(offset, word))
}

/// The bits of a memory access by the letter that may end the instruction's name.
fn access_bits(suffix: &str) -> Option<i64> {
    Some(match suffix {
        "b" => 8,
        "w" => 16,
        "l" => 32,
        "q" => 64,
        _ => return None,
    })
}

fn bad_operands(offset: usize, word: &str) -> ParseError {
    ParseError::unsupported(offset, format!("unsupported operands of `{word}`"))
        .help("at most one operand is in memory, and the destination is not an immediate")
}

/// As in herd7, which reads jl as jle.
fn condition(suffix: &str) -> Option<FlagCondition> {
    Some(match suffix {
        "e" | "z" => FlagCondition::new(false, true, false),
        "ne" | "nz" => FlagCondition::new(true, false, true),
        "le" | "ng" | "l" | "lt" => FlagCondition::new(true, true, false),
        "ge" | "nl" => FlagCondition::new(false, true, true),
        "g" | "gt" | "s" => FlagCondition::new(false, false, true),
        "ns" => FlagCondition::new(true, true, false),
        _ => return None,
    })
}

fn source(o: Operand) -> Source {
    match o {
        Operand::Reg(r) => Source::Reg(r),
        Operand::Imm(i) => Source::Imm(Value::Int(i)),
        Operand::Memory(_) => Source::ZERO,
    }
}

fn mov(to: Operand, from: Operand) -> Option<Instruction> {
    Some(match (to, from) {
        (Operand::Reg(to), Operand::Memory(at)) => Instruction::Load {
            to: Some(to),
            at,
            annotations: 0,
            width: None,
        },
        (Operand::Reg(to), from) => Instruction::Move {
            to,
            from: source(from),
        },
        (Operand::Memory(_), Operand::Memory(_)) | (Operand::Imm(_), _) => return None,
        (Operand::Memory(at), from) => Instruction::Store {
            from: source(from),
            at,
            annotations: 0,
            width: None,
        },
    })
}

fn exchange(to: Operand, from: Operand) -> Option<Instruction> {
    let annotations = ATOMIC;
    match (to, from) {
        (Operand::Memory(at), Operand::Reg(reg)) | (Operand::Reg(reg), Operand::Memory(at)) => {
            Some(Instruction::Swap {
                reg,
                at,
                annotations,
            })
        }
        (Operand::Reg(a), Operand::Reg(b)) if a == b => Some(Instruction::Nop),
        _ => None,
    }
}

fn compare(to: Operand, from: Operand, flags: RegisterId) -> Option<Instruction> {
    let memory = |at, with, swapped| Instruction::CompareMemory {
        at,
        with: source(with),
        swapped,
        annotations: 0,
        flags,
    };
    Some(match (to, from) {
        (Operand::Memory(_), Operand::Memory(_)) => return None,
        (Operand::Memory(at), with) => memory(at, with, false),
        (with, Operand::Memory(at)) => memory(at, with, true),
        (a, b) => Instruction::Compute {
            to: None,
            op: Op::Sub,
            a: source(a),
            b: source(b),
            flags: FlagUpdate::Operands(flags),
        },
    })
}

fn arithmetic(
    op: Op,
    to: Operand,
    with: Operand,
    locked: bool,
    flags: RegisterId,
) -> Option<Instruction> {
    Some(match (to, with) {
        (Operand::Imm(_), _) | (_, Operand::Memory(_)) => return None,
        (Operand::Reg(to), with) => Instruction::Compute {
            to: Some(to),
            op,
            a: Source::Reg(to),
            b: source(with),
            flags: FlagUpdate::Result(flags),
        },
        (Operand::Memory(at), with) => Instruction::Modify {
            op,
            at,
            with: source(with),
            to: None,
            annotations: if locked { ATOMIC } else { 0 },
            atomic: locked,
            flags: FlagUpdate::Result(flags),
        },
    })
}

fn operand(r: &mut InstructionReader<'_>, wide: bool) -> Result<Operand, ParseError> {
    let displaced = matches!(r.cursor.ahead(1), TokenKind::Sign("("))
        || r.cursor.is("-") && matches!(r.cursor.ahead(2), TokenKind::Sign("("));
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
            whole_words(name, offset, wide)?;
            return match register(name, wide) {
                Some(name) => Ok(Operand::Reg(r.thread.register(&name))),
                None => Err(
                    ParseError::new(offset, format!("unknown register `{name}`"))
                        .help("write a location as [x] in X86, as (x) in X86_64"),
                ),
            };
        }
    };
    r.cursor.step();
    r.cursor.eat("%");
    let name = r.cursor.name("a register or a location")?;
    let base = match register(name, wide) {
        Some(name) => Source::Reg(r.thread.register(&name)),
        None => Source::Imm(r.locations.value(name)),
    };
    if r.cursor.eat("+") {
        displacement = r.number()?;
    }
    let mut at = MemoryOperand::at(base, displacement);
    if wide && r.cursor.eat(",") {
        scaled_index(r, &mut at)?;
    }
    r.cursor.expect(close)?;
    Ok(Operand::Memory(at))
}

/// An error for a part of a register, `%al` or `%ax`.
fn whole_words(name: &str, offset: usize, wide: bool) -> Result<(), ParseError> {
    let lower = name.to_ascii_lowercase();
    let part = wide
        && register_64(&lower).is_some()
        && (!lower.starts_with(['r', 'e'])
            || lower.starts_with('r') && lower.ends_with(['w', 'b']))
        && lower != "cs";
    match part {
        false => Ok(()),
        true => Err(ParseError::unsupported(
            offset,
            format!("register `{name}`: parts of 8 and 16 bits are not supported"),
        )
        .help("registers of 32 and 64 bits are")),
    }
}

/// `%rbx,8`, or `%rbx`
fn scaled_index(r: &mut InstructionReader<'_>, at: &mut MemoryOperand) -> Result<(), ParseError> {
    r.cursor.eat("%");
    let offset = r.cursor.offset();
    let name = r.cursor.name("a register")?;
    let index = register_64(name)
        .ok_or_else(|| ParseError::new(offset, format!("unknown register `{name}`")))?;
    at.index = Some(r.thread.register(&index));
    if r.cursor.eat(",") {
        let offset = r.cursor.offset();
        at.shift = match r.number()? {
            1 => 0,
            2 => 1,
            4 => 2,
            8 => 3,
            _ => return Err(ParseError::new(offset, "expected a scale of 1, 2, 4 or 8")),
        };
    }
    Ok(())
}

fn register(name: &str, wide: bool) -> Option<String> {
    match wide {
        true => register_64(name),
        false => register_32(name),
    }
}
