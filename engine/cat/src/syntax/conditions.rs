//! The grammar of the conditions of `if` and of the variants in them.
use super::ast::*;
use super::lexer::{Keyword, SyntaxError, Token};
use super::parser::Parser;

impl Parser<'_> {
    /// `"a" && not ("b" || "c")`
    pub fn variant(&mut self) -> Result<Variant, SyntaxError> {
        let mut left = self.variant_and()?;
        while self.take_punct("||") {
            left = Variant::Or(Box::new(left), Box::new(self.variant_and()?));
        }
        Ok(left)
    }

    fn variant_and(&mut self) -> Result<Variant, SyntaxError> {
        let mut left = self.nested(|parser| parser.variant_one())?;
        while self.take_punct("&&") {
            left = Variant::And(
                Box::new(left),
                Box::new(self.nested(|parser| parser.variant_one())?),
            );
        }
        Ok(left)
    }

    fn variant_one(&mut self) -> Result<Variant, SyntaxError> {
        if self.take_keyword(Keyword::Not) {
            return Ok(Variant::Not(Box::new(
                self.nested(|parser| parser.variant_one())?,
            )));
        }
        if self.take_punct("(") {
            let inner = self.nested(|parser| parser.variant())?;
            self.expect_punct(")")?;
            return Ok(inner);
        }
        let Token::String(name) = self.peek().clone() else {
            return Err(self.unexpected("a variant in quotes"));
        };
        self.skip();
        self.variants.push(name.clone());
        Ok(Variant::Is(name))
    }

    fn starts_variant(&self) -> bool {
        match self.peek() {
            Token::String(_) | Token::Keyword(Keyword::Not) => true,
            Token::Punct("(") => {
                matches!(
                    self.peek_second(),
                    Token::String(_) | Token::Keyword(Keyword::Not)
                )
            }
            _ => false,
        }
    }

    pub fn condition(&mut self) -> Result<Condition, SyntaxError> {
        if self.starts_variant() {
            return self.variant().map(Condition::Variant);
        }
        let left = self.exp()?;
        if self.take_punct("=") {
            return Ok(Condition::Equal(left, self.exp()?));
        }
        if self.take_keyword(Keyword::Subset) {
            return Ok(Condition::Subset(left, self.exp()?));
        }
        if self.take_keyword(Keyword::In) {
            return Ok(Condition::In(left, self.exp()?));
        }
        Err(self.unexpected("=, subset or in"))
    }
}
