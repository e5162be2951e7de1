//! The rmw events of assembly: LL/SC pairs, and atomic instructions of AArch64, as in herd7.

use super::builder::PathBuilder;
use super::operands::{
    address, elements, operated, read_memory, source, write_memory, write_register, OperandValue,
};
use super::path::{Action, PathEventId};
use crate::term::Term;
use litmus::assembly::instruction::{Instruction, MemoryOperand, Source, Status};
use litmus::value::{Op, RegisterId};
use litmus::{Annotations, Reservation};

/// In a field of Power's condition register.
const EQUAL: i64 = 2;

/// Those of a pair are one access.
pub fn load_reserve(
    b: &mut PathBuilder,
    to: &[Option<RegisterId>],
    at: &MemoryOperand,
    annotations: Annotations,
    reserved: RegisterId,
    signed: bool,
) {
    let at = elements(b, at, to.len());
    write_register(b, Some(reserved), at[0].value, &at[0].from);
    let mut ids = Vec::new();
    for (to, at) in to.iter().zip(&at) {
        let (value, id) = read_memory(b, at, annotations, true);
        let value = b.accessed(value, signed);
        write_register(b, *to, value, &id);
        ids.extend(id);
    }
    if to.len() > 1 {
        b.one_access(&ids);
    }
    b.reserved_bits = b.split_bits();
}

/// The operands of a store-conditional.
struct Operands {
    /// The address that is reserved.
    guard: OperandValue,
    data: Vec<OperandValue>,
    at: Vec<OperandValue>,
}

pub struct StoreConditional<'i> {
    pub status: Status,
    pub from: &'i [Source],
    pub at: &'i MemoryOperand,
    pub annotations: Annotations,
    /// The pseudo register with the address that is reserved.
    pub reserved: RegisterId,
}

impl StoreConditional<'_> {
    /// One path on which it fails and one on which it succeeds, on the reserved address only.
    pub fn paths(&self, mut b: PathBuilder, reservation: Reservation) -> Vec<PathBuilder> {
        let power = reservation == Reservation::Power;
        let guard = source(&mut b, Source::Reg(self.reserved), power);
        let data = self.from.iter().map(|from| source(&mut b, *from, true));
        let c = Operands {
            guard,
            data: data.collect(),
            at: elements(&mut b, self.at, self.from.len()),
        };
        let mut paths = Vec::new();
        for success in [false, true] {
            let mut b = b.clone();
            let mut stored = Vec::new();
            if success {
                // as in herd7, it fails after a load of another size
                let same_size = b.split_bits() == b.reserved_bits;
                if !same_size || !b.require(c.at[0].value, c.guard.value) {
                    continue;
                }
                for (data, at) in c.data.iter().zip(&c.at) {
                    let value = b.accessed(data.value, false);
                    let id = write_memory(&mut b, at, value, self.annotations, true);
                    b.data_to_all(&data.from, &id);
                    match power {
                        true => b.data_to_all(&c.guard.from, &id),
                        false => {
                            b.ctrl_to_all(&c.guard.from, &id);
                            b.ctrl_to_all(&at.from, &id);
                        }
                    }
                    stored.extend(id);
                }
                if c.at.len() > 1 {
                    b.one_access(&stored);
                }
            }
            let released = b.write_register(self.reserved, Term::ZERO);
            match power {
                true => b.data(&c.guard.from, released),
                false => b.ctrl(&c.guard.from, released),
            }
            self.write_status(&mut b, &stored, &c, reservation);
            paths.push(b);
        }
        paths
    }

    fn write_status(
        &self,
        b: &mut PathBuilder,
        stored: &[PathEventId],
        c: &Operands,
        reservation: Reservation,
    ) {
        match self.status {
            Status::Reg(None) => {}
            Status::Reg(Some(r)) => {
                let id = b.write_register(r, Term::int(i64::from(stored.is_empty())));
                if reservation == Reservation::RiscV && !stored.is_empty() {
                    b.data(&c.at[0].from, id);
                    b.ctrl(stored, id);
                }
            }
            Status::Flags(r) => {
                let value = if stored.is_empty() { 0 } else { EQUAL };
                let id = b.write_register(r, Term::int(value));
                for read in [&c.at[0], &c.data[0], &c.guard] {
                    b.data(&read.from, id);
                }
            }
        }
    }
}

