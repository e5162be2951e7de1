//! A litmus test: short threads, an initial state, and a condition on the final state.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use super::c::macros::Macros;
use super::c::statements;
use super::condition::{Condition, Printer, Prop};
use super::declarations::Types;
use super::dialect::Dialect;
use super::dialects::{self, DIALECTS};
use super::error::{LitmusError, ParseError};
use super::final_condition;
use super::initial;
use super::location_names::{LocationNames, UNLABELLED};
use super::observable::Observable;
use super::outline::Outline;
use super::program::Program;
use super::sections::{self, Sections};
use super::value::{Address, RegisterId, Value};

/// Nearly all tests have fewer bytes.
const USUAL_SIZE: usize = 4096;

#[derive(Clone, Debug)]
pub struct Test {
    pub dialect: &'static Dialect,
    pub name: String,
    /// An `Address` holds an index into these.
    pub location_names: Vec<String>,
    /// The initial value of every location that the test can reach.
    pub memory: BTreeMap<Address, Value>,
    pub types: Types,
    /// Initial values of registers, by thread and name.
    pub registers: BTreeMap<(usize, String), Value>,
    pub program: Program,
    /// What `locations` lists: shown in addition to what the condition mentions.
    pub listed: Vec<Observable>,
    /// Final states that do not satisfy it are ignored.
    pub filter: Option<Prop>,
    pub condition: Condition,
    /// The annotations of the Linux kernel's model that events can have, by number.
    pub tags: Vec<String>,
    /// Memory has regions, sets of accesses that only a model with a bell file can use.
    pub has_regions: bool,
    /// Accesses are split into pieces, as in herd7's variant `mixed`, also where it is not needed.
    pub mixed: bool,
}

impl Test {
    /// Reads a file. C threads may use the macros.
    pub fn read(path: &Path, macros: Option<&Macros>) -> Result<Test, LitmusError> {
        let text = Test::read_text(path)?;
        Test::parse_with(&path.display().to_string(), &text, macros)
    }

    /// The text of a file, whose lines may end in any of the usual ways.
    pub fn read_text(path: &Path) -> Result<String, LitmusError> {
        let bytes = Test::read_bytes(path).map_err(|e| LitmusError {
            file: path.display().to_string(),
            line: 1,
            column: 1,
            message: format!("cannot read the file: {e}"),
            help: String::new(),
            unsupported: false,
        })?;
        let text = String::from_utf8(bytes);
        let text = text.unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned());
        Ok(match text.contains('\r') {
            true => text.replace("\r\n", "\n").replace('\r', "\n"),
            false => text,
        })
    }

    /// The bytes of a file of the size of a test, without asking for the size first.
    pub fn read_bytes(path: &Path) -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(USUAL_SIZE);
        // `File` itself asks for its size, which is a third of the work
        let mut reader = File::open(path)?.take(u64::MAX);
        reader.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Reads the text of a test; `file` is for messages.
    pub fn parse(file: &str, text: &str) -> Result<Test, LitmusError> {
        Test::parse_with(file, text, None)
    }

    /// Reads the text of a test, whose C threads may use the macros.
    pub fn parse_with(
        file: &str,
        text: &str,
        macros: Option<&Macros>,
    ) -> Result<Test, LitmusError> {
        Test::parse_outlined(file, text, macros).map(|(test, _)| test)
    }

    /// Reads the text of a test, and its outline.
    pub fn parse_outlined<'t>(
        file: &str,
        text: &'t str,
        macros: Option<&Macros>,
    ) -> Result<(Test, Outline<'t>), LitmusError> {
        let read = || {
            let sections = sections::split(text)?;
            Ok((parse(&sections, macros)?, Outline::of(text, &sections)))
        };
        read().map_err(|error: ParseError| error.locate(file, text))
    }

    /// What final states are printed with: what the condition mentions and what `locations` lists,
    /// in herd7's order.
    pub fn displayed(&self) -> Vec<Observable> {
        let mut all = self.listed.clone();
        self.condition.prop.observables(&mut all);
        self.sorted(all)
    }

    /// The initial values as the memory holds them: without a sign, in the bits of their types, as in
    /// herd7.
    pub fn initial_values(&self) -> impl ExactSizeIterator<Item = (Address, Value)> + '_ {
        let stored = |(at, value): (&Address, &Value)| {
            let of = self.types.of(&Observable::Memory(*at));
            (*at, of.unsigned().cast(*value))
        };
        self.memory.iter().map(stored)
    }

    /// The locations on whose final values the answer depends.
    pub fn observed_locations(&self) -> Vec<Address> {
        let listed = self.listed.iter().flat_map(Observable::addresses);
        let mut all: Vec<Address> = listed.collect();
        let props = self.filter.iter().chain([&self.condition.prop]);
        props.for_each(|prop| prop.locations(&mut all));
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Whether a value is the address of an instruction that has no label.
    pub fn has_no_label(&self, value: Value) -> bool {
        let Value::Code(name) = value else {
            return false;
        };
        let name = self.location_names.get(name as usize);
        name.is_some_and(|name| name.starts_with(UNLABELLED))
    }

    /// The number of a thread's register, if its code mentions it.
    pub fn register(&self, thread: usize, name: &str) -> Option<RegisterId> {
        let names = self.program.registers(thread)?;
        names.iter().position(|known| known == name)
    }

    /// Registers by thread, in the dialect's order, then locations by name, then elements of arrays.
    fn sorted(&self, mut all: Vec<Observable>) -> Vec<Observable> {
        let order = self.dialect.register_order;
        let rank = |o: &Observable| match o {
            Observable::Register { .. } => 0,
            Observable::Memory(_) | Observable::Array { .. } => 1,
            Observable::Element { .. } => 2,
        };
        let location = |o: &Observable| match o {
            Observable::Register { .. } => None,
            Observable::Memory(at)
            | Observable::Array { at, .. }
            | Observable::Element { at, .. } => {
                Some((self.location_names.get(at.name as usize), at.offset))
            }
        };
        all.sort_by(|a, b| match (a, b) {
            (
                Observable::Register { thread, name },
                Observable::Register { thread: t, name: n },
            ) => (thread, order(name), name).cmp(&(t, order(n), n)),
            _ => (rank(a), location(a)).cmp(&(rank(b), location(b))),
        });
        all.dedup();
        all
    }

    pub fn printer(&self) -> Printer<'_> {
        Printer {
            location_names: &self.location_names,
            types: &self.types,
        }
    }
}

