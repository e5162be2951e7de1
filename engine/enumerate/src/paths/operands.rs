//! What the instructions of assembly share: reading operands, accessing memory, writing registers.

use super::builder::PathBuilder;
use super::path::{Action, PathEventId};
use crate::term::Term;
use litmus::assembly::formula::Formula;
use litmus::assembly::instruction::{BaseUpdate, MemoryOperand, Source, Width};
use litmus::value::{Op, RegisterId, Value};
use litmus::Annotations;

/// The value of an operand, and the events that read it.
pub struct OperandValue {
    pub value: Term,
    pub from: Vec<PathEventId>,
}

impl OperandValue {
    pub fn constant(value: Term) -> OperandValue {
        OperandValue {
            value,
            from: Vec::new(),
        }
    }
}

/// Reads a register or takes an immediate; `data`: as the data of a store.
pub fn source(b: &mut PathBuilder, s: Source, data: bool) -> OperandValue {
    match s {
        Source::Imm(v) => OperandValue::constant(Term::Known(v)),
        Source::Reg(r) => {
            let (value, id) = b.read_register(r, data);
            OperandValue {
                value,
                from: vec![id],
            }
        }
    }
}

/// The address of a memory operand.
pub fn address(b: &mut PathBuilder, p: &MemoryOperand) -> OperandValue {
    let base = source(b, p.base, false);
    let mut from = base.from;
    let mut value = base.value;
    if let Some(index) = p.index {
        let index = source(b, Source::Reg(index), false);
        let mut scaled = narrow(b, index.value, p.extend);
        if p.shift > 0 {
            scaled = b.compute(Op::ShiftLeft, scaled, Term::int(i64::from(p.shift)));
        }
        from.extend(index.from);
        value = b.compute(Op::Add, scaled, value);
    }
    if p.displacement != Value::ZERO {
        value = b.compute(Op::Add, value, Term::Known(p.displacement));
    }
    if let (Some(update), Source::Reg(register)) = (p.update, p.base) {
        let updated = match update {
            BaseUpdate::Before => value,
            BaseUpdate::After(by) => b.compute(Op::Add, value, Term::int(by)),
        };
        write_register(b, Some(register), updated, &from);
    }
    OperandValue { value, from }
}

/// The address and the one that is so many bytes after it, both from the same registers.
pub fn consecutive(b: &mut PathBuilder, p: &MemoryOperand, bytes: i64) -> [OperandValue; 2] {
    let first = address(b, p);
    let second = OperandValue {
        value: b.compute(Op::Add, first.value, Term::int(bytes)),
        from: first.from.clone(),
    };
    [first, second]
}

/// The addresses of as many consecutive accesses of the instruction's size.
pub fn elements(b: &mut PathBuilder, p: &MemoryOperand, count: usize) -> Vec<OperandValue> {
    match (count, b.size()) {
        (2, Some(bits)) => consecutive(b, p, bits / 8).into(),
        _ => vec![address(b, p)],
    }
}

/// The value of a formula.
pub fn evaluate(b: &mut PathBuilder, f: &Formula, operands: &[Term], result: Term) -> Term {
    match f {
        Formula::Operand(n) => operands.get(*n).copied().unwrap_or(Term::ZERO),
        Formula::Constant(n) => Term::int(*n),
        Formula::Result => result,
        Formula::Apply(op, of) => {
            let x = evaluate(b, &of[0], operands, result);
            let y = evaluate(b, &of[1], operands, result);
            b.compute(*op, x, y)
        }
    }
}

/// The part of a value that the width selects.
pub fn narrow(b: &mut PathBuilder, v: Term, width: Option<Width>) -> Term {
    match width {
        Some(w) if w.bits < 64 => {
            let part = b.compute(w.op, v, Term::int(w.bits));
            match w.within < 64 {
                true => b.compute(Op::Mask, part, Term::int(w.within)),
                false => part,
            }
        }
        _ => v,
    }
}

pub fn write_register(
    b: &mut PathBuilder,
    to: Option<RegisterId>,
    value: Term,
    from: &[PathEventId],
) {
    if let Some(to) = to {
        let id = b.write_register(to, value);
        b.data(from, id);
    }
}

