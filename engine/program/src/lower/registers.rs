//! Which registers an instruction reads and writes.
use crate::ir::instruction::{Callee, Op, Operand, Register};

pub fn register(operand: Operand) -> Option<Register> {
    match operand {
        Operand::Register(register) => Some(register),
        Operand::Const(_) | Operand::Undefined => None,
    }
}

/// The operands that an instruction reads, and the registers that it writes, each with the number of
/// consecutive ones that it is the first of; without phi moves.
macro_rules! parts {
    ($name:ident, $op:ty, $operand:ty, $register:ty) => {
        pub fn $name(op: $op) -> (Vec<$operand>, Vec<($register, u32)>) {
            let mut reads: Vec<$operand> = Vec::new();
            let mut writes: Vec<($register, u32)> = Vec::new();
            match op {
                Op::Bin { dst, a, b, .. } | Op::Compare { dst, a, b, .. } => {
                    reads.extend([a, b]);
                    writes.push((dst, 1));
                }
                Op::Unary { dst, a, .. }
                | Op::Sext { dst, a, .. }
                | Op::Convert { dst, a, .. }
                | Op::Copy { dst, a, .. } => {
                    reads.push(a);
                    writes.push((dst, 1));
                }
                Op::Pack { dst, low, high } => {
                    reads.extend([low, high]);
                    writes.push((dst, 1));
                }
                Op::Unpack { dst, a } => {
                    reads.push(a);
                    writes.push((dst, 2));
                }
                Op::Overflow {
                    dst, flag, a, b, ..
                } => {
                    reads.extend([a, b]);
                    writes.extend([(dst, 1), (flag, 1)]);
                }
                Op::Select {
                    dst,
                    condition,
                    a,
                    b,
                } => {
                    reads.extend([condition, a, b]);
                    writes.push((dst, 1));
                }
                Op::Gep {
                    dst, base, scaled, ..
                } => {
                    reads.push(base);
                    for (index, ..) in scaled {
                        reads.push(index);
                    }
                    writes.push((dst, 1));
                }
                Op::Alloca { dst, count, .. } => {
                    reads.extend(count);
                    writes.push((dst, 1));
                }
                Op::Load { dst, address, .. } => {
                    reads.push(address);
                    writes.push((dst, 1));
                }
                Op::Store { value, address, .. } => reads.extend([value, address]),
                Op::Rmw {
                    dst,
                    address,
                    value,
                    ..
                } => {
                    reads.extend([address, value]);
                    writes.push((dst, 1));
                }
                Op::Cas {
                    dst,
                    flag,
                    address,
                    expected,
                    desired,
                    ..
                } => {
                    reads.extend([address, expected, desired]);
                    writes.extend([(dst, 1), (flag, 1)]);
                }
                Op::ThreadLocal { dst, .. } => writes.push((dst, 1)),
                Op::LandingPad { dst, .. } => writes.push((dst, 2)),
                Op::CondBr { condition, .. } => reads.push(condition),
                Op::Switch { value, .. } => reads.push(value),
                Op::Call {
                    callee,
                    args,
                    dst,
                    results,
                    ..
                } => {
                    if let Callee::Through(operand) = callee {
                        reads.push(operand);
                    }
                    reads.extend(args);
                    writes.push((dst, *results));
                }
                Op::Extern { args, dst, .. } => {
                    reads.extend(args);
                    if let Some(dst) = dst {
                        writes.push((dst, 1));
                    }
                }
                Op::Ret(values) => reads.extend(values),
                // the register of a lifetime is no operand
                Op::Lifetime { .. }
                | Op::Fence { .. }
                | Op::Br(_)
                | Op::Unreachable
                | Op::Refused { .. } => {}
            }
            (reads, writes)
        }
    };
}

parts!(parts, &Op, &Operand, &Register);
parts!(parts_mut, &mut Op, &mut Operand, &mut Register);

/// Calls `f` with each register read (false), then each written (true), without phi moves.
pub fn visit(op: &Op, f: &mut impl FnMut(Register, bool)) {
    if let Op::Lifetime { begins, local, .. } = op {
        f(*local, false);
        if *begins {
            f(*local, true);
        }
        return;
    }
    let (reads, writes) = parts(op);
    for operand in reads {
        if let Some(register) = register(*operand) {
            f(register, false);
        }
    }
    for (first, count) in writes {
        for register in *first..*first + count {
            f(register, true);
        }
    }
}

/// Gives each register of an instruction another number, without those of its edges. Consecutive ones
/// stay consecutive.
pub fn renumber(op: &mut Op, number: impl Fn(Register) -> Register) {
    if let Op::Lifetime { local, .. } = op {
        *local = number(*local);
        return;
    }
    let (reads, writes) = parts_mut(op);
    for operand in reads {
        renumber_operand(operand, &number);
    }
    for (register, count) in writes {
        if count > 0 {
            *register = number(*register);
        }
    }
}

pub fn renumber_operand(operand: &mut Operand, number: impl Fn(Register) -> Register) {
    if let Operand::Register(register) = operand {
        *register = number(*register);
    }
}
