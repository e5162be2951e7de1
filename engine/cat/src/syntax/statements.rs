//! The grammar of statements; the entry point of the parser.
use super::ast::*;
use super::lexer::{tokens, Keyword, SyntaxError, Token};
use super::names::{Names, Symbol};
use super::parser::Parser;
use std::sync::Arc;

/// A parsed file.
#[derive(Debug)]
pub struct File {
    pub architecture: Option<String>,
    pub name: Option<String>,
    pub catdep: bool,
    /// The variants that the file asks for.
    pub variants: Vec<String>,
    pub statements: Vec<Statement>,
}

/// Parses the text of file number `file`.
pub fn parse(text: &str, file: u32, names: &mut Names) -> Result<File, SyntaxError> {
    let mut parser = Parser::new(tokens(text, file)?, names);
    let (architecture, name) = parser.identity();
    let mut catdep = false;
    while parser.take_keyword(Keyword::Catdep) {
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
            Token::String(name) => {
                self.skip();
                (None, Some(name))
            }
            Token::Name(first) => {
                self.skip();
                match self.peek().clone() {
                    Token::Name(name) | Token::String(name) => {
                        self.skip();
                        (Some(first), Some(name))
                    }
                    _ => (None, Some(first)),
                }
            }
            _ => (None, None),
        }
    }

    fn statements(&mut self) -> Result<Vec<Statement>, SyntaxError> {
        let mut statements = Vec::new();
        loop {
            let at = self.position();
            let starts = match self.peek() {
                Token::Keyword(word) => !matches!(word, Keyword::End | Keyword::Else),
                Token::Punct(sign) => *sign == "~",
                _ => false,
            };
            if !starts {
                return Ok(statements);
            }
            if let Some(kind) = self.nested(|parser| parser.statement())? {
                statements.push(Statement { at, kind });
            }
        }
    }

    fn block(&mut self) -> Result<Block, SyntaxError> {
        Ok(Arc::new(self.statements()?))
    }

    /// A statement; none for those that only concern drawings and bell files.
    fn statement(&mut self) -> Result<Option<StatementKind>, SyntaxError> {
        let Token::Keyword(word) = *self.peek() else {
            return Ok(Some(StatementKind::Check(Box::new(self.check(true)?))));
        };
        let action = match word {
            Keyword::Let => self.let_statement()?,
            Keyword::Match => self.match_statement()?,
            Keyword::Procedure => self.procedure()?,
            Keyword::Call => {
                self.skip();
                let name = self.expect_name("the name of a procedure")?;
                let argument = self
                    .simple()?
                    .ok_or_else(|| self.unexpected("an argument in parentheses"))?;
                self.name_of_check()?;
                StatementKind::Call(name, argument)
            }
            Keyword::Enum => self.enumeration()?,
            Keyword::Forall => {
                self.skip();
                let name = self.expect_name("a name")?;
                self.expect_keyword(Keyword::In)?;
                let set = self.exp()?;
                self.expect_keyword(Keyword::Do)?;
                let body = self.block()?;
                self.expect_keyword(Keyword::End)?;
                StatementKind::Forall(name, set, body)
            }
            Keyword::With => {
                self.skip();
                let name = self.expect_name("a name")?;
                self.expect_keyword(Keyword::From)?;
                StatementKind::With(name, self.exp()?)
            }
            Keyword::If => {
                self.skip();
                let condition = self.variant()?;
                let yes = self.block()?;
                let no = if self.take_keyword(Keyword::Else) {
                    self.block()?
                } else {
                    Block::default()
                };
                self.expect_keyword(Keyword::End)?;
                StatementKind::IfVariant(condition, yes, no)
            }
            Keyword::Include => {
                self.skip();
                let Token::String(name) = self.peek().clone() else {
                    return Err(self.unexpected("a file name in quotes"));
                };
                self.skip();
                StatementKind::Include(name)
            }
            Keyword::Show | Keyword::Unshow => {
                self.skip();
                self.base()?;
                self.name_of_check()?;
                while self.take_punct(",") {
                    self.base()?;
                }
                return Ok(None);
            }
            Keyword::Debug => {
                self.skip();
                self.exp()?;
                return Ok(None);
            }
            Keyword::Instructions | Keyword::Default => {
                self.skip();
                self.expect_name("a kind of instruction")?;
                self.expect_punct("[")?;
                self.list("]")?;
                return Ok(None);
            }
            _ => StatementKind::Check(Box::new(self.check(true)?)),
        };
        Ok(Some(action))
    }

    fn let_statement(&mut self) -> Result<StatementKind, SyntaxError> {
        self.skip();
        let recursive = self.take_keyword(Keyword::Rec);
        let bindings = self.bindings()?;
        let action = if recursive {
            let check = if self.take_keyword(Keyword::When) {
                Some(Box::new(self.check(false)?))
            } else {
                None
            };
            StatementKind::LetRec(bindings, check)
        } else {
            StatementKind::Let(bindings)
        };
        self.take_keyword(Keyword::In);
        Ok(action)
    }

    /// `[flag | undefined_unless | assert] [~] acyclic e [as name]`
    fn check(&mut self, with_role: bool) -> Result<Check, SyntaxError> {
        let at = self.position();
        let mut role = Role::Axiom;
        if with_role {
            let roles = [
                (Keyword::Flag, Role::Flag),
                (Keyword::UndefinedUnless, Role::UndefinedUnless),
                (Keyword::Assert, Role::Assert),
            ];
            for (word, meant) in roles {
                if self.take_keyword(word) {
                    role = meant;
                    break;
                }
            }
        }
        let negated = self.take_punct("~");
        let claim = match self.peek() {
            Token::Keyword(Keyword::Acyclic) => Claim::Acyclic,
            Token::Keyword(Keyword::Irreflexive) => Claim::Irreflexive,
            Token::Keyword(Keyword::Empty) => Claim::Empty,
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

    fn name_of_check(&mut self) -> Result<Option<Symbol>, SyntaxError> {
        if !self.take_keyword(Keyword::As) {
            return Ok(None);
        }
        self.expect_name("a name").map(Some)
    }

    fn match_statement(&mut self) -> Result<StatementKind, SyntaxError> {
        self.skip();
        let value = self.exp()?;
        self.expect_keyword(Keyword::With)?;
        self.take_punct("||");
        let (mut clauses, mut otherwise) = (Vec::new(), None);
        loop {
            if self.take_punct("_") {
                self.expect_punct("->")?;
                otherwise = Some(self.block()?);
                break;
            }
            let tag = self.tag()?;
            self.expect_punct("->")?;
            clauses.push((tag, self.block()?));
            if !self.take_punct("||") {
                break;
            }
        }
        self.expect_keyword(Keyword::End)?;
        Ok(StatementKind::MatchTag(value, clauses, otherwise))
    }

    fn procedure(&mut self) -> Result<StatementKind, SyntaxError> {
        self.skip();
        let recursive = self.take_keyword(Keyword::Rec);
        let name = self.expect_name("the name of a procedure")?;
        let parameter = self.parameter()?;
        self.expect_punct("=")?;
        let body = self.block()?;
        self.expect_keyword(Keyword::End)?;
        Ok(StatementKind::Procedure {
            name,
            parameter,
            body,
            recursive,
        })
    }

    fn enumeration(&mut self) -> Result<StatementKind, SyntaxError> {
        self.skip();
        let name = self.expect_name("the name of an enumeration")?;
        self.expect_punct("=")?;
        self.take_punct("||");
        let mut tags = vec![self.tag()?];
        while self.take_punct("||") {
            tags.push(self.tag()?);
        }
        Ok(StatementKind::Enum(name, tags))
    }
}
