//! The rmw events of assembly: LL/SC pairs, and atomic instructions of AArch64, as in herd7.

use super::builder::PathBuilder;
use super::operands::{address, read_memory, source, write_memory, write_register, OperandValue};
use super::path::{Action, PathEventId};
use crate::term::Term;
use litmus::assembly::instruction::{Instruction, MemoryOperand, Source, Status};
use litmus::value::{Op, RegisterId};
use litmus::{Annotations, Reservation};

pub fn load_reserve(
    b: &mut PathBuilder,
    to: Option<RegisterId>,
    at: &MemoryOperand,
    annotations: Annotations,
    reserved: RegisterId,
) {
    let at = address(b, at);
    write_register(b, Some(reserved), at.value, &at.from);
    let (value, id) = read_memory(b, &at, annotations, true);
    write_register(b, to, value, &[id]);
}

/// The operands of a store-conditional.
struct Operands {
    /// The address that is reserved.
    guard: OperandValue,
    data: OperandValue,
    at: OperandValue,
}

pub struct StoreConditional<'i> {
    pub status: Status,
    pub from: Source,
    pub at: &'i MemoryOperand,
    pub annotations: Annotations,
    /// The pseudo register with the address that is reserved.
    pub reserved: RegisterId,
}

impl StoreConditional<'_> {
    /// One path on which it fails and one on which it succeeds, on the reserved address only.
    pub fn paths(&self, mut b: PathBuilder, reservation: Reservation) -> Vec<PathBuilder> {
        let power = reservation == Reservation::Power;
        let c = Operands {
            guard: source(&mut b, Source::Reg(self.reserved), power),
            data: source(&mut b, self.from, true),
            at: address(&mut b, self.at),
        };
        let mut paths = Vec::new();
        for success in [false, true] {
            let mut b = b.clone();
            let mut stored = None;
            if success {
                if !b.require(c.at.value, c.guard.value) {
                    continue;
                }
                let id = write_memory(&mut b, &c.at, c.data.value, self.annotations, true);
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
            let released = b.write_register(self.reserved, Term::ZERO);
            match power {
                true => b.data(&c.guard.from, released),
                false => b.ctrl(&c.guard.from, released),
            }
            self.write_status(&mut b, stored, &c, reservation);
            paths.push(b);
        }
        paths
    }

    fn write_status(
        &self,
        b: &mut PathBuilder,
        stored: Option<PathEventId>,
        c: &Operands,
        reservation: Reservation,
    ) {
        match self.status {
            Status::Reg(None) => {}
            Status::Reg(Some(r)) => {
                let id = b.write_register(r, Term::int(i64::from(stored.is_none())));
                if let (Reservation::RiscV, Some(w)) = (reservation, stored) {
                    b.data(&c.at.from, id);
                    b.ctrl(&[w], id);
                }
            }
            Status::Flags(r) => {
                // "equal" for success; for failure no flag is set, which only "not equal" tests
                let value = if stored.is_some() { 0 } else { 2 };
                let id = b.write_register(r, Term::int(value));
                for read in [&c.at, &c.data, &c.guard] {
                    b.data(&read.from, id);
                }
            }
        }
    }
}

/// An atomic instruction of AArch64: a read and a write in one instruction.
pub fn atomic_pair(mut b: PathBuilder, instruction: &Instruction) -> Vec<PathBuilder> {
    match instruction {
        Instruction::AmoPair {
            op,
            to,
            from,
            at,
            read,
            write: annotations,
        } => {
            let at = address(&mut b, at);
            let with = source(&mut b, *from, true);
            let (old, r) = read_memory(&mut b, &at, *read, true);
            let new = match op {
                Some(op) => b.compute(*op, old, with.value),
                None => with.value,
            };
            let w = write_memory(&mut b, &at, new, *annotations, true);
            b.data(&with.from, w);
            match op {
                Some(_) => b.data(&[r], w),
                None => b.order(r, w),
            }
            write_register(&mut b, *to, old, &[r]);
            vec![b]
        }
        Instruction::CompareAndSwap {
            expected,
            new,
            at,
            read,
            write,
        } => {
            let at = address(&mut b, at);
            let wanted = source(&mut b, Source::Reg(*expected), true);
            let swap = Swap {
                expected: *expected,
                new: *new,
                at,
                wanted,
                annotations: (*read, *write),
            };
            let all = [
                Outcome::Failed { decided: false },
                Outcome::Failed { decided: true },
                Outcome::WroteBack,
                Outcome::Stored { decided: false },
                Outcome::Stored { decided: true },
            ];
            all.into_iter()
                .filter_map(|outcome| swap.run(b.clone(), outcome))
                .collect()
        }
        _ => vec![b],
    }
}

/// The executions that the architecture allows for a compare-and-swap. With `decided` the register
/// is written because of the comparison, so that later instructions depend on it by control.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Failed {
        decided: bool,
    },
    /// It fails and writes back the value that it read.
    WroteBack,
    Stored {
        decided: bool,
    },
}

struct Swap {
    expected: RegisterId,
    new: Source,
    at: OperandValue,
    wanted: OperandValue,
    annotations: (Annotations, Annotations),
}

impl Swap {
    fn run(&self, mut b: PathBuilder, outcome: Outcome) -> Option<PathBuilder> {
        let stored = matches!(outcome, Outcome::Stored { .. });
        let writes = stored || outcome == Outcome::WroteBack;
        let new = stored.then(|| source(&mut b, self.new, true));
        let (read, write) = self.annotations;
        let (old, r) = read_memory(&mut b, &self.at, read, writes);
        let same = b.compute(Op::Eq, old, self.wanted.value);
        if !b.require(same, Term::int(i64::from(stored))) {
            return None;
        }
        let decision = b.event(Action::Decision, 0, false);
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
