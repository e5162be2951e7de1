//! Parses what the initial state and the final condition share in all dialects: values, and the
//! names of registers and locations.

use super::declarations::{Declaration, Types};
use super::dialect::RegisterName;
use super::error::ParseError;
use super::lexer::{tokens, Cursor, Syntax, TokenKind};
use super::location_names::LocationNames;
use super::observable::Observable;
use super::sections::SourceSpan;
use super::types::{Array, Type};
use super::value::{Address, Value};

const SYNTAX: Syntax = Syntax::new(
    &[
        "/\\", "\\/", "=>", "==", "=", "!=", "!", "<>", ";", ":", "[", "]", "(", ")", "{", "}",
        "*", "&", ",", "~", "-", "+",
    ],
    true,
    "%$",
);

/// An element of an array whose declaration is not known.
const BYTE: Type = Type {
    bits: 8,
    signed: true,
};

pub struct StateParser<'n> {
    pub cursor: Cursor<'n>,
    pub location_names: &'n mut LocationNames,
    pub register: RegisterName,
    /// What the initial state declares.
    pub types: &'n mut Types,
}

/// A name and its values in a printed state, `0:r0` and `1`, or `v` and `{1,2}`.
pub fn binding(
    name: &str,
    value: &str,
    location_names: &mut LocationNames,
    register: RegisterName,
) -> Result<Vec<(Observable, Value)>, ParseError> {
    let section = |text| SourceSpan { text, offset: 0 };
    let mut types = Types::default();
    let mut r = StateParser::new(section(name), location_names, register, &mut types)?;
    let observable = r.observable()?;
    r.end("the end of the name")?;
    let mut r = StateParser::new(section(value), location_names, register, &mut types)?;
    let Observable::Memory(at) = observable else {
        let value = r.value()?;
        r.end("the end of the value")?;
        return Ok(vec![(observable, value)]);
    };
    let Some(values) = r.values()? else {
        let value = r.value()?;
        r.end("the end of the value")?;
        return Ok(vec![(observable, value)]);
    };
    r.end("the end of the value")?;
    let element = |index: u32| Observable::Element {
        at: unscaled(at, index),
        index,
    };
    let values = (0..).zip(values);
    Ok(values.map(|(i, value)| (element(i), value)).collect())
}

/// The address of an element of an array whose declaration is not known: it is only compared.
fn unscaled(at: Address, index: u32) -> Address {
    Address {
        offset: i64::from(index),
        ..at
    }
}

