//! Exclusives and atomic instructions.

use super::builder::Builder;
use super::event::{Id, Operand};
use super::instructions::{place, source, write, Next, Steps};
use super::machine::{read_memory, write_memory, Extra, Machine, Read, Reservation};
use crate::litmus::isa::{Instr, Place, Reg, Src, Status};
use crate::litmus::value::Op;

pub fn load_reserve(b: &mut Builder, to: Option<Reg>, at: &Place, tags: u64, extra: &Extra) {
    let at = place(b, at);
    write(b, Some(extra.reserved), Operand::int(1), &at.from);
    write(b, Some(extra.reserved_address), at.value, &at.from);
    let (value, id) = read_memory(b, &at, tags, true);
    write(b, to, value, &[id]);
}

/// Fails or succeeds; it succeeds only on the address of the last reservation.
pub fn store_conditional(
    mut b: Builder,
    status: Status,
    from: Src,
    at: &Place,
    tags: u64,
    machine: Machine,
    extra: &Extra,
) -> Steps {
    let reserved = source(&mut b, Src::Reg(extra.reserved), true);
    let address = source(&mut b, Src::Reg(extra.reserved_address), true);
    let data = source(&mut b, from, true);
    let at = place(&mut b, at);
    let mut guards = reserved.from.clone();
    guards.extend(&address.from);
    let mut steps = Vec::new();
    for success in [false, true] {
        let mut b = b.clone();
        let mut stored = None;
        if success {
            if !b.require(reserved.value, Operand::int(1)) || !b.require(at.value, address.value) {
                continue;
            }
            let id = write_memory(&mut b, &at, data.value, tags, true);
            b.data(&data.from, id);
            match machine.reservation {
                Reservation::Power => b.data(&guards, id),
                _ => b.ctrl(&guards, id),
            }
            stored = Some(id);
        }
        let released = b.write_register(extra.reserved, Operand::ZERO);
        match machine.reservation {
            Reservation::Power => b.data(&guards, released),
            _ => b.ctrl(&guards, released),
        }
        say(
            &mut b, status, success, stored, &at, &data, machine, &guards,
        );
        steps.push((b, Next::Fall));
    }
    steps
}

#[allow(clippy::too_many_arguments)]
fn say(
    b: &mut Builder,
    status: Status,
    success: bool,
    stored: Option<Id>,
    at: &Read,
    data: &Read,
    machine: Machine,
    guards: &[Id],
) {
    match status {
        Status::Reg(None) => {}
        Status::Reg(Some(r)) => {
            let id = b.write_register(r, Operand::int(i64::from(!success)));
            if machine.reservation == Reservation::RiscV {
                if let Some(w) = stored {
                    b.data(&at.from, id);
                    b.ctrl(&[w], id);
                }
            }
        }
        Status::Flags(r) => {
            // herd7: EQ set when stored, else all bits clear
            let value = if success { 0 } else { 2 };
            let id = b.write_register(r, Operand::int(value));
            b.data(&at.from, id);
            b.data(&data.from, id);
            b.data(guards, id);
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
                None => b.ctrl(&[r], w),
            }
            write(&mut b, *to, old, &[r]);
            vec![(b, Next::Fall)]
        }
        Instr::CompareAndSwap {
            expected,
            new,
            at,
            read,
            write: tags,
        } => cas(b, *expected, *new, at, *read, *tags),
        _ => vec![(b, Next::Fall)],
    }
}

fn cas(mut b: Builder, expected: Reg, new: Src, at: &Place, read: u64, tags: u64) -> Steps {
    let at = place(&mut b, at);
    let wanted = source(&mut b, Src::Reg(expected), true);
    let mut steps = Vec::new();
    for success in [false, true] {
        let mut b = b.clone();
        let new = success.then(|| source(&mut b, new, true));
        let (old, r) = read_memory(&mut b, &at, read, success);
        let same = b.compute(Op::Eq, old, wanted.value);
        if !b.require(same, Operand::int(i64::from(success))) {
            continue;
        }
        if let Some(new) = new {
            let w = write_memory(&mut b, &at, new.value, tags, true);
            b.data(&new.from, w);
            b.ctrl(&wanted.from, w);
            b.ctrl(&[r], w);
        }
        let id = b.write_register(expected, old);
        match success {
            true => b.data(&wanted.from, id),
            false => b.data(&[r], id),
        }
        b.ctrl(&wanted.from, id);
        b.ctrl(&[r], id);
        steps.push((b, Next::Fall));
    }
    steps
}
