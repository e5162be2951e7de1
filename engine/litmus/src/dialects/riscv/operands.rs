//! Registers as RISC-V's instructions name them.

use crate::assembly::columns::InstructionReader;
use crate::assembly::instruction::Source;
use crate::error::ParseError;
use crate::value::RegisterId;

/// The registers' names in the ABI, by number.
const ABI_NAMES: [&str; 32] = [
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4",
    "a5", "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4",
    "t5", "t6",
];

pub fn register(name: &str) -> Option<String> {
    if let Some(number) = name.strip_prefix('x').and_then(|n| n.parse::<u32>().ok()) {
        return (number < 32).then(|| format!("x{number}"));
    }
    let at = ABI_NAMES.iter().position(|n| *n == name)?;
    Some(format!("x{at}"))
}

/// A register; none for x0.
pub fn reg(r: &mut InstructionReader<'_>) -> Result<Option<RegisterId>, ParseError> {
    let offset = r.cursor.offset();
    if let Some(symbolic) = r.symbolic_register()? {
        return Ok(Some(symbolic));
    }
    let name = r.cursor.name("a register")?;
    match register(name) {
        Some(name) if name == "x0" => Ok(None),
        Some(name) => Ok(Some(r.thread.register(&name))),
        None => Err(
            ParseError::new(offset, format!("unknown register `{name}`"))
                .help("registers are x0 to x31, or a0, t0, …"),
        ),
    }
}

pub fn source(r: &mut InstructionReader<'_>) -> Result<Source, ParseError> {
    Ok(reg(r)?.map_or(Source::ZERO, Source::Reg))
}
