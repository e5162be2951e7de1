//! The paths of a thread of assembly. As in herd7, a backward jump is taken at most twice.

use std::collections::BTreeMap;

use super::builder::PathBuilder;
use super::instructions::{step, Successor};
use super::path::{Path, RegisterState};
use crate::limits::{Limit, EVENTS, PATHS};
use crate::term::Term;
use litmus::assembly::instruction::AssemblyThread;
use litmus::Dialect;

const MAX_BACKWARD_JUMPS: u32 = 2;

/// A path that has not ended.
struct Pending {
    builder: PathBuilder,
    /// The next instruction.
    at: usize,
    /// By instruction, the number of backward jumps to it.
    jumps: BTreeMap<usize, u32>,
}

/// All paths of the thread. `registers` holds the initial values of its registers; memory accesses
/// are split into pieces of `piece_bits`, if there are any.
pub fn paths(
    thread: &AssemblyThread,
    dialect: &Dialect,
    mut registers: Vec<RegisterState>,
    piece_bits: Option<i64>,
) -> Result<Vec<Path>, Limit> {
    // a pseudo register after the others holds the address that is reserved
    let reserved = registers.len();
    registers.push(RegisterState::initial(Term::ZERO));
    let mut done = Vec::new();
    let mut pending = vec![Pending {
        builder: PathBuilder::new(registers).in_pieces(piece_bits),
        at: thread.own.start,
        jumps: BTreeMap::new(),
    }];
    while let Some(mut state) = pending.pop() {
        let Some(instruction) = thread.instructions.get(state.at) else {
            done.push(state.builder.path);
            continue;
        };
        let size = thread.access_bits.get(state.at).copied().flatten();
        state.builder.next_instance(size);
        for (builder, next) in step(state.builder, instruction, dialect, reserved) {
            let mut jumps = state.jumps.clone();
            let target = match next {
                Successor::Next => Some(state.at + 1),
                Successor::End => Some(thread.instructions.len()),
                Successor::Label { name, counted } => {
                    let to = thread.label(&name).unwrap_or(thread.instructions.len());
                    let count = jumps.entry(to).or_insert(0);
                    // as in herd7: within the thread's own code
                    if counted && to <= state.at && thread.own.contains(&to) {
                        *count += 1;
                    }
                    (*count <= MAX_BACKWARD_JUMPS).then_some(to)
                }
            };
            match target {
                Some(at) => pending.push(Pending { builder, at, jumps }),
                None => {
                    let mut path = builder.path;
                    path.loop_bound_reached = true;
                    done.push(path);
                }
            }
        }
        let longest = pending
            .last()
            .map_or(0, |path| path.builder.path.events.len());
        if longest > EVENTS {
            return Err(Limit::Events);
        }
        if done.len() + pending.len() > PATHS {
            return Err(Limit::Paths);
        }
    }
    Ok(done)
}
