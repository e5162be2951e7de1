//! Branches and loops: control dependencies, loops that wait, loops that are bounded.
use super::environment::Environment;
use super::outcome::{Change, Limits, RunEnd};
use crate::interpreter::thread::{Round, State, Thread};
use crate::ir::instruction::{Edge, Operand, Register};
use crate::ir::program::Program;
use crate::memory::hash::scatter;
use crate::memory::value::{Dep, Val};

/// Records a branch that depends on `dep`, in the loops that it may leave.
pub fn decide<W: Environment>(thread: &mut Thread, environment: &mut W, dep: Dep, exits: &[u32]) {
    if dep != 0 {
        thread.ctrl = environment.union(thread.ctrl, dep);
    }
    if let Some(frame) = thread.frames.last() {
        for exit in exits {
            if let Some(round) = &mut thread.rounds[frame.rounds + *exit as usize] {
                round.counted |= dep == 0;
                round.decided |= environment.precedes(dep, round.entered);
            }
        }
    }
}

/// Takes an edge. At a loop's header, three kinds of loop are distinguished. A loop that returns to
/// its header in the same state, without progress, waits for another thread. A loop whose end does
/// not depend on values that it reads from shared memory itself ends by itself. Any other loop is
/// bounded.
///
/// A loop may be left unbounded whatever it does: the limits of events and of instructions hold
/// inside it, so that one that does not end leaves the answer Unknown, and one that ends is explored
/// to its end. What makes a bound useful is that each round of a loop can read other values than the
/// last, so that executions with ever more rounds exist. A branch that leaves the loop on reads from
/// before its entry, and on constants, is taken in the same round in each execution with these
/// reads, unless the rounds choose. So is one on plain memory that the loop reads itself, as long as
/// it does not synchronise with other threads: another value would be a race, which is an error. As
/// soon as a round has no such branch, the earlier ones count too: a loop that starts with a read
/// from before its entry and continues with reads of its own has the bound of any other.
pub fn take<W: Environment>(
    program: &Program,
    limits: &Limits,
    thread: &mut Thread,
    environment: &W,
    edge: &Edge,
) -> Result<(), RunEnd> {
    let (epoch, reads, choices) = (thread.epoch, thread.reads.len(), thread.choices);
    let now = environment.now(thread);
    match &edge.moves[..] {
        [] => {}
        [(dst, operand)] => thread.set(*dst, thread.get(*operand)),
        moves => {
            let values: Vec<Val> = moves.iter().map(|m| thread.get(m.1)).collect();
            for ((dst, _), value) in moves.iter().zip(values) {
                thread.set(*dst, value);
            }
        }
    }
    let Some(frame) = thread.frames.last_mut() else {
        return Ok(());
    };
    frame.pc = edge.pc;
    let Some(header) = edge.header else {
        return Ok(());
    };
    thread.header = Some(header);
    let info = &program.functions[frame.function as usize].loops[header as usize];
    let registers = &thread.registers[frame.registers..];
    let private = match info.idle {
        true => thread.private ^ thread.idle,
        false => thread.private,
    };
    let live = info.live.iter().fold(0, |hash, register| {
        scatter(hash ^ registers[*register as usize].bits)
    });
    let round = match &mut thread.rounds[frame.rounds + header as usize] {
        Some(round) if edge.back => round,
        register => {
            *register = Some(Round {
                epoch,
                private,
                live,
                reads,
                count: 0,
                counted: false,
                decided: false,
                entered: now,
                waived: 0,
                choices,
            });
            return Ok(());
        }
    };
    let other_registers = round.live != live;
    // a value that is not known yet may change, unless the iteration leaves its register alone
    let is_unknown = |(dst, operand): &(Register, Operand)| {
        info.live.contains(dst)
            && *operand != Operand::Register(*dst)
            && environment.require(registers[*dst as usize].dep).is_err()
    };
    let same = round.epoch == epoch
        && round.private == private
        && round.live == live
        && !edge.moves.iter().any(is_unknown);
    let from = round.reads;
    let counted = std::mem::replace(&mut round.counted, false);
    let decided = std::mem::replace(&mut round.decided, false);
    // another choice may be made each time
    let chosen = std::mem::replace(&mut round.choices, choices) != choices;
    round.epoch = epoch;
    round.private = private;
    round.live = live;
    round.reads = reads;
    if same {
        let site = info.site;
        thread.state = State::Spinning { site, from };
        return Ok(());
    }
    if !chosen && !counted && decided {
        round.waived += 1;
    } else if chosen || (!counted && !info.idle) {
        round.count += 1 + std::mem::take(&mut round.waived);
        if round.count > limits.loops {
            let message = format!("a loop iterates more than {} times", limits.loops);
            let mut end = RunEnd::at_limit("loops", message, Some(info.site));
            end.change = match other_registers {
                true => Change::Register,
                false => thread.changed.map_or(Change::None, Change::Access),
            };
            return Err(end);
        }
    }
    Ok(())
}
