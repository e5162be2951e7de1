//! LLVM assembly text → `ast::Module`: the top level, types and metadata.
//!
//! A recursive-descent reader of what clang and LLVM's passes print (LangRef, "High Level
//! Structure"). Attributes and linkage are skipped: they do not change what a program does here.
use crate::error::{Error, Result};
use crate::llvm::ast::{Function, Global, Module};
use crate::llvm::lexer::{lex, Lexeme, Token};
use crate::llvm::types::{Type, TypeId};

pub struct Parser<'a> {
    tokens: Vec<Lexeme<'a>>,
    at: usize,
    pub(super) depth: u32,
    /// The name of the function whose body is read.
    pub(super) function: &'a str,
    /// The labels whose addresses were met, with their functions.
    pub(super) labels: Vec<(&'a str, &'a str)>,
    pub module: Module<'a>,
}

/// Deeper nesting is refused, so that no text can exhaust the stack.
const MAX_DEPTH: u32 = 100;

pub fn parse(text: &str) -> Result<Module<'_>> {
    let mut parser = Parser {
        tokens: lex(text)?,
        at: 0,
        depth: 0,
        function: "",
        labels: Vec::new(),
        module: Module::default(),
    };
    // every module has these, named or not
    parser.module.types.intern(Type::Ptr);
    parser.module.types.int(1);
    parser.module.types.int(64);
    while parser.peek() != Token::End {
        parser.top()?;
    }
    Ok(parser.module)
}

/// The metadata of an instruction that is used: `!dbg` and `!heapallocsite`.
#[derive(Default)]
pub struct Attached {
    pub dbg: Option<u32>,
    pub allocated: Option<u32>,
}

