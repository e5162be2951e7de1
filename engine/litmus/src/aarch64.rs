//! The dialect AArch64: the user-level core.

use super::error::ParseError;
use super::isa::{Flags, Instr, Outcomes, Place, Reg, Src, Status, Test, Width};
use super::lexer::Kind;
use super::table::Reader;
use super::value::{Op, Value};

/// By bit.
pub const TAGS: [&str; 30] = [
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
/// What models name and user-level code does not do.
pub const EMPTY: [&str; 20] = [
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
const ISB: u64 = tag("ISB");
const A: u64 = tag("A");
const Q: u64 = tag("Q");
const L: u64 = tag("L");
const X: u64 = tag("X");
const NORET: u64 = tag("NoRet");

/// The bit of a tag; a name that is not in the table does not compile.
const fn tag(name: &str) -> u64 {
    let mut bit = 0;
    while bit < TAGS.len() {
        let (known, name) = (TAGS[bit].as_bytes(), name.as_bytes());
        let mut at = 0;
        while at < known.len() && at < name.len() && known[at] == name[at] {
            at += 1;
        }
        if at == known.len() && at == name.len() {
            return 1 << bit;
        }
        bit += 1;
    }
    panic!("no such tag")
}

const FLAGS: &str = "NZCV";

/// `X1` for `W1` too.
pub fn register(name: &str) -> Option<String> {
    let upper = name.to_ascii_uppercase();
    let number: u32 = upper.strip_prefix(['X', 'W'])?.parse().ok()?;
    (number < 31).then(|| format!("X{number}"))
}

/// A register as an instruction names it; none for the zero register.
struct Named {
    reg: Option<Reg>,
    wide: bool,
}

impl Named {
    fn source(&self) -> Src {
        self.reg.map_or(Src::ZERO, Src::Reg)
    }

    /// The bits of an access of memory by this register; those that the instruction names, if so.
    fn bits(&self, named: Option<i64>) -> i64 {
        named.unwrap_or(if self.wide { 64 } else { 32 })
    }

    fn width(&self) -> Option<Width> {
        (!self.wide).then_some(Width {
            bits: 32,
            signed: true,
        })
    }
}

pub fn instruction(r: &mut Reader<'_>) -> Result<Instr, ParseError> {
    let offset = r.cursor.offset();
    let word = r.cursor.name("an instruction")?.to_ascii_uppercase();
    let simple = match word.as_str() {
        "NOP" => Some(Instr::Nop),
        "RET" => Some(Instr::Exit),
        "ISB" => {
            if !r.cursor.at_end() {
                r.cursor.step();
            }
            Some(Instr::Fence(ISB))
        }
        "DMB" | "DSB" => Some(barrier(r, &word)?),
        "B" => Some(Instr::Jump(r.label()?)),
        "CBZ" | "CBNZ" => {
            let x = named(r)?.source();
            r.comma()?;
            let op = if word == "CBZ" { Op::Eq } else { Op::Ne };
            Some(Instr::Branch {
                when: Test::Compare(op, x, Src::ZERO),
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
                Some(reg) => Test::Bit(reg, bit, set),
                None => Test::Compare(if set { Op::Ne } else { Op::Eq }, Src::ZERO, Src::ZERO),
            };
            Some(Instr::Branch { when, to })
        }
        _ => None,
    };
    if let Some(instr) = simple {
        return Ok(instr);
    }
    if let Some(outcomes) = word.strip_prefix("B.").and_then(condition) {
        let flags = r.code.reg(FLAGS);
        return Ok(Instr::Branch {
            when: Test::Flags(flags, outcomes),
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
            "of AArch64: LDR, STR, LDAR, LDAPR, STLR, exclusives, LSE atomics, MOV, ADD, EOR, CMP, CSEL, branches, DMB, DSB, ISB",
        )
    })
}

fn barrier(r: &mut Reader<'_>, word: &str) -> Result<Instr, ParseError> {
    let offset = r.cursor.offset();
    let option = r.cursor.name("the barrier's domain")?.to_ascii_uppercase();
    let name = format!("{word}.{option}");
    match TAGS.iter().position(|t| *t == name) {
        Some(bit) => Ok(Instr::Fence(1 << bit)),
        None => Err(
            ParseError::new(offset, format!("no barrier {word} {option}"))
                .help("SY, LD, ST, ISH, ISHLD, ISHST, …"),
        ),
    }
}

fn condition(name: &str) -> Option<Outcomes> {
    Some(match name {
        "EQ" => Outcomes::new(false, true, false),
        "NE" => Outcomes::new(true, false, true),
        "LT" | "MI" => Outcomes::new(true, false, false),
        "GE" | "PL" => Outcomes::new(false, true, true),
        "GT" => Outcomes::new(false, false, true),
        "LE" => Outcomes::new(true, true, false),
        _ => return None,
    })
}

fn named(r: &mut Reader<'_>) -> Result<Named, ParseError> {
    let offset = r.cursor.offset();
    let name = r.cursor.name("a register")?.to_ascii_uppercase();
    let wide = name.starts_with('X');
    if name == "XZR" || name == "WZR" {
        return Ok(Named { reg: None, wide });
    }
    match register(&name) {
        Some(name) => Ok(Named {
            reg: Some(r.code.reg(&name)),
            wide,
        }),
        None => Err(
            ParseError::new(offset, format!("`{name}` is not a register"))
                .help("registers are X0 to X30, W0 to W30, XZR and WZR"),
        ),
    }
}

/// A register or an immediate.
fn source(r: &mut Reader<'_>) -> Result<Src, ParseError> {
    match r.at_number() {
        true => Ok(Src::Imm(Value::Int(r.number()?))),
        false => Ok(named(r)?.source()),
    }
}

fn compute(r: &mut Reader<'_>, word: &str) -> Result<Option<Instr>, ParseError> {
    let flags = r.code.reg(FLAGS);
    if word == "MOV" {
        let to = named(r)?;
        r.comma()?;
        let from = source(r)?;
        return Ok(Some(match to.reg {
            Some(to) => Instr::Move { to, from },
            None => Instr::Nop,
        }));
    }
    if let "CMP" | "TST" = word {
        let a = named(r)?;
        r.comma()?;
        let b = source(r)?;
        let (op, flags) = match word {
            "CMP" => (Op::Sub, Flags::Operands(flags)),
            _ => (Op::And, Flags::Result(flags)),
        };
        return Ok(Some(Instr::Compute {
            to: None,
            op,
            a: a.source(),
            b,
            width: None,
            flags,
        }));
    }
    let (op, flags) = match word {
        "ADD" => (Op::Add, Flags::Keep),
        "ADDS" => (Op::Add, Flags::Result(flags)),
        "SUB" => (Op::Sub, Flags::Keep),
        "SUBS" => (Op::Sub, Flags::Operands(flags)),
        "EOR" => (Op::Xor, Flags::Keep),
        "ORR" => (Op::Or, Flags::Keep),
        "AND" => (Op::And, Flags::Keep),
        "ANDS" => (Op::And, Flags::Result(flags)),
        "BIC" => (Op::AndNot, Flags::Keep),
        "LSL" => (Op::ShiftLeft, Flags::Keep),
        "LSR" => (Op::ShiftRight, Flags::Keep),
        "MUL" => (Op::Mul, Flags::Keep),
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
    Ok(Some(Instr::Compute {
        to: to.reg,
        op,
        a,
        b,
        width: to.width(),
        flags,
    }))
}

fn select(r: &mut Reader<'_>, word: &str) -> Result<Option<Instr>, ParseError> {
    let adjust = match word {
        "CSEL" | "CSET" => None,
        "CSINC" | "CINC" => Some((Op::Add, Value::ONE)),
        "CSINV" => Some((Op::Xor, Value::Int(-1))),
        _ => return Ok(None),
    };
    let to = named(r)?;
    let (mut then, mut otherwise) = (Src::Imm(Value::ONE), Src::ZERO);
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
        .ok_or_else(|| ParseError::new(offset, format!("`{name}` is not a condition")))?;
    if word == "CINC" {
        outcomes = outcomes.inverse();
    }
    let when = Test::Flags(r.code.reg(FLAGS), outcomes);
    Ok(Some(match to.reg {
        Some(to) => Instr::Select {
            to,
            when,
            then,
            otherwise,
            adjust,
        },
        None => Instr::Nop,
    }))
}

/// `[X0]`, `[X0,#4]`, `[X0,X1]`, `[X0,W1,SXTW]`, `[X0,W1,UXTW #2]`
fn place(r: &mut Reader<'_>) -> Result<Place, ParseError> {
    r.cursor.expect("[")?;
    let base = named(r)?.source();
    let mut at = Place::at(base, 0);
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
        let message = "addresses that change their base register are not supported";
        return Err(ParseError::unsupported(r.cursor.offset(), message)
            .help("write the change of the register as an instruction of its own"));
    }
    Ok(at)
}

/// The letter for the size at the end of an instruction's name.
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

fn memory(r: &mut Reader<'_>, word: &str) -> Result<Option<Instr>, ParseError> {
    let loads = [
        ("LDAPR", Q),
        ("LDAPUR", Q),
        ("LDAR", A),
        ("LDUR", 0),
        ("LDR", 0),
    ];
    let suffix = |name: &str| word.strip_prefix(name).and_then(sized);
    for (name, tags) in loads {
        if let Some(bits) = suffix(name) {
            let to = named(r)?;
            r.comma()?;
            let at = place(r)?;
            let width = unsigned(bits).or(to.width());
            r.size = Some(to.bits(bits));
            return Ok(Some(Instr::Load {
                to: to.reg,
                at,
                tags: if to.reg.is_none() {
                    tags & !(A | Q)
                } else {
                    tags
                },
                width,
            }));
        }
    }
    for (name, tags) in [("STLUR", L), ("STLR", L), ("STUR", 0), ("STR", 0)] {
        if let Some(bits) = suffix(name) {
            let from = named(r)?;
            r.comma()?;
            let at = place(r)?;
            let width = unsigned(bits).or(from.width());
            r.size = Some(from.bits(bits));
            return Ok(Some(Instr::Store {
                from: from.source(),
                at,
                tags,
                width,
            }));
        }
    }
    for (name, tags) in [("LDAXR", A | X), ("LDXR", X)] {
        if let Some(bits) = suffix(name) {
            let to = named(r)?;
            r.size = Some(to.bits(bits));
            r.comma()?;
            let at = place(r)?;
            let to = to.reg;
            return Ok(Some(Instr::LoadReserve { to, at, tags }));
        }
    }
    for (name, tags) in [("STLXR", L | X), ("STXR", X)] {
        if let Some(bits) = suffix(name) {
            let status = Status::Reg(named(r)?.reg);
            r.comma()?;
            let from = named(r)?;
            r.size = Some(from.bits(bits));
            let from = from.source();
            r.comma()?;
            let at = place(r)?;
            return Ok(Some(Instr::StoreConditional {
                status,
                from,
                at,
                tags,
            }));
        }
    }
    atomic(r, word)
}

/// What `A`, `L`, `AL` and a size at the end of an atomic instruction's name say: the tags of its
/// read and its write, and the size.
fn orders(suffix: &str) -> Option<(u64, u64, Option<i64>)> {
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

fn atomic(r: &mut Reader<'_>, word: &str) -> Result<Option<Instr>, ParseError> {
    if let Some((read, write, bits)) = word.strip_prefix("CAS").and_then(orders) {
        let expected = named(r)?;
        r.size = Some(expected.bits(bits));
        r.comma()?;
        let new = named(r)?.source();
        r.comma()?;
        let at = place(r)?;
        let Some(expected) = expected.reg else {
            return Err(r
                .cursor
                .unexpected("a register other than the zero register"));
        };
        return Ok(Some(Instr::CompareAndSwap {
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
    r.size = Some(from.bits(bits));
    let from = from.source();
    r.comma()?;
    let mut to = None;
    if prefix != "ST" {
        to = named(r)?.reg;
        r.comma()?;
    }
    if to.is_none() {
        // an acquire whose value goes nowhere does not order
        read = read & !A | if op.is_some() { NORET } else { 0 };
    }
    let at = place(r)?;
    if !matches!(r.cursor.kind(), Kind::End) {
        return Err(r.cursor.unexpected("the end of the instruction"));
    }
    Ok(Some(Instr::AmoPair {
        op,
        to,
        from,
        at,
        read,
        write,
    }))
}
