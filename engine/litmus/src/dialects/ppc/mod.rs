//! The dialect PPC: Power.

mod bitwise;
mod compute;
mod conditions;
mod operands;

use crate::annotation::{annotation, Annotations};
use crate::assembly::columns::{self, InstructionReader};
use crate::assembly::instruction::{
    access_bits, BaseUpdate, FlagUpdate, Instruction, MemoryOperand, Predicate, Source, Status,
    Width,
};
use crate::dialect::{by_number, Dialect, Reservation};
use crate::error::ParseError;
use crate::program::Program;
use crate::value::{Op, RegisterId, Value};
use operands::{condition_register, reg, register};

pub static PPC: Dialect = Dialect {
    name: "PPC",
    program: |section, locations| {
        columns::program(section, locations, instruction).map(Program::Assembly)
    },
    register,
    register_order: by_number,
    annotations: &ANNOTATIONS,
    implied_annotations: &[],
    initial_write: 0,
    empty_sets: &[],
    branch_events: true,
    reservation: Reservation::Power,
    rmw_in_one_instruction: false,
    mixed_sizes: false,
};

const ANNOTATIONS: [&str; 6] = ["SYNC", "LWSYNC", "EIEIO", "ISYNC", "X", "A"];
const ATOMIC: Annotations = annotation(&ANNOTATIONS, "X");

fn instruction(r: &mut InstructionReader<'_>) -> Result<Instruction, ParseError> {
    let offset = r.cursor.offset();
    let word = r.cursor.name("an instruction")?;
    let fence = match word {
        "sync" | "hwsync" => Some("SYNC"),
        "lwsync" => Some("LWSYNC"),
        "eieio" => Some("EIEIO"),
        "isync" => Some("ISYNC"),
        _ => None,
    };
    if let Some(fence) = fence {
        return Ok(Instruction::Fence(annotation(&ANNOTATIONS, fence)));
    }
    if let Some(instr) = memory(r, word)? {
        return Ok(instr);
    }
    let (base, dot) = match word.strip_suffix('.') {
        Some(base) => (base, true),
        None => (word, false),
    };
    match base {
        "nop" => return Ok(Instruction::Nop),
        "blr" => return Ok(Instruction::Exit),
        "b" => return Ok(Instruction::Jump(r.label()?)),
        "li" => {
            let to = reg(r)?;
            r.comma()?;
            let from = Source::Imm(Value::Int(r.number()?));
            return Ok(Instruction::Move { to, from });
        }
        "mr" => {
            let to = reg(r)?;
            r.comma()?;
            let from = Source::Reg(reg(r)?);
            return Ok(Instruction::Move { to, from });
        }
        "cmpdi" | "cmpd" => return compare(r, base.ends_with('i')),
        _ => {}
    }
    if let Some((bit, set)) = base.strip_prefix('b').and_then(condition) {
        let field = condition_register(r)?;
        return Ok(Instruction::Branch {
            when: Predicate::Bit(field, bit, set),
            to: r.label()?,
        });
    }
    if let Some(instruction) = compute::compute(r, word)? {
        return Ok(instruction);
    }
    if let Some(instruction) = conditions::logic(r, word)? {
        return Ok(instruction);
    }
    let (op, immediate) = match base {
        "add" => (Op::Add, false),
        "sub" | "subf" => (Op::Sub, false),
        "or" => (Op::Or, false),
        "and" => (Op::And, false),
        "xor" => (Op::Xor, false),
        "addi" => (Op::Add, true),
        "ori" => (Op::Or, true),
        "xori" => (Op::Xor, true),
        "andi" => (Op::And, true),
        "mulli" => (Op::Mul, true),
        _ => {
            return Err(r.unknown(offset, word).help(
                "supported for Power: li, mr, arithmetic, logic, shifts, comparisons, logic of condition registers, branches, loads, stores, lwarx, stwcx., sync, lwsync, eieio, isync",
            ))
        }
    };
    let to = reg(r)?;
    r.comma()?;
    let first = reg(r)?;
    r.comma()?;
    let (mut a, mut b) = match immediate {
        true => (Source::Reg(first), Source::Imm(Value::Int(r.number()?))),
        false => (Source::Reg(first), Source::Reg(reg(r)?)),
    };
    if base == "subf" {
        std::mem::swap(&mut a, &mut b);
    }
    if base == "addi" && r.thread.registers[first] == "r0" {
        return Ok(Instruction::Move { to, from: b });
    }
    let flags = match dot || base == "andi" {
        true => FlagUpdate::Result(r.thread.register("cr0")),
        false => FlagUpdate::None,
    };
    Ok(Instruction::Compute {
        to: Some(to),
        op,
        a,
        b,
        flags,
    })
}

/// The bit of a field of the condition register that a branch tests, from the right, and whether it
/// is taken when it is set.
fn condition(suffix: &str) -> Option<(i64, bool)> {
    Some(match suffix.trim_end_matches(['+', '-']) {
        "lt" => (3, true),
        "ge" | "nl" => (3, false),
        "gt" => (2, true),
        "le" | "ng" => (2, false),
        "eq" => (1, true),
        "ne" => (1, false),
        _ => return None,
    })
}

