//! Parses what follows the threads: `locations`, `filter`, and the final condition.

use super::condition::{Condition, Prop, Quantifier};
use super::declarations::Types;
use super::dialect::RegisterName;
use super::error::ParseError;
use super::lexer::TokenKind;
use super::location_names::LocationNames;
use super::observable::Observable;
use super::sections::SourceSpan;
use super::state::StateParser;

/// What follows the threads.
#[derive(Debug)]
pub struct FinalCondition {
    /// What `locations` lists.
    pub listed: Vec<Observable>,
    pub filter: Option<Prop>,
    pub condition: Condition,
}

pub fn condition(
    section: SourceSpan<'_>,
    location_names: &mut LocationNames,
    register: RegisterName,
    types: &mut Types,
) -> Result<FinalCondition, ParseError> {
    let mut r = StateParser::new(section, location_names, register, types)?;
    let mut listed = Vec::new();
    let mut filter = None;
    loop {
        if r.cursor.eat_word("locations") {
            r.locations(&mut listed)?;
        } else if r.cursor.eat_word("filter") {
            filter = Some(r.prop()?);
        } else {
            break;
        }
    }
    let quantifier = r.quantifier()?;
    let condition = match quantifier {
        Some(quantifier) => Condition {
            quantifier,
            prop: r.prop()?,
        },
        None if r.cursor.at_end() => Condition {
            quantifier: Quantifier::Forall,
            prop: Prop::True,
        },
        None => {
            return Err(r
                .cursor
                .unexpected("a condition")
                .help("write exists (…), ~exists (…) or forall (…)"))
        }
    };
    r.cursor.eat(";");
    if r.cursor.is_word("with") {
        while !r.cursor.at_end() {
            r.cursor.step();
        }
    }
    r.end("the end of the condition")?;
    Ok(FinalCondition {
        listed,
        filter,
        condition,
    })
}

/// The quantifier with which a condition begins.
pub fn quantifier(section: SourceSpan<'_>) -> Result<Option<Quantifier>, ParseError> {
    let mut types = Types::default();
    StateParser::new(section, &mut LocationNames::default(), |_| None, &mut types)?.quantifier()
}

impl StateParser<'_> {
    fn locations(&mut self, into: &mut Vec<Observable>) -> Result<(), ParseError> {
        self.cursor.expect("[")?;
        while !self.cursor.eat("]") {
            into.push(self.observable()?);
            while matches!(self.cursor.kind(), TokenKind::Name(_)) || self.cursor.is("*") {
                self.cursor.step();
            }
            if !self.cursor.eat(";") && !self.cursor.is("]") {
                return Err(self.cursor.unexpected("`;` or `]`"));
            }
        }
        Ok(())
    }

    fn quantifier(&mut self) -> Result<Option<Quantifier>, ParseError> {
        if self.cursor.eat_word("exists") || self.cursor.eat_word("final") {
            return Ok(Some(Quantifier::Exists));
        }
        if self.cursor.eat_word("forall") {
            return Ok(Some(Quantifier::Forall));
        }
        if !self.cursor.is("~") && !self.cursor.is_word("not") {
            return Ok(None);
        }
        self.cursor.step();
        match self.cursor.eat_word("exists") {
            true => Ok(Some(Quantifier::NotExists)),
            false => Err(self.cursor.unexpected("`exists`")),
        }
    }

    fn prop(&mut self) -> Result<Prop, ParseError> {
        self.disjunction(0)
    }

    /// `=>` binds tighter than `/\`, as in herd7.
    fn implication(&mut self, depth: usize) -> Result<Prop, ParseError> {
        let left = self.factor(depth)?;
        if !self.cursor.eat("=>") {
            return Ok(left);
        }
        let right = self.implication(self.deeper(depth)?)?;
        Ok(Prop::Implies(Box::new(left), Box::new(right)))
    }

    fn disjunction(&mut self, depth: usize) -> Result<Prop, ParseError> {
        let mut parts = vec![self.conjunction(depth)?];
        while self.cursor.eat("\\/") {
            parts.push(self.conjunction(depth)?);
        }
        Ok(match parts.len() {
            1 => parts.swap_remove(0),
            _ => Prop::Or(parts),
        })
    }

    fn conjunction(&mut self, depth: usize) -> Result<Prop, ParseError> {
        let mut parts = vec![self.implication(depth)?];
        while self.cursor.eat("/\\") {
            parts.push(self.implication(depth)?);
        }
        Ok(match parts.len() {
            1 => parts.swap_remove(0),
            _ => Prop::And(parts),
        })
    }

    /// One level deeper; an error before deep nesting can exhaust the stack.
    fn deeper(&self, depth: usize) -> Result<usize, ParseError> {
        match depth < 200 {
            true => Ok(depth + 1),
            false => Err(self.cursor.unexpected("a less deeply nested condition")),
        }
    }

    fn factor(&mut self, depth: usize) -> Result<Prop, ParseError> {
        let depth = self.deeper(depth)?;
        if self.cursor.is("~") || self.cursor.is("!") || self.cursor.is_word("not") {
            self.cursor.step();
            return Ok(Prop::Not(Box::new(self.factor(depth)?)));
        }
        if self.cursor.eat("(") {
            let inner = self.disjunction(depth)?;
            self.cursor.expect(")")?;
            return Ok(inner);
        }
        if self.cursor.eat_word("true") {
            return Ok(Prop::True);
        }
        if self.cursor.eat_word("false") {
            return Ok(Prop::False);
        }
        let observable = self.observable()?;
        let negated = self.cursor.is("!=") || self.cursor.is("<>");
        if !["=", "==", "!=", "<>"]
            .iter()
            .any(|sign| self.cursor.eat(sign))
        {
            return Err(self.cursor.unexpected("`=`"));
        }
        let pointer = self.cursor.is("*");
        let register =
            matches!(self.cursor.ahead(1), TokenKind::Sign(":")) && !self.cursor.is_word("label");
        let offset = self.cursor.offset();
        let atom = match (pointer || register, self.values()?) {
            (true, _) => Prop::Same(observable, self.observable()?),
            (false, None) if observable.count() == 1 => Prop::Is(observable, self.value()?),
            (false, Some(values)) if observable.count() == values.len() => {
                Prop::Holds(observable, values)
            }
            _ => {
                let expected = format!("expected {} values in braces", observable.count());
                return Err(ParseError::new(offset, expected));
            }
        };
        Ok(match negated {
            true => Prop::Not(Box::new(atom)),
            false => atom,
        })
    }
}
