//! The tokens of a cat file.
use super::names::SourcePosition;

#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    Name(String),
    Tag(String),
    String(String),
    Keyword(Keyword),
    /// An operator or bracket: `(`, `||`, `->`, `^`, `-1`, …
    Punct(&'static str),
    End,
}

macro_rules! keywords {
    ($($variant:ident $text:literal),* $(,)?) => {
        /// A reserved word.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Keyword { $($variant),* }

        impl Keyword {
            fn of(text: &str) -> Option<Keyword> {
                match text { $($text => Some(Keyword::$variant),)* _ => None }
            }

            pub fn text(self) -> &'static str {
                match self { $(Keyword::$variant => $text),* }
            }
        }
    };
}

keywords! {
    Let "let", Rec "rec", And "and", When "when", Acyclic "acyclic", Irreflexive "irreflexive",
    Show "show", Unshow "unshow", Empty "empty", Subset "subset", As "as", Fun "fun", In "in",
    UndefinedUnless "undefined_unless", Flag "flag", Assert "assert", Include "include",
    Begin "begin", End "end", Procedure "procedure", Call "call", Enum "enum", Debug "debug",
    Match "match", With "with", Forall "forall", From "from", Do "do", Try "try", If "if",
    Then "then", Else "else", Variant "variant", Catdep "catdep",
    Instructions "instructions", Default "default", Not "not",
}

/// Operators and brackets; each precedes its own prefixes.
const PUNCTUATION: [&str; 24] = [
    "||", "&&", "++", "->", "-1", "(", ")", "{", "}", "[", "]", "_", "0", "|", "&", "*", "~", "+",
    "^", "\\", "?", "=", ";", ",",
];

/// An error in the text of a file.
#[derive(Debug)]
pub struct SyntaxError {
    pub at: SourcePosition,
    pub message: String,
    pub advice: String,
}

impl SyntaxError {
    pub fn new(
        at: SourcePosition,
        message: impl Into<String>,
        advice: impl Into<String>,
    ) -> SyntaxError {
        SyntaxError {
            at,
            message: message.into(),
            advice: advice.into(),
        }
    }
}

/// The tokens of `text` with their positions; the last is [`Token::End`].
pub fn tokens(text: &str, file: u32) -> Result<Vec<(SourcePosition, Token)>, SyntaxError> {
    let mut lexer = Lexer {
        rest: text,
        position: SourcePosition {
            file,
            line: 1,
            column: 1,
        },
    };
    let mut found = Vec::new();
    loop {
        lexer.skip_blank()?;
        let position = lexer.position;
        let token = lexer.token()?;
        let last = token == Token::End;
        found.push((position, token));
        if last {
            return Ok(found);
        }
    }
}

struct Lexer<'t> {
    rest: &'t str,
    position: SourcePosition,
}

impl<'t> Lexer<'t> {
    fn advance(&mut self, bytes: usize) -> &'t str {
        let (taken, rest) = self.rest.split_at(bytes);
        for c in taken.chars() {
            if c == '\n' {
                self.position.line += 1;
                self.position.column = 1;
            } else {
                self.position.column += 1;
            }
        }
        self.rest = rest;
        taken
    }

    fn skip_blank(&mut self) -> Result<(), SyntaxError> {
        loop {
            let blank = self.rest.find(|c| !matches!(c, ' ' | '\t' | '\r' | '\n'));
            self.advance(blank.unwrap_or(self.rest.len()));
            if self.rest.starts_with("//") || self.rest.starts_with('#') {
                self.advance(self.rest.find('\n').unwrap_or(self.rest.len()));
            } else if self.rest.starts_with("(*") {
                self.skip_comment()?;
            } else {
                return Ok(());
            }
        }
    }

    /// Skips a comment; comments nest.
    fn skip_comment(&mut self) -> Result<(), SyntaxError> {
        let start = self.position;
        let mut depth = 0;
        loop {
            if self.rest.starts_with("(*") {
                depth += 1;
                self.advance(2);
            } else if self.rest.starts_with("*)") {
                depth -= 1;
                self.advance(2);
                if depth == 0 {
                    return Ok(());
                }
            } else {
                let Some(c) = self.rest.chars().next() else {
                    let advice = "comments nest: each (* needs a *)";
                    return Err(SyntaxError::new(start, "unterminated comment", advice));
                };
                self.advance(c.len_utf8());
            }
        }
    }

    fn token(&mut self) -> Result<Token, SyntaxError> {
        let position = self.position;
        let Some(first) = self.rest.chars().next() else {
            return Ok(Token::End);
        };
        if let Some(length) = name_length(self.rest) {
            let name = self.advance(length);
            return Ok(match Keyword::of(name) {
                Some(word) => Token::Keyword(word),
                None => Token::Name(name.to_owned()),
            });
        }
        if first == '\'' {
            if let Some(length) = name_length(&self.rest[1..]) {
                return Ok(Token::Tag(self.advance(1 + length)[1..].to_owned()));
            }
            let message = "expected a name after '";
            return Err(SyntaxError::new(
                position,
                message,
                "a tag is written 'name",
            ));
        }
        if first == '"' {
            let Some(length) = self.rest[1..].find('"') else {
                let advice = "its closing \" is missing";
                return Err(SyntaxError::new(position, "unterminated string", advice));
            };
            let text = &self.advance(length + 2)[1..];
            return Ok(Token::String(text[..length].to_owned()));
        }
        match PUNCTUATION
            .iter()
            .find(|sign| self.rest.starts_with(**sign))
        {
            Some(sign) => {
                self.advance(sign.len());
                Ok(Token::Punct(sign))
            }
            None => {
                let message = format!("unexpected character {first:?}");
                Err(SyntaxError::new(position, message, ""))
            }
        }
    }
}

/// The length in bytes of the name at the start of `text`: an optional `_`, a letter, then letters,
/// digits and `_ . -`, and optionally a final `'`.
fn name_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let start = usize::from(bytes.first() == Some(&b'_'));
    if !bytes.get(start)?.is_ascii_alphabetic() {
        return None;
    }
    let part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    let mut end = start + bytes[start..].iter().take_while(|byte| part(byte)).count();
    end += usize::from(bytes.get(end) == Some(&b'\''));
    Some(end)
}
