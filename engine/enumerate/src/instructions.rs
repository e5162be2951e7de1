//! What each instruction does: its events and what causes what.

use super::builder::Builder;
use super::event::{Act, Id, Operand};
use super::exclusive;
use super::machine::{read_memory, write_memory, Machine, Read};
use litmus::isa::{Flags, Instr, Outcomes, Place, Src, Test, Width};
use litmus::value::{Op, Value};

pub enum Next {
    Fall,
    /// To a label; whether a jump back counts.
    Jump(String, bool),
    End,
}

pub type Steps = Vec<(Builder, Next)>;

pub fn source(b: &mut Builder, s: Src, data: bool) -> Read {
    match s {
        Src::Imm(v) => Read::constant(Operand::Known(v)),
        Src::Reg(r) => {
            let (value, id) = b.read_register(r, data);
            Read {
                value,
                from: vec![id],
            }
        }
    }
}

pub fn place(b: &mut Builder, p: &Place) -> Read {
    let base = source(b, p.base, false);
    let mut from = base.from;
    let mut value = base.value;
    if let Some(index) = p.index {
        let index = source(b, Src::Reg(index), false);
        let mut scaled = index.value;
        if p.shift > 0 {
            scaled = b.compute(Op::ShiftLeft, scaled, Operand::int(i64::from(p.shift)));
        }
        from.extend(index.from);
        value = b.compute(Op::Add, scaled, value);
    }
    if p.displacement != Value::ZERO {
        value = b.compute(Op::Add, value, Operand::Known(p.displacement));
    }
    Read { value, from }
}

pub fn fit(b: &mut Builder, v: Operand, width: Option<Width>) -> Operand {
    match width {
        Some(w) if w.bits < 64 => {
            let op = if w.signed { Op::Narrow } else { Op::Mask };
            b.compute(op, v, Operand::int(w.bits))
        }
        _ => v,
    }
}

pub fn write(b: &mut Builder, to: Option<usize>, value: Operand, from: &[Id]) {
    if let Some(to) = to {
        let id = b.write_register(to, value);
        b.data(from, id);
    }
}

/// Writes the flags that go with a result.
fn set_flags(
    b: &mut Builder,
    flags: Flags,
    operands: (Operand, Operand),
    result: Operand,
    from: &[Id],
) {
    let (register, x, y) = match flags {
        Flags::Keep => return,
        Flags::Operands(r) => (r, operands.0, operands.1),
        Flags::Result(r) => (r, result, Operand::ZERO),
    };
    let outcome = b.compute(Op::Compare, x, y);
    write(b, Some(register), outcome, from);
}

/// Whether the flags are among the outcomes, as 0 or 1.
fn among(b: &mut Builder, flags: Operand, wanted: Outcomes) -> Operand {
    let (op, with) = match (wanted.less, wanted.equal, wanted.greater) {
        (false, true, false) => (Op::Eq, 0),
        (true, false, true) => (Op::Ne, 0),
        (true, false, false) => (Op::Lt, 0),
        (true, true, false) => (Op::Le, 0),
        (false, false, true) => (Op::Gt, 0),
        (false, true, true) => (Op::Ge, 0),
        (all, _, _) => return Operand::int(i64::from(all)),
    };
    b.compute(op, flags, Operand::int(with))
}

pub fn test(b: &mut Builder, t: &Test) -> Read {
    match *t {
        Test::Flags(r, wanted) => {
            let flags = source(b, Src::Reg(r), false);
            let value = among(b, flags.value, wanted);
            Read { value, ..flags }
        }
        Test::Compare(op, x, y) => {
            let x = source(b, x, false);
            let y = source(b, y, false);
            let value = b.compute(op, x.value, y.value);
            let mut from = x.from;
            from.extend(y.from);
            Read { value, from }
        }
        Test::Bit(r, bit, set) => {
            let x = source(b, Src::Reg(r), false);
            let shifted = b.compute(Op::ShiftRight, x.value, Operand::int(bit));
            let value = b.compute(Op::And, shifted, Operand::int(1));
            let value = match set {
                true => value,
                false => b.compute(Op::Xor, value, Operand::int(1)),
            };
            Read { value, ..x }
        }
    }
}

