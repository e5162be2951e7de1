//! The dialect RISCV.

mod compute;
mod operands;

use crate::annotation::{annotation, Annotations};
use crate::assembly::columns::{self, InstructionReader};
use crate::assembly::instruction::{
    access_bits, Instruction, MemoryOperand, Predicate, Source, Status, Width,
};
use crate::dialect::{by_number, Dialect, Reservation};
use crate::error::ParseError;
use crate::lexer::TokenKind;
use crate::program::Program;
use crate::value::{Op, Value};
use operands::{reg, register, source};

pub static RISCV: Dialect = Dialect {
    name: "RISCV",
    program: |section, locations| {
        columns::program(section, locations, instruction).map(Program::Assembly)
    },
    register,
    register_order: by_number,
    annotations: &ANNOTATIONS,
    implied_annotations: &[],
    initial_write: RELAXED,
    empty_sets: &[],
    branch_events: true,
    reservation: Reservation::RiscV,
    rmw_in_one_instruction: false,
    mixed_sizes: false,
};

const ANNOTATIONS: [&str; 19] = [
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
const RELAXED: Annotations = annotation(&ANNOTATIONS, "Rlx");
const ATOMIC: Annotations = annotation(&ANNOTATIONS, "X");

/// The annotation that the suffixes of a memory instruction stand for.
fn order(words: &[&str]) -> Option<Annotations> {
    Some(match words {
        [] => RELAXED,
        ["aq"] => annotation(&ANNOTATIONS, "Acq"),
        ["rl"] => annotation(&ANNOTATIONS, "Rel"),
        ["aq", "rl"] | ["rl", "aq"] | ["aqrl"] => annotation(&ANNOTATIONS, "AcqRel"),
        ["sc"] => annotation(&ANNOTATIONS, "Sc"),
        _ => return None,
    })
}

fn instruction(r: &mut InstructionReader<'_>) -> Result<Instruction, ParseError> {
    let offset = r.cursor.offset();
    let word = r.cursor.name("an instruction")?.to_ascii_lowercase();
    let unknown = |r: &InstructionReader<'_>| {
        r.unknown(offset, &word)
            .help("supported for RISC-V: the integer instructions of RV64IMA, Zabha and Zacas; no addresses of code")
    };
    let parts: Vec<&str> = word.split('.').collect();
    let (base, rest) = (parts[0], &parts[1..]);
    if base == "fence" {
        return fence(r, rest).and_then(|f| f.ok_or_else(|| unknown(r)));
    }
    if let Some(instr) = memory(r, base, rest)? {
        return Ok(instr);
    }
    match base {
        "nop" => return Ok(Instruction::Nop),
        "ret" => return Ok(Instruction::Exit),
        "j" => return Ok(Instruction::Jump(r.label()?)),
        "li" | "mv" => {
            let to = reg(r)?;
            r.comma()?;
            let from = match base {
                "li" => Source::Imm(Value::Int(r.number()?)),
                _ => source(r)?,
            };
            return Ok(match to {
                Some(to) => Instruction::Move { to, from },
                None => Instruction::Nop,
            });
        }
        _ => {}
    }
    if let Some(instr) = branch(r, base)? {
        return Ok(instr);
    }
    compute::compute(r, &word)?.ok_or_else(|| unknown(r))
}

fn branch(r: &mut InstructionReader<'_>, base: &str) -> Result<Option<Instruction>, ParseError> {
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
        "bltu" => (Op::Below, false),
        "bgeu" => (Op::NotBelow, false),
        "bgtu" => (Op::Below, true),
        "bleu" => (Op::NotBelow, true),
        _ => return Ok(None),
    };
    let mut a = source(r)?;
    r.comma()?;
    let mut b = Source::ZERO;
    if !zero {
        b = source(r)?;
        r.comma()?;
    }
    if swapped {
        std::mem::swap(&mut a, &mut b);
    }
    Ok(Some(Instruction::Branch {
        when: Predicate::Compare(op, a, b),
        to: r.label()?,
    }))
}

