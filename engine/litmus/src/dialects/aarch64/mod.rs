//! The dialect AArch64: user-level instructions.

mod memory;
mod operands;

use crate::assembly::columns::{self, InstructionReader};
use crate::assembly::instruction::{FlagCondition, FlagUpdate, Instruction, Predicate, Source};
use crate::dialect::{by_number, Dialect, Reservation};
use crate::error::ParseError;
use crate::program::Program;
use crate::value::{Op, Value};
use operands::{named, register, source, ANNOTATIONS, ISB};

pub static AARCH64: Dialect = Dialect {
    name: "AArch64",
    program: |section, locations| {
        columns::program(section, locations, instruction).map(Program::Assembly)
    },
    register,
    register_order: by_number,
    annotations: &ANNOTATIONS,
    implied_annotations: &[],
    initial_write: 0,
    empty_sets: &SYSTEM_SETS,
    branch_events: true,
    reservation: Reservation::AArch64,
    rmw_in_one_instruction: false,
};

/// The sets of system-level events, which models name and user-level instructions do not have.
const SYSTEM_SETS: [&str; 20] = [
    "NExp",
    "AF",
    "AccessFlag",
    "DB",
    "DC.CVAU",
    "EXC-ENTRY",
    "EXC-RET",
    "FAULT",
    "IC.IALLU",
    "IC.IALLUIS",
    "IC.IVAU",
    "MMU",
    "S",
    "SPURIOUS",
    "T",
    "TLBI",
    "TLBIIS",
    "TLBInXS",
    "TagCheck",
    "Translation",
];
/// The register that comparisons write.
const FLAGS: &str = "NZCV";

fn instruction(r: &mut InstructionReader<'_>) -> Result<Instruction, ParseError> {
    let offset = r.cursor.offset();
    let word = r.cursor.name("an instruction")?.to_ascii_uppercase();
    let simple = match word.as_str() {
        "NOP" => Some(Instruction::Nop),
        "RET" => Some(Instruction::Exit),
        "ISB" => {
            if !r.cursor.at_end() {
                r.cursor.step();
            }
            Some(Instruction::Fence(ISB))
        }
        "DMB" | "DSB" => Some(barrier(r, &word)?),
        "B" => Some(Instruction::Jump(r.label()?)),
        "CBZ" | "CBNZ" => {
            let x = named(r)?.source();
            r.comma()?;
            let op = if word == "CBZ" { Op::Eq } else { Op::Ne };
            Some(Instruction::Branch {
                when: Predicate::Compare(op, x, Source::ZERO),
                to: r.label()?,
            })
        }
        "TBZ" | "TBNZ" => {
            let x = named(r)?;
            r.comma()?;
            let bit = r.number()?;
            r.comma()?;
            let to = r.label()?;
            let set = word == "TBNZ";
            let when = match x.reg {
                Some(reg) => Predicate::Bit(reg, bit, set),
                None => Predicate::Compare(
                    if set { Op::Ne } else { Op::Eq },
                    Source::ZERO,
                    Source::ZERO,
                ),
            };
            Some(Instruction::Branch { when, to })
        }
        _ => None,
    };
    if let Some(instr) = simple {
        return Ok(instr);
    }
    if let Some(outcomes) = word.strip_prefix("B.").and_then(condition) {
        let flags = r.thread.register(FLAGS);
        return Ok(Instruction::Branch {
            when: Predicate::Flags(flags, outcomes),
            to: r.label()?,
        });
    }
    if let Some(instr) = memory::memory(r, &word)? {
        return Ok(instr);
    }
    if let Some(instr) = select(r, &word)? {
        return Ok(instr);
    }
    compute(r, &word)?.ok_or_else(|| {
        r.unknown(offset, &word).help(
            "supported for AArch64: LDR, STR, LDAR, LDAPR, STLR, LDXR, STXR, LSE atomics, MOV, ADD, EOR, \
             CMP, CSEL, branches, DMB, DSB, ISB",
        )
    })
}

fn barrier(r: &mut InstructionReader<'_>, word: &str) -> Result<Instruction, ParseError> {
    let offset = r.cursor.offset();
    let option = r.cursor.name("a barrier domain")?.to_ascii_uppercase();
    let name = format!("{word}.{option}");
    match ANNOTATIONS.iter().position(|t| *t == name) {
        Some(bit) => Ok(Instruction::Fence(1 << bit)),
        None => Err(
            ParseError::new(offset, format!("unknown barrier `{word} {option}`"))
                .help("domains are SY, LD, ST, ISH, ISHLD, ISHST, …"),
        ),
    }
}

