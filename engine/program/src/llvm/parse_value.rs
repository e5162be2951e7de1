//! Constants and operands.
use crate::error::Result;
use crate::llvm::ast::{Expr, Typed, Value};
use crate::llvm::lexer::{unescape, Token};
use crate::llvm::parser::Parser;
use crate::llvm::types::Type;

/// Opcodes that are also constant expressions.
const CASTS: [&str; 13] = [
    "trunc",
    "zext",
    "sext",
    "ptrtoint",
    "ptrtoaddr",
    "inttoptr",
    "bitcast",
    "addrspacecast",
    "fptrunc",
    "fpext",
    "fptoui",
    "fptosi",
    "uitofp",
];
const BINARY: [&str; 9] = [
    "add", "sub", "mul", "and", "or", "xor", "shl", "lshr", "ashr",
];

fn starts_value(word: &str) -> bool {
    matches!(
        word,
        "null"
            | "undef"
            | "poison"
            | "zeroinitializer"
            | "true"
            | "false"
            | "none"
            | "asm"
            | "getelementptr"
            | "blockaddress"
            | "dso_local_equivalent"
            | "no_cfi"
            | "splat"
            | "select"
            | "icmp"
            | "extractelement"
            | "insertelement"
            | "shufflevector"
    ) || CASTS.contains(&word)
        || BINARY.contains(&word)
}

