//! Statements, from the words of a file.
use super::ast::*;
use super::lex::{tokens, Fault, Token, Word};
use std::sync::Arc;

/// How deep expressions and blocks may stand in one another.
const MAX_DEPTH: usize = 300;

/// From how deep on they get a stack of their own, and of what size.
const DEEP: usize = 60;
const STACK: usize = 64 << 20;

/// A parsed file.
#[derive(Debug)]
pub struct File {
    pub architecture: Option<String>,
    pub name: Option<String>,
    pub catdep: bool,
    /// The variants asked for.
    pub variants: Vec<String>,
    pub statements: Vec<Statement>,
}

/// Parses the text of file number `file`.
pub fn parse(text: &str, file: u32, names: &mut Names) -> Result<File, Fault> {
    let tokens = tokens(text, file)?;
    let mut parser = Parser {
        tokens,
        next: 0,
        names,
        depth: 0,
        variants: Vec::new(),
    };
    let (architecture, name) = parser.identity();
    let mut catdep = false;
    while parser.take_word(Word::Catdep) {
        catdep = true;
    }
    let statements = parser.statements()?;
    if *parser.peek() != Token::End {
        return Err(parser.unexpected("a statement (let, acyclic, include, …)"));
    }
    let variants = parser.variants;
    Ok(File {
        architecture,
        name,
        catdep,
        variants,
        statements,
    })
}

pub(super) struct Parser<'n> {
    tokens: Vec<(Place, Token)>,
    next: usize,
    pub names: &'n mut Names,
    depth: usize,
    pub variants: Vec<String>,
}

