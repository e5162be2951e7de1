//! Branches and loops: control dependencies, loops that wait, loops that are bounded.
use super::environment::Environment;
use super::outcome::{Change, Limits, RunEnd};
use crate::interpreter::thread::{OpenBranch, Round, State, Thread};
use crate::ir::instruction::{Edge, Join, Operand, Register};
use crate::ir::program::Program;
use crate::memory::hash::scatter;
use crate::memory::value::{Dep, Val};

/// Records a branch that depends on `dep`, in the loops that it may leave.
pub fn decide<W: Environment>(
    thread: &mut Thread,
    environment: &mut W,
    dep: Dep,
    (exits, join): (&[u32], Join),
) {
    if dep != 0 {
        if environment.branches_end() {
            open(thread, environment, dep, (exits, join));
        }
        if !environment.branches_end() || join != Join::Asserts {
            thread.ctrl = environment.union(thread.ctrl, dep);
        }
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

/// Opens a branch until its alternatives meet again. What follows a loop is executed only if the loop
/// ends: a branch that may leave one is never closed.
fn open<W: Environment>(
    thread: &mut Thread,
    environment: &mut W,
    dep: Dep,
    (exits, join): (&[u32], Join),
) {
    if !exits.is_empty() {
        for branch in &mut thread.branches {
            branch.ctrl = environment.union(branch.ctrl, dep);
        }
    } else if join != Join::Asserts {
        thread.branches.push(OpenBranch {
            frames: thread.frames.len(),
            join: match join {
                Join::At(pc) => Some(pc),
                _ => None,
            },
            ctrl: thread.ctrl,
        });
    }
}

/// Closes the branches of the last frame that meet at this code, or all. Returns what those depended
/// on; 0 if there are none.
pub fn close(thread: &mut Thread, join: Option<u32>) -> Dep {
    let frames = thread.frames.len();
    let mut closed = 0;
    while let Some(branch) = thread.branches.last() {
        if branch.frames != frames || join.is_some() && branch.join != join {
            break;
        }
        if closed == 0 {
            closed = thread.ctrl;
        }
        thread.ctrl = branch.ctrl;
        thread.branches.pop();
    }
    closed
}

/// What an iteration makes of the registers that are live at the header of its loop, without its
/// counter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Carried {
    Known,
    /// One has another value than before the iteration.
    Different,
    /// One has the same value, which depends on other reads.
    Reread,
    /// One has, or had, a value that is not known yet, and none is known to be different.
    Unknown,
}

impl Carried {
    /// Before the edge is taken: the registers still have the values of the last iteration.
    fn over<W: Environment>(
        program: &Program,
        thread: &Thread,
        environment: &W,
        edge: &Edge,
    ) -> Carried {
        let (Some(header), Some(frame)) = (edge.header, thread.frames.last()) else {
            return Carried::Known;
        };
        if !edge.back {
            return Carried::Known;
        }
        let info = &program.functions[frame.function as usize].loops[header as usize];
        let is_known = |value: Val| environment.require(value.dep).is_ok();
        let mut carried = Carried::Known;
        for (dst, operand) in &edge.moves {
            let counts = info.counter.as_ref().is_some_and(|c| c.register == *dst);
            if counts || !info.live.contains(dst) || *operand == Operand::Register(*dst) {
                continue;
            }
            let before = thread.get(Operand::Register(*dst));
            let after = thread.get(*operand);
            if !is_known(before) || !is_known(after) {
                carried = Carried::Unknown;
            } else if before.bits != after.bits {
                return Carried::Different;
            } else if carried == Carried::Known && !environment.covers(before.dep, after.dep) {
                carried = Carried::Reread;
            }
        }
        carried
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
/// it does not synchronise with other threads: another value would be a race, which is an error. Neither
/// holds of a round that changes nothing on which the loop's branches depend: after it, what is read
/// decides when the loop is left, even if the branch that leaves it is on a number of successes. As
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
    let (doubts, failures) = (thread.doubts, thread.failures);
    let now = environment.now(thread);
    let carried = Carried::over(program, thread, environment, edge);
    let closed = close(thread, Some(edge.pc));
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
    if closed != 0 {
        for (dst, _) in &edge.moves {
            let value = thread.get(Operand::Register(*dst));
            let dep = environment.left_behind(value.dep, closed);
            thread.set(*dst, Val { dep, ..value });
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
    let private = info.memory(thread.private, thread.idle);
    let counts = info.counter.as_ref().map(|counter| counter.register);
    let counter = counts.map_or(0, |register| registers[register as usize].bits);
    let hash = |of: &[Register]| {
        let of = of.iter().filter(|register| Some(**register) != counts);
        of.fold(0, |hash, register| {
            scatter(hash ^ registers[*register as usize].bits)
        })
    };
    let (live, deciding) = (hash(&info.live), hash(&info.deciding));
    let at = frame.rounds + header as usize;
    let round = match &mut thread.rounds[at] {
        Some(round) if edge.back => round,
        register => {
            *register = Some(Round {
                epoch,
                doubts,
                private,
                live,
                counter,
                deciding,
                reads,
                events: now,
                count: 0,
                counted: false,
                decided: false,
                entered: now,
                waived: 0,
                choices,
                failures,
            });
            return Ok(());
        }
    };
    let counted_up = round.counter != counter;
    let other_registers = round.live != live || counted_up;
    let returns = round.epoch == epoch
        && round.private == private
        && round.live == live
        && !matches!(carried, Carried::Unknown | Carried::Reread);
    let same = returns && !counted_up;
    let looked = reads == round.reads + 1;
    let doubted = doubts - round.doubts;
    thread.undecided |= environment.has_unknown()
        && !same
        && !matches!(carried, Carried::Different | Carried::Reread)
        && !counted_up
        && epoch - round.epoch == doubted
        && (round.private == private || doubted > 0);
    let (from, since) = (round.reads, round.events);
    // without it, what is read decides whether the next round differs from this one
    let moved = round.deciding != deciding || round.private != private || counted_up;
    let counted = std::mem::replace(&mut round.counted, false) && moved;
    let decided = std::mem::replace(&mut round.decided, false) && moved;
    let failed = std::mem::replace(&mut round.failures, failures) != failures;
    // another choice may be made each time
    let chosen = std::mem::replace(&mut round.choices, choices) != choices || failed;
    round.epoch = epoch;
    round.doubts = doubts;
    round.private = private;
    round.live = live;
    round.deciding = deciding;
    round.reads = reads;
    round.events = now;
    round.counter = counter;
    if same {
        let site = info.site;
        thread.state = State::Spinning { site, from, failed };
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
                false if carried == Carried::Reread => Change::Reads,
                false => thread.changed.map_or(Change::None, Change::Access),
            };
            return Err(end);
        }
    }
    if let Some(known) = &info.counter {
        if returns && looked && !chosen && environment.looks_once(thread, since) {
            let last = known.after_rounds(counter, |bound| thread.get(bound).bits);
            let now = thread.get(Operand::Register(known.register));
            thread.set(known.register, Val { bits: last, ..now });
            if let Some(round) = &mut thread.rounds[at] {
                round.counter = last;
            }
        }
    }
    Ok(())
}
