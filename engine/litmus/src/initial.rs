//! Parses the initial state.

use std::collections::{BTreeMap, BTreeSet};

use super::declarations::{Declaration, Types};
use super::dialect::RegisterName;
use super::error::ParseError;
use super::lexer::TokenKind;
use super::location_names::LocationNames;
use super::observable::Observable;
use super::sections::SourceSpan;
use super::state::StateParser;
use super::types::{Array, Type};
use super::value::{Address, Value};

const MAX_ELEMENTS: u32 = 4096;

#[derive(Debug, Default)]
pub struct InitialState {
    pub memory: BTreeMap<Address, Value>,
    pub registers: BTreeMap<(usize, String), Value>,
    /// Symbolic registers, `%x`, which herd7 allocates itself.
    pub symbolic: BTreeMap<String, Value>,
    pub types: Types,
}

pub fn initial(
    section: SourceSpan<'_>,
    location_names: &mut LocationNames,
    register: RegisterName,
) -> Result<InitialState, ParseError> {
    let mut types = Types::default();
    let mut state = InitialState::default();
    let mut parser = StateParser::new(section, location_names, register, &mut types)?;
    let mut addresses = BTreeSet::new();
    while !parser.cursor.at_end() {
        if !parser.cursor.eat(";") {
            declaration(&mut parser, &mut state, &mut addresses)?;
        }
    }
    state.types = types;
    Ok(state)
}

/// What a declaration declares.
enum Declared {
    Observable(Observable),
    Symbolic(String),
}

/// `int *x = 1`, `0:r0 = x`, `[x] = 1`, `int a[2] = {1, 2}`, `x`, `uint64_t %r = x`
fn declaration(
    parser: &mut StateParser<'_>,
    state: &mut InitialState,
    addresses: &mut BTreeSet<Address>,
) -> Result<(), ParseError> {
    let (of, pointer) = written_type(parser)?;
    let offset = parser.cursor.offset();
    let declared = match (parser.cursor.kind(), parser.at_thread()) {
        (TokenKind::Name(n), None) if n.starts_with('%') => {
            parser.cursor.step();
            Declared::Symbolic(n.to_owned())
        }
        (TokenKind::Name(n), None) if !matches!(parser.cursor.ahead(1), TokenKind::Sign(":")) => {
            parser.cursor.step();
            Declared::Observable(Observable::Memory(parser.location_names.address(n)))
        }
        _ => Declared::Observable(parser.observable()?),
    };
    let twice = match &declared {
        Declared::Observable(Observable::Memory(at)) => !addresses.insert(*at),
        Declared::Observable(Observable::Register { thread, name }) => {
            state.registers.contains_key(&(*thread, name.clone()))
        }
        Declared::Observable(_) => false,
        Declared::Symbolic(name) => state.symbolic.contains_key(name),
    };
    if twice {
        return Err(ParseError::new(offset, "this is declared twice"));
    }
    let mut count = None;
    if parser.cursor.eat("[") {
        let number = parser.cursor.signed_number()?;
        count = u32::try_from(number).ok().filter(|n| *n <= MAX_ELEMENTS);
        if count.is_none() {
            return Err(parser
                .cursor
                .unexpected(&format!("at most {MAX_ELEMENTS} elements")));
        }
        parser.cursor.expect("]")?;
    }
    let mut values = vec![Value::ZERO; count.unwrap_or(1) as usize];
    if parser.cursor.eat("=") || parser.cursor.eat("==") {
        values = initial_values(parser, count)?;
    }
    if !parser.cursor.at_end() && !parser.cursor.is(";") {
        return Err(parser.cursor.unexpected("`;`"));
    }
    let declaration = match (pointer, count) {
        (_, Some(count)) => Some(Declaration::Array(Array {
            element: if pointer {
                Type::POINTER
            } else {
                of.unwrap_or(Type::INT)
            },
            count,
        })),
        (true, None) => Some(Declaration::Pointer(of.unwrap_or(Type::INT))),
        (false, None) => of.map(Declaration::Scalar),
    };
    match declared {
        Declared::Symbolic(name) => {
            state.symbolic.insert(name, values[0]);
        }
        Declared::Observable(Observable::Memory(at)) => {
            if let Some(declaration) = declaration {
                parser.types.locations.insert(at.name, declaration);
            }
            let bytes = match declaration {
                Some(Declaration::Array(array)) => array.element.bytes(),
                _ => 0,
            };
            for (i, value) in (0..).zip(values) {
                let offset = at.offset + i * bytes;
                state.memory.insert(Address { offset, ..at }, value);
            }
        }
        Declared::Observable(Observable::Register { thread, name }) => {
            if let Some(declaration) = declaration {
                let register = (thread, name.clone());
                let (thread, name) = register;
                let declared = parser.types.registers.entry(thread).or_default();
                declared.insert(name, declaration);
            }
            state.registers.insert((thread, name), values[0]);
        }
        Declared::Observable(Observable::Element { .. } | Observable::Array { .. }) => {
            return Err(ParseError::new(
                offset,
                "an element of an array has no declaration of its own",
            )
            .help("declare the array: int v[2] = {1, 2};"));
        }
    }
    Ok(())
}