impl<'n> StateParser<'n> {
    pub fn new(
        section: SourceSpan<'n>,
        location_names: &'n mut LocationNames,
        register: RegisterName,
        types: &'n mut Types,
    ) -> Result<StateParser<'n>, ParseError> {
        Ok(StateParser {
            cursor: Cursor::new(tokens(section.text, section.offset, &SYNTAX)?),
            location_names,
            register,
            types,
        })
    }

    pub fn end(&self, expected: &str) -> Result<(), ParseError> {
        match self.cursor.at_end() {
            true => Ok(()),
            false => Err(self.cursor.unexpected(expected)),
        }
    }

    fn unsupported(&self, message: &str) -> ParseError {
        ParseError::unsupported(self.cursor.offset(), message)
            .help("write a number or a location; system-level features of herd7 are not read")
    }

    /// An error for what herd7 may accept at this point.
    fn check_supported(&self) -> Result<(), ParseError> {
        let label = "labels of instructions are not supported as values";
        let next = self.cursor.ahead(1);
        match (self.cursor.kind(), next) {
            (TokenKind::Name("instr" | "NOP" | "nop"), _) => {
                Err(self.unsupported("instructions are not supported as values"))
            }
            (TokenKind::Name(_) | TokenKind::Number(_), TokenKind::Sign(":")) => {
                Err(self.unsupported(label))
            }
            (TokenKind::Name("PTE" | "TTD" | "PA"), TokenKind::Sign("(")) => {
                Err(self.unsupported("page tables are not supported"))
            }
            (TokenKind::Sign("("), _) => {
                Err(self.unsupported("page table entries are not supported"))
            }
            (TokenKind::Name("tag" | "TAG"), TokenKind::Sign("("))
            | (TokenKind::Sign(":"), TokenKind::Name(_)) => {
                Err(self.unsupported("memory tags are not supported"))
            }
            (TokenKind::Name("fault" | "Fault"), TokenKind::Sign("(")) => {
                Err(self.unsupported("faults are not supported"))
            }
            (TokenKind::Text(_), _) => Err(self.unsupported("quoted values are not supported")),
            _ => Ok(()),
        }
    }

    pub fn value(&mut self) -> Result<Value, ParseError> {
        if let Some(label) = self.label()? {
            return Ok(label);
        }
        self.check_supported()?;
        match self.cursor.kind() {
            TokenKind::Name(n) => {
                self.cursor.step();
                let mut address = self.location_names.address(n);
                // as in herd7, which does not scale the index here
                if self.cursor.eat("[") {
                    address.offset = self.cursor.signed_number()?;
                    self.cursor.expect("]")?;
                } else if self.cursor.eat("+") {
                    address.offset = self.cursor.signed_number()?;
                }
                Ok(Value::Address(address))
            }
            _ => self.cursor.signed_number().map(Value::Int),
        }
    }

    /// `P0:L1`, or `label:"P0:L1"`, if either follows.
    fn label(&mut self) -> Result<Option<Value>, ParseError> {
        let quoted = match (
            self.cursor.kind(),
            self.cursor.ahead(1),
            self.cursor.ahead(2),
        ) {
            (TokenKind::Name("label"), TokenKind::Sign(":"), TokenKind::Text(text)) => text,
            (TokenKind::Name(thread), TokenKind::Sign(":"), TokenKind::Name(label)) => {
                let number = thread.strip_prefix('P').and_then(|n| n.parse().ok());
                let Some(number) = number else {
                    return Ok(None);
                };
                (0..3).for_each(|_| self.cursor.step());
                return Ok(Some(self.location_names.label(number, label)));
            }
            _ => return Ok(None),
        };
        let of_thread = quoted.trim_start_matches('P').split_once(':');
        let named = of_thread.and_then(|(thread, label)| Some((thread.parse().ok()?, label)));
        let Some((thread, label)) = named else {
            return Err(self.unsupported("a label as a value is written label:\"P0:L1\""));
        };
        (0..3).for_each(|_| self.cursor.step());
        Ok(Some(self.location_names.label(thread, label)))
    }

    /// `{1, 2}`, if a brace follows.
    pub fn values(&mut self) -> Result<Option<Vec<Value>>, ParseError> {
        if !self.cursor.eat("{") {
            return Ok(None);
        }
        let mut values = Vec::new();
        while !self.cursor.eat("}") {
            values.push(self.value()?);
            if !self.cursor.eat(",") && !self.cursor.is("}") {
                return Err(self.cursor.unexpected("`,` or `}`"));
            }
        }
        Ok(Some(values))
    }

    /// `0:`, `P0:`
    pub fn at_thread(&self) -> Option<usize> {
        match (self.cursor.kind(), self.cursor.ahead(1)) {
            (TokenKind::Number(n), TokenKind::Sign(":")) => usize::try_from(n).ok(),
            (TokenKind::Name(n), TokenKind::Sign(":")) => {
                n.strip_prefix('P').and_then(|n| n.parse().ok())
            }
            _ => None,
        }
    }

    pub fn observable(&mut self) -> Result<Observable, ParseError> {
        let offset = self.cursor.offset();
        if self.cursor.eat("[") {
            return match self.value()? {
                Value::Address(at) => {
                    self.cursor.expect("]")?;
                    self.location(at, offset)
                }
                _ => Err(ParseError::new(
                    offset,
                    "expected a location, found a number",
                )),
            };
        }
        self.cursor.eat("*");
        if let Some(thread) = self.at_thread() {
            self.cursor.step();
            self.cursor.step();
            return self.register(thread);
        }
        self.check_supported()?;
        if let (TokenKind::Name(name), TokenKind::Sign("[")) =
            (self.cursor.kind(), self.cursor.ahead(1))
        {
            self.cursor.step();
            self.cursor.step();
            let at = self.location_names.address(name);
            let index = self.cursor.signed_number()?;
            self.cursor.expect("]")?;
            return self.element(at, index, offset);
        }
        match self.value()? {
            Value::Address(at) => self.location(at, offset),
            _ => Err(ParseError::new(offset, "expected a location or a register")),
        }
    }

    fn register(&mut self, thread: usize) -> Result<Observable, ParseError> {
        let at = self.cursor.offset();
        let name = self.cursor.name("a register")?;
        match (self.register)(name) {
            Some(name) => Ok(Observable::Register { thread, name }),
            None => Err(ParseError::unsupported(
                at,
                format!("unknown register `{name}`"),
            )),
        }
    }

    fn location(&self, at: Address, offset: usize) -> Result<Observable, ParseError> {
        match self.types.array(at.name) {
            Some(of) if at.offset == 0 => Ok(Observable::Array { at, of }),
            Some(_) => Err(ParseError::unsupported(
                offset,
                "expected an element of an array, found an address inside it",
            )
            .help("write v[1] for the second element")),
            None => Ok(Observable::Memory(at)),
        }
    }

    /// The element of an array or, as in herd7, the one element behind a pointer.
    fn element(&self, at: Address, index: i64, offset: usize) -> Result<Observable, ParseError> {
        let array = match self.types.locations.get(&at.name) {
            Some(Declaration::Array(array)) => *array,
            Some(Declaration::Pointer(element)) => Array {
                element: *element,
                count: 1,
            },
            // a printed state, which declares nothing
            None if self.types.locations.is_empty() && self.types.registers.is_empty() => Array {
                element: BYTE,
                count: u32::MAX,
            },
            _ => {
                return Err(ParseError::new(offset, "expected an array")
                    .help("declare it in the initial state: int v[2];"))
            }
        };
        match u32::try_from(index) {
            Ok(index) if index < array.count => Ok(Observable::Element {
                at: Address {
                    offset: i64::from(index) * array.element.bytes(),
                    ..at
                },
                index,
            }),
            _ => Err(ParseError::new(
                offset,
                format!("index {index} is outside the array"),
            )),
        }
    }
}
