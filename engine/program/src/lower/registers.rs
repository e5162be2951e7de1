//! Which registers an instruction reads and writes.
use crate::ir::instruction::{Callee, Op, Operand, Register};

pub fn register(operand: Operand) -> Option<Register> {
    match operand {
        Operand::Register(register) => Some(register),
        Operand::Const(_) | Operand::Undefined => None,
    }
}

/// Calls `f` with each register read (false), then each written (true), without phi moves.
pub fn visit(op: &Op, f: &mut impl FnMut(Register, bool)) {
    let mut reads: Vec<Operand> = Vec::new();
    let mut writes: Vec<Register> = Vec::new();
    match op {
        Op::Bin { dst, a, b, .. } | Op::Compare { dst, a, b, .. } => {
            reads.extend([*a, *b]);
            writes.push(*dst);
        }
        Op::Unary { dst, a, .. }
        | Op::Sext { dst, a, .. }
        | Op::Convert { dst, a, .. }
        | Op::Copy { dst, a, .. } => {
            reads.push(*a);
            writes.push(*dst);
        }
        Op::Pack { dst, low, high } => {
            reads.extend([*low, *high]);
            writes.push(*dst);
        }
        Op::Unpack { dst, a } => {
            reads.push(*a);
            writes.extend([*dst, *dst + 1]);
        }
        Op::Overflow {
            dst, flag, a, b, ..
        } => {
            reads.extend([*a, *b]);
            writes.extend([*dst, *flag]);
        }
        Op::Select {
            dst,
            condition,
            a,
            b,
        } => {
            reads.extend([*condition, *a, *b]);
            writes.push(*dst);
        }
        Op::Gep {
            dst, base, scaled, ..
        } => {
            reads.push(*base);
            reads.extend(scaled.iter().map(|s| s.0));
            writes.push(*dst);
        }
        Op::Alloca { dst, count, .. } => {
            reads.extend(count);
            writes.push(*dst);
        }
        Op::Load { dst, address, .. } => {
            reads.push(*address);
            writes.push(*dst);
        }
        Op::Store { value, address, .. } => reads.extend([*value, *address]),
        Op::Rmw {
            dst,
            address,
            value,
            ..
        } => {
            reads.extend([*address, *value]);
            writes.push(*dst);
        }
        Op::Cas {
            dst,
            flag,
            address,
            expected,
            desired,
            ..
        } => {
            reads.extend([*address, *expected, *desired]);
            writes.extend([*dst, *flag]);
        }
        Op::Lifetime { begins, local, .. } => {
            reads.push(Operand::Register(*local));
            writes.extend(begins.then_some(*local));
        }
        Op::ThreadLocal { dst, .. } => writes.push(*dst),
        Op::LandingPad { dst, .. } => writes.extend([*dst, *dst + 1]),
        Op::CondBr { condition, .. } => reads.push(*condition),
        Op::Switch { value, .. } => reads.push(*value),
        Op::Call {
            callee,
            args,
            dst,
            results,
            ..
        } => {
            if let Callee::Through(operand) = callee {
                reads.push(*operand);
            }
            reads.extend(args);
            writes.extend((0..*results).map(|k| dst + k));
        }
        Op::Extern { args, dst, .. } => {
            reads.extend(args);
            writes.extend(dst);
        }
        Op::Ret(values) => reads.extend(values),
        Op::Fence { .. } | Op::Br(_) | Op::Unreachable | Op::Refused { .. } => {}
    }
    for operand in reads {
        if let Some(register) = register(operand) {
            f(register, false);
        }
    }
    for register in writes {
        f(register, true);
    }
}
