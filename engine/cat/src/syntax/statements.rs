//! Statements, from the words of a file.
use super::ast::*;
use super::lexer::{tokens, Fault, Token, Word};
use super::names::{Names, Sym};
use super::parser::Parser;
use std::sync::Arc;

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
    let mut parser = Parser::new(tokens(text, file)?, names);
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

impl Parser<'_> {
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
