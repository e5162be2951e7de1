//! The events of each instruction of assembly, and the causality between them, as in herd7.

use super::builder::PathBuilder;
use super::operands::{
    address, consecutive, evaluate, narrow, operated, read_memory, source, write_memory,
    write_register, OperandValue,
};
use super::path::{Action, PathEventId};
use super::rmw;
use super::transform::transform;
use crate::term::Term;
use litmus::assembly::instruction::{
    FlagUpdate, Instruction, JumpTarget, Predicate, Source, Width,
};
use litmus::value::{Op, RegisterId, Value};
use litmus::{Dialect, Reservation};

/// Where a thread resumes after an instruction.
pub enum Successor {
    Next,
    Label {
        name: String,
        /// A backward jump counts as one more round of a loop.
        counted: bool,
    },
    End,
}

/// The continuations of a path after an instruction, one per outcome that it can have.
pub type Steps = Vec<(PathBuilder, Successor)>;

/// Writes the flags register of an instruction.
fn set_flags(
    b: &mut PathBuilder,
    flags: FlagUpdate,
    operands: (Term, Term),
    result: Term,
    from: &[PathEventId],
) {
    let (register, x, y) = match flags {
        FlagUpdate::None => return,
        FlagUpdate::Operands(r) => (r, operands.0, operands.1),
        FlagUpdate::Result(r) => (r, result, Term::ZERO),
    };
    let outcome = b.compute(Op::Compare, x, y);
    write_register(b, Some(register), outcome, from);
}

fn predicate(b: &mut PathBuilder, p: &Predicate) -> OperandValue {
    match *p {
        Predicate::Condition(r, code) => {
            let flags = source(b, Source::Reg(r), false);
            let value = b.compute(Op::Satisfy, flags.value, Term::int(code));
            OperandValue { value, ..flags }
        }
        Predicate::Compare(op, x, y) => {
            let x = source(b, x, false);
            let y = source(b, y, false);
            let value = b.compute(op, x.value, y.value);
            let mut from = x.from;
            from.extend(y.from);
            OperandValue { value, from }
        }
        Predicate::Bit(r, bit, set) => {
            let x = source(b, Source::Reg(r), false);
            let shifted = b.compute(Op::ShiftRight, x.value, Term::int(bit));
            let value = b.compute(Op::And, shifted, Term::int(1));
            let value = match set {
                true => value,
                false => b.compute(Op::Xor, value, Term::int(1)),
            };
            OperandValue { value, ..x }
        }
    }
}

/// The operands that a predicate tests.
fn tested(when: &Predicate) -> Vec<Source> {
    match *when {
        Predicate::Condition(r, _) | Predicate::Bit(r, ..) => vec![Source::Reg(r)],
        Predicate::Compare(_, x, y) => vec![x, y],
    }
}

