//! Exclusives and atomic instructions.

use super::builder::Builder;
use super::event::{Act, Id, Operand};
use super::instructions::{place, source, write, Next, Steps};
use super::machine::{read_memory, write_memory, Machine, Read, Reservation};
use litmus::isa::{Instr, Place, Reg, Src, Status};
use litmus::value::Op;

pub fn load_reserve(b: &mut Builder, to: Option<Reg>, at: &Place, tags: u64, reserved: usize) {
    let at = place(b, at);
    write(b, Some(reserved), at.value, &at.from);
    let (value, id) = read_memory(b, &at, tags, true);
    write(b, to, value, &[id]);
}

/// What a store-conditional has read.
struct Conditional {
    /// The address that is reserved.
    guard: Read,
    data: Read,
    at: Read,
}

/// Fails or succeeds; it succeeds only on the address that is reserved.
pub fn store_conditional(
    mut b: Builder,
    status: Status,
    from: Src,
    at: &Place,
    tags: u64,
    machine: Machine,
    reserved: usize,
) -> Steps {
    let power = machine.reservation == Reservation::Power;
    let c = Conditional {
        guard: source(&mut b, Src::Reg(reserved), power),
        data: source(&mut b, from, true),
        at: place(&mut b, at),
    };
    let mut steps = Vec::new();
    for success in [false, true] {
        let mut b = b.clone();
        let mut stored = None;
        if success {
            if !b.require(c.at.value, c.guard.value) {
                continue;
            }
            let id = write_memory(&mut b, &c.at, c.data.value, tags, true);
            b.data(&c.data.from, id);
            match power {
                true => b.data(&c.guard.from, id),
                false => {
                    b.ctrl(&c.guard.from, id);
                    b.ctrl(&c.at.from, id);
                }
            }
            stored = Some(id);
        }
        let released = b.write_register(reserved, Operand::ZERO);
        match power {
            true => b.data(&c.guard.from, released),
            false => b.ctrl(&c.guard.from, released),
        }
        say(&mut b, status, stored, &c, machine);
        steps.push((b, Next::Fall));
    }
    steps
}

/// Writes whether the store-conditional stored.
fn say(b: &mut Builder, status: Status, stored: Option<Id>, c: &Conditional, machine: Machine) {
    match status {
        Status::Reg(None) => {}
        Status::Reg(Some(r)) => {
            let id = b.write_register(r, Operand::int(i64::from(stored.is_none())));
            if let (Reservation::RiscV, Some(w)) = (machine.reservation, stored) {
                b.data(&c.at.from, id);
                b.ctrl(&[w], id);
            }
        }
        Status::Flags(r) => {
            // equal when stored; else no bit is set, which no condition but "not equal" sees
            let value = if stored.is_some() { 0 } else { 2 };
            let id = b.write_register(r, Operand::int(value));
            for read in [&c.at, &c.data, &c.guard] {
                b.data(&read.from, id);
            }
        }
    }
}

/// AArch64's atomic instructions: a read and a write of one instruction.
pub fn atomic_pair(mut b: Builder, instr: &Instr) -> Steps {
    match instr {
        Instr::AmoPair {
            op,
            to,
            from,
            at,
            read,
            write: tags,
        } => {
            let at = place(&mut b, at);
            let with = source(&mut b, *from, true);
            let (old, r) = read_memory(&mut b, &at, *read, true);
            let new = match op {
                Some(op) => b.compute(*op, old, with.value),
                None => with.value,
            };
            let w = write_memory(&mut b, &at, new, *tags, true);
            b.data(&with.from, w);
            match op {
                Some(_) => b.data(&[r], w),
                None => b.order(r, w),
            }
            write(&mut b, *to, old, &[r]);
            vec![(b, Next::Fall)]
        }
        Instr::CompareAndSwap {
            expected,
            new,
            at,
            read,
            write,
        } => {
            let at = place(&mut b, at);
            let wanted = source(&mut b, Src::Reg(*expected), true);
            let swap = Swap {
                expected: *expected,
                new: *new,
                at,
                wanted,
                tags: (*read, *write),
            };
            let all = [
                Outcome::Failed { decided: false },
                Outcome::Failed { decided: true },
                Outcome::WroteBack,
                Outcome::Stored { decided: false },
                Outcome::Stored { decided: true },
            ];
            all.into_iter()
                .filter_map(|outcome| Some((swap.run(b.clone(), outcome)?, Next::Fall)))
                .collect()
        }
        _ => vec![(b, Next::Fall)],
    }
}

/// The ways that the architecture leaves to a compare-and-swap. `decided`: the register gets
/// its value because of the comparison, so that later instructions depend on it by control.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Failed {
        decided: bool,
    },
    /// It fails and writes the value that it read.
    WroteBack,
    Stored {
        decided: bool,
    },
}

struct Swap {
    expected: Reg,
    new: Src,
    at: Read,
    wanted: Read,
    tags: (u64, u64),
}

impl Swap {
    fn run(&self, mut b: Builder, outcome: Outcome) -> Option<Builder> {
        let stored = matches!(outcome, Outcome::Stored { .. });
        let writes = stored || outcome == Outcome::WroteBack;
        let new = stored.then(|| source(&mut b, self.new, true));
        let (read, write) = self.tags;
        let (old, r) = read_memory(&mut b, &self.at, read, writes);
        let same = b.compute(Op::Eq, old, self.wanted.value);
        if !b.require(same, Operand::int(i64::from(stored))) {
            return None;
        }
        let decision = b.event(Act::Decision, 0, false);
        b.data(&self.wanted.from, decision);
        b.data(&[r], decision);
        if writes {
            let value = new.as_ref().map_or(old, |n| n.value);
            let w = write_memory(&mut b, &self.at, value, write, true);
            b.ctrl(&[decision], w);
            if let Some(new) = &new {
                b.data(&new.from, w);
            }
        }
        let id = b.write_register(self.expected, old);
        match outcome {
            Outcome::Stored { decided: true } => {
                b.data(&self.wanted.from, id);
                b.ctrl(&[decision], id);
            }
            Outcome::Failed { decided: true } => {
                b.data(&[r], id);
                b.ctrl(&[decision], id);
            }
            _ => b.data(&[r], id),
        }
        Some(b)
    }
}