fn compare(r: &mut InstructionReader<'_>, immediate: bool) -> Result<Instruction, ParseError> {
    let flags = condition_register(r)?;
    let a = Source::Reg(reg(r)?);
    r.comma()?;
    let b = match immediate {
        true => Source::Imm(Value::Int(r.number()?)),
        false => Source::Reg(reg(r)?),
    };
    Ok(Instruction::Compute {
        to: None,
        op: Op::Sub,
        a,
        b,
        flags: FlagUpdate::Operands(flags),
    })
}

fn memory(r: &mut InstructionReader<'_>, word: &str) -> Result<Option<Instruction>, ParseError> {
    let instr = match word {
        "lbarx" | "lharx" | "lwarx" | "ldarx" => {
            let (to, at) = indexed(r)?;
            Instruction::LoadReserve {
                to: vec![Some(to)],
                at,
                annotations: ATOMIC,
            }
        }
        "stbcx." | "sthcx." | "stwcx." | "stdcx." => {
            let (from, at) = indexed(r)?;
            Instruction::StoreConditional {
                status: Status::Flags(r.thread.register("cr0")),
                from: vec![Source::Reg(from)],
                at,
                annotations: ATOMIC,
            }
        }
        "lbz" | "lhz" | "lwz" | "ld" => {
            let (to, at) = displaced(r)?;
            load(to, at, &word[1..2])
        }
        "lbzu" | "lhzu" | "lwzu" | "ldu" => {
            let (to, at) = updating(r, false, true)?;
            load(to, at, &word[1..2])
        }
        "lbzux" | "lhzux" | "lwzux" | "ldux" => {
            let (to, at) = updating(r, true, true)?;
            load(to, at, &word[1..2])
        }
        "stbu" | "sthu" | "stwu" | "stdu" => {
            let (from, at) = updating(r, false, false)?;
            store(from, at, &word[2..3])
        }
        "stbux" | "sthux" | "stwux" | "stdux" => {
            let (from, at) = updating(r, true, false)?;
            store(from, at, &word[2..3])
        }
        "lwa" => {
            let (to, at) = displaced(r)?;
            load_signed_word(to, at)
        }
        "lwax" => {
            let (to, at) = indexed(r)?;
            load_signed_word(to, at)
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
    r.access_bits = access_bits(&size[..1]);
    Ok(Some(instr))
}

fn load(to: RegisterId, at: MemoryOperand, letter: &str) -> Instruction {
    Instruction::Load {
        to: Some(to),
        at,
        annotations: 0,
        width: access_bits(letter).map(Width::unsigned),
    }
}

fn load_signed_word(to: RegisterId, at: MemoryOperand) -> Instruction {
    Instruction::Load {
        to: Some(to),
        at,
        annotations: 0,
        width: Some(Width::signed(32)),
    }
}

fn store(from: RegisterId, at: MemoryOperand, letter: &str) -> Instruction {
    Instruction::Store {
        from: Source::Reg(from),
        at,
        annotations: 0,
        width: access_bits(letter).map(Width::unsigned),
    }
}

type Operands = (RegisterId, MemoryOperand);

/// The operands of an instruction whose base register becomes the address; neither r0 nor the
/// register that a load writes may be that.
fn updating(
    r: &mut InstructionReader<'_>,
    is_indexed: bool,
    load: bool,
) -> Result<Operands, ParseError> {
    let offset = r.cursor.offset();
    let (register, mut at) = match is_indexed {
        true => indexed(r)?,
        false => displaced(r)?,
    };
    at.update = Some(BaseUpdate::Before);
    match at.base {
        Source::Reg(base)
            if r.thread.registers[base] != "r0"
                && is_indexed == at.index.is_some()
                && !(load && base == register) =>
        {
            Ok((register, at))
        }
        _ => Err(ParseError::new(
            offset,
            "the base register of this instruction is neither r0 nor the register it loads",
        )),
    }
}

/// `r1,8(r2)`
fn displaced(r: &mut InstructionReader<'_>) -> Result<Operands, ParseError> {
    let first = reg(r)?;
    r.comma()?;
    let displacement = r.number()?;
    r.cursor.expect("(")?;
    let base = reg(r)?;
    r.cursor.expect(")")?;
    Ok((first, MemoryOperand::at(Source::Reg(base), displacement)))
}

/// `r1,r2,r3`; r0 as the base means zero.
fn indexed(r: &mut InstructionReader<'_>) -> Result<Operands, ParseError> {
    let first = reg(r)?;
    r.comma()?;
    let base = reg(r)?;
    r.comma()?;
    let index = reg(r)?;
    let mut at = MemoryOperand::at(Source::Reg(index), 0);
    if r.thread.registers[base] != "r0" {
        at.base = Source::Reg(base);
        at.index = Some(index);
    }
    Ok((first, at))
}