/// What an atomic operation of memory leaves there; without an operation it is a swap.
pub fn operated(b: &mut PathBuilder, op: Option<Op>, old: Term, with: Term) -> Term {
    let result = match op {
        None => with,
        Some(op) => {
            let signed = matches!(op, Op::Max | Op::Min);
            let (old, with) = match op {
                Op::Max | Op::Min | Op::UMax | Op::UMin => {
                    (b.accessed(old, signed), b.accessed(with, signed))
                }
                _ => (old, with),
            };
            b.compute(op, old, with)
        }
    };
    b.accessed(result, false)
}

/// Adds a read of memory, which is several events where accesses are split; `atomic`: it is the read
/// of an rmw pair.
pub fn read_memory(
    b: &mut PathBuilder,
    at: &OperandValue,
    annotations: Annotations,
    atomic: bool,
) -> (Term, Vec<PathEventId>) {
    let Some((count, bits)) = b.pieces() else {
        let (value, id) = b.read(at.value, annotations, false);
        b.path.events[id].atomic = atomic;
        b.data(&at.from, id);
        return (value, vec![id]);
    };
    let mut whole = Term::ZERO;
    let mut ids = Vec::new();
    for number in 0..count {
        let address = b.compute(Op::Add, at.value, Term::int(number * bits / 8));
        let (value, id) = b.read(address, annotations, false);
        let placed = match number {
            0 => value,
            _ => b.compute(Op::ShiftLeft, value, Term::int(number * bits)),
        };
        whole = b.compute(Op::Or, whole, placed);
        ids.push(id);
    }
    as_pieces(b, at, &ids, atomic);
    (whole, ids)
}

/// Adds a write to memory, which is several events where accesses are split; `atomic`: it is the
/// write of an rmw pair.
pub fn write_memory(
    b: &mut PathBuilder,
    at: &OperandValue,
    value: Term,
    annotations: Annotations,
    atomic: bool,
) -> Vec<PathEventId> {
    let Some((count, bits)) = b.pieces() else {
        let action = Action::Write {
            at: at.value,
            value,
        };
        let id = b.event(action, annotations, false);
        b.path.events[id].atomic = atomic;
        b.data(&at.from, id);
        return vec![id];
    };
    let mut ids = Vec::new();
    for number in 0..count {
        let address = b.compute(Op::Add, at.value, Term::int(number * bits / 8));
        let rest = match number {
            0 => value,
            _ => b.compute(Op::ShiftRight, value, Term::int(number * bits)),
        };
        let action = Action::Write {
            at: address,
            value: narrow(b, rest, Some(Width::unsigned(bits))),
        };
        ids.push(b.event(action, annotations, false));
    }
    as_pieces(b, at, &ids, atomic);
    ids
}

/// An access of `bits`, which values do not have: two accesses of 64 bits are one of the double size.
pub fn in_halves<T>(
    b: &mut PathBuilder,
    at: &OperandValue,
    mut access: impl FnMut(&mut PathBuilder, &OperandValue, usize) -> (T, Vec<PathEventId>),
) -> ([T; 2], Vec<PathEventId>) {
    let whole = b.size();
    b.resize(Some(64));
    let upper = OperandValue {
        value: b.compute(Op::Add, at.value, Term::int(8)),
        from: at.from.clone(),
    };
    let (low, mut ids) = access(b, at, 0);
    let (high, rest) = access(b, &upper, 1);
    b.resize(whole);
    ids.extend(rest);
    b.one_access(&ids);
    for id in &ids {
        let event = &mut b.path.events[*id];
        event.size = whole;
        event.starts = *id == ids[0];
    }
    ([low, high], ids)
}

/// Makes these events the pieces of one access.
fn as_pieces(b: &mut PathBuilder, at: &OperandValue, ids: &[PathEventId], atomic: bool) {
    b.data_to_all(&at.from, ids);
    b.one_access(ids);
    for id in ids {
        let event = &mut b.path.events[*id];
        event.atomic = atomic;
        event.starts = *id == ids[0];
    }
}