/// Executes an instruction. `reserved` is the pseudo register with the address that is reserved.
pub fn step(
    mut b: PathBuilder,
    instruction: &Instruction,
    dialect: &Dialect,
    reserved: RegisterId,
) -> Steps {
    match instruction {
        Instruction::Nop => {}
        Instruction::Exit => return vec![(b, Successor::End)],
        Instruction::Fence(annotations) => {
            b.event(Action::Fence, *annotations, false);
        }
        Instruction::Move { to, from } => {
            let v = source(&mut b, *from, false);
            let constant = b.constant(&[*from]);
            let id = b.write_computed(*to, v.value, constant);
            b.data(&v.from, id);
        }
        Instruction::Compute {
            to,
            op,
            a,
            b: other,
            flags,
        } => {
            let x = source(&mut b, *a, false);
            let y = source(&mut b, *other, false);
            let mut from = x.from;
            from.extend(y.from);
            if let (None, FlagUpdate::Operands(r)) = (to, flags) {
                let outcome = b.compute(Op::Compare, x.value, y.value);
                write_register(&mut b, Some(*r), outcome, &from);
                return vec![(b, Successor::Next)];
            }
            let result = b.compute(*op, x.value, y.value);
            write_register(&mut b, *to, result, &from);
            set_flags(&mut b, *flags, (x.value, y.value), result, &from);
        }
        Instruction::Evaluate {
            to,
            operands,
            value,
            flags,
        } => {
            let (mut values, mut from) = (Vec::new(), Vec::new());
            for operand in operands {
                let read = source(&mut b, *operand, false);
                values.push(read.value);
                from.extend(read.from);
            }
            let result = evaluate(&mut b, value, &values, Term::ZERO);
            let outcome = flags.as_ref().map(|(register, formula)| {
                let outcome = evaluate(&mut b, formula, &values, result);
                (*register, outcome)
            });
            let result = to.map(|to| (to, result));
            // before either is written: the flags are computed from the same operands
            let constant = b.constant(operands);
            for (register, value) in [result, outcome].into_iter().flatten() {
                let id = b.write_computed(register, value, constant);
                b.data(&from, id);
            }
        }
        Instruction::LoadPair {
            to,
            at,
            annotations,
            ordered,
            bits,
            width,
        } => {
            let at = consecutive(&mut b, at, bits / 8);
            let mut ids = Vec::new();
            for (to, at) in to.iter().zip(&at) {
                let (value, id) = read_memory(&mut b, at, *annotations, false);
                let value = narrow(&mut b, value, *width);
                write_register(&mut b, *to, value, &id);
                ids.push(id);
            }
            if *ordered {
                b.order_all(&ids[0], &ids[1]);
            }
        }
        Instruction::StorePair {
            from,
            at,
            annotations,
            ordered,
            bits,
        } => {
            let update = at.update;
            let at = consecutive(&mut b, at, bits / 8);
            let mut ids = Vec::new();
            for (from, at) in from.iter().zip(&at) {
                let value = source(&mut b, *from, true);
                let stored = narrow(&mut b, value.value, Some(Width::unsigned(*bits)));
                let id = write_memory(&mut b, at, stored, *annotations, false);
                b.data_to_all(&value.from, &id);
                ids.push(id);
            }
            if *ordered {
                // a push writes the higher address first
                if update.is_some() {
                    ids.reverse();
                }
                b.order_all(&ids[0], &ids[1]);
            }
        }
        Instruction::Load {
            to,
            at,
            annotations,
            width,
        } => {
            let at = address(&mut b, at);
            let (value, id) = read_memory(&mut b, &at, *annotations, false);
            let value = narrow(&mut b, value, *width);
            write_register(&mut b, *to, value, &id);
        }
        Instruction::Store {
            from,
            at,
            annotations,
            width,
        } => {
            let value = source(&mut b, *from, true);
            let at = address(&mut b, at);
            let stored = narrow(&mut b, value.value, *width);
            let id = write_memory(&mut b, &at, stored, *annotations, false);
            b.data_to_all(&value.from, &id);
        }
        Instruction::Transform(t) => return in_sequence(transform(b, t)),
        Instruction::LoadReserve {
            to,
            at,
            annotations,
        } => {
            let signed = dialect.reservation == Reservation::RiscV;
            rmw::load_reserve(&mut b, to, at, *annotations, reserved, signed);
        }
        Instruction::StoreConditional {
            status,
            from,
            at,
            annotations,
        } => {
            let store = rmw::StoreConditional {
                status: *status,
                from,
                at,
                annotations: *annotations,
                reserved,
            };
            return in_sequence(store.paths(b, dialect.reservation));
        }
        Instruction::Amo {
            op,
            to,
            from,
            at,
            annotations,
        } => {
            let at = address(&mut b, at);
            let with = source(&mut b, *from, true);
            let read = b.fresh();
            let written = operated(&mut b, *op, read, with.value);
            let action = Action::Update {
                at: at.value,
                read,
                written,
            };
            let id = b.event(action, *annotations, false);
            b.data(&at.from, id);
            b.data(&with.from, id);
            let read = b.accessed(read, true);
            write_register(&mut b, *to, read, &[id]);
        }
        Instruction::AmoCompare {
            expected,
            to,
            from,
            at,
            stored,
            failed,
        } => {
            let compare = rmw::AmoCompare {
                expected: *expected,
                to: *to,
                from: *from,
                at,
                stored: *stored,
                failed: *failed,
            };
            return in_sequence(rmw::amo_compare(b, &compare));
        }
        Instruction::AmoPair { .. } | Instruction::CompareAndSwap { .. } => {
            return in_sequence(rmw::atomic_pair(b, instruction));
        }
        Instruction::Select {
            to,
            when,
            then,
            otherwise,
            adjust,
            width,
        } => {
            let choice = Choice {
                to: *to,
                sources: [*then, *otherwise],
                adjust,
                width: *width,
            };
            return select(b, when, &choice);
        }
        Instruction::Jump(to) => {
            let (name, counted) = (to.clone(), true);
            return vec![(b, Successor::Label { name, counted })];
        }
        Instruction::JumpTo { to, link, targets } => {
            return jump_to(b, to, *link, targets);
        }
        Instruction::LabelAddress { to, value, .. } => {
            b.write_computed(*to, Term::Known(*value), true);
        }
        Instruction::Unsupported => {
            b.path.no_result = true;
            return vec![(b, Successor::End)];
        }
        Instruction::Branch { when, to } => return branch(b, when, to, dialect),
    }
    vec![(b, Successor::Next)]
}

