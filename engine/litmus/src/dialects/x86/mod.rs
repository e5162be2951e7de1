//! The dialects X86, with Intel's order of operands, and X86_64, with AT&T's. What instructions
//! compute is Intel's manual's, volume 2; their events are herd7's.

mod compute;
mod exchange;
mod flags;
mod names;
mod operands;

use crate::assembly::columns::{self, InstructionReader};
use crate::assembly::instruction::{Instruction, Predicate};
use crate::dialect::{Dialect, Reservation};
use crate::error::ParseError;
use crate::program::Program;
use operands::{
    bad_operands, operand, register, Operand, ANNOTATIONS, FLAGS, LFENCE, MFENCE, NAMES, SFENCE,
};

pub static X86: Dialect = Dialect {
    name: "X86",
    program: |section, locations| {
        columns::program(section, locations, |r| instruction(r, false)).map(Program::Assembly)
    },
    register: |name| register(name, false),
    register_order,
    annotations: &ANNOTATIONS,
    implied_annotations: &[],
    initial_write: 0,
    empty_sets: &[],
    branch_events: false,
    reservation: Reservation::None,
    rmw_in_one_instruction: true,
    mixed_sizes: false,
};

pub static X86_64: Dialect = Dialect {
    name: "X86_64",
    program: |section, locations| {
        columns::program(section, locations, |r| instruction(r, true)).map(Program::Assembly)
    },
    register: |name| register(name, true),
    mixed_sizes: true,
    ..X86
};

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
    let allowed = matches!(&instr, Instruction::Transform(t) if t.atomic);
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
        // of the cache, without an access
        "clflush" | "clflushopt" => {
            return match operand(r, wide)? {
                Operand::Memory(_) => Ok(Instruction::Nop),
                _ => Err(bad_operands(offset, word)),
            };
        }
        "ret" | "retq" => return Ok(Instruction::Exit),
        "jmp" => return Ok(Instruction::Jump(r.label()?)),
        _ => {}
    }
    if let Some(code) = word.strip_prefix('j').and_then(flags::condition) {
        return Ok(Instruction::Branch {
            when: Predicate::Condition(r.thread.register(FLAGS), code),
            to: r.label()?,
        });
    }
    compute::compute(r, wide, locked, offset, word)
}
