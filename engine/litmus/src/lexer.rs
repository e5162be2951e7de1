//! The lexer of initial states, conditions, C and assembly: names, numbers and signs.

use super::error::ParseError;
use super::sections::comment_end;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind<'t> {
    Name(&'t str),
    Number(i64),
    /// Between quotes or backquotes; only in initial states and conditions.
    Text(&'t str),
    /// One of the syntax's signs.
    Sign(&'static str),
    End,
}

#[derive(Clone, Copy, Debug)]
pub struct Token<'t> {
    pub kind: TokenKind<'t>,
    pub offset: usize,
}

/// What the lexer accepts in a language.
pub struct Syntax {
    signs: &'static [&'static str],
    /// By byte, the index of the first sign that starts with it, or the number of signs.
    first: [u8; 256],
    ocaml_comments: bool,
    name_start: &'static str,
}

impl Syntax {
    /// `signs` have one or two characters, the longer ones first, and are fewer than 255.
    /// Comments are `(* … *)` with `ocaml_comments`, otherwise `/* … */` and `// …`.
    /// `name_start` are the characters that start a name besides letters and `_`.
    pub const fn new(
        signs: &'static [&'static str],
        ocaml_comments: bool,
        name_start: &'static str,
    ) -> Syntax {
        let mut first = [signs.len() as u8; 256];
        let mut index = signs.len();
        while index > 0 {
            index -= 1;
            first[signs[index].as_bytes()[0] as usize] = index as u8;
        }
        Syntax {
            signs,
            first,
            ocaml_comments,
            name_start,
        }
    }
}

pub fn tokens<'t>(
    text: &'t str,
    base: usize,
    syntax: &Syntax,
) -> Result<Vec<Token<'t>>, ParseError> {
    let bytes = text.as_bytes();
    let comments = if syntax.ocaml_comments { b'(' } else { b'/' };
    // an estimate: a name or a sign, and a blank
    let mut out = Vec::with_capacity(text.len() / 3 + 1);
    let mut at = 0;
    while let Some(first) = bytes.get(at) {
        if first.is_ascii_whitespace() {
            at += 1;
            continue;
        }
        if let Some(end) = (*first == comments)
            .then(|| comment(text, at, syntax))
            .flatten()
        {
            at = end.ok_or_else(|| ParseError::new(base + at, "unterminated comment"))?;
            continue;
        }
        let rest = &bytes[at..];
        let (kind, len) = if first.is_ascii_digit() {
            let len = run(rest, |c| c.is_ascii_alphanumeric());
            let value = number(&text[at..at + len]).ok_or_else(|| {
                ParseError::new(base + at, "expected a number of at most 64 bits")
            })?;
            (TokenKind::Number(value), len)
        } else if starts_name(*first, syntax) {
            let dots = syntax.ocaml_comments;
            let inside = |c: u8| INSIDE[usize::from(c)] || dots && c == b'.';
            let len = 1 + run(&rest[1..], inside);
            (TokenKind::Name(&text[at..at + len]), len)
        } else if let (true, b'"' | b'`') = (syntax.ocaml_comments, *first) {
            let quote = char::from(*first);
            let end = text[at + 1..]
                .find(quote)
                .ok_or_else(|| ParseError::new(base + at, "unterminated quoted text"))?;
            (TokenKind::Text(&text[at + 1..at + 1 + end]), end + 2)
        } else if let Some(sign) = sign(rest, syntax) {
            (TokenKind::Sign(sign), sign.len())
        } else {
            let c = text[at..].chars().next().unwrap_or_default();
            if c.is_whitespace() {
                at += c.len_utf8();
                continue;
            }
            return Err(ParseError::new(
                base + at,
                format!("unexpected character {c:?}"),
            ));
        };
        let offset = base + at;
        out.push(Token { kind, offset });
        at += len;
    }
    out.push(Token {
        kind: TokenKind::End,
        offset: base + text.len(),
    });
    Ok(out)
}

/// Whether a byte continues a name.
const INSIDE: [bool; 256] = {
    let mut inside = [false; 256];
    let mut c = 0;
    while c < 256 {
        inside[c] = (c as u8).is_ascii_alphanumeric() || c as u8 == b'_';
        c += 1;
    }
    inside
};

fn starts_name(c: u8, syntax: &Syntax) -> bool {
    c.is_ascii_alphabetic() || c == b'_' || syntax.name_start.as_bytes().contains(&c)
}

