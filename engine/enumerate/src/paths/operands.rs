//! What the instructions of assembly share: reading operands, accessing memory, writing registers.

use super::builder::PathBuilder;
use super::path::{Action, PathEventId};
use crate::term::Term;
use litmus::assembly::instruction::{MemoryOperand, Source, Width};
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
        let mut scaled = index.value;
        if p.shift > 0 {
            scaled = b.compute(Op::ShiftLeft, scaled, Term::int(i64::from(p.shift)));
        }
        from.extend(index.from);
        value = b.compute(Op::Add, scaled, value);
    }
    if p.displacement != Value::ZERO {
        value = b.compute(Op::Add, value, Term::Known(p.displacement));
    }
    OperandValue { value, from }
}

/// The part of a value that the width selects.
pub fn narrow(b: &mut PathBuilder, v: Term, width: Option<Width>) -> Term {
    match width {
        Some(w) if w.bits < 64 => {
            let op = if w.signed { Op::Narrow } else { Op::Mask };
            b.compute(op, v, Term::int(w.bits))
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

/// Adds a read of memory; `atomic`: it is the read of an rmw pair.
pub fn read_memory(
    b: &mut PathBuilder,
    at: &OperandValue,
    annotations: Annotations,
    atomic: bool,
) -> (Term, PathEventId) {
    let (value, id) = b.read(at.value, annotations, false);
    b.path.events[id].atomic = atomic;
    b.data(&at.from, id);
    (value, id)
}

/// Adds a write to memory; `atomic`: it is the write of an rmw pair.
pub fn write_memory(
    b: &mut PathBuilder,
    at: &OperandValue,
    value: Term,
    annotations: Annotations,
    atomic: bool,
) -> PathEventId {
    let action = Action::Write {
        at: at.value,
        value,
    };
    let id = b.event(action, annotations, false);
    b.path.events[id].atomic = atomic;
    b.data(&at.from, id);
    id
}
