//! The dialect AArch64: user-level instructions.

use crate::annotation::{annotation, Annotations};
use crate::assembly::columns::{self, InstructionReader};
use crate::assembly::instruction::{
    FlagCondition, FlagUpdate, Instruction, MemoryOperand, Predicate, Source, Status, Width,
};
use crate::dialect::{by_number, Dialect, Reservation};
use crate::error::ParseError;
use crate::lexer::TokenKind;
use crate::program::Program;
use crate::value::{Op, RegisterId, Value};

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

const ANNOTATIONS: [&str; 30] = [
    "DMB.SY",
    "DMB.LD",
    "DMB.ST",
    "DMB.ISH",
    "DMB.ISHLD",
    "DMB.ISHST",
    "DMB.OSH",
    "DMB.OSHLD",
    "DMB.OSHST",
    "DMB.NSH",
    "DMB.NSHLD",
    "DMB.NSHST",
    "DSB.SY",
    "DSB.LD",
    "DSB.ST",
    "DSB.ISH",
    "DSB.ISHLD",
    "DSB.ISHST",
    "ISB",
    "A",
    "Q",
    "L",
    "X",
    "NoRet",
    "DSB.OSH",
    "DSB.OSHLD",
    "DSB.OSHST",
    "DSB.NSH",
    "DSB.NSHLD",
    "DSB.NSHST",
];
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
const ISB: Annotations = annotation(&ANNOTATIONS, "ISB");
const A: Annotations = annotation(&ANNOTATIONS, "A");
const Q: Annotations = annotation(&ANNOTATIONS, "Q");
const L: Annotations = annotation(&ANNOTATIONS, "L");
const X: Annotations = annotation(&ANNOTATIONS, "X");
const NORET: Annotations = annotation(&ANNOTATIONS, "NoRet");

/// The register that comparisons write.
const FLAGS: &str = "NZCV";

/// `X1` for `X1` and `W1`.
fn register(name: &str) -> Option<String> {
    let upper = name.to_ascii_uppercase();
    let number: u32 = upper.strip_prefix(['X', 'W'])?.parse().ok()?;
    (number < 31).then(|| format!("X{number}"))
}

/// A register as an instruction names it; none for the zero register.
struct Named {
    reg: Option<RegisterId>,
    wide: bool,
}

impl Named {
    fn source(&self) -> Source {
        self.reg.map_or(Source::ZERO, Source::Reg)
    }

    /// The bits of a memory access with this register: those in the instruction's name, if any.
    fn access_bits(&self, named: Option<i64>) -> i64 {
        named.unwrap_or(if self.wide { 64 } else { 32 })
    }

    fn width(&self) -> Option<Width> {
        (!self.wide).then_some(Width {
            bits: 32,
            signed: true,
        })
    }
}

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
    if let Some(instr) = memory(r, &word)? {
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

fn named(r: &mut InstructionReader<'_>) -> Result<Named, ParseError> {
    let offset = r.cursor.offset();
    let name = r.cursor.name("a register")?.to_ascii_uppercase();
    let wide = name.starts_with('X');
    if name == "XZR" || name == "WZR" {
        return Ok(Named { reg: None, wide });
    }
    match register(&name) {
        Some(name) => Ok(Named {
            reg: Some(r.thread.register(&name)),
            wide,
        }),
        None => Err(
            ParseError::new(offset, format!("unknown register `{name}`"))
                .help("registers are X0 to X30, W0 to W30, XZR and WZR"),
        ),
    }
}

/// A register or an immediate.
fn source(r: &mut InstructionReader<'_>) -> Result<Source, ParseError> {
    match r.at_number() {
        true => Ok(Source::Imm(Value::Int(r.number()?))),
        false => Ok(named(r)?.source()),
    }
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

/// `[X0]`, `[X0,#4]`, `[X0,X1]`, `[X0,W1,SXTW]`, `[X0,W1,UXTW #2]`
fn memory_operand(r: &mut InstructionReader<'_>) -> Result<MemoryOperand, ParseError> {
    r.cursor.expect("[")?;
    let base = named(r)?.source();
    let mut at = MemoryOperand::at(base, 0);
    if r.cursor.eat(",") {
        if r.at_number() {
            at.displacement = Value::Int(r.number()?);
        } else {
            at.index = named(r)?.reg;
            if r.cursor.eat(",") {
                r.cursor.name("an extension")?;
                if r.at_number() {
                    at.shift = u32::try_from(r.number()?).unwrap_or(0).min(4);
                }
            }
        }
    }
    r.cursor.expect("]")?;
    if r.cursor.is("!") || r.cursor.is(",") {
        let message = "pre- and post-indexed addresses are not supported";
        return Err(ParseError::unsupported(r.cursor.offset(), message)
            .help("update the base register with a separate instruction"));
    }
    Ok(at)
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

fn unsigned(bits: Option<i64>) -> Option<Width> {
    bits.map(|bits| Width {
        bits,
        signed: false,
    })
}

fn memory(r: &mut InstructionReader<'_>, word: &str) -> Result<Option<Instruction>, ParseError> {
    let loads = [
        ("LDAPR", Q),
        ("LDAPUR", Q),
        ("LDAR", A),
        ("LDUR", 0),
        ("LDR", 0),
    ];
    let suffix = |name: &str| word.strip_prefix(name).and_then(sized);
    for (name, annotations) in loads {
        if let Some(bits) = suffix(name) {
            let to = named(r)?;
            r.comma()?;
            let at = memory_operand(r)?;
            let width = unsigned(bits).or(to.width());
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
            let width = unsigned(bits).or(from.width());
            r.access_bits = Some(from.access_bits(bits));
            return Ok(Some(Instruction::Store {
                from: from.source(),
                at,
                annotations,
                width,
            }));
        }
    }
    for (name, annotations) in [("LDAXR", A | X), ("LDXR", X)] {
        if let Some(bits) = suffix(name) {
            let to = named(r)?;
            r.access_bits = Some(to.access_bits(bits));
            r.comma()?;
            let at = memory_operand(r)?;
            let to = to.reg;
            return Ok(Some(Instruction::LoadReserve {
                to,
                at,
                annotations,
            }));
        }
    }
    for (name, annotations) in [("STLXR", L | X), ("STXR", X)] {
        if let Some(bits) = suffix(name) {
            let status = Status::Reg(named(r)?.reg);
            r.comma()?;
            let from = named(r)?;
            r.access_bits = Some(from.access_bits(bits));
            let from = from.source();
            r.comma()?;
            let at = memory_operand(r)?;
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
    if let Some((read, write, bits)) = word.strip_prefix("CAS").and_then(orders) {
        let expected = named(r)?;
        r.access_bits = Some(expected.access_bits(bits));
        r.comma()?;
        let new = named(r)?.source();
        r.comma()?;
        let at = memory_operand(r)?;
        let Some(expected) = expected.reg else {
            return Err(r
                .cursor
                .unexpected("a register other than the zero register"));
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
    let at = memory_operand(r)?;
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
