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
    let TokenKind::Name(name) = r.cursor.kind() else {
        return Ok(r.thread.register("cr0"));
    };
    if !is_condition_field(name) {
        return Ok(r.thread.register("cr0"));
    }
    r.cursor.step();
    r.comma()?;
    Ok(r.thread.register(name))
}

/// `cr0` to `cr7`
fn is_condition_field(name: &str) -> bool {
    matches!(name.as_bytes(), [b'c', b'r', b'0'..=b'7'])
}

/// `cr3`, or `3`
pub fn condition_field(r: &mut InstructionReader<'_>) -> Result<RegisterId, ParseError> {
    if r.at_number() {
        let number = r.number_below(8)?;
        return Ok(r.thread.register(&format!("cr{number}")));
    }
    match r.cursor.kind() {
        TokenKind::Name(name) if is_condition_field(name) => {
            r.cursor.step();
            Ok(r.thread.register(name))
        }
        _ => Err(r
            .cursor
            .unexpected("a field of the condition register, cr0 to cr7")),
    }
}

/// A bit of the condition register, as its field and its place there from the right: `eq`,
/// `4*cr3+eq`, or the number from the left of all, `14`.
pub fn condition_bit(r: &mut InstructionReader<'_>) -> Result<(RegisterId, i64), ParseError> {
    const NAMES: [&[&str]; 4] = [&["so", "un"], &["eq"], &["gt"], &["lt"]];
    let mut field = r.thread.register("cr0");
    if matches!(
        (r.cursor.kind(), r.cursor.ahead(1)),
        (TokenKind::Number(4), TokenKind::Sign("*"))
    ) {
        r.cursor.step();
        r.cursor.step();
        field = condition_field(r)?;
        r.cursor.expect("+")?;
    } else if r.at_number() {
        let number = r.number_below(32)?;
        let field = r.thread.register(&format!("cr{}", number / 4));
        return Ok((field, 3 - number % 4));
    }
    let TokenKind::Name(name) = r.cursor.kind() else {
        return Err(r.cursor.unexpected("a bit: lt, gt, eq or so"));
    };
    let place = (0..).zip(NAMES).find(|(_, names)| names.contains(&name));
    let Some((place, _)) = place else {
        return Err(r.cursor.unexpected("a bit: lt, gt, eq or so"));
    };
    r.cursor.step();
    Ok((field, place))
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