fn sign(rest: &[u8], syntax: &Syntax) -> Option<&'static str> {
    let (first, second) = (rest[0], rest.get(1).copied());
    let fits = |sign: &&&str| match *sign.as_bytes() {
        [one] => one == first,
        [one, two] => one == first && Some(two) == second,
        _ => false,
    };
    let from = usize::from(syntax.first[usize::from(first)]);
    syntax.signs[from..].iter().find(fits).copied()
}

/// The number of leading bytes that satisfy the predicate.
fn run(bytes: &[u8], inside: impl Fn(u8) -> bool) -> usize {
    let outside = bytes.iter().position(|c| !inside(*c));
    outside.unwrap_or(bytes.len())
}

/// The end of the comment at `at`, if one starts there; `Some(None)` when it is unterminated.
fn comment(text: &str, at: usize, syntax: &Syntax) -> Option<Option<usize>> {
    let rest = &text[at..];
    if syntax.ocaml_comments {
        return rest.starts_with("(*").then(|| comment_end(text, at));
    }
    if rest.starts_with("//") {
        return Some(Some(at + rest.find('\n').unwrap_or(rest.len())));
    }
    rest.starts_with("/*")
        .then(|| rest[2..].find("*/").map(|n| at + n + 4))
}

/// A decimal or hexadecimal number, with C's suffixes.
pub fn number(text: &str) -> Option<i64> {
    if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        let hex = hex.trim_end_matches(['u', 'U', 'l', 'L']);
        return u64::from_str_radix(hex, 16).ok().map(|v| v as i64);
    }
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
    digits
        .parse::<i64>()
        .ok()
        .or_else(|| digits.parse::<u64>().ok().map(|v| v as i64))
}

/// A reading position in tokens.
pub struct Cursor<'t> {
    tokens: Vec<Token<'t>>,
    at: usize,
}

impl<'t> Cursor<'t> {
    pub fn new(tokens: Vec<Token<'t>>) -> Cursor<'t> {
        Cursor { tokens, at: 0 }
    }

    pub fn kind(&self) -> TokenKind<'t> {
        self.ahead(0)
    }

    pub fn ahead(&self, n: usize) -> TokenKind<'t> {
        self.tokens
            .get(self.at + n)
            .map_or(TokenKind::End, |t| t.kind)
    }

    pub fn offset(&self) -> usize {
        self.tokens
            .get(self.at)
            .or(self.tokens.last())
            .map_or(0, |t| t.offset)
    }

    pub fn step(&mut self) {
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }

    pub fn is(&self, sign: &str) -> bool {
        // most signs have one character, which is quicker to compare
        let same = |s: &str| match (s.as_bytes(), sign.as_bytes()) {
            ([a], [b]) => a == b,
            (a, b) => a == b,
        };
        matches!(self.kind(), TokenKind::Sign(s) if same(s))
    }

    pub fn is_word(&self, word: &str) -> bool {
        matches!(self.kind(), TokenKind::Name(n) if n == word)
    }

    pub fn eat(&mut self, sign: &str) -> bool {
        let yes = self.is(sign);
        if yes {
            self.step();
        }
        yes
    }

    pub fn eat_word(&mut self, word: &str) -> bool {
        let yes = self.is_word(word);
        if yes {
            self.step();
        }
        yes
    }

    pub fn expect(&mut self, sign: &str) -> Result<(), ParseError> {
        match self.eat(sign) {
            true => Ok(()),
            false => Err(self.unexpected(&format!("`{sign}`"))),
        }
    }

    pub fn name(&mut self, what: &str) -> Result<&'t str, ParseError> {
        match self.kind() {
            TokenKind::Name(n) => {
                self.step();
                Ok(n)
            }
            _ => Err(self.unexpected(what)),
        }
    }

    /// A number, after a minus or not.
    pub fn signed_number(&mut self) -> Result<i64, ParseError> {
        let negative = self.eat("-");
        match self.kind() {
            TokenKind::Number(n) => {
                self.step();
                Ok(if negative { n.wrapping_neg() } else { n })
            }
            _ => Err(self.unexpected("a number")),
        }
    }

    pub fn unexpected(&self, expected: &str) -> ParseError {
        let found = match self.kind() {
            TokenKind::Name(n) => format!("`{n}`"),
            TokenKind::Number(n) => format!("`{n}`"),
            TokenKind::Text(text) => format!("\"{text}\""),
            TokenKind::Sign(s) => format!("`{s}`"),
            TokenKind::End => "end of text".to_string(),
        };
        ParseError::new(self.offset(), format!("expected {expected}, found {found}"))
    }

    pub fn at_end(&self) -> bool {
        self.kind() == TokenKind::End
    }
}