/// RISC-V's AMOCAS, of Zacas: it stores, or fails and writes back what it read or nothing; the
/// write of one that fails is no release.
pub fn amo_compare(b: PathBuilder, i: &AmoCompare<'_>) -> Vec<PathBuilder> {
    let mut paths = Vec::new();
    for (stores, writes) in [(true, true), (false, true), (false, false)] {
        let mut b = b.clone();
        let at = address(&mut b, i.at);
        let wanted = source(&mut b, i.expected, true);
        let new = source(&mut b, i.from, true);
        let old = b.fresh();
        let mut action = Action::Read {
            at: at.value,
            value: old,
        };
        if writes {
            let from = if stores { new.value } else { old };
            action = Action::Update {
                at: at.value,
                read: old,
                written: b.accessed(from, false),
            };
        }
        let held = b.accessed(old, true);
        let compared = b.accessed(wanted.value, true);
        let same = b.compute(Op::Eq, held, compared);
        if !b.require(same, Term::int(i64::from(stores))) {
            continue;
        }
        let annotations = if stores { i.stored } else { i.failed };
        let id = b.event(action, annotations, false);
        for read in [&at, &wanted, &new] {
            b.data(&read.from, id);
        }
        write_register(&mut b, i.to, held, &[id]);
        paths.push(b);
    }
    paths
}

pub struct AmoCompare<'i> {
    pub expected: Source,
    pub to: Option<RegisterId>,
    pub from: Source,
    pub at: &'i MemoryOperand,
    pub stored: Annotations,
    pub failed: Annotations,
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
            let new = operated(&mut b, *op, old, with.value);
            let w = write_memory(&mut b, &at, new, *annotations, true);
            b.data_to_all(&with.from, &w);
            match op {
                Some(_) => b.data_to_all(&r, &w),
                None => b.order_all(&r, &w),
            }
            let old = b.accessed(old, false);
            write_register(&mut b, *to, old, &r);
            vec![b]
        }
        Instruction::CompareAndSwap {
            expected,
            new,
            at,
            read,
            write,
        } => {
            let at = elements(&mut b, at, expected.len());
            let wanted = expected
                .iter()
                .map(|register| source(&mut b, Source::Reg(*register), true))
                .collect();
            let swap = Swap {
                expected,
                new,
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

/// Of a pair, the reads are one access, and so are the writes.
struct Swap<'i> {
    expected: &'i [RegisterId],
    new: &'i [Source],
    at: Vec<OperandValue>,
    wanted: Vec<OperandValue>,
    annotations: (Annotations, Annotations),
}

impl Swap<'_> {
    fn run(&self, mut b: PathBuilder, outcome: Outcome) -> Option<PathBuilder> {
        let stored = matches!(outcome, Outcome::Stored { .. });
        let writes = stored || outcome == Outcome::WroteBack;
        let new = self.new.iter().filter(|_| stored);
        let new: Vec<_> = new.map(|from| source(&mut b, *from, true)).collect();
        let (read, write) = self.annotations;
        let (mut old, mut reads) = (Vec::new(), Vec::new());
        let mut same = Term::int(1);
        for (at, wanted) in self.at.iter().zip(&self.wanted) {
            let (value, r) = read_memory(&mut b, at, read, writes);
            let value = b.accessed(value, false);
            let wanted = b.accessed(wanted.value, false);
            let equal = b.compute(Op::Eq, value, wanted);
            same = match reads.is_empty() {
                true => equal,
                false => b.compute(Op::And, same, equal),
            };
            old.push(value);
            reads.extend(r);
        }
        if !b.require(same, Term::int(i64::from(stored))) {
            return None;
        }
        let decision = b.event(Action::Decision, 0, false);
        for wanted in &self.wanted {
            b.data(&wanted.from, decision);
        }
        b.data(&reads, decision);
        if writes {
            let mut written = Vec::new();
            for (number, at) in self.at.iter().enumerate() {
                let value = new.get(number).map_or(old[number], |n| n.value);
                let value = b.accessed(value, false);
                let w = write_memory(&mut b, at, value, write, true);
                b.ctrl_to_all(&[decision], &w);
                for new in &new {
                    b.data_to_all(&new.from, &w);
                }
                written.extend(w);
            }
            if self.at.len() > 1 {
                b.one_access(&written);
            }
        }
        if self.at.len() > 1 {
            b.one_access(&reads);
        }
        for (register, value) in self.expected.iter().zip(&old) {
            let id = b.write_register(*register, *value);
            match outcome {
                Outcome::Stored { decided: true } => {
                    for wanted in &self.wanted {
                        b.data(&wanted.from, id);
                    }
                    b.ctrl(&[decision], id);
                }
                Outcome::Failed { decided: true } => {
                    b.data(&reads, id);
                    b.ctrl(&[decision], id);
                }
                _ => b.data(&reads, id),
            }
        }
        Some(b)
    }
}
