//! Registers as Power's instructions name them.

use crate::assembly::columns::InstructionReader;
use crate::error::ParseError;
use crate::lexer::TokenKind;
use crate::value::RegisterId;

/// `r0` to `r31`
pub fn register(name: &str) -> Option<String> {
    let number: u32 = name.strip_prefix('r')?.parse().ok()?;
    (number < 32).then(|| format!("r{number}"))
}

/// `cr3,` if given, otherwise cr0. Skips the branch hint `+` or `-`.
pub fn condition_register(r: &mut InstructionReader<'_>) -> Result<RegisterId, ParseError> {
    if r.cursor.is("+") || r.cursor.is("-") {
        r.cursor.step();
    }
    let name = match r.cursor.kind() {
        TokenKind::Name(n) if n.len() == 3 && n.starts_with("cr") => n,
        _ => return Ok(r.thread.register("cr0")),
    };
    r.cursor.step();
    r.comma()?;
    Ok(r.thread.register(name))
}

pub fn reg(r: &mut InstructionReader<'_>) -> Result<RegisterId, ParseError> {
    let offset = r.cursor.offset();
    if let Some(symbolic) = r.symbolic_register()? {
        return Ok(symbolic);
    }
    let name = r.cursor.name("a register")?;
    match register(name) {
        Some(name) => Ok(r.thread.register(&name)),
        None => Err(
            ParseError::new(offset, format!("unknown register `{name}`"))
                .help("registers are r0 to r31"),
        ),
    }
}
