//! Registers and immediates as AArch64 instructions name them, and the annotations of accesses.

use crate::annotation::{annotation, Annotations};
use crate::assembly::columns::InstructionReader;
use crate::assembly::instruction::{Source, Width};
use crate::error::ParseError;
use crate::value::{RegisterId, Value};

pub const ANNOTATIONS: [&str; 30] = [
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
pub const ISB: Annotations = annotation(&ANNOTATIONS, "ISB");
pub const A: Annotations = annotation(&ANNOTATIONS, "A");
pub const Q: Annotations = annotation(&ANNOTATIONS, "Q");
pub const L: Annotations = annotation(&ANNOTATIONS, "L");
pub const X: Annotations = annotation(&ANNOTATIONS, "X");
pub const NORET: Annotations = annotation(&ANNOTATIONS, "NoRet");

/// `X1` for `X1` and `W1`.
pub fn register(name: &str) -> Option<String> {
    let upper = name.to_ascii_uppercase();
    let number: u32 = upper.strip_prefix(['X', 'W'])?.parse().ok()?;
    (number < 31).then(|| format!("X{number}"))
}

/// A register as an instruction names it; none for the zero register.
pub struct Named {
    pub reg: Option<RegisterId>,
    wide: bool,
}

impl Named {
    pub fn source(&self) -> Source {
        self.reg.map_or(Source::ZERO, Source::Reg)
    }

    /// The bits of a memory access with this register: those in the instruction's name, if any.
    pub fn access_bits(&self, named: Option<i64>) -> i64 {
        named.unwrap_or(if self.wide { 64 } else { 32 })
    }

    pub fn width(&self) -> Option<Width> {
        (!self.wide).then_some(Width {
            bits: 32,
            signed: true,
        })
    }
}

pub fn named(r: &mut InstructionReader<'_>) -> Result<Named, ParseError> {
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
pub fn source(r: &mut InstructionReader<'_>) -> Result<Source, ParseError> {
    match r.at_number() {
        true => Ok(Source::Imm(Value::Int(r.number()?))),
        false => Ok(named(r)?.source()),
    }
}