impl<'a> Parser<'a> {
    pub fn typed(&mut self) -> Result<Typed<'a>> {
        let ty = self.ty()?;
        let value = self.value()?;
        Ok((ty, value))
    }

    /// An argument: a type, attributes, a value. Returns whether it is passed `byval`.
    pub fn argument(&mut self) -> Result<(Typed<'a>, bool)> {
        let ty = self.ty()?;
        if *self.module.types.get(ty).unwrap_or(&Type::Other) == Type::Other {
            // metadata operands: skip one balanced item
            while !matches!(self.peek(), Token::Punct(b',' | b')') | Token::End) {
                match self.peek() {
                    Token::Punct(b'(' | b'{' | b'[') => self.skip_group()?,
                    _ => {
                        self.next();
                    }
                }
            }
            return Ok(((ty, Value::Opaque), false));
        }
        let mut byval = false;
        loop {
            match self.peek() {
                Token::Word(word) if !starts_value(word) => {
                    byval |= matches!(word, "byval" | "inalloca" | "preallocated");
                    self.next();
                    if self.peek() == Token::Punct(b'(') {
                        self.skip_group()?;
                    } else if word == "align" {
                        self.int()?;
                    }
                }
                Token::Str(_) => {
                    self.next();
                    if self.eat(b'=') {
                        self.next();
                    }
                }
                _ => break,
            }
        }
        Ok(((ty, self.value()?), byval))
    }

    pub fn value(&mut self) -> Result<Value<'a>> {
        self.deeper()?;
        let value = match self.peek() {
            Token::Local(name) => {
                self.next();
                Value::Local(name)
            }
            Token::Global(name) => {
                self.next();
                Value::Global(name)
            }
            Token::Int(value) => {
                self.next();
                Value::Int(value)
            }
            Token::Float(text) => {
                self.next();
                Value::Float(text)
            }
            Token::CStr(text) => {
                self.next();
                Value::Bytes(unescape(text))
            }
            Token::Punct(b'[') => {
                self.next();
                Value::List(self.list(b']')?)
            }
            Token::Punct(b'{') => {
                self.next();
                Value::List(self.list(b'}')?)
            }
            Token::Punct(b'<') => {
                self.next();
                let packed = self.eat(b'{');
                let list = self.list(if packed { b'}' } else { b'>' })?;
                if packed {
                    self.expect(b'>')?;
                }
                Value::List(list)
            }
            Token::Punct(b'!') | Token::Meta(_) => {
                self.next();
                if self.peek() == Token::Punct(b'{') || self.peek() == Token::Punct(b'(') {
                    self.skip_group()?;
                }
                Value::Opaque
            }
            Token::Word(word) => {
                if !starts_value(word) {
                    return self.fail("a value");
                }
                self.next();
                self.word_value(word)?
            }
            _ => return self.fail("a value"),
        };
        self.depth -= 1;
        Ok(value)
    }

    fn list(&mut self, close: u8) -> Result<Vec<Typed<'a>>> {
        let mut out = Vec::new();
        while !self.eat(close) {
            out.push(self.typed()?);
            self.eat(b',');
        }
        Ok(out)
    }

    fn word_value(&mut self, word: &'a str) -> Result<Value<'a>> {
        Ok(match word {
            "null" | "none" => Value::Null,
            "undef" | "poison" => Value::Undef,
            "zeroinitializer" => Value::Zero,
            "true" => Value::Int(1),
            "false" => Value::Int(0),
            "dso_local_equivalent" | "no_cfi" => self.value()?,
            "splat" => {
                self.expect(b'(')?;
                let item = self.typed()?;
                self.expect(b')')?;
                Value::Splat(Box::new(item))
            }
            "blockaddress" => {
                self.expect(b'(')?;
                let (Token::Global(function), Token::Punct(b','), Token::Local(label)) =
                    (self.next(), self.next(), self.next())
                else {
                    return self.fail("a label");
                };
                self.expect(b')')?;
                self.address_of_label(function, label)
            }
            "asm" => {
                while let Token::Word(_) = self.peek() {
                    self.next();
                }
                let (Token::Str(template), Token::Punct(b','), Token::Str(_)) =
                    (self.peek(), self.peek_at(1), self.peek_at(2))
                else {
                    return self.fail("an assembly template and its constraints");
                };
                for _ in 0..3 {
                    self.next();
                }
                Value::Asm(template)
            }
            "getelementptr" => {
                self.flags()?;
                self.expect(b'(')?;
                let source = self.ty()?;
                self.expect(b',')?;
                let (_, base) = self.typed()?;
                let mut indices = Vec::new();
                while self.eat(b',') {
                    indices.push(self.typed()?);
                }
                self.expect(b')')?;
                Value::Expr(Box::new(Expr::Gep {
                    source,
                    base,
                    indices,
                }))
            }
            op if CASTS.contains(&op) => {
                self.flags()?;
                self.expect(b'(')?;
                let value = self.typed()?;
                if !self.eat_word("to") {
                    return self.fail("`to`");
                }
                self.ty()?;
                self.expect(b')')?;
                Value::Expr(Box::new(Expr::Cast { op, value }))
            }
            op if BINARY.contains(&op) => {
                self.flags()?;
                self.expect(b'(')?;
                let a = self.typed()?;
                self.expect(b',')?;
                let b = self.typed()?;
                self.expect(b')')?;
                Value::Expr(Box::new(Expr::Bin { op, a, b }))
            }
            op => {
                self.flags()?;
                if self.peek() == Token::Punct(b'(') {
                    self.skip_group()?;
                }
                Value::Expr(Box::new(Expr::Other(op)))
            }
        })
    }

    /// The address of a label: another one for each.
    pub fn address_of_label(&mut self, function: &'a str, label: &'a str) -> Value<'a> {
        let label = (function, label);
        let known = self.labels.iter().position(|it| *it == label);
        let number = known.unwrap_or_else(|| {
            self.labels.push(label);
            self.labels.len() - 1
        });
        Value::Int(number as i128 + 1)
    }

    /// Skips `nuw`, `inbounds`, `exact`, `inrange(…)`, fast-math flags.
    pub fn flags(&mut self) -> Result<()> {
        while let Token::Word(word) = self.peek() {
            match word {
                "inrange" => {
                    self.next();
                    self.skip_group()?;
                }
                "nuw" | "nsw" | "exact" | "disjoint" | "inbounds" | "nusw" | "nneg"
                | "samesign" | "fast" | "nnan" | "ninf" | "nsz" | "arcp" | "contract" | "afn"
                | "reassoc" => {
                    self.next();
                }
                _ => break,
            }
        }
        Ok(())
    }
}
