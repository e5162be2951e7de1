//! The dialect AArch64: user-level instructions.

mod compute;
mod conditional;
mod fields;
mod memory;
mod operands;

use crate::assembly::columns::{self, InstructionReader};
use crate::assembly::instruction::{Instruction, JumpTarget, Predicate, Source};
use crate::dialect::{Dialect, Reservation};
use crate::error::ParseError;
use crate::program::Program;
use crate::value::{Op, RegisterId, Value};
use operands::{named, register, register_order, target, ANNOTATIONS, ISB};

pub static AARCH64: Dialect = Dialect {
    name: "AArch64",
    program: |section, locations| {
        columns::program(section, locations, instruction).map(Program::Assembly)
    },
    register,
    register_order,
    annotations: &ANNOTATIONS,
    implied_annotations: &[],
    initial_write: 0,
    empty_sets: &SYSTEM_SETS,
    branch_events: true,
    reservation: Reservation::AArch64,
    rmw_in_one_instruction: false,
    mixed_sizes: true,
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

fn instruction(r: &mut InstructionReader<'_>) -> Result<Instruction, ParseError> {
    let offset = r.cursor.offset();
    let word = r.cursor.name("an instruction")?.to_ascii_uppercase();
    let simple = match word.as_str() {
        "NOP" => Some(Instruction::Nop),
        "RET" if !r.with_code_addresses && r.cursor.at_end() => Some(Instruction::Exit),
        "RET" => {
            let to = match r.cursor.at_end() {
                true => r.thread.register(LINK),
                false => address_register(r)?,
            };
            Some(jump_to(JumpTarget::Register(to), None))
        }
        "BR" => Some(jump_to(JumpTarget::Register(address_register(r)?), None)),
        "BLR" => {
            let to = JumpTarget::Register(address_register(r)?);
            Some(jump_to(to, Some(r.thread.register(LINK))))
        }
        "BL" => {
            let to = JumpTarget::Label(target(r)?);
            Some(jump_to(to, Some(r.thread.register(LINK))))
        }
        "ADR" => {
            let to = address_register(r)?;
            r.comma()?;
            Some(Instruction::LabelAddress {
                to,
                label: r.label()?,
                value: Value::ZERO,
            })
        }
        "ISB" => {
            if !r.cursor.at_end() {
                r.cursor.step();
            }
            Some(Instruction::Fence(ISB))
        }
        "DMB" | "DSB" => Some(barrier(r, &word)?),
        "B" => Some(Instruction::Jump(target(r)?)),
        "CBZ" | "CBNZ" => {
            let x = named(r)?.source();
            r.comma()?;
            let op = if word == "CBZ" { Op::Eq } else { Op::Ne };
            Some(Instruction::Branch {
                when: Predicate::Compare(op, x, Source::ZERO),
                to: target(r)?,
            })
        }
        "TBZ" | "TBNZ" => {
            let x = named(r)?;
            r.comma()?;
            let bit = r.number()?;
            r.comma()?;
            let to = target(r)?;
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
    if let Some(code) = word.strip_prefix("B.").and_then(conditional::condition) {
        return conditional::branch(r, code);
    }
    if let Some(instr) = memory::memory(r, &word)? {
        return Ok(instr);
    }
    if let Some(instr) = conditional::select(r, &word)? {
        return Ok(instr);
    }
    compute::compute(r, &word)?.ok_or_else(|| {
        r.unknown(offset, &word).help(
            "supported for AArch64: loads and stores, exclusive and atomic ones too, integer \
             instructions of registers, branches, DMB, DSB, ISB; no vectors, no system level",
        )
    })
}

/// What BL and BLR write, and RET reads.
const LINK: &str = "X30";

/// The addresses are filled in when all threads have been read.
fn jump_to(to: JumpTarget, link: Option<RegisterId>) -> Instruction {
    Instruction::JumpTo {
        to,
        link: link.map(|register| (register, Value::ZERO)),
        targets: Vec::new(),
    }
}

/// A register of 64 bits that holds the address of an instruction.
fn address_register(r: &mut InstructionReader<'_>) -> Result<RegisterId, ParseError> {
    let offset = r.cursor.offset();
    let named = named(r)?;
    named
        .reg
        .filter(|_| named.bits == 64)
        .ok_or_else(|| ParseError::new(offset, "expected a register of 64 bits").help("X0 to X30"))
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