impl Parser<'_> {
    pub fn peek(&self) -> &Token {
        &self.tokens[self.next].1
    }

    pub fn peek_second(&self) -> &Token {
        &self.tokens[(self.next + 1).min(self.tokens.len() - 1)].1
    }

    pub fn peek_third(&self) -> &Token {
        &self.tokens[(self.next + 2).min(self.tokens.len() - 1)].1
    }

    pub fn place(&self) -> Place {
        self.tokens[self.next].0
    }

    pub fn skip(&mut self) {
        self.next = (self.next + 1).min(self.tokens.len() - 1);
    }

    pub fn take_sign(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Token::Sign(s) if *s == sign);
        if found {
            self.skip();
        }
        found
    }

    pub fn take_word(&mut self, word: Word) -> bool {
        let found = *self.peek() == Token::Word(word);
        if found {
            self.skip();
        }
        found
    }

    pub fn need_sign(&mut self, sign: &str) -> Result<(), Fault> {
        if self.take_sign(sign) {
            return Ok(());
        }
        Err(self.unexpected(sign))
    }

    pub fn need_word(&mut self, word: Word) -> Result<(), Fault> {
        if self.take_word(word) {
            return Ok(());
        }
        Err(self.unexpected(word.text()))
    }

    /// A name that is defined here, or only read: then it counts as defined too.
    pub fn need_name(&mut self, what: &str) -> Result<Sym, Fault> {
        let Token::Name(name) = self.peek() else {
            return Err(self.unexpected(what));
        };
        let name = name.clone();
        self.skip();
        let name = self.names.sym(&name);
        Ok(self.names.define(name))
    }

    /// The next word is not what should stand here.
    pub fn unexpected(&self, expected: &str) -> Fault {
        let found = match self.peek() {
            Token::Name(name) => format!("{name} is out of place here"),
            Token::Tag(name) => format!("'{name} is out of place here"),
            Token::Text(text) => format!("\"{text}\" is out of place here"),
            Token::Word(word) => format!("{} is out of place here", word.text()),
            Token::Sign(sign) => format!("{sign} is out of place here"),
            Token::End => "the file ends too early".to_owned(),
        };
        (self.place(), found, format!("expected: {expected}"))
    }

    /// Runs `part` one level deeper; from some depth on, on a stack of its own.
    pub fn deeper<T: Send>(
        &mut self,
        part: impl FnOnce(&mut Self) -> Result<T, Fault> + Send,
    ) -> Result<T, Fault> {
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

    fn too_deep(&self) -> Fault {
        let message = "this stands too deep in parentheses or blocks".to_owned();
        (
            self.place(),
            message,
            "name parts of it with let".to_owned(),
        )
    }

    /// `ARCH NAME`, `ARCH "name"`, `NAME`, `"name"` or nothing.
    fn identity(&mut self) -> (Option<String>, Option<String>) {
        match self.peek().clone() {
            Token::Text(name) => {
                self.skip();
                (None, Some(name))
            }
            Token::Name(first) => {
                self.skip();
                match self.peek().clone() {
                    Token::Name(name) | Token::Text(name) => {
                        self.skip();
                        (Some(first), Some(name))
                    }
                    _ => (None, Some(first)),
                }
            }
            _ => (None, None),
        }
    }

    fn statements(&mut self) -> Result<Vec<Statement>, Fault> {
        let mut statements = Vec::new();
        loop {
            let at = self.place();
            let starts = match self.peek() {
                Token::Word(word) => !matches!(word, Word::End | Word::Else),
                Token::Sign(sign) => *sign == "~",
                _ => false,
            };
            if !starts {
                return Ok(statements);
            }
            if let Some(kind) = self.deeper(|parser| parser.statement())? {
                statements.push(Statement { at, kind });
            }
        }
    }

    fn block(&mut self) -> Result<Block, Fault> {
        Ok(Arc::new(self.statements()?))
    }

    /// One statement; none for what only concerns drawings and bell files.
    fn statement(&mut self) -> Result<Option<Action>, Fault> {
        let Token::Word(word) = *self.peek() else {
            return Ok(Some(Action::Check(Box::new(self.check(true)?))));
        };
        let action = match word {
            Word::Let => self.let_statement()?,
            Word::Match => self.match_statement()?,
            Word::Procedure => self.procedure()?,
            Word::Call => {
                self.skip();
                let name = self.need_name("the name of a procedure")?;
                let argument = self
                    .simple()?
                    .ok_or_else(|| self.unexpected("an argument in parentheses"))?;
                self.name_of_check()?;
                Action::Call(name, argument)
            }
            Word::Enum => self.enumeration()?,
            Word::Forall => {
                self.skip();
                let name = self.need_name("a name")?;
                self.need_word(Word::In)?;
                let set = self.exp()?;
                self.need_word(Word::Do)?;
                let body = self.block()?;
                self.need_word(Word::End)?;
                Action::Forall(name, set, body)
            }
            Word::With => {
                self.skip();
                let name = self.need_name("a name")?;
                self.need_word(Word::From)?;
                Action::With(name, self.exp()?)
            }
            Word::If => {
                self.skip();
                let condition = self.variant()?;
                let yes = self.block()?;
                let no = if self.take_word(Word::Else) {
                    self.block()?
                } else {
                    Block::default()
                };
                self.need_word(Word::End)?;
                Action::IfVariant(condition, yes, no)
            }
            Word::Include => {
                self.skip();
                let Token::Text(name) = self.peek().clone() else {
                    return Err(self.unexpected("a file name in quotes"));
                };
                self.skip();
                Action::Include(name)
            }
            Word::Show | Word::Unshow => {
                self.skip();
                self.base()?;
                self.name_of_check()?;
                while self.take_sign(",") {
                    self.base()?;
                }
                return Ok(None);
            }
            Word::Debug => {
                self.skip();
                self.exp()?;
                return Ok(None);
            }
            Word::Instructions | Word::Default => {
                self.skip();
                self.need_name("a kind of instruction")?;
                self.need_sign("[")?;
                self.list("]")?;
                return Ok(None);
            }
            _ => Action::Check(Box::new(self.check(true)?)),
        };
        Ok(Some(action))
    }

    fn let_statement(&mut self) -> Result<Action, Fault> {
        self.skip();
        let recursive = self.take_word(Word::Rec);
        let bindings = self.bindings()?;
        let action = if recursive {
            let check = if self.take_word(Word::When) {
                Some(Box::new(self.check(false)?))
            } else {
                None
            };
            Action::LetRec(bindings, check)
        } else {
            Action::Let(bindings)
        };
        self.take_word(Word::In);
        Ok(action)
    }

    /// `[flag | undefined_unless | assert] [~] acyclic e [as name]`
    fn check(&mut self, with_role: bool) -> Result<Check, Fault> {
        let at = self.place();
        let mut role = Role::Axiom;
        if with_role {
            let roles = [
                (Word::Flag, Role::Flag),
                (Word::UndefinedUnless, Role::UndefinedUnless),
                (Word::Assert, Role::Assert),
            ];
            for (word, meant) in roles {
                if self.take_word(word) {
                    role = meant;
                    break;
                }
            }
        }
        let negated = self.take_sign("~");
        let claim = match self.peek() {
            Token::Word(Word::Acyclic) => Claim::Acyclic,
            Token::Word(Word::Irreflexive) => Claim::Irreflexive,
            Token::Word(Word::Empty) => Claim::Empty,
            _ if role == Role::Axiom && !negated => {
                return Err(self.unexpected("a statement (let, acyclic, include, …)"))
            }
            _ => return Err(self.unexpected("acyclic, irreflexive or empty")),
        };
        self.skip();
        let value = self.exp()?;
        let name = self.name_of_check()?;
        Ok(Check {
            at,
            role,
            negated,
            claim,
            value,
            name,
        })
    }

    fn name_of_check(&mut self) -> Result<Option<Sym>, Fault> {
        if !self.take_word(Word::As) {
            return Ok(None);
        }
        self.need_name("a name").map(Some)
    }

    fn match_statement(&mut self) -> Result<Action, Fault> {
        self.skip();
        let value = self.exp()?;
        self.need_word(Word::With)?;
        self.take_sign("||");
        let (mut clauses, mut otherwise) = (Vec::new(), None);
        loop {
            if self.take_sign("_") {
                self.need_sign("->")?;
                otherwise = Some(self.block()?);
                break;
            }
            let tag = self.tag()?;
            self.need_sign("->")?;
            clauses.push((tag, self.block()?));
            if !self.take_sign("||") {
                break;
            }
        }
        self.need_word(Word::End)?;
        Ok(Action::MatchTag(value, clauses, otherwise))
    }

    /// A tag, known by its name with the quote, which no other name has.
    pub fn tag(&mut self) -> Result<Sym, Fault> {
        let Token::Tag(name) = self.peek().clone() else {
            return Err(self.unexpected("a tag ('name)"));
        };
        self.skip();
        let name = self.names.sym(&format!("'{name}"));
        Ok(self.names.define(name))
    }

    fn procedure(&mut self) -> Result<Action, Fault> {
        self.skip();
        let recursive = self.take_word(Word::Rec);
        let name = self.need_name("the name of a procedure")?;
        let parameter = self.parameter()?;
        self.need_sign("=")?;
        let body = self.block()?;
        self.need_word(Word::End)?;
        Ok(Action::Procedure {
            name,
            parameter,
            body,
            recursive,
        })
    }

    fn enumeration(&mut self) -> Result<Action, Fault> {
        self.skip();
        let name = self.need_name("the name of an enumeration")?;
        self.need_sign("=")?;
        self.take_sign("||");
        let mut tags = vec![self.tag()?];
        while self.take_sign("||") {
            tags.push(self.tag()?);
        }
        Ok(Action::Enum(name, tags))
    }
}