fn condition(name: &str) -> Option<FlagCondition> {
    Some(match name {
        "EQ" => FlagCondition::new(false, true, false),
        "NE" => FlagCondition::new(true, false, true),
        "LT" | "MI" => FlagCondition::new(true, false, false),
        "GE" | "PL" => FlagCondition::new(false, true, true),
        "GT" => FlagCondition::new(false, false, true),
        "LE" => FlagCondition::new(true, true, false),
        _ => return None,
    })
}

fn compute(r: &mut InstructionReader<'_>, word: &str) -> Result<Option<Instruction>, ParseError> {
    let flags = r.thread.register(FLAGS);
    if word == "MOV" {
        let to = named(r)?;
        r.comma()?;
        let from = source(r)?;
        return Ok(Some(match to.reg {
            Some(to) => Instruction::Move { to, from },
            None => Instruction::Nop,
        }));
    }
    if let "CMP" | "TST" = word {
        let a = named(r)?;
        r.comma()?;
        let b = source(r)?;
        let (op, flags) = match word {
            "CMP" => (Op::Sub, FlagUpdate::Operands(flags)),
            _ => (Op::And, FlagUpdate::Result(flags)),
        };
        return Ok(Some(Instruction::Compute {
            to: None,
            op,
            a: a.source(),
            b,
            width: None,
            flags,
        }));
    }
    let (op, flags) = match word {
        "ADD" => (Op::Add, FlagUpdate::None),
        "ADDS" => (Op::Add, FlagUpdate::Result(flags)),
        "SUB" => (Op::Sub, FlagUpdate::None),
        "SUBS" => (Op::Sub, FlagUpdate::Operands(flags)),
        "EOR" => (Op::Xor, FlagUpdate::None),
        "ORR" => (Op::Or, FlagUpdate::None),
        "AND" => (Op::And, FlagUpdate::None),
        "ANDS" => (Op::And, FlagUpdate::Result(flags)),
        "BIC" => (Op::AndNot, FlagUpdate::None),
        "LSL" => (Op::ShiftLeft, FlagUpdate::None),
        "LSR" => (Op::ShiftRight, FlagUpdate::None),
        "MUL" => (Op::Mul, FlagUpdate::None),
        _ => return Ok(None),
    };
    let to = named(r)?;
    r.comma()?;
    let a = named(r)?.source();
    r.comma()?;
    let b = source(r)?;
    if r.cursor.eat(",") {
        r.cursor.name("an extension")?;
        if r.at_number() && r.number()? != 0 {
            return Err(r.cursor.unexpected("an extension without a shift"));
        }
    }
    Ok(Some(Instruction::Compute {
        to: to.reg,
        op,
        a,
        b,
        width: to.width(),
        flags,
    }))
}

fn select(r: &mut InstructionReader<'_>, word: &str) -> Result<Option<Instruction>, ParseError> {
    let adjust = match word {
        "CSEL" | "CSET" => None,
        "CSINC" | "CINC" => Some((Op::Add, Value::ONE)),
        "CSINV" => Some((Op::Xor, Value::Int(-1))),
        _ => return Ok(None),
    };
    let to = named(r)?;
    let (mut then, mut otherwise) = (Source::Imm(Value::ONE), Source::ZERO);
    if word != "CSET" {
        r.comma()?;
        then = named(r)?.source();
        otherwise = then;
        if word != "CINC" {
            r.comma()?;
            otherwise = named(r)?.source();
        }
    }
    r.comma()?;
    let offset = r.cursor.offset();
    let name = r.cursor.name("a condition")?.to_ascii_uppercase();
    let mut outcomes = condition(&name)
        .ok_or_else(|| ParseError::new(offset, format!("unknown condition `{name}`")))?;
    if word == "CINC" {
        outcomes = outcomes.inverse();
    }
    let when = Predicate::Flags(r.thread.register(FLAGS), outcomes);
    Ok(Some(match to.reg {
        Some(to) => Instruction::Select {
            to,
            when,
            then,
            otherwise,
            adjust,
        },
        None => Instruction::Nop,
    }))
}