fn parse(sections: &Sections<'_>, macros: Option<&Macros>) -> Result<Test, ParseError> {
    let header = sections.dialect;
    let dialect = dialects::named(header.text).ok_or_else(|| {
        let names: Vec<&str> = DIALECTS.iter().map(|dialect| dialect.name).collect();
        ParseError::new(header.offset, format!("unknown dialect `{}`", header.text))
            .help(format!("the dialects are {}", names.join(", ")))
    })?;
    let mut locations = LocationNames::default();
    let mut initial = initial::initial(sections.initial, &mut locations, dialect.register)?;
    let mut tags = Vec::new();
    let mut has_regions = false;
    let program = if std::ptr::eq(dialect, &dialects::c::C) {
        if let Some(macros) = macros {
            tags.clone_from(&macros.tags);
        }
        let (threads, regions) = statements::program(sections.program, macros, &mut tags)?;
        has_regions = regions;
        if macros.is_none() {
            tags.clear();
        }
        Program::C(threads)
    } else {
        (dialect.program)(sections.program, &mut locations)?
    };
    if let Program::C(threads) = &program {
        if let Some((name, _)) = locations.labels().next() {
            let message = format!("{name} is a value of tests in assembly");
            return Err(ParseError::unsupported(sections.initial.offset, message));
        }
        for (number, thread) in threads.iter().enumerate() {
            for name in &thread.variables[..thread.parameters] {
                let value = locations.value(name);
                let register = (number, name.clone());
                initial.registers.entry(register).or_insert(value);
            }
        }
    }
    let mut types = initial.types;
    let end = final_condition::condition(
        sections.condition,
        &mut locations,
        dialect.register,
        &mut types,
    )?;
    for thread in 0..program.thread_count() {
        for name in program.registers(thread).unwrap_or_default() {
            if let Some(value) = initial.symbolic.get(name) {
                initial.registers.insert((thread, name.clone()), *value);
            }
        }
    }
    let mut test = Test {
        dialect,
        name: sections.name.text.to_owned(),
        location_names: locations.list,
        memory: initial.memory,
        types,
        registers: initial.registers,
        program,
        listed: end.listed,
        filter: end.filter,
        condition: end.condition,
        tags,
        has_regions,
        mixed: sections.mixed,
    };
    complete_memory(&mut test);
    Ok(test)
}

/// Gives every location that the test can reach an initial value, 0 as in herd7.
fn complete_memory(test: &mut Test) {
    let mut reached: Vec<Address> = test
        .memory
        .values()
        .chain(test.registers.values())
        .filter_map(Value::address)
        .collect();
    let observed = test.listed.iter().flat_map(Observable::addresses);
    reached.extend(observed);
    for prop in test.filter.iter().chain([&test.condition.prop]) {
        prop.locations(&mut reached);
    }
    test.condition.prop.addresses(&mut reached);
    if let Program::Assembly(threads) = &test.program {
        let all = threads.iter().flat_map(|t| &t.instructions);
        all.for_each(|i| i.addresses(&mut reached));
    }
    for address in reached {
        test.memory.entry(address).or_insert(Value::ZERO);
    }
}