impl<'a> Parser<'a> {
    pub fn peek(&self) -> Token<'a> {
        self.tokens[self.at].token
    }

    pub fn peek_at(&self, ahead: usize) -> Token<'a> {
        let last = self.tokens.len() - 1;
        self.tokens[(self.at + ahead).min(last)].token
    }

    /// At the first token of a line: the statement before it has ended.
    pub fn at_line_start(&self) -> bool {
        self.tokens[self.at].first
    }

    pub fn line(&self) -> u32 {
        self.tokens[self.at].line
    }

    pub fn next(&mut self) -> Token<'a> {
        let token = self.peek();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        token
    }

    pub fn fail<T>(&self, expected: &str) -> Result<T> {
        let found = match self.peek() {
            Token::End => "the end".to_string(),
            Token::Punct(c) => format!("`{}`", c as char),
            token => format!("{token:?}"),
        };
        let message = format!("expected {expected}, found {found}");
        Err(Error::invalid(message).on_line(self.line()))
    }

    pub fn eat(&mut self, c: u8) -> bool {
        let found = self.peek() == Token::Punct(c);
        if found {
            self.next();
        }
        found
    }

    pub fn expect(&mut self, c: u8) -> Result<()> {
        if self.eat(c) {
            Ok(())
        } else {
            self.fail(&format!("`{}`", c as char))
        }
    }

    pub fn eat_word(&mut self, word: &str) -> bool {
        let found = self.peek() == Token::Word(word);
        if found {
            self.next();
        }
        found
    }

    pub fn int(&mut self) -> Result<i128> {
        match self.peek() {
            Token::Int(value) => {
                self.next();
                Ok(value)
            }
            _ => self.fail("an integer"),
        }
    }

    pub fn count(&mut self) -> Result<u64> {
        let value = self.int()?;
        u64::try_from(value).or_else(|_| self.fail("a count"))
    }

    /// Skips a bracketed group whose opening bracket is next.
    pub fn skip_group(&mut self) -> Result<()> {
        let mut depth = 0u32;
        loop {
            match self.next() {
                Token::Punct(b'(' | b'[' | b'{') => depth += 1,
                Token::Punct(b')' | b']' | b'}') => depth = depth.saturating_sub(1),
                Token::End => return self.fail("a closing bracket"),
                _ => {}
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    pub fn deeper(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.fail("less nesting");
        }
        Ok(())
    }

    /// Skips to the next line; returns the metadata attached to the statement.
    pub fn finish(&mut self) -> Attached {
        let mut attached = Attached::default();
        while !self.at_line_start() && self.peek() != Token::End {
            let place = match self.next() {
                Token::Meta("dbg") => &mut attached.dbg,
                Token::Meta("heapallocsite") => &mut attached.allocated,
                _ => continue,
            };
            if let Token::Meta(id) = self.peek() {
                *place = id.parse().ok();
            }
        }
        attached
    }

    fn top(&mut self) -> Result<()> {
        match (self.peek(), self.peek_at(1)) {
            (Token::Local(name), Token::Punct(b'=')) => {
                self.next();
                self.next();
                if !self.eat_word("type") {
                    return self.fail("`type`");
                }
                if self.eat_word("opaque") {
                    self.module.types.named(name);
                } else {
                    let body = self.ty()?;
                    self.module.types.define(name, body);
                }
            }
            (Token::Global(name), Token::Punct(b'=')) => self.global(name)?,
            (Token::Meta(id), Token::Punct(b'=')) => {
                self.next();
                self.next();
                self.metadata(id)?;
            }
            (Token::Word("define"), _) => self.define()?,
            (Token::Word("declare"), _) => {
                while !matches!(self.peek(), Token::Global(_) | Token::End) {
                    self.next();
                }
                if let Token::Global(name) = self.next() {
                    self.module.externals.push(name);
                }
                self.finish();
            }
            (Token::Word("module"), Token::Word("asm")) => {
                return Err(Error::unsupported("assembly at file scope"));
            }
            (Token::Word("attributes"), _) => {
                while !matches!(self.peek(), Token::Punct(b'{') | Token::End) {
                    self.next();
                }
                self.skip_group()?;
            }
            (Token::Word("source_filename" | "target" | "uselistorder"), _)
            | (Token::Word(_), Token::Punct(b'=')) // $comdat
            | (Token::Punct(b'^'), _) => {
                self.next();
                self.finish();
            }
            _ => return self.fail("a definition"),
        }
        Ok(())
    }

    fn global(&mut self, name: &'a str) -> Result<()> {
        self.next();
        self.next();
        let mut global = Global {
            name,
            ty: self.module.types.intern(Type::Void),
            init: None,
            constant: false,
            thread_local: false,
            alias: false,
            align: 0,
            dbg: None,
        };
        let mut external = false;
        loop {
            match self.next() {
                Token::Word("global") => break,
                Token::Word("constant") => {
                    global.constant = true;
                    break;
                }
                Token::Word("alias") => {
                    global.alias = true;
                    break;
                }
                Token::Word("ifunc") => {
                    return Err(Error::unsupported(format!("the ifunc @{name}")));
                }
                Token::Word("external" | "extern_weak") => external = true,
                Token::Word("thread_local") => {
                    global.thread_local = true;
                    if self.peek() == Token::Punct(b'(') {
                        self.skip_group()?;
                    }
                }
                Token::Word(_) => {
                    if self.peek() == Token::Punct(b'(') {
                        self.skip_group()?;
                    }
                }
                _ => return self.fail("`global` or `constant`"),
            }
        }
        global.ty = self.ty()?;
        if global.alias {
            // an alias of a function has the function's type
            if self.peek() == Token::Punct(b'(') {
                self.skip_group()?;
            }
            self.expect(b',')?;
            let target = self.typed()?;
            global.init = Some(target.1);
        } else if !external {
            global.init = Some(self.value()?);
        }
        while !self.at_line_start() && self.peek() != Token::End {
            match self.next() {
                Token::Word("align") => global.align = self.count()?,
                Token::Meta("dbg") => {
                    if let Token::Meta(id) = self.peek() {
                        global.dbg = id.parse().ok();
                    }
                }
                _ => {}
            }
        }
        self.module.globals.push(global);
        Ok(())
    }

    fn starts_type(&self) -> bool {
        match self.peek() {
            Token::Local(_) | Token::Punct(b'{' | b'[' | b'<') => true,
            Token::Word(word) => is_type_word(word),
            _ => false,
        }
    }

    /// Skips linkage, calling convention and attributes up to a type.
    pub fn skip_to_type(&mut self) -> Result<()> {
        while !self.starts_type() {
            match self.next() {
                Token::Word(_) | Token::Hash(_) | Token::Str(_) | Token::Punct(b'=') => {
                    if self.peek() == Token::Punct(b'(') {
                        self.skip_group()?;
                    } else if matches!(self.peek(), Token::Int(_)) {
                        self.next();
                    }
                }
                _ => return self.fail("a type"),
            }
        }
        Ok(())
    }

    fn define(&mut self) -> Result<()> {
        self.next();
        self.skip_to_type()?;
        self.ty()?;
        let Token::Global(name) = self.next() else {
            return self.fail("the function's name");
        };
        self.expect(b'(')?;
        let mut function = Function {
            name,
            params: Vec::new(),
            vararg: false,
            blocks: Vec::new(),
            dbg: None,
            variables: Vec::new(),
            values: Vec::new(),
        };
        // unnamed parameters and blocks are numbered together (LangRef, "Identifiers")
        while !self.eat(b')') {
            if self.peek() == Token::Dots {
                self.next();
                function.vararg = true;
                continue;
            }
            let ty = self.ty()?;
            while !matches!(self.peek(), Token::Punct(b',' | b')') | Token::Local(_)) {
                if self.peek() == Token::Punct(b'(') {
                    self.skip_group()?;
                } else if self.next() == Token::End {
                    return self.fail("a parameter");
                }
            }
            match self.peek() {
                Token::Local(name) => {
                    self.next();
                    function.params.push((ty, name));
                }
                _ => return self.fail("a parameter's name"),
            }
            self.eat(b',');
        }
        loop {
            match self.next() {
                Token::Punct(b'{') => break,
                Token::Meta("dbg") => {
                    if let Token::Meta(id) = self.peek() {
                        function.dbg = id.parse().ok();
                    }
                }
                Token::End => return self.fail("the function's body"),
                _ => {}
            }
        }
        self.function = name;
        self.body(&mut function)?;
        self.module.functions.push(function);
        Ok(())
    }

    pub fn ty(&mut self) -> Result<TypeId> {
        self.deeper()?;
        let base = match self.next() {
            Token::Local(name) => self.module.types.named(name),
            Token::Word(word) => {
                let ty = match type_of_word(word) {
                    Some(ty) => ty,
                    None => {
                        self.at = self.at.saturating_sub(1);
                        return self.fail("a type");
                    }
                };
                if word == "target" || (word == "ptr" && self.eat_word("addrspace")) {
                    self.skip_group()?;
                }
                self.module.types.intern(ty)
            }
            Token::Punct(b'[') => {
                let (count, item) = self.sequence(b']')?;
                self.module.types.intern(Type::Array(count, item))
            }
            Token::Punct(b'<') if self.peek() == Token::Punct(b'{') => {
                self.next();
                let fields = self.fields()?;
                self.expect(b'>')?;
                self.module.types.intern(Type::Struct {
                    fields,
                    packed: true,
                })
            }
            Token::Punct(b'<') => {
                if self.eat_word("vscale") {
                    return Err(Error::unsupported("a scalable vector"));
                }
                let (count, item) = self.sequence(b'>')?;
                self.module.types.intern(Type::Vector(count, item))
            }
            Token::Punct(b'{') => {
                let fields = self.fields()?;
                self.module.types.intern(Type::Struct {
                    fields,
                    packed: false,
                })
            }
            _ => {
                self.at = self.at.saturating_sub(1);
                return self.fail("a type");
            }
        };
        self.depth -= 1;
        Ok(base)
    }

    fn sequence(&mut self, close: u8) -> Result<(u64, TypeId)> {
        let count = self.count()?;
        if !self.eat_word("x") {
            return self.fail("`x`");
        }
        let item = self.ty()?;
        self.expect(close)?;
        Ok((count, item))
    }

    fn fields(&mut self) -> Result<Vec<TypeId>> {
        let mut fields = Vec::new();
        while !self.eat(b'}') {
            fields.push(self.ty()?);
            self.eat(b',');
        }
        Ok(fields)
    }
}

fn is_type_word(word: &str) -> bool {
    type_of_word(word).is_some()
}

fn type_of_word(word: &str) -> Option<Type> {
    Some(match word {
        "void" => Type::Void,
        "ptr" => Type::Ptr,
        "half" => Type::Float("half"),
        "bfloat" => Type::Float("bfloat"),
        "float" => Type::Float("float"),
        "double" => Type::Float("double"),
        "x86_fp80" => Type::Float("x86_fp80"),
        "fp128" => Type::Float("fp128"),
        "ppc_fp128" => Type::Float("ppc_fp128"),
        "label" | "metadata" | "token" | "x86_amx" | "target" => Type::Other,
        _ => {
            let bits: u32 = word.strip_prefix('i')?.parse().ok()?;
            if bits == 0 || bits > 1 << 16 {
                return None;
            }
            Type::Int(bits)
        }
    })
}
