//! Metadata nodes: `!12 = !DILocation(line: 3, scope: !4)`, `!5 = !{!6, !7}`.
use crate::error::Result;
use crate::llvm::lexer::Token;
use crate::llvm::metadata::{Item, Node};
use crate::llvm::parser::Parser;

impl<'a> Parser<'a> {
    pub fn metadata(&mut self, id: &'a str) -> Result<()> {
        self.eat_word("distinct");
        let node = match self.next() {
            Token::Meta(kind) => {
                self.expect(b'(')?;
                Node {
                    kind,
                    fields: self.items(b')')?,
                }
            }
            Token::Punct(b'!') => {
                self.expect(b'{')?;
                Node {
                    kind: "",
                    fields: self.items(b'}')?,
                }
            }
            _ => return self.fail("a metadata node"),
        };
        if let Ok(id) = id.parse() {
            self.module.metadata.nodes.insert(id, node);
        }
        Ok(())
    }

    /// The items of a node up to its closing bracket; what has no use here is `Item::Other`. Of
    /// `flags: A | B` there is one item per flag.
    fn items(&mut self, close: u8) -> Result<Vec<(&'a str, Item<'a>)>> {
        let mut out = Vec::new();
        while !self.eat(close) {
            let mut name = "";
            if let (Token::Word(word), Token::Punct(b':')) = (self.peek(), self.peek_at(1)) {
                name = word;
                self.next();
                self.next();
            }
            let mut item = None;
            let mut more = Vec::new();
            while self.peek() != Token::Punct(b',') && self.peek() != Token::Punct(close) {
                let part = match self.peek() {
                    Token::Punct(b'(' | b'{' | b'[') => {
                        self.skip_group()?;
                        Item::Other
                    }
                    Token::End => return self.fail("a closing bracket"),
                    token => {
                        self.next();
                        match token {
                            Token::Meta(id) => id.parse().map_or(Item::Other, Item::Ref),
                            Token::Int(value) => Item::Int(value),
                            Token::Str(text) => Item::Str(text),
                            Token::Word(word) => Item::Word(word),
                            // `!"text"` keeps its text
                            _ => continue,
                        }
                    }
                };
                match (&item, &part) {
                    (Some(Item::Word(_)), Item::Word(_)) => more.push((name, part)),
                    (Some(_), _) => {}
                    (None, _) => item = Some(part),
                }
            }
            self.eat(b',');
            out.push((name, item.unwrap_or(Item::Other)));
            out.append(&mut more);
        }
        Ok(out)
    }
}