fn fence(r: &mut InstructionReader<'_>, rest: &[&str]) -> Result<Option<Instruction>, ParseError> {
    let kind = match rest {
        ["tso"] => "Fence.tso".to_string(),
        ["i"] => "Fence.i".to_string(),
        [] if r.cursor.at_end() => "Fence.rw.rw".to_string(),
        [] => {
            let side = |r: &mut InstructionReader<'_>| -> Result<String, ParseError> {
                let name = r.cursor.name("r, w or rw")?;
                Ok(name.replace(['i', 'o'], ""))
            };
            let before = side(r)?;
            r.comma()?;
            format!("Fence.{before}.{}", side(r)?)
        }
        _ => return Ok(None),
    };
    let bit = ANNOTATIONS.iter().position(|t| *t == kind);
    Ok(bit.map(|bit| Instruction::Fence(1 << bit)))
}

fn memory(
    r: &mut InstructionReader<'_>,
    base: &str,
    rest: &[&str],
) -> Result<Option<Instruction>, ParseError> {
    if let ("lb" | "lbu" | "lh" | "lhu" | "lw" | "lwu" | "ld", Some(annotations)) =
        (base, order(rest))
    {
        let to = reg(r)?;
        r.comma()?;
        let at = displaced(r)?;
        r.access_bits = access_bits(&base[1..2]);
        let width = r.access_bits.map(match base.ends_with('u') {
            true => Width::unsigned,
            false => Width::signed,
        });
        return Ok(Some(Instruction::Load {
            to,
            at,
            annotations,
            width,
        }));
    }
    if let ("sb" | "sh" | "sw" | "sd", Some(annotations)) = (base, order(rest)) {
        let from = source(r)?;
        r.comma()?;
        let at = displaced(r)?;
        r.access_bits = access_bits(&base[1..2]);
        let width = r.access_bits.map(Width::unsigned);
        return Ok(Some(Instruction::Store {
            from,
            at,
            annotations,
            width,
        }));
    }
    let [size, words @ ..] = rest else {
        return Ok(None);
    };
    // the smaller sizes are those of Zabha, which has no lr and no sc
    let (Some(bits), Some(annotations)) = (access_bits(size), order(words)) else {
        return Ok(None);
    };
    if bits < 32 && !base.starts_with("amo") {
        return Ok(None);
    }
    r.access_bits = Some(bits);
    let annotations = annotations | ATOMIC;
    if base == "lr" {
        let to = reg(r)?;
        r.comma()?;
        let at = displaced(r)?;
        return Ok(Some(Instruction::LoadReserve {
            to: vec![to],
            at,
            annotations,
        }));
    }
    if base == "amocas" {
        return compare_and_swap(r, words, annotations).map(Some);
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
        "sc" => Instruction::StoreConditional {
            status: Status::Reg(to),
            from: vec![from],
            at,
            annotations,
        },
        _ => Instruction::Amo {
            op,
            to,
            from,
            at,
            annotations,
        },
    }))
}

/// Zacas: one that fails is no release, whatever its suffixes say.
fn compare_and_swap(
    r: &mut InstructionReader<'_>,
    words: &[&str],
    stored: Annotations,
) -> Result<Instruction, ParseError> {
    let acquires = words.iter().any(|word| word.starts_with("aq"));
    let failed = if acquires { order(&["aq"]) } else { order(&[]) };
    let to = reg(r)?;
    r.comma()?;
    let from = source(r)?;
    r.comma()?;
    let at = displaced(r)?;
    Ok(Instruction::AmoCompare {
        expected: to.map_or(Source::ZERO, Source::Reg),
        to,
        from,
        at,
        stored,
        failed: failed.unwrap_or(RELAXED) | ATOMIC,
    })
}

/// `4(x5)` or `(x5)`
fn displaced(r: &mut InstructionReader<'_>) -> Result<MemoryOperand, ParseError> {
    let mut displacement = 0;
    if r.at_number() || matches!(r.cursor.kind(), TokenKind::Number(_)) {
        displacement = r.number()?;
    }
    r.cursor.expect("(")?;
    let base = source(r)?;
    r.cursor.expect(")")?;
    Ok(MemoryOperand::at(base, displacement))
}
