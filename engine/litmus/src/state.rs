//! Parses the initial state and the final condition, whose syntax all dialects share.

use std::collections::BTreeMap;

use super::condition::{Condition, Observable, Prop, Quantifier};
use super::dialect::RegisterName;
use super::error::ParseError;
use super::lexer::{tokens, Cursor, Syntax, TokenKind};
use super::location_names::LocationNames;
use super::sections::SourceSpan;
use super::value::{Address, Value};

const SYNTAX: Syntax = Syntax::new(
    &[
        "/\\", "\\/", "=>", "==", "=", "!=", "!", ";", ":", "[", "]", "(", ")", "{", "}", "*", "&",
        ",", "~", "-", "+",
    ],
    true,
    "%$",
);

#[derive(Debug, Default)]
pub struct InitialState {
    pub memory: BTreeMap<Address, Value>,
    pub registers: BTreeMap<(usize, String), Value>,
}

/// What follows the threads.
#[derive(Debug)]
pub struct FinalCondition {
    /// What `locations` lists.
    pub listed: Vec<Observable>,
    pub filter: Option<Prop>,
    pub condition: Condition,
}

struct StateParser<'n> {
    cursor: Cursor<'n>,
    location_names: &'n mut LocationNames,
    register: RegisterName,
}

pub fn initial(
    section: SourceSpan<'_>,
    location_names: &mut LocationNames,
    register: RegisterName,
) -> Result<InitialState, ParseError> {
    let mut r = StateParser::new(section, location_names, register)?;
    let mut init = InitialState::default();
    while !r.cursor.at_end() {
        if !r.cursor.eat(";") {
            r.declaration(&mut init)?;
        }
    }
    Ok(init)
}

pub fn condition(
    section: SourceSpan<'_>,
    location_names: &mut LocationNames,
    register: RegisterName,
) -> Result<FinalCondition, ParseError> {
    let mut r = StateParser::new(section, location_names, register)?;
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
    StateParser::new(section, &mut LocationNames::default(), |_| None)?.quantifier()
}

/// A name and its value in a printed state, `0:r0` and `1`.
pub fn binding(
    name: &str,
    value: &str,
    location_names: &mut LocationNames,
    register: RegisterName,
) -> Result<(Observable, Value), ParseError> {
    let section = |text| SourceSpan { text, offset: 0 };
    let mut r = StateParser::new(section(name), location_names, register)?;
    let observable = r.observable()?;
    r.end("the end of the name")?;
    let mut r = StateParser::new(section(value), location_names, register)?;
    let value = r.value()?;
    r.end("the end of the value")?;
    Ok((observable, value))
}

