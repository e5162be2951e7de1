//! Registers, immediates and memory operands of x86, in Intel's syntax and in AT&T's, and the
//! annotations of accesses.

use crate::annotation::{annotation, Annotations};
use crate::assembly::columns::InstructionReader;
use crate::assembly::formula::Formula;
use crate::assembly::instruction::{MemoryOperand, Source};
use crate::error::ParseError;
use crate::lexer::TokenKind;
use crate::value::{RegisterId, Value};

pub const ANNOTATIONS: [&str; 7] = ["MFENCE", "SFENCE", "LFENCE", "X", "P", "A", "NT"];
pub const MFENCE: Annotations = annotation(&ANNOTATIONS, "MFENCE");
pub const SFENCE: Annotations = annotation(&ANNOTATIONS, "SFENCE");
pub const LFENCE: Annotations = annotation(&ANNOTATIONS, "LFENCE");
pub const ATOMIC: Annotations = annotation(&ANNOTATIONS, "X");

/// The register that holds the condition flags.
pub const FLAGS: &str = "flags";

/// The registers' names after `r` and `e`.
pub const NAMES: [&str; 8] = ["ax", "bx", "cx", "dx", "si", "di", "bp", "sp"];

/// The bits of a register that a name stands for, from bit `shift` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub bits: i64,
    pub shift: i64,
}

impl Part {
    const fn low(bits: i64) -> Part {
        Part { bits, shift: 0 }
    }
}

#[derive(Clone, Copy)]
pub enum Operand {
    Reg(RegisterId, Part),
    Imm(i64),
    Memory(MemoryOperand),
}

/// The register of a name in any case, and the part of it: `rax` in X86_64, `EAX` in X86.
pub fn part(name: &str, wide: bool) -> Option<(String, Part)> {
    let lower = name.trim_start_matches('%').to_ascii_lowercase();
    let (base, part) = named_part(&lower)?;
    match wide {
        true => Some((format!("r{base}"), part)),
        // the names that X86 lacks
        false if part.bits == 64 || base.starts_with(|c: char| c.is_ascii_digit()) => None,
        false => Some((format!("e{base}").to_ascii_uppercase(), part)),
    }
}

/// `ax`, or the number of the register, and the part.
fn named_part(lower: &str) -> Option<(String, Part)> {
    if let Some(number) = lower.strip_prefix('r') {
        let digits = number.trim_end_matches(['d', 'w', 'b']);
        if digits.parse::<u32>().is_ok_and(|n| (8..16).contains(&n)) {
            let bits = match &number[digits.len()..] {
                "" => 64,
                "d" => 32,
                "w" => 16,
                "b" => 8,
                _ => return None,
            };
            return Some((digits.to_owned(), Part::low(bits)));
        }
    }
    for (prefix, bits) in [("r", 64), ("e", 32), ("", 16)] {
        let base = lower.strip_prefix(prefix);
        if let Some(base) = base.filter(|base| NAMES.contains(base)) {
            return Some((base.to_owned(), Part::low(bits)));
        }
    }
    let (first, last) = lower.split_at_checked(lower.len().checked_sub(1)?)?;
    let base = NAMES
        .into_iter()
        .find(|name| *name == first || first.len() == 1 && *name == format!("{first}x"))?;
    match (last, first.len()) {
        ("l", _) => Some((base.to_owned(), Part::low(8))),
        ("h", 1) => Some((base.to_owned(), Part { bits: 8, shift: 8 })),
        _ => None,
    }
}

/// The name of a register in final and initial states, for any part of it.
pub fn register(name: &str, wide: bool) -> Option<String> {
    let lower = name.trim_start_matches('%').to_ascii_lowercase();
    if wide && matches!(lower.as_str(), "rip" | "cs") {
        return Some(lower);
    }
    part(name, wide).map(|(register, _)| register)
}

pub fn operand(r: &mut InstructionReader<'_>, wide: bool) -> Result<Operand, ParseError> {
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
            return match part(name, wide) {
                Some((name, part)) => Ok(Operand::Reg(r.thread.register(&name), part)),
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

/// `%rbx,8`, or `%rbx`
fn scaled_index(r: &mut InstructionReader<'_>, at: &mut MemoryOperand) -> Result<(), ParseError> {
    r.cursor.eat("%");
    let offset = r.cursor.offset();
    let name = r.cursor.name("a register")?;
    let index = register(name, true)
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

pub fn bad_operands(offset: usize, word: &str) -> ParseError {
    ParseError::unsupported(offset, format!("unsupported operands of `{word}`"))
        .help("at most one operand is in memory, and the destination is not an immediate")
}

/// What an instruction reads besides memory, for its formulas, in which memory is operand 0.
#[derive(Default)]
pub struct Operands(pub Vec<Source>);

impl Operands {
    pub fn register(&mut self, register: RegisterId) -> Formula {
        self.0.push(Source::Reg(register));
        Formula::Operand(self.0.len())
    }

    /// The value; the bits above those of the operand are not determined.
    pub fn value(&mut self, operand: &Operand) -> Formula {
        match *operand {
            Operand::Reg(register, part) => self.register(register).shifted_right(part.shift),
            Operand::Imm(n) => {
                self.0.push(Source::Imm(Value::Int(n)));
                Formula::Operand(self.0.len())
            }
            Operand::Memory(_) => Formula::Operand(0),
        }
    }

    /// What a register holds once a part of it has this value. As Intel's manual says (volume 1,
    /// 3.4.1.1), 32 bits clear those above, 8 and 16 bits leave them.
    pub fn written(&mut self, register: RegisterId, part: Part, value: Formula) -> Formula {
        use crate::value::Op::{And, Or};
        if part.bits >= 32 {
            return value.zero_extended(part.bits);
        }
        let mask = ((1 << part.bits) - 1) << part.shift;
        let others = self.register(register).with(And, !mask);
        let part = value.zero_extended(part.bits).shifted_left(part.shift);
        Formula::apply(Or, others, part)
    }
}
