//! Runs one instruction of one thread: control flow, arithmetic and dependencies are handled here,
//! the rest by the environment.
use super::branch::{decide, take};
use super::environment::{Cas, Environment, ExternCall, Flow};
use super::event::Operation;
use super::indeterminate::{determinate, undefined, undefined_bytes};
use super::outcome::{Limits, Outcome, RunEnd};
use super::returning::{ended, is_last, leave};
use super::thread::{OpenBranch, State, Thread};
use super::unwind;
use crate::ir::arithmetic;
use crate::ir::bits::{mask, sext};
use crate::ir::floats;
use crate::ir::instruction::*;
use crate::ir::program::Program;
use crate::ir::wide;
use crate::llvm::types::MAX_SIZE;
use crate::memory::object::NewLocal;
use crate::memory::value::{bytes_of, is_wholly, Val};
use crate::memory::Memory;

/// Whether one of two values is an address in a thread's memory.
fn names_thread(a: Val, b: Val) -> bool {
    Memory::names_thread(a.bits) || Memory::names_thread(b.bits)
}

/// Whether two values are addresses in the memory of the same thread.
fn of_same_thread(a: Val, b: Val) -> bool {
    let both = Memory::names_thread(a.bits) && Memory::names_thread(b.bits);
    both && a.bits >> Memory::SHIFT == b.bits >> Memory::SHIFT
}

/// Runs the thread's next instruction. On an error the run has ended.
pub fn step<W: Environment>(
    program: &Program,
    limits: &Limits,
    thread: &mut Thread,
    environment: &mut W,
) -> Result<(), W::Interruption> {
    if let Some(raised) = thread.raised.filter(|r| r.unwinding) {
        return unwind::unwind(program, limits, thread, environment, raised);
    }
    let Some(inst) = thread.inst(program) else {
        thread.state = State::Done;
        return Ok(());
    };
    thread.follow(inst);
    run(program, limits, thread, environment, inst)
}