impl<'n> StateParser<'n> {
    fn new(
        section: SourceSpan<'n>,
        location_names: &'n mut LocationNames,
        register: RegisterName,
    ) -> Result<StateParser<'n>, ParseError> {
        Ok(StateParser {
            cursor: Cursor::new(tokens(section.text, section.offset, &SYNTAX)?),
            location_names,
            register,
        })
    }

    fn end(&self, expected: &str) -> Result<(), ParseError> {
        match self.cursor.at_end() {
            true => Ok(()),
            false => Err(self.cursor.unexpected(expected)),
        }
    }

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

    /// `int *x = 1`, `0:r0 = x`, `[x] = 1`, `int a[2] = {1, 2}`, `x`
    fn declaration(&mut self, init: &mut InitialState) -> Result<(), ParseError> {
        let mut ty = String::new();
        let observable = loop {
            let follows = |k: TokenKind| {
                matches!(k, TokenKind::Sign(";" | "=" | "[" | "==") | TokenKind::End)
            };
            match (self.cursor.kind(), self.cursor.ahead(1)) {
                (TokenKind::Number(_), _)
                | (TokenKind::Sign("["), _)
                | (TokenKind::Name(_), TokenKind::Sign(":")) => {
                    break self.observable()?;
                }
                (TokenKind::Name(n), next) if follows(next) && !n.starts_with('%') => {
                    let address = self.location_names.address(n);
                    self.cursor.step();
                    break Observable::Memory(address);
                }
                (TokenKind::Name(n), _) => ty.push_str(n),
                (TokenKind::Sign("*"), _) => ty.push('*'),
                _ => return Err(self.cursor.unexpected("a location or a register")),
            }
            self.cursor.step();
        };
        let mut count = None;
        if self.cursor.eat("[") {
            count = Some(self.cursor.signed_number()?.clamp(0, 4096));
            self.cursor.expect("]")?;
        }
        let width = element_width(&ty);
        let mut values = Vec::new();
        if self.cursor.eat("=") || self.cursor.eat("==") {
            if self.cursor.eat("{") {
                while !self.cursor.eat("}") {
                    values.push(self.initial()?);
                    self.cursor.eat(",");
                }
            } else {
                values.push(self.initial()?);
            }
        }
        if !self.cursor.at_end() && !self.cursor.is(";") {
            return Err(self.cursor.unexpected("`;`"));
        }
        match observable {
            Observable::Register { thread, name } => {
                let value = values.first().copied().unwrap_or(Value::ZERO);
                init.registers.insert((thread, name), value);
            }
            Observable::Memory(address) => {
                for i in 0..count.unwrap_or(1) {
                    let value = values.get(i as usize).copied().unwrap_or(Value::ZERO);
                    let offset = address.offset + i * width;
                    init.memory.insert(Address { offset, ..address }, value);
                }
            }
        }
        Ok(())
    }

    fn initial(&mut self) -> Result<Value, ParseError> {
        self.cursor.eat("&");
        if self.cursor.is_word("ATOMIC_INIT") {
            self.cursor.step();
            self.cursor.expect("(")?;
            let value = self.value()?;
            self.cursor.expect(")")?;
            return Ok(value);
        }
        self.value()
    }

    fn value(&mut self) -> Result<Value, ParseError> {
        match self.cursor.kind() {
            TokenKind::Name(n) => {
                if matches!(self.cursor.ahead(1), TokenKind::Sign(":")) {
                    let message = "labels of instructions are not supported as values";
                    return Err(ParseError::unsupported(self.cursor.offset(), message)
                        .help("write a number or a location"));
                }
                self.cursor.step();
                let mut address = self.location_names.address(n);
                if self.cursor.eat("[") {
                    address.offset = 4 * self.cursor.signed_number()?;
                    self.cursor.expect("]")?;
                } else if self.cursor.eat("+") {
                    address.offset = self.cursor.signed_number()?;
                }
                Ok(Value::Address(address))
            }
            _ => self.cursor.signed_number().map(Value::Int),
        }
    }

    fn observable(&mut self) -> Result<Observable, ParseError> {
        let offset = self.cursor.offset();
        if self.cursor.eat("[") {
            return match self.value()? {
                Value::Address(a) => {
                    self.cursor.expect("]")?;
                    Ok(Observable::Memory(a))
                }
                _ => Err(ParseError::new(
                    offset,
                    "expected a location, found a number",
                )),
            };
        }
        self.cursor.eat("*");
        let thread = match (self.cursor.kind(), self.cursor.ahead(1)) {
            (TokenKind::Number(n), TokenKind::Sign(":")) => usize::try_from(n).ok(),
            (TokenKind::Name(n), TokenKind::Sign(":")) => {
                n.strip_prefix('P').and_then(|n| n.parse().ok())
            }
            _ => None,
        };
        if let Some(thread) = thread {
            self.cursor.step();
            self.cursor.step();
            let at = self.cursor.offset();
            let name = self.cursor.name("a register")?;
            let name = (self.register)(name)
                .ok_or_else(|| ParseError::new(at, format!("unknown register `{name}`")))?;
            return Ok(Observable::Register { thread, name });
        }
        match self.value()? {
            Value::Address(a) => Ok(Observable::Memory(a)),
            _ => Err(ParseError::new(offset, "expected a location or a register")),
        }
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
        let negated = self.cursor.is("!=");
        if !(self.cursor.eat("=") || self.cursor.eat("==") || self.cursor.eat("!=")) {
            return Err(self.cursor.unexpected("`=`"));
        }
        let pointer = self.cursor.is("*");
        let register = matches!(self.cursor.ahead(1), TokenKind::Sign(":"));
        let atom = match pointer || register {
            true => Prop::Same(observable, self.observable()?),
            false => Prop::Is(observable, self.value()?),
        };
        Ok(match negated {
            true => Prop::Not(Box::new(atom)),
            false => atom,
        })
    }
}

/// The size in bytes of an array element of this type.
fn element_width(ty: &str) -> i64 {
    let has = |s: &str| ty.contains(s);
    if has("*") || has("64") || has("long") || has("size_t") || has("ptr") {
        8
    } else if has("16") || has("short") {
        2
    } else if has("int8") || has("char") || has("bool") {
        1
    } else {
        4
    }
}
