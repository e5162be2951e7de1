//! Tokens of initial states, conditions and C: names, numbers and signs.

use super::error::Fault;
use super::sections::comment_end;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    Name(String),
    Number(i64),
    /// One of the signs asked for.
    Sign(&'static str),
    End,
}

#[derive(Clone, Debug)]
pub struct Token {
    pub kind: Kind,
    pub offset: usize,
}

/// What differs between the two languages.
pub struct Syntax {
    /// Longest first.
    pub signs: &'static [&'static str],
    /// `(* … *)`, as in OCaml; else `/* … */` and `// …`, as in C.
    pub ocaml_comments: bool,
    /// Characters that start a name, beside letters and `_`.
    pub name_start: &'static str,
}

pub fn tokens(text: &str, base: usize, syntax: &Syntax) -> Result<Vec<Token>, Fault> {
    let mut out = Vec::new();
    let mut at = 0;
    'next: while at < text.len() {
        let rest = &text[at..];
        let Some(c) = rest.chars().next() else { break };
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        if let Some(end) = comment(text, at, syntax) {
            at = end.ok_or_else(|| Fault::new(base + at, "this comment has no end"))?;
            continue;
        }
        let offset = base + at;
        if c.is_ascii_digit() {
            let len = rest
                .find(|c: char| !c.is_ascii_alphanumeric())
                .unwrap_or(rest.len());
            let value = number(&rest[..len])
                .ok_or_else(|| Fault::new(offset, "not a number of 64 bits"))?;
            out.push(Token {
                kind: Kind::Number(value),
                offset,
            });
            at += len;
            continue;
        }
        if c.is_ascii_alphabetic() || c == '_' || syntax.name_start.contains(c) {
            let len = rest
                .char_indices()
                .skip(1)
                .find(|(_, c)| {
                    !(c.is_ascii_alphanumeric()
                        || *c == '_'
                        || (*c == '.' && syntax.ocaml_comments))
                })
                .map_or(rest.len(), |(n, _)| n);
            out.push(Token {
                kind: Kind::Name(rest[..len].to_string()),
                offset,
            });
            at += len;
            continue;
        }
        for sign in syntax.signs {
            if rest.starts_with(sign) {
                out.push(Token {
                    kind: Kind::Sign(sign),
                    offset,
                });
                at += sign.len();
                continue 'next;
            }
        }
        return Err(Fault::new(offset, format!("unexpected character {c:?}")));
    }
    out.push(Token {
        kind: Kind::End,
        offset: base + text.len(),
    });
    Ok(out)
}

/// The end of the comment at `at`, if one starts there; `Some(None)` when it never ends.
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
pub struct Cursor {
    tokens: Vec<Token>,
    at: usize,
}

impl Cursor {
    pub fn new(tokens: Vec<Token>) -> Cursor {
        Cursor { tokens, at: 0 }
    }

    pub fn kind(&self) -> &Kind {
        self.ahead(0)
    }

    pub fn ahead(&self, n: usize) -> &Kind {
        self.tokens.get(self.at + n).map_or(&Kind::End, |t| &t.kind)
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
        matches!(self.kind(), Kind::Sign(s) if *s == sign)
    }

    pub fn is_word(&self, word: &str) -> bool {
        matches!(self.kind(), Kind::Name(n) if n == word)
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

    pub fn expect(&mut self, sign: &str) -> Result<(), Fault> {
        match self.eat(sign) {
            true => Ok(()),
            false => Err(self.unexpected(&format!("`{sign}`"))),
        }
    }

    pub fn name(&mut self, what: &str) -> Result<String, Fault> {
        match self.kind() {
            Kind::Name(n) => {
                let n = n.clone();
                self.step();
                Ok(n)
            }
            _ => Err(self.unexpected(what)),
        }
    }

    pub fn unexpected(&self, wanted: &str) -> Fault {
        let found = match self.kind() {
            Kind::Name(n) => format!("`{n}`"),
            Kind::Number(n) => format!("`{n}`"),
            Kind::Sign(s) => format!("`{s}`"),
            Kind::End => "the end".to_string(),
        };
        Fault::new(self.offset(), format!("expected {wanted}, found {found}"))
    }

    pub fn at_end(&self) -> bool {
        *self.kind() == Kind::End
    }
}