/// One path per address that the register can hold, and one on which it holds no address of an
/// instruction, which has no result.
fn jump_to(
    mut b: PathBuilder,
    to: &JumpTarget,
    link: Option<(RegisterId, Value)>,
    targets: &[(Value, String)],
) -> Steps {
    let counted = true;
    let held = match to {
        JumpTarget::Label(_) => None,
        JumpTarget::Register(register) => {
            let held = source(&mut b, Source::Reg(*register), false);
            let id = b.event(Action::Branch, 0, false);
            b.data(&held.from, id);
            Some(held.value)
        }
    };
    if let Some((register, value)) = link {
        b.write_computed(register, Term::Known(value), true);
    }
    if let JumpTarget::Label(name) = to {
        let name = name.clone();
        return vec![(b, Successor::Label { name, counted })];
    }
    let held = held.unwrap_or(Term::ZERO);
    let mut steps = Vec::new();
    for (value, place) in targets {
        let mut b = b.clone();
        if b.require(held, Term::Known(*value)) {
            let name = place.clone();
            steps.push((b, Successor::Label { name, counted }));
        }
    }
    if steps.len() != 1 || !matches!(held, Term::Known(_)) {
        let other = b.compute(Op::NoCode, held, Term::ZERO);
        if b.path.no_result || b.require(other, Term::int(1)) {
            steps.push((b, Successor::End));
        }
    }
    steps
}

fn in_sequence(paths: Vec<PathBuilder>) -> Steps {
    let paths = paths.into_iter();
    paths.map(|path| (path, Successor::Next)).collect()
}

fn branch(mut b: PathBuilder, when: &Predicate, to: &str, dialect: &Dialect) -> Steps {
    let t = predicate(&mut b, when);
    if dialect.branch_events {
        let id = b.event(Action::Branch, 0, false);
        b.data(&t.from, id);
    }
    // as in herd7, which passes constants on in AArch64: a loop that they control has its rounds
    let constants = dialect.reservation == Reservation::AArch64 && b.constant(&tested(when));
    let settled = constants && matches!(t.value, Term::Known(_));
    let counted = !(settled || t.from.is_empty());
    let mut steps = Vec::new();
    let mut taken = b.clone();
    if taken.require(t.value, Term::int(1)) {
        steps.push((
            taken,
            Successor::Label {
                name: to.to_string(),
                counted,
            },
        ));
    }
    if b.require(t.value, Term::ZERO) {
        steps.push((b, Successor::Next));
    }
    steps
}

/// What a conditional select writes: the second source, adjusted, when the test fails.
struct Choice<'i> {
    to: RegisterId,
    sources: [Source; 2],
    adjust: &'i [(Op, Value)],
    width: Option<Width>,
}

fn select(mut b: PathBuilder, when: &Predicate, choice: &Choice<'_>) -> Steps {
    let t = predicate(&mut b, when);
    let decision = b.event(Action::Decision, 0, false);
    b.data(&t.from, decision);
    let mut steps = Vec::new();
    for (wanted, from) in [1, 0].into_iter().zip(choice.sources) {
        let mut b = b.clone();
        if !b.require(t.value, Term::int(wanted)) {
            continue;
        }
        let v = source(&mut b, from, true);
        let mut value = v.value;
        if wanted == 0 {
            for (op, with) in choice.adjust {
                value = b.compute(*op, value, Term::Known(*with));
            }
        }
        let value = narrow(&mut b, value, choice.width);
        let id = b.write_register(choice.to, value);
        b.data(&v.from, id);
        b.ctrl(&[decision], v.from.first().copied().unwrap_or(id));
        steps.push((b, Successor::Next));
    }
    steps
}
