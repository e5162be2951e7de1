//! Programs in assembly: a column a thread, a row an instruction of each.

use super::error::ParseError;
use super::isa::{Code, Instr};
use super::lexer::{tokens, Cursor, Kind, Syntax};
use super::names::Names;
use super::sections::{comment_end, Part};

/// Reads one instruction; the cursor is at its first word.
pub type Instruction = fn(&mut Reader<'_>) -> Result<Instr, ParseError>;

pub struct Reader<'r> {
    pub cursor: Cursor<'r>,
    /// The bits of the access of memory, when the instruction is one and says.
    pub size: Option<i64>,
    pub code: &'r mut Code,
    pub names: &'r mut Names,
}

const SYNTAX: Syntax = Syntax::new(
    &[
        ":", ",", "(", ")", "[", "]", "{", "}", "#", "$", "%", "+", "-", "!", "*", "=",
    ],
    true,
    ".",
);

pub fn program(
    part: Part<'_>,
    names: &mut Names,
    instruction: Instruction,
) -> Result<Vec<Code>, ParseError> {
    let mut rows = rows(part)?.into_iter();
    let Some(header) = rows.next() else {
        return Err(ParseError::new(part.offset, "the program is missing")
            .help("its first row names the threads: P0 | P1 ;"));
    };
    let mut threads = Vec::new();
    for (number, cell) in header.iter().enumerate() {
        let name = cell.text.split(':').next().unwrap_or("").trim();
        if name.strip_prefix('P').and_then(|n| n.parse().ok()) != Some(number) {
            return Err(ParseError::new(cell.offset, format!("expected P{number}"))
                .help("the threads stand in order: P0 | P1 ;"));
        }
        threads.push(Code::default());
    }
    for row in rows {
        if row.len() > threads.len() {
            return Err(ParseError::new(
                row[threads.len()].offset,
                "there is no thread for this column",
            ));
        }
        for (cell, code) in row.iter().zip(&mut threads) {
            cell_into(*cell, code, names, instruction)?;
        }
    }
    for code in &threads {
        for (i, instr) in code.instructions.iter().enumerate() {
            if let Instr::Jump(to) | Instr::Branch { to, .. } = instr {
                if code.label(to).is_none() {
                    return Err(ParseError::new(
                        code.offsets[i],
                        format!("no label `{to}` in this thread"),
                    ));
                }
            }
        }
    }
    Ok(threads)
}

/// The cells of each row, without those of rows that hold nothing.
fn rows(part: Part<'_>) -> Result<Vec<Vec<Part<'_>>>, ParseError> {
    let text = part.text;
    let bytes = text.as_bytes();
    let mut rows = Vec::new();
    let mut row = Vec::new();
    let mut start = 0;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'(' if bytes.get(at + 1) == Some(&b'*') => {
                at = comment_end(text, at)
                    .ok_or_else(|| ParseError::new(part.offset + at, "this comment has no end"))?;
                continue;
            }
            b'|' | b';' => {
                row.push(cell(part, start, at));
                start = at + 1;
                if bytes[at] == b';' {
                    rows.push(std::mem::take(&mut row));
                }
            }
            _ => {}
        }
        at += 1;
    }
    if !text[start..].trim().is_empty() || !row.is_empty() {
        let blank = text[start..].len() - text[start..].trim_start().len();
        let rest = text[start..].trim_start();
        if !rest.is_empty() && !rest.starts_with("(*") {
            return Err(ParseError::new(
                part.offset + start + blank,
                "this row has no `;` at its end",
            ));
        }
    }
    Ok(rows)
}

fn cell<'t>(part: Part<'t>, from: usize, to: usize) -> Part<'t> {
    let text = &part.text[from..to];
    let blank = text.len() - text.trim_start().len();
    Part {
        text: text.trim(),
        offset: part.offset + from + blank,
    }
}

fn cell_into(
    cell: Part<'_>,
    code: &mut Code,
    names: &mut Names,
    instruction: Instruction,
) -> Result<(), ParseError> {
    let mut cursor = Cursor::new(tokens(cell.text, cell.offset, &SYNTAX)?);
    while let (Kind::Name(label), Kind::Sign(":")) = (cursor.kind(), cursor.ahead(1)) {
        code.labels
            .push((label.to_owned(), code.instructions.len()));
        cursor.step();
        cursor.step();
    }
    if cursor.at_end() {
        return Ok(());
    }
    let offset = cursor.offset();
    let mut reader = Reader {
        cursor,
        size: None,
        code,
        names,
    };
    let instr = instruction(&mut reader)?;
    if !reader.cursor.at_end() {
        return Err(reader.cursor.unexpected("the end of the instruction"));
    }
    let size = reader.size;
    code.instructions.push(instr);
    code.offsets.push(offset);
    code.sizes.push(size);
    Ok(())
}

impl Reader<'_> {
    pub fn comma(&mut self) -> Result<(), ParseError> {
        self.cursor.expect(",")
    }

    pub fn label(&mut self) -> Result<String, ParseError> {
        self.cursor.name("a label").map(str::to_owned)
    }

    /// A number, with or without `#` or `$` before it.
    pub fn number(&mut self) -> Result<i64, ParseError> {
        if self.cursor.is("#") || self.cursor.is("$") {
            self.cursor.step();
        }
        let negative = self.cursor.eat("-");
        match self.cursor.kind() {
            Kind::Number(n) => {
                self.cursor.step();
                Ok(if negative { n.wrapping_neg() } else { n })
            }
            _ => Err(self.cursor.unexpected("a number")),
        }
    }

    pub fn at_number(&self) -> bool {
        let number = |k: Kind| matches!(k, Kind::Number(_));
        let sign = |k: Kind| matches!(k, Kind::Sign("#" | "$" | "-"));
        number(self.cursor.kind()) || sign(self.cursor.kind())
    }

    pub fn unknown(&self, offset: usize, word: &str) -> ParseError {
        ParseError::unsupported(offset, format!("unknown instruction `{word}`"))
    }
}
