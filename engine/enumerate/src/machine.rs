//! The paths of a thread of assembly: instructions as events with their causality, as herd7
//! gives them, and jumps back taken at most twice.

use std::collections::BTreeMap;

use super::builder::Builder;
use super::event::{Act, Held, Id, Operand, Path};
use super::instructions::{step, Next};
use super::limits::{Limit, PATHS};
use litmus::isa::Code;

const UNROLL: u32 = 2;

/// What differs between architectures beside the instructions themselves.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    /// Branches leave an event that later ones depend on.
    pub branch_events: bool,
    pub reservation: Reservation,
}

/// How store-conditionals find out and say whether they store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reservation {
    None,
    Power,
    RiscV,
    AArch64,
}

struct State {
    builder: Builder,
    at: usize,
    /// How often each instruction was jumped back to.
    seen: BTreeMap<usize, u32>,
}

/// All paths of the thread. `registers` holds the initial values of the named registers.
pub fn paths(code: &Code, machine: Machine, mut registers: Vec<Held>) -> Result<Vec<Path>, Limit> {
    // the address that is reserved, after the named registers
    let reserved = registers.len();
    registers.push(Held::initial(Operand::ZERO));
    let mut done = Vec::new();
    let mut pending = vec![State {
        builder: Builder::new(registers),
        at: 0,
        seen: BTreeMap::new(),
    }];
    while let Some(mut state) = pending.pop() {
        let Some(instr) = code.instructions.get(state.at) else {
            done.push(state.builder.path);
            continue;
        };
        let size = code.sizes.get(state.at).copied().flatten();
        state.builder.next_instance(size);
        for (builder, next) in step(state.builder, instr, machine, reserved) {
            let mut seen = state.seen.clone();
            let target = match next {
                Next::Fall => Some(state.at + 1),
                Next::End => Some(code.instructions.len()),
                Next::Jump(label, counted) => {
                    let to = code.label(&label).unwrap_or(code.instructions.len());
                    let count = seen.entry(to).or_insert(0);
                    if counted && to <= state.at {
                        *count += 1;
                    }
                    (*count <= UNROLL).then_some(to)
                }
            };
            match target {
                Some(at) => pending.push(State { builder, at, seen }),
                None => {
                    let mut path = builder.path;
                    path.cut = true;
                    done.push(path);
                }
            }
        }
        if done.len() + pending.len() > PATHS {
            return Err(Limit::Paths);
        }
    }
    Ok(done)
}

/// A register's value, with the event that read it.
pub struct Read {
    pub value: Operand,
    pub from: Vec<Id>,
}

impl Read {
    pub fn constant(value: Operand) -> Read {
        Read {
            value,
            from: Vec::new(),
        }
    }
}

/// A read of memory that is half of an atomic pair, when so said.
pub fn read_memory(b: &mut Builder, at: &Read, tags: u64, atomic: bool) -> (Operand, Id) {
    let (value, id) = b.read(at.value, tags, false);
    b.path.events[id].atomic = atomic;
    b.data(&at.from, id);
    (value, id)
}

pub fn write_memory(b: &mut Builder, at: &Read, value: Operand, tags: u64, atomic: bool) -> Id {
    let act = Act::Write {
        at: at.value,
        value,
    };
    let id = b.event(act, tags, false);
    b.path.events[id].atomic = atomic;
    b.data(&at.from, id);
    id
}
