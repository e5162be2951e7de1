//! Reads the threads of assembly tests: one column per thread, one row per instruction.

use super::code_addresses;
use super::instruction::{AssemblyThread, Instruction, JumpTarget};
use crate::error::ParseError;
use crate::lexer::{tokens, Cursor, Syntax, TokenKind};
use crate::location_names::LocationNames;
use crate::sections::{comment_end, without_comments, SourceSpan};
use crate::value::RegisterId;

/// Reads one instruction, from its mnemonic on.
pub type ReadInstruction = fn(&mut InstructionReader<'_>) -> Result<Instruction, ParseError>;

pub struct InstructionReader<'r> {
    pub cursor: Cursor<'r>,
    /// To be set to the bits of the memory access, where the instruction determines them.
    pub access_bits: Option<i64>,
    /// The test has addresses of instructions as values, to which a return may jump.
    pub with_code_addresses: bool,
    pub thread: &'r mut AssemblyThread,
    pub locations: &'r mut LocationNames,
}

const SYNTAX: Syntax = Syntax::new(
    &[
        ":", ",", "(", ")", "[", "]", "{", "}", "#", "$", "%", "+", "-", "!", "*", "=",
    ],
    true,
    ".",
);

pub fn program(
    section: SourceSpan<'_>,
    locations: &mut LocationNames,
    instruction: ReadInstruction,
) -> Result<Vec<AssemblyThread>, ParseError> {
    let mut rows = rows(section)?.into_iter();
    let Some(header) = rows.next() else {
        return Err(
            ParseError::new(section.offset, "expected the threads, found none")
                .help("the first row names the threads: P0 | P1 ;"),
        );
    };
    for (number, cell) in header.iter().enumerate() {
        let text = without_comments(cell.text);
        let name = text.split(':').next().unwrap_or("").trim();
        if name.strip_prefix('P').and_then(|n| n.parse().ok()) != Some(number) {
            return Err(ParseError::new(cell.offset, format!("expected P{number}"))
                .help("threads are numbered from left to right: P0 | P1 ;"));
        }
    }
    let rows: Vec<_> = rows.collect();
    let count = header.len();
    let mut threads = vec![AssemblyThread::default(); count];
    for row in &rows {
        if row.len() > count {
            return Err(ParseError::new(
                row[count].offset,
                "this row has more columns than there are threads",
            ));
        }
        for (cell, thread) in row.iter().zip(&mut threads) {
            read_cell(*cell, thread, locations, instruction, false)?;
        }
    }
    if code_addresses::are_used(&threads, locations) {
        let read = |column, into: &mut _, locations: &mut _| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            cells
                .copied()
                .try_for_each(|cell| read_cell(cell, into, locations, instruction, true))
        };
        threads = code_addresses::threads(count, section.offset, locations, read)?;
    } else {
        for thread in &mut threads {
            thread.own = 0..thread.instructions.len();
        }
    }
    for thread in &threads {
        for (i, instr) in thread.instructions.iter().enumerate() {
            let (Instruction::Jump(to)
            | Instruction::Branch { to, .. }
            | Instruction::JumpTo {
                to: JumpTarget::Label(to),
                ..
            }) = instr
            else {
                continue;
            };
            if thread.label(to).is_none() {
                return Err(ParseError::new(
                    thread.offsets[i],
                    format!("unknown label `{to}`"),
                ));
            }
        }
    }
    Ok(threads)
}

/// The cells of each row.
fn rows(section: SourceSpan<'_>) -> Result<Vec<Vec<SourceSpan<'_>>>, ParseError> {
    let text = section.text;
    let bytes = text.as_bytes();
    let mut rows = Vec::new();
    let mut row = Vec::new();
    let mut start = 0;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'(' if bytes.get(at + 1) == Some(&b'*') => {
                at = comment_end(text, at)
                    .ok_or_else(|| ParseError::new(section.offset + at, "unterminated comment"))?;
                continue;
            }
            b'|' | b';' => {
                row.push(cell(section, start, at));
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
                section.offset + start + blank,
                "expected `;` at the end of the row",
            ));
        }
    }
    Ok(rows)
}

fn cell<'t>(section: SourceSpan<'t>, from: usize, to: usize) -> SourceSpan<'t> {
    let text = &section.text[from..to];
    let blank = text.len() - text.trim_start().len();
    SourceSpan {
        text: text.trim(),
        offset: section.offset + from + blank,
    }
}

fn read_cell(
    cell: SourceSpan<'_>,
    thread: &mut AssemblyThread,
    locations: &mut LocationNames,
    instruction: ReadInstruction,
    with_code_addresses: bool,
) -> Result<(), ParseError> {
    let mut cursor = Cursor::new(tokens(cell.text, cell.offset, &SYNTAX)?);
    while let (TokenKind::Name(label), TokenKind::Sign(":")) = (cursor.kind(), cursor.ahead(1)) {
        thread
            .labels
            .push((label.to_owned(), thread.instructions.len()));
        cursor.step();
        cursor.step();
    }
    if cursor.at_end() {
        return Ok(());
    }
    let offset = cursor.offset();
    let mut reader = InstructionReader {
        cursor,
        access_bits: None,
        with_code_addresses,
        thread,
        locations,
    };
    let instr = instruction(&mut reader)?;
    if !reader.cursor.at_end() {
        return Err(reader.cursor.unexpected("the end of the instruction"));
    }
    let access_bits = reader.access_bits;
    thread.instructions.push(instr);
    thread.offsets.push(offset);
    thread.access_bits.push(access_bits);
    Ok(())
}

impl InstructionReader<'_> {
    /// `%x`, which herd7 allocates itself, if one follows.
    pub fn symbolic_register(&mut self) -> Result<Option<RegisterId>, ParseError> {
        if !self.cursor.eat("%") {
            return Ok(None);
        }
        let name = format!("%{}", self.cursor.name("the name of a register")?);
        Ok(Some(self.thread.register(&name)))
    }

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
        self.cursor.signed_number()
    }

    /// A number from 0 to `limit` - 1.
    pub fn number_below(&mut self, limit: i64) -> Result<i64, ParseError> {
        let offset = self.cursor.offset();
        let number = self.number()?;
        match (0..limit).contains(&number) {
            true => Ok(number),
            false => Err(ParseError::new(
                offset,
                format!("expected a number from 0 to {}, found {number}", limit - 1),
            )),
        }
    }

    pub fn at_number(&self) -> bool {
        let number = |k: TokenKind| matches!(k, TokenKind::Number(_));
        let sign = |k: TokenKind| matches!(k, TokenKind::Sign("#" | "$" | "-"));
        number(self.cursor.kind()) || sign(self.cursor.kind())
    }

    pub fn unknown(&self, offset: usize, word: &str) -> ParseError {
        ParseError::unsupported(offset, format!("unknown instruction `{word}`"))
    }
}
