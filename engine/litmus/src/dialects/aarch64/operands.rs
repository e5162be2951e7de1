//! Registers and immediates as AArch64 instructions name them, and the annotations of accesses.

use crate::annotation::{annotation, Annotations};
use crate::assembly::columns::InstructionReader;
use crate::assembly::instruction::{place_of, Source, Width};
use crate::dialect::by_number;
use crate::error::ParseError;
use crate::value::RegisterId;

pub const ANNOTATIONS: [&str; 31] = [
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
    "NT",
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
pub const NT: Annotations = annotation(&ANNOTATIONS, "NT");
pub const NORET: Annotations = annotation(&ANNOTATIONS, "NoRet");

/// The register that comparisons write.
pub const FLAGS: &str = "NZCV";

/// The general registers, by number.
const NUMBERED: [&str; 31] = [
    "X0", "X1", "X2", "X3", "X4", "X5", "X6", "X7", "X8", "X9", "X10", "X11", "X12", "X13", "X14",
    "X15", "X16", "X17", "X18", "X19", "X20", "X21", "X22", "X23", "X24", "X25", "X26", "X27",
    "X28", "X29", "X30",
];

/// `X1` for `X1` and `W1`.
pub fn register(name: &str) -> Option<String> {
    known(name).map(str::to_owned)
}

/// [`register`], without a copy of the name.
fn known(name: &str) -> Option<&'static str> {
    let others = ["SP", "XZR"].into_iter();
    let mut others = others.filter(|other| name.eq_ignore_ascii_case(other));
    others.next().or_else(|| {
        let number: usize = name.strip_prefix(['X', 'W', 'x', 'w'])?.parse().ok()?;
        NUMBERED.get(number).copied()
    })
}

/// herd7's order: the zero register, then X0 and so on.
pub fn register_order(name: &str) -> (usize, u32) {
    match name {
        "XZR" => (0, 0),
        name => (1, by_number(name).1),
    }
}

/// A register as an instruction names it; none for the zero register.
#[derive(Clone, Copy)]
pub struct Named {
    pub reg: Option<RegisterId>,
    /// 32 or 64.
    pub bits: i64,
}

impl Named {
    pub fn source(&self) -> Source {
        self.reg.map_or(Source::ZERO, Source::Reg)
    }

    /// The bits of a memory access with this register: those in the instruction's name, if any.
    pub fn access_bits(&self, named: Option<i64>) -> i64 {
        named.unwrap_or(self.bits)
    }

    pub fn width(&self) -> Option<Width> {
        (self.bits < 64).then_some(Width::unsigned(self.bits))
    }
}

/// `X1`, `W1`, `XZR`, `SP`, or a symbolic register: `%x`, `X%x`, `W%x`
pub fn named(r: &mut InstructionReader<'_>) -> Result<Named, ParseError> {
    let offset = r.cursor.offset();
    let mut written = "X";
    if !r.cursor.is("%") {
        written = r.cursor.name("a register")?;
    }
    let bits = if written.starts_with(['W', 'w']) {
        32
    } else {
        64
    };
    let is = |name: &str| written.eq_ignore_ascii_case(name);
    if (is("X") || is("W")) && r.cursor.eat("%") {
        let name = format!("%{}", r.cursor.name("the name of a register")?);
        let reg = Some(r.thread.register(&name));
        return Ok(Named { reg, bits });
    }
    if is("XZR") || is("WZR") {
        return Ok(Named { reg: None, bits });
    }
    match known(written) {
        Some(name) => Ok(Named {
            reg: Some(r.thread.register(name)),
            bits,
        }),
        None => Err(ParseError::unsupported(
            offset,
            format!("unknown register `{}`", written.to_ascii_uppercase()),
        )
        .help("registers are X0 to X30, W0 to W30, XZR, WZR and SP")),
    }
}

/// A label, or the distance of an instruction in bytes: `.+8`
pub fn target(r: &mut InstructionReader<'_>) -> Result<String, ParseError> {
    if !r.cursor.eat_word(".") {
        return r.label();
    }
    let offset = r.cursor.offset();
    r.cursor.eat("+");
    let bytes = r.cursor.signed_number()?;
    let here = i64::try_from(r.thread.instructions.len()).unwrap_or(i64::MAX);
    let there = usize::try_from(here.saturating_add(bytes / 4)).ok();
    match there.filter(|_| bytes % 4 == 0) {
        Some(instruction) => Ok(place_of(instruction)),
        None => Err(ParseError::new(
            offset,
            "expected the distance of an instruction, a multiple of 4",
        )),
    }
}