pub fn step(mut b: Builder, instr: &Instr, machine: Machine, reserved: usize) -> Steps {
    match instr {
        Instr::Nop => {}
        Instr::Exit => return vec![(b, Next::End)],
        Instr::Fence(tags) => {
            b.event(Act::Fence, *tags, false);
        }
        Instr::Move { to, from } => {
            let v = source(&mut b, *from, false);
            write(&mut b, Some(*to), v.value, &v.from);
        }
        Instr::Compute {
            to,
            op,
            a,
            b: other,
            width,
            flags,
        } => {
            let x = source(&mut b, *a, false);
            let y = source(&mut b, *other, false);
            let mut from = x.from;
            from.extend(y.from);
            if let (None, Flags::Operands(r)) = (to, flags) {
                let outcome = b.compute(Op::Compare, x.value, y.value);
                write(&mut b, Some(*r), outcome, &from);
                return vec![(b, Next::Fall)];
            }
            let result = b.compute(*op, x.value, y.value);
            let result = fit(&mut b, result, *width);
            write(&mut b, *to, result, &from);
            set_flags(&mut b, *flags, (x.value, y.value), result, &from);
        }
        Instr::Load {
            to,
            at,
            tags,
            width,
        } => {
            let at = place(&mut b, at);
            let (value, id) = read_memory(&mut b, &at, *tags, false);
            let value = fit(&mut b, value, *width);
            write(&mut b, *to, value, &[id]);
        }
        Instr::Store {
            from,
            at,
            tags,
            width,
        } => {
            let value = source(&mut b, *from, true);
            let at = place(&mut b, at);
            let stored = fit(&mut b, value.value, *width);
            let id = write_memory(&mut b, &at, stored, *tags, false);
            b.data(&value.from, id);
        }
        Instr::Modify {
            op,
            at,
            with,
            to,
            tags,
            atomic,
            flags,
        } => {
            let at = place(&mut b, at);
            let (old, read) = read_memory(&mut b, &at, *tags, *atomic);
            let with = source(&mut b, *with, true);
            let result = b.compute(*op, old, with.value);
            let stored = write_memory(&mut b, &at, result, *tags, *atomic);
            b.data(&[read], stored);
            b.data(&with.from, stored);
            let mut from = with.from;
            from.push(read);
            set_flags(&mut b, *flags, (old, with.value), result, &from);
            write(&mut b, *to, old, &[read]);
        }
        Instr::CompareMemory {
            at,
            with,
            swapped,
            tags,
            flags,
        } => {
            let at = place(&mut b, at);
            let (value, read) = read_memory(&mut b, &at, *tags, false);
            let with = source(&mut b, *with, false);
            let (x, y) = match swapped {
                true => (with.value, value),
                false => (value, with.value),
            };
            let mut from = with.from;
            from.push(read);
            set_flags(&mut b, Flags::Operands(*flags), (x, y), x, &from);
        }
        Instr::Swap { reg, at, tags } => {
            let at = place(&mut b, at);
            let (old, read) = read_memory(&mut b, &at, *tags, true);
            let new = source(&mut b, Src::Reg(*reg), true);
            let stored = write_memory(&mut b, &at, new.value, *tags, true);
            b.data(&new.from, stored);
            b.ctrl(&[read], stored);
            write(&mut b, Some(*reg), old, &[read]);
        }
        Instr::CompareExchange {
            expected,
            new,
            at,
            tags,
            atomic,
            flags,
        } => {
            let at = place(&mut b, at);
            let (old, read) = read_memory(&mut b, &at, *tags, *atomic);
            let wanted = source(&mut b, Src::Reg(*expected), true);
            let mut from = wanted.from.clone();
            from.push(read);
            let operands = (wanted.value, old);
            set_flags(&mut b, Flags::Operands(*flags), operands, old, &from);
            let equal = b.compute(Op::Eq, wanted.value, old);
            let mut steps = Vec::new();
            let mut stores = b.clone();
            if stores.require(equal, Operand::int(1)) {
                let new = source(&mut stores, Src::Reg(*new), true);
                let stored = write_memory(&mut stores, &at, new.value, *tags, *atomic);
                stores.data(&new.from, stored);
                stores.ctrl(&from, stored);
                steps.push((stores, Next::Fall));
            }
            if b.require(equal, Operand::ZERO) {
                write(&mut b, Some(*expected), old, &[read]);
                steps.push((b, Next::Fall));
            }
            return steps;
        }
        Instr::LoadReserve { to, at, tags } => {
            exclusive::load_reserve(&mut b, *to, at, *tags, reserved);
        }
        Instr::StoreConditional {
            status,
            from,
            at,
            tags,
        } => return exclusive::store_conditional(b, *status, *from, at, *tags, machine, reserved),
        Instr::Amo {
            op,
            to,
            from,
            at,
            tags,
        } => {
            let at = place(&mut b, at);
            let with = source(&mut b, *from, true);
            let read = b.fresh();
            let written = match op {
                Some(op) => b.compute(*op, read, with.value),
                None => with.value,
            };
            let act = Act::Update {
                at: at.value,
                read,
                written,
            };
            let id = b.event(act, *tags, false);
            b.data(&at.from, id);
            b.data(&with.from, id);
            write(&mut b, *to, read, &[id]);
        }
        Instr::AmoPair { .. } | Instr::CompareAndSwap { .. } => {
            return exclusive::atomic_pair(b, instr);
        }
        Instr::Select {
            to,
            when,
            then,
            otherwise,
            adjust,
        } => return select(b, *to, when, *then, *otherwise, *adjust),
        Instr::Jump(to) => return vec![(b, Next::Jump(to.clone(), true))],
        Instr::Branch { when, to } => return branch(b, when, to, machine),
    }
    vec![(b, Next::Fall)]
}

fn branch(mut b: Builder, when: &Test, to: &str, machine: Machine) -> Steps {
    let t = test(&mut b, when);
    if machine.branch_events {
        let id = b.event(Act::Branch, 0, false);
        b.data(&t.from, id);
    }
    let counted = !t.from.is_empty();
    let mut steps = Vec::new();
    let mut taken = b.clone();
    if taken.require(t.value, Operand::int(1)) {
        steps.push((taken, Next::Jump(to.to_string(), counted)));
    }
    if b.require(t.value, Operand::ZERO) {
        steps.push((b, Next::Fall));
    }
    steps
}

fn select(
    mut b: Builder,
    to: usize,
    when: &Test,
    then: Src,
    otherwise: Src,
    adjust: Option<(Op, Value)>,
) -> Steps {
    let t = test(&mut b, when);
    let decision = b.event(Act::Decision, 0, false);
    b.data(&t.from, decision);
    let mut steps = Vec::new();
    for (wanted, from) in [(1, then), (0, otherwise)] {
        let mut b = b.clone();
        if !b.require(t.value, Operand::int(wanted)) {
            continue;
        }
        let v = source(&mut b, from, true);
        let mut value = v.value;
        if let (0, Some((op, with))) = (wanted, adjust) {
            value = b.compute(op, value, Operand::Known(with));
        }
        let id = b.write_register(to, value);
        b.data(&v.from, id);
        b.ctrl(&[decision], v.from.first().copied().unwrap_or(id));
        steps.push((b, Next::Fall));
    }
    steps
}
