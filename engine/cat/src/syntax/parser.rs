//! The cursor of the parser, on which all rules of the grammar are built.
use super::lexer::{Keyword, SyntaxError, Token};
use super::names::{Names, SourcePosition, Symbol};

/// How deeply expressions and blocks may nest.
const MAX_DEPTH: usize = 300;

/// From which depth on the parser runs on a stack of its own, and the size of that stack.
const DEEP: usize = 60;

const STACK: usize = 64 << 20;

pub struct Parser<'n> {
    tokens: Vec<(SourcePosition, Token)>,
    next: usize,
    pub names: &'n mut Names,
    depth: usize,
    pub variants: Vec<String>,
}

impl<'n> Parser<'n> {
    pub fn new(tokens: Vec<(SourcePosition, Token)>, names: &'n mut Names) -> Parser<'n> {
        Parser {
            tokens,
            next: 0,
            names,
            depth: 0,
            variants: Vec::new(),
        }
    }

    pub fn peek(&self) -> &Token {
        &self.tokens[self.next].1
    }

    pub fn peek_second(&self) -> &Token {
        &self.tokens[(self.next + 1).min(self.tokens.len() - 1)].1
    }

    pub fn peek_third(&self) -> &Token {
        &self.tokens[(self.next + 2).min(self.tokens.len() - 1)].1
    }

    pub fn position(&self) -> SourcePosition {
        self.tokens[self.next].0
    }

    pub fn skip(&mut self) {
        self.next = (self.next + 1).min(self.tokens.len() - 1);
    }

    pub fn take_punct(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Token::Punct(s) if *s == sign);
        if found {
            self.skip();
        }
        found
    }

    pub fn take_keyword(&mut self, word: Keyword) -> bool {
        let found = *self.peek() == Token::Keyword(word);
        if found {
            self.skip();
        }
        found
    }

    pub fn expect_punct(&mut self, sign: &str) -> Result<(), SyntaxError> {
        if self.take_punct(sign) {
            return Ok(());
        }
        Err(self.unexpected(sign))
    }

    pub fn expect_keyword(&mut self, word: Keyword) -> Result<(), SyntaxError> {
        if self.take_keyword(word) {
            return Ok(());
        }
        Err(self.unexpected(word.text()))
    }

    /// A name. Even if it is only read, it counts as defined.
    pub fn expect_name(&mut self, what: &str) -> Result<Symbol, SyntaxError> {
        let Token::Name(name) = self.peek() else {
            return Err(self.unexpected(what));
        };
        let name = name.clone();
        self.skip();
        let name = self.names.symbol(&name);
        Ok(self.names.define(name))
    }

    /// The error for an unexpected token.
    pub fn unexpected(&self, expected: &str) -> SyntaxError {
        let found = match self.peek() {
            Token::Name(name) => format!("unexpected '{name}'"),
            Token::Tag(name) => format!("unexpected tag '{name}"),
            Token::String(text) => format!("unexpected \"{text}\""),
            Token::Keyword(word) => format!("unexpected '{}'", word.text()),
            Token::Punct(sign) => format!("unexpected '{sign}'"),
            Token::End => "unexpected end of file".to_owned(),
        };
        SyntaxError::new(self.position(), found, format!("expected: {expected}"))
    }

    /// Runs `part` one level deeper; beyond some depth, on a stack of its own.
    pub fn nested<T: Send>(
        &mut self,
        part: impl FnOnce(&mut Self) -> Result<T, SyntaxError> + Send,
    ) -> Result<T, SyntaxError> {
        let depth = self.depth;
        if depth >= MAX_DEPTH {
            return Err(self.too_deep());
        }
        self.depth = depth + 1;
        let result = if depth == DEEP {
            let stopped = self.too_deep();
            std::thread::scope(|threads| {
                let builder = std::thread::Builder::new().stack_size(STACK);
                let handle = builder.spawn_scoped(threads, || part(self));
                let joined = handle.ok().and_then(|handle| handle.join().ok());
                joined.unwrap_or(Err(stopped))
            })
        } else {
            part(self)
        };
        self.depth = depth;
        result
    }

    fn too_deep(&self) -> SyntaxError {
        let message = "expressions or blocks nest too deeply";
        SyntaxError::new(self.position(), message, "name parts of it with let")
    }

    /// A tag. It is interned with its quote, which no other name has.
    pub fn tag(&mut self) -> Result<Symbol, SyntaxError> {
        let Token::Tag(name) = self.peek().clone() else {
            return Err(self.unexpected("a tag ('name)"));
        };
        self.skip();
        let name = self.names.symbol(&format!("'{name}"));
        Ok(self.names.define(name))
    }
}