fn run<W: Environment>(
    program: &Program,
    limits: &Limits,
    thread: &mut Thread,
    environment: &mut W,
    inst: &Inst,
) -> Result<(), W::Interruption> {
    let Some(top) = thread.frames.len().checked_sub(1) else {
        return Ok(());
    };
    let base = thread.frames[top].registers;
    macro_rules! val {
        ($operand:expr) => {
            match $operand {
                Operand::Register(register) => thread.registers[base + register as usize],
                Operand::Const(bits) => Val::constant(bits),
                Operand::Undefined => Val::undefined(),
            }
        };
    }
    macro_rules! set {
        ($register:expr, $val:expr) => {{
            let value = $val;
            thread.registers[base + $register as usize] = value;
        }};
    }
    /// A value of so many bits that is used: where it decides what happens, an indeterminate value is
    /// an error.
    macro_rules! used {
        ($operand:expr, $bits:expr) => {{
            let value = val!($operand);
            if value.undefined != 0 && value.is_undefined($bits) {
                undefined(environment)?;
            }
            value
        }};
    }
    /// A value that an atomic access uses as a whole: a structure may have members, and padding, that
    /// are not initialised, but not all of it.
    macro_rules! exchanged {
        ($operand:expr, $bits:expr) => {{
            let mut value = val!($operand);
            if value.undefined != 0 {
                if is_wholly(value.undefined, $bits) {
                    undefined(environment)?;
                }
                value.undefined &= bytes_of($bits);
                value.bits = determinate(value);
            }
            value
        }};
    }
    match &inst.op {
        Op::Bin {
            op,
            bits,
            dst,
            a,
            b,
        } => {
            let (a, b) = (val!(*a), val!(*b));
            if op.is_division() {
                environment.control(thread, b.dep)?;
                if op.is_signed_division() && sext(b.bits, *bits) == u64::MAX {
                    environment.control(thread, a.dep)?;
                }
            }
            let indeterminate = match a.undefined | b.undefined {
                0 => 0,
                _ => match undefined_bytes(*op, a, b) {
                    Some(bytes) => bytes & bytes_of(*bits),
                    None if a.is_undefined(*bits) || b.is_undefined(*bits) => {
                        undefined(environment)?;
                        0
                    }
                    None => 0,
                },
            };
            let Some(result) = arithmetic::binary(*op, *bits, a.bits, b.bits) else {
                return Err(RunEnd::new(Outcome::Memory, "division by zero", None).into());
            };
            if names_thread(a, b) {
                let exchanged = |address| match Memory::names_thread(address) {
                    true => Memory::of_other_thread(address),
                    false => address,
                };
                let (one, two) = (exchanged(a.bits), exchanged(b.bits));
                let other = arithmetic::binary(*op, *bits, one, two);
                if other != Some(result) && other != Some(exchanged(result)) {
                    environment.computes_with_thread(thread)?;
                }
            }
            // r ^ r keeps its dependency: herd and the hardware track registers, not values
            let dep = environment.union(a.dep, b.dep);
            let mut value = Val::new(result, dep);
            value.undefined = indeterminate;
            set!(*dst, value);
        }
        Op::Compare {
            predicate,
            bits,
            dst,
            a,
            b,
            alternative,
        } => {
            let (a, b) = match alternative {
                true => (val!(*a), val!(*b)),
                false => (used!(*a, *bits), used!(*b, *bits)),
            };
            let equality = matches!(predicate, Predicate::Eq | Predicate::Ne);
            if !equality && names_thread(a, b) && !of_same_thread(a, b) {
                environment.computes_with_thread(thread)?;
            }
            let dep = environment.union(a.dep, b.dep);
            let dep = environment.by_choice(dep);
            let result = u64::from(arithmetic::compare(*predicate, *bits, a.bits, b.bits));
            let mut value = Val::new(result, dep);
            if a.is_undefined(*bits) || b.is_undefined(*bits) {
                value.undefined = bytes_of(1);
            }
            set!(*dst, value);
        }
        Op::Unary { op, bits, dst, a } => {
            let a = used!(*a, *bits);
            let bits = arithmetic::unary(*op, *bits, a.bits);
            set!(*dst, Val::new(bits, a.dep));
        }
        Op::Overflow {
            op,
            signed,
            bits,
            dst,
            flag,
            a,
            b,
        } => {
            let (a, b) = (used!(*a, *bits), used!(*b, *bits));
            let dep = environment.union(a.dep, b.dep);
            let over = arithmetic::overflows(*op, *signed, *bits, a.bits, b.bits);
            let value = arithmetic::binary(*op, *bits, a.bits, b.bits).unwrap_or(0);
            set!(*dst, Val::new(value, dep));
            set!(*flag, Val::new(u64::from(over), dep));
        }
        Op::Sext { from, to, dst, a } => {
            let a = val!(*a);
            let bits = mask(sext(a.bits, *from), *to);
            let mut value = Val::new(bits, a.dep);
            let own = bytes_of(*from);
            value.undefined = a.undefined & own;
            if value.undefined & !(own >> 1) != 0 {
                value.undefined |= bytes_of(*to) & !own; // of its sign
            }
            set!(*dst, value);
        }
        Op::Convert {
            op,
            from,
            to,
            dst,
            a,
        } => {
            let a = used!(*a, 64);
            let bits = floats::convert(*op, *from, *to, a.bits);
            set!(*dst, Val::new(bits, a.dep));
        }
        Op::Pack { dst, low, high } => {
            let (low, high) = (val!(*low), val!(*high));
            let dep = environment.union(low.dep, high.dep);
            let bits = wide::from_halves(low.bits, high.bits);
            let mut value = Val::new(bits, dep);
            if low.undefined & high.undefined == u8::MAX {
                value.undefined = u8::MAX;
            }
            set!(*dst, value);
        }
        Op::Unpack { dst, a } => {
            let whole = val!(*a);
            let (low, high) = wide::halves(whole.bits);
            set!(*dst, Val { bits: low, ..whole });
            set!(
                *dst + 1,
                Val {
                    bits: high,
                    ..whole
                }
            );
        }
        Op::Copy { bits, dst, a } => {
            let a = val!(*a);
            let mut value = Val::new(mask(a.bits, *bits), a.dep);
            value.undefined = a.undefined & bytes_of(*bits);
            set!(*dst, value);
        }
        Op::Select {
            dst,
            condition,
            a,
            b,
        } => {
            let condition = used!(*condition, 1);
            let chosen = if condition.bits & 1 == 1 {
                val!(*a)
            } else {
                val!(*b)
            };
            let dep = environment.by_choice(condition.dep);
            let dep = environment.union(dep, chosen.dep);
            set!(*dst, Val { dep, ..chosen });
        }
        Op::Gep {
            dst,
            base,
            offset,
            scaled,
        } => {
            let base = val!(*base);
            let mut value = Val {
                bits: base.bits.wrapping_add(*offset),
                ..base
            };
            for (index, bits, stride) in scaled {
                let index = used!(*index, *bits);
                let distance = sext(index.bits, *bits).wrapping_mul(*stride);
                value.bits = value.bits.wrapping_add(distance);
                value.dep = environment.union(value.dep, index.dep);
            }
            set!(*dst, value);
        }
        Op::Alloca {
            dst,
            size,
            count,
            align,
            local,
            private,
            idle,
            site,
        } => {
            let count = count.map_or(Val::constant(1), |c| val!(c));
            environment.control(thread, count.dep)?;
            let size = size.saturating_mul(count.bits);
            if size > MAX_SIZE {
                return Err(RunEnd::new(Outcome::Memory, "local array too large", None).into());
            }
            let local = NewLocal {
                size,
                align: *align,
                local: *local,
                private: *private,
                idle: *idle,
                site: *site,
            };
            let address = environment.alloca(thread, &local)?;
            set!(*dst, Val::constant(address));
        }
        Op::Load {
            dst,
            address,
            access,
        } => {
            let mut value = environment.load(thread, used!(*address, 64), access)?;
            value.bits = mask(value.bits, access.bits);
            value.undefined &= bytes_of(access.bits);
            set!(*dst, value);
        }
        Op::Store {
            value,
            address,
            access,
        } => {
            let address = used!(*address, 64);
            let value = match access.order {
                Order::Na => val!(*value), // perhaps a member of a structure that is copied
                _ => exchanged!(*value, access.bits),
            };
            environment.store(thread, address, value, access)?;
        }
        Op::Rmw {
            dst,
            op,
            address,
            value,
            access,
        } => {
            let value = environment.rmw(
                thread,
                used!(*address, 64),
                *op,
                exchanged!(*value, access.bits),
                access,
            )?;
            set!(*dst, value);
        }
        Op::Cas {
            dst,
            flag,
            weak,
            writes,
            address,
            expected,
            desired,
            access,
            failure,
        } => {
            let cas = Cas {
                address: used!(*address, 64),
                expected: exchanged!(*expected, access.bits),
                desired: exchanged!(*desired, access.bits),
                weak: *weak,
                writes: *writes,
                failure: *failure,
            };
            let (value, success) = environment.cas(thread, &cas, access)?;
            set!(*dst, value);
            // success depends on the value read and on the one expected
            let dep = environment.union(value.dep, cas.expected.dep);
            let dep = environment.by_choice(dep);
            set!(*flag, Val::new(u64::from(success), dep));
        }
        Op::Fence {
            order: Order::Na, ..
        } => {}
        Op::Fence {
            order,
            signal,
            site,
        } => environment.fence(thread, *order, *signal, *site)?,
        Op::Lifetime {
            begins,
            local,
            site,
        } => {
            let address = val!(Operand::Register(*local)).bits;
            if *begins {
                let address = environment.begin_local(thread, address)?;
                set!(*local, Val::constant(address));
            } else {
                environment.end_local(thread, address, *site)?;
            }
        }
        Op::ThreadLocal { dst, global } => {
            let address = environment.thread_local(thread, *global);
            set!(*dst, Val::constant(address));
        }
        Op::Br(edge) => return Ok(take(program, limits, thread, environment, edge)?),
        Op::CondBr {
            condition,
            then,
            otherwise,
            exits,
            join,
            asserts,
            selects,
        } => {
            let condition = used!(*condition, 1);
            if let Some(site) = asserts {
                environment.asserts(*site);
            }
            if !(*selects && environment.compares_at_once()) {
                environment.require(condition.dep)?;
                decide(thread, environment, condition.dep, (exits, *join));
            }
            let edge = if condition.bits & 1 == 1 {
                then
            } else {
                otherwise
            };
            return Ok(take(program, limits, thread, environment, edge)?);
        }
        Op::Switch {
            value,
            cases,
            default,
            exits,
            join,
        } => {
            let value = used!(*value, 64);
            environment.require(value.dep)?;
            decide(thread, environment, value.dep, (exits, *join));
            let edge = cases
                .iter()
                .find(|c| c.0 == value.bits)
                .map_or(default, |c| &c.1);
            return Ok(take(program, limits, thread, environment, edge)?);
        }
        Op::Call {
            callee,
            args,
            dst,
            results,
            site,
        } => {
            let args: Vec<Val> = args.iter().map(|a| val!(*a)).collect();
            let target = match callee {
                Callee::Direct(id) => *id,
                Callee::Through(operand) => {
                    let target = used!(*operand, 64);
                    environment.require(target.dep)?;
                    if environment.branches_end() && target.dep != 0 {
                        thread.branches.push(OpenBranch {
                            frames: thread.frames.len() + 1,
                            join: None,
                            ctrl: thread.ctrl,
                        });
                    }
                    thread.ctrl = environment.union(thread.ctrl, target.dep);
                    match program.function_at(target.bits) {
                        Some(id) if !program.functions[id as usize].code.is_empty() => id,
                        _ => {
                            let message =
                                "call through a pointer that points to no function of the program";
                            let end = RunEnd::call_of_none(program, target.bits, message, *site);
                            return Err(end.into());
                        }
                    }
                }
            };
            if thread.frames.len() >= limits.calls {
                let message = format!("more than {} nested calls", limits.calls);
                return Err(RunEnd::at_limit("calls", message, None).into());
            }
            if top == 0 && thread.operation == Operation::Start {
                thread.operation = Operation::Called(target);
                thread.calls += 1;
                thread.call = thread.calls;
            }
            let mark = environment.locals(thread);
            thread.enter(program, target, &args, (*dst, *results), mark);
            if let Some(frame) = thread.frames.last_mut() {
                frame.site = *site;
            }
            return Ok(());
        }
        Op::Extern {
            function,
            args,
            dst,
            site,
            write_site,
            private,
        } => {
            let mut given = Vec::with_capacity(args.len());
            for operand in args {
                given.push(used!(*operand, 64));
            }
            let call = ExternCall {
                function: *function,
                args: &given,
                site: *site,
                write_site: *write_site,
                private: *private,
            };
            match environment.external(thread, &call)? {
                Flow::Value(value) => {
                    if let Some(dst) = dst {
                        set!(*dst, value);
                    }
                }
                Flow::Wait => return Ok(()),
                Flow::ExitThread(value) => {
                    let ends = is_last(program, thread);
                    environment.leave(thread, 0, ends)?;
                    thread.exited = true;
                    ended(program, thread, environment, value)?;
                    return Ok(());
                }
                Flow::ExitProcess if thread.start != program.main => {
                    let message = "a call of exit in a global constructor is not supported";
                    return Err(RunEnd::new(Outcome::Unsupported, message, Some(*site)).into());
                }
                Flow::ExitProcess => {
                    if !thread.returned {
                        thread.exits = 0;
                    }
                    thread.returned = true;
                    return Ok(ended(program, thread, environment, Val::constant(0))?);
                }
                Flow::Raise(raised) => {
                    thread.raised = Some(raised);
                    return Ok(());
                }
                Flow::Once(target, flag) => {
                    if let Some(dst) = dst {
                        set!(*dst, Val::constant(0));
                    }
                    let mark = environment.locals(thread);
                    thread.enter(program, target, &[], (0, 0), mark);
                    if let Some(frame) = thread.frames.last_mut() {
                        frame.once = Some((flag, *site));
                    }
                    return Ok(());
                }
            }
        }
        Op::Ret(values) => {
            let values: Vec<Val> = values.iter().map(|v| val!(*v)).collect();
            return leave(program, thread, environment, &values);
        }
        Op::LandingPad { dst, .. } => {
            let (exception, selector) = unwind::landed(thread);
            set!(*dst, exception);
            set!(*dst + 1, selector);
        }
        Op::Refused { message, site, .. } => {
            let end = RunEnd::new(Outcome::Unsupported, message.as_str(), Some(*site));
            return Err(end.into());
        }
        Op::Unreachable => {
            let message = "execution reaches code that the compiler assumes to be unreachable";
            return Err(RunEnd::new(Outcome::Memory, message, None).into());
        }
    }
    thread.frames[top].pc += 1;
    Ok(())
}
