//! Tokens of LLVM's assembly text.
//!
//! Names keep their escapes: the same name is always spelt the same way in one module.
use crate::error::{Error, Result};

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Token<'a> {
    /// `%name`, `%0`, `%"quoted"`
    Local(&'a str),
    /// `@name`
    Global(&'a str),
    /// `!name` or `!12`
    Meta(&'a str),
    /// `#12` or `#dbg_value`
    Hash(&'a str),
    /// A bare word: keywords, types, metadata field names.
    Word(&'a str),
    Int(i128),
    /// A floating-point constant as written.
    Float(&'a str),
    /// `"…"`, with its escapes.
    Str(&'a str),
    /// `c"…"`, with its escapes.
    CStr(&'a str),
    Punct(u8),
    /// `...`
    Dots,
    End,
}

#[derive(Debug, Clone, Copy)]
pub struct Lexeme<'a> {
    pub token: Token<'a>,
    pub line: u32,
    /// First on its line: an instruction ends with its line.
    pub first: bool,
}

fn is_word_start(c: u8) -> bool {
    c.is_ascii_alphabetic() || matches!(c, b'_' | b'.' | b'$' | b'-') || c >= 0x80
}

fn is_word(c: u8) -> bool {
    is_word_start(c) || c.is_ascii_digit()
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    line: u32,
}

impl<'a> Lexer<'a> {
    fn peek(&self, ahead: usize) -> u8 {
        *self.text.as_bytes().get(self.at + ahead).unwrap_or(&0)
    }

    fn slice(&self, from: usize, to: usize) -> &'a str {
        self.text.get(from..to).unwrap_or("")
    }

    fn word(&mut self) -> &'a str {
        let from = self.at;
        while is_word(self.peek(0)) {
            self.at += 1;
        }
        self.slice(from, self.at)
    }

    fn string(&mut self) -> Result<&'a str> {
        self.at += 1;
        let from = self.at;
        loop {
            match self.text.as_bytes().get(self.at) {
                None => return Err(self.error("unterminated string")),
                Some(b'"') => break,
                Some(b'\n') => self.line += 1,
                Some(_) => {}
            }
            self.at += 1;
        }
        let text = self.slice(from, self.at);
        self.at += 1;
        Ok(text)
    }

    fn name(&mut self) -> Result<&'a str> {
        self.at += 1;
        if self.peek(0) == b'"' {
            self.string()
        } else {
            Ok(self.word())
        }
    }

    fn error(&self, message: &str) -> Error {
        Error::invalid(message).on_line(self.line)
    }

    fn number(&mut self) -> Result<Token<'a>> {
        let from = self.at;
        if self.peek(0) == b'-' {
            self.at += 1;
        }
        if self.peek(0) == b'0' && self.peek(1) == b'x' {
            self.at += 2;
            while self.peek(0).is_ascii_alphanumeric() {
                self.at += 1;
            }
            return Ok(Token::Float(self.slice(from, self.at)));
        }
        while self.peek(0).is_ascii_digit() {
            self.at += 1;
        }
        if self.peek(0) == b'.' && self.peek(1).is_ascii_digit() {
            while matches!(self.peek(0), b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-') {
                self.at += 1;
            }
            return Ok(Token::Float(self.slice(from, self.at)));
        }
        // a block may be called `4.i`
        if is_word(self.peek(0)) {
            while is_word(self.peek(0)) {
                self.at += 1;
            }
            return Ok(Token::Word(self.slice(from, self.at)));
        }
        match self.slice(from, self.at).parse() {
            Ok(value) => Ok(Token::Int(value)),
            Err(_) => Err(self.error("integer of more than 128 bits")),
        }
    }

    fn token(&mut self) -> Result<Token<'a>> {
        let c = self.peek(0);
        Ok(match c {
            b'%' => Token::Local(self.name()?),
            b'@' => Token::Global(self.name()?),
            b'!' => match self.peek(1) {
                b'"' | b'{' => {
                    self.at += 1;
                    Token::Punct(b'!')
                }
                next if is_word(next) => {
                    self.at += 1;
                    Token::Meta(self.word())
                }
                _ => {
                    self.at += 1;
                    Token::Punct(b'!')
                }
            },
            b'#' => {
                self.at += 1;
                Token::Hash(self.word())
            }
            b'"' => Token::Str(self.string()?),
            b'c' if self.peek(1) == b'"' => {
                self.at += 1;
                Token::CStr(self.string()?)
            }
            b'.' if self.peek(1) == b'.' && self.peek(2) == b'.' => {
                self.at += 3;
                Token::Dots
            }
            b'0'..=b'9' => self.number()?,
            b'-' if self.peek(1).is_ascii_digit() => self.number()?,
            c if is_word_start(c) => Token::Word(self.word()),
            b'=' | b',' | b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'<' | b'>' | b':' | b'*'
            | b'|' | b'^' | b'?' | b'/' | b'+' => {
                self.at += 1;
                Token::Punct(c)
            }
            _ => return Err(self.error(&format!("unexpected character {:?}", c as char))),
        })
    }
}

/// Splits `text`; the last lexeme is `Token::End`.
pub fn lex(text: &str) -> Result<Vec<Lexeme<'_>>> {
    let mut lexer = Lexer {
        text,
        at: 0,
        line: 1,
    };
    let mut out = Vec::with_capacity(text.len() / 4);
    let mut first = true;
    while lexer.at < text.len() {
        match lexer.peek(0) {
            b'\n' => {
                lexer.line += 1;
                lexer.at += 1;
                first = true;
            }
            b' ' | b'\t' | b'\r' => lexer.at += 1,
            b';' => {
                while lexer.at < text.len() && lexer.peek(0) != b'\n' {
                    lexer.at += 1;
                }
            }
            _ => {
                let line = lexer.line;
                let token = lexer.token()?;
                out.push(Lexeme { token, line, first });
                first = false;
            }
        }
    }
    out.push(Lexeme {
        token: Token::End,
        line: lexer.line,
        first: true,
    });
    Ok(out)
}

/// The bytes of a quoted string: `\XX` is a byte, `\\` a backslash.
pub fn unescape(text: &str) -> Vec<u8> {
    let raw = text.as_bytes();
    let mut out = Vec::with_capacity(raw.len());
    let mut at = 0;
    while at < raw.len() {
        let hex = |i: usize| raw.get(i).and_then(|c| (*c as char).to_digit(16));
        if raw[at] == b'\\' {
            if let (Some(high), Some(low)) = (hex(at + 1), hex(at + 2)) {
                out.push((high * 16 + low) as u8);
                at += 3;
                continue;
            }
            if raw.get(at + 1) == Some(&b'\\') {
                at += 1;
            }
        }
        out.push(raw[at]);
        at += 1;
    }
    out
}
