//! Litmus tests: short threads and a question about their final state, as herd7 reads them.

pub mod aarch64;
pub mod c;
pub mod condition;
pub mod error;
pub mod isa;
mod lexer;
mod names;
pub mod ppc;
pub mod riscv;
mod sections;
mod state;
pub mod straight;
mod table;
pub mod value;
pub mod x86;

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::path::Path;

pub use condition::{Condition, Observable, Printer, Prop, Quantifier, State};
pub use error::LitmusError;
use error::ParseError;
use names::Names;
use value::{Address, Value};

/// The language of the threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    C,
    X86,
    X86_64,
    AArch64,
    Ppc,
    RiscV,
}

#[derive(Clone, Debug)]
pub enum Program {
    C(Vec<c::ast::Thread>),
    Assembly(Vec<isa::Code>),
}

/// A litmus test.
#[derive(Clone, Debug)]
pub struct Test {
    pub dialect: Dialect,
    pub name: String,
    /// The names of locations; an `Address` holds an index into them.
    pub names: Vec<String>,
    /// Initial values that are given or that observed and passed locations get.
    pub memory: BTreeMap<Address, Value>,
    /// Initial values of registers.
    pub registers: BTreeMap<(usize, String), Value>,
    pub program: Program,
    /// What is shown beside what the condition mentions.
    pub locations: Vec<Observable>,
    /// Final states that do not satisfy it are not considered.
    pub filter: Option<Prop>,
    pub condition: Condition,
}

impl Test {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Test, LitmusError> {
        let bytes = std::fs::read(path).map_err(|e| LitmusError {
            file: path.display().to_string(),
            line: 1,
            column: 1,
            message: format!("cannot be read: {e}"),
            help: String::new(),
            unsupported: false,
        })?;
        let text = String::from_utf8(bytes);
        let text = text.unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned());
        parse(&text).map_err(|error| error.locate(&path.display().to_string(), &text))
    }

    /// Reads the text of a test; `file` is for messages.
    pub fn parse(file: &str, text: &str) -> Result<Test, LitmusError> {
        parse(text).map_err(|error| error.locate(file, text))
    }

    pub fn threads(&self) -> usize {
        match &self.program {
            Program::C(threads) => threads.len(),
            Program::Assembly(threads) => threads.len(),
        }
    }

    /// What final states tell: the condition's and the listed locations, in herd7's order.
    pub fn displayed(&self) -> Vec<Observable> {
        let mut all = self.locations.clone();
        self.condition.prop.observables(&mut all);
        self.sorted(all)
    }

    /// What decides: the displayed and the filter's.
    pub fn observed(&self) -> Vec<Observable> {
        let mut all = self.displayed();
        if let Some(filter) = &self.filter {
            filter.observables(&mut all);
        }
        self.sorted(all)
    }

    /// The shared locations that decide.
    pub fn observed_locations(&self) -> Vec<Address> {
        let listed = self.locations.iter().filter_map(Observable::address);
        let mut all: Vec<Address> = listed.collect();
        let props = self.filter.iter().chain([&self.condition.prop]);
        props.for_each(|prop| prop.locations(&mut all));
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The number of a thread's register, as its instructions have it.
    pub fn register(&self, thread: usize, name: &str) -> Option<usize> {
        let names = match &self.program {
            Program::C(threads) => &threads.get(thread)?.names,
            Program::Assembly(threads) => &threads.get(thread)?.registers,
        };
        names.iter().position(|known| known == name)
    }

    /// Registers by thread, in the order of the architecture, then locations, by name.
    fn sorted(&self, mut all: Vec<Observable>) -> Vec<Observable> {
        let rank: fn(&str) -> (usize, u32) = match self.dialect {
            Dialect::C => |_| (0, 0),
            Dialect::X86 | Dialect::X86_64 => x86::rank,
            Dialect::AArch64 | Dialect::Ppc | Dialect::RiscV => numbered,
        };
        all.sort_by(|a, b| match (a, b) {
            (
                Observable::Register { thread, name },
                Observable::Register { thread: t, name: n },
            ) => (thread, rank(name), name).cmp(&(t, rank(n), n)),
            (Observable::Register { .. }, _) => Ordering::Less,
            (_, Observable::Register { .. }) => Ordering::Greater,
            (Observable::Memory(a), Observable::Memory(b)) => {
                let key = |a: &Address| (self.names.get(a.name as usize), a.offset);
                key(a).cmp(&key(b))
            }
        });
        all.dedup();
        all
    }

    pub fn printer(&self) -> Printer<'_> {
        Printer { names: &self.names }
    }
}

fn parse(text: &str) -> Result<Test, ParseError> {
    let parts = sections::split(text)?;
    let dialect = match parts.dialect.text {
        "C" => Dialect::C,
        "X86" => Dialect::X86,
        "X86_64" => Dialect::X86_64,
        "AArch64" => Dialect::AArch64,
        "PPC" => Dialect::Ppc,
        "RISCV" => Dialect::RiscV,
        other => {
            return Err(
                ParseError::new(parts.dialect.offset, format!("unknown dialect `{other}`"))
                    .help("the dialects are C, X86, X86_64, AArch64, PPC, RISCV"),
            )
        }
    };
    let mut names = Names::default();
    let register: state::RegisterName = match dialect {
        Dialect::C => |name| Some(name.to_string()),
        Dialect::X86 => x86::register_32,
        Dialect::X86_64 => x86::register_64,
        Dialect::AArch64 => aarch64::register,
        Dialect::Ppc => ppc::register,
        Dialect::RiscV => riscv::register,
    };
    let mut init = state::init(parts.init, &mut names, register)?;
    let program = match dialect {
        Dialect::C => {
            let threads = c::program(parts.program)?;
            for (number, thread) in threads.iter().enumerate() {
                for name in &thread.names[..thread.parameters] {
                    let value = names.value(name);
                    init.registers
                        .entry((number, name.clone()))
                        .or_insert(value);
                }
            }
            Program::C(threads)
        }
        Dialect::X86 => assembly(parts.program, &mut names, x86::instruction_32)?,
        Dialect::X86_64 => assembly(parts.program, &mut names, x86::instruction_64)?,
        Dialect::AArch64 => assembly(parts.program, &mut names, aarch64::instruction)?,
        Dialect::Ppc => assembly(parts.program, &mut names, ppc::instruction)?,
        Dialect::RiscV => assembly(parts.program, &mut names, riscv::instruction)?,
    };
    let end = state::condition(parts.condition, &mut names, register)?;
    let mut test = Test {
        dialect,
        name: parts.name,
        names: names.list,
        memory: init.memory,
        registers: init.registers,
        program,
        locations: end.locations,
        filter: end.filter,
        condition: end.condition,
    };
    complete_memory(&mut test);
    Ok(test)
}

fn assembly(
    part: sections::Part<'_>,
    names: &mut Names,
    instruction: table::Instruction,
) -> Result<Program, ParseError> {
    table::program(part, names, instruction).map(Program::Assembly)
}

/// Registers that end in a number, in its order.
fn numbered(name: &str) -> (usize, u32) {
    let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
    (0, digits.parse().unwrap_or(u32::MAX))
}

/// Every location that the test can reach has an initial value, as herd7 gives it.
fn complete_memory(test: &mut Test) {
    let mut reached: Vec<Address> = test
        .memory
        .values()
        .chain(test.registers.values())
        .filter_map(|v| match v {
            Value::Address(a) => Some(*a),
            _ => None,
        })
        .collect();
    let observed = test.locations.iter().filter_map(Observable::address);
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
