//! All paths of all threads of a test, prepared.

use super::c;
use super::event::{Held, Operand};
use super::limits::Limit;
use super::machine::{self, Machine, Reservation};
use super::prepared::{PairAllowed, Prepared};
use litmus::value::Address;
use litmus::{aarch64, ppc, riscv, x86, Dialect, Program, Test};

pub struct Threads {
    pub paths: Vec<Vec<Prepared>>,
    /// The shared locations whose last writes decide.
    pub observed: Vec<Address>,
    /// The tags of initial writes.
    pub initial_tags: u64,
    /// Sets that models for the architecture name and that tests of it leave empty.
    pub empty: &'static [&'static str],
    /// The names of the tags' bits.
    pub tags: &'static [&'static str],
}

/// In C and x86 the two halves of an atomic pair belong to one instruction.
const SAME_INSTANCE: PairAllowed = |same| same;
/// With exclusives they belong to different ones.
const ANY_INSTANCE: PairAllowed = |_| true;

/// `register_events`: the model sees the events of registers.
pub fn prepare(test: &Test, register_events: bool) -> Result<Threads, Limit> {
    let mut paths = Vec::new();
    match &test.program {
        Program::C(threads) => {
            for (number, thread) in threads.iter().enumerate() {
                let initial = registers(test, number, &thread.names);
                let found = c::paths(thread, initial)?;
                paths.push(
                    found
                        .into_iter()
                        .map(|p| Prepared::new(p, SAME_INSTANCE, register_events))
                        .collect(),
                );
            }
        }
        Program::Assembly(threads) => {
            let (machine, allowed) = machine(test.dialect);
            for (number, code) in threads.iter().enumerate() {
                let initial = registers(test, number, &code.registers);
                let found = machine::paths(code, machine, initial)?;
                paths.push(
                    found
                        .into_iter()
                        .map(|p| Prepared::new(p, allowed, register_events))
                        .collect(),
                );
            }
        }
    }
    let (initial_tags, tags): (u64, &'static [&'static str]) = match test.dialect {
        Dialect::C => (c::PLAIN, &c::TAGS),
        Dialect::X86 | Dialect::X86_64 => (0, &x86::TAGS),
        Dialect::AArch64 => (0, &aarch64::TAGS),
        Dialect::Ppc => (0, &ppc::TAGS),
        Dialect::RiscV => (riscv::RLX, &riscv::TAGS),
    };
    Ok(Threads {
        paths,
        observed: test.observed_locations(),
        initial_tags,
        tags,
        empty: match test.dialect {
            Dialect::AArch64 => &aarch64::EMPTY,
            _ => &[],
        },
    })
}

fn machine(dialect: Dialect) -> (Machine, PairAllowed) {
    let (branch_events, reservation, allowed): (bool, Reservation, PairAllowed) = match dialect {
        Dialect::C | Dialect::X86 | Dialect::X86_64 => (false, Reservation::None, SAME_INSTANCE),
        Dialect::AArch64 => (true, Reservation::AArch64, ANY_INSTANCE),
        Dialect::Ppc => (true, Reservation::Power, ANY_INSTANCE),
        Dialect::RiscV => (true, Reservation::RiscV, ANY_INSTANCE),
    };
    let machine = Machine {
        branch_events,
        reservation,
    };
    (machine, allowed)
}

fn registers(test: &Test, thread: usize, names: &[String]) -> Vec<Held> {
    let first = (thread, String::new());
    let given = test.registers.range(first..);
    let given = given.take_while(|((of, _), _)| *of == thread);
    let initial = names.iter().map(|name| {
        let value = given.clone().find(|((_, known), _)| known == name);
        Held::initial(value.map_or(Operand::ZERO, |(_, v)| Operand::Known(*v)))
    });
    initial.collect()
}