/// The type before a name, if there is one, and whether it is a pointer to it.
fn written_type(parser: &mut StateParser<'_>) -> Result<(Option<Type>, bool), ParseError> {
    let (mut of, mut pointer) = (None, false);
    loop {
        let ends = |kind| {
            matches!(
                kind,
                TokenKind::Sign(";" | "=" | "[" | "==" | ":" | "(") | TokenKind::End
            )
        };
        match (parser.cursor.kind(), parser.cursor.ahead(1)) {
            (TokenKind::Name("_Atomic" | "volatile" | "const"), _) => {}
            (TokenKind::Name(name), next) => {
                let array_type =
                    matches!(next, TokenKind::Sign("[")) && names_array_of_locations(parser);
                if ends(next) && !array_type || name.starts_with('%') {
                    return Ok((of, pointer));
                }
                let offset = parser.cursor.offset();
                let named = Type::named(name).filter(|_| of.is_none());
                of = Some(named.ok_or_else(|| {
                    ParseError::unsupported(offset, format!("unknown type `{name}`"))
                        .help("write int, int8_t, uint8_t … int64_t, uint64_t, or no type for int")
                })?);
            }
            (TokenKind::Sign("*"), _) => pointer = true,
            (TokenKind::Number(_) | TokenKind::Sign("[" | "("), _) => return Ok((of, pointer)),
            _ => return Err(parser.cursor.unexpected("a location or a register")),
        }
        parser.cursor.step();
    }
}

/// `int [x]`: after the name of a type, brackets around a location and not around a size.
fn names_array_of_locations(parser: &StateParser<'_>) -> bool {
    matches!(parser.cursor.ahead(2), TokenKind::Name(_))
}

/// What follows `=`: one value or, for an array of `count` elements, as many in braces.
fn initial_values(
    parser: &mut StateParser<'_>,
    count: Option<u32>,
) -> Result<Vec<Value>, ParseError> {
    let offset = parser.cursor.offset();
    let given = parser.values()?;
    match (given, count) {
        (Some(values), Some(count)) if values.len() == count as usize => Ok(values),
        (Some(values), Some(count)) => Err(ParseError::new(
            offset,
            format!("expected {count} values, found {}", values.len()),
        )),
        (Some(_), None) => Err(ParseError::new(offset, "expected one value, found several")),
        (None, Some(_)) => Err(parser
            .cursor
            .unexpected("the values of the array, in braces")),
        (None, None) => {
            parser.cursor.eat("&");
            if !parser.cursor.eat_word("ATOMIC_INIT") {
                return Ok(vec![parser.value()?]);
            }
            parser.cursor.expect("(")?;
            let value = parser.value()?;
            parser.cursor.expect(")")?;
            Ok(vec![value])
        }
    }
}
