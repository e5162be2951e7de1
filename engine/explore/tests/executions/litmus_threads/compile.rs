//! A thread of a C litmus test as steps on registers: loops unrolled, a lock as a read-modify-write
//! that waits.

use explore::ExploreError;
use litmus::c::ast::{CThread, Expression, MemoryOrder, Statement};
use litmus::value::{Address, Op, Value};
use litmus::Test;
use program::ir::Order;

/// Iterations of a `while` loop before it is truncated, as in `enumerate`.
const UNROLL: u32 = 2;

/// Addresses are numbers that integers of litmus tests are far from. The three highest bits mark
/// locations that are in no object ([`explore::Location`]).
const POINTER: u64 = 0x0c00_0000_0000_0000;

pub fn encode(value: Value) -> u64 {
    match value {
        Value::Int(int) => int as u64,
        Value::Address(at) => POINTER | u64::from(at.name) << 32 | u64::from(at.offset as u32),
        Value::Undetermined(_) | Value::Code(_) => 0,
    }
}

pub fn decode(word: u64) -> Value {
    match word >> 56 == POINTER >> 56 {
        true => Value::Address(Address {
            name: (word >> 32) as u32 & 0xff_ffff,
            offset: i64::from(word as u32 as i32),
        }),
        false => Value::Int(word as i64),
    }
}

pub type Register = usize;

/// The operands are registers.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    Set(Register, u64),
    Copy(Register, Register),
    Compute(Register, Op, Register, Register),
    Read {
        to: Register,
        at: Register,
        order: Order,
        rmw: bool,
    },
    Write {
        at: Register,
        from: Register,
        order: Order,
        rmw: bool,
    },
    Fence(Order),
    /// Whether a compare-exchange finds what it expects: the two registers are equal.
    Compare(Register, Register, Register),
    /// The first register depends on what the second one does.
    Depend(Register, Register),
    /// Whether a weak compare-exchange fails for no reason.
    Choose(Register),
    /// Waits unless the register is 0.
    Await(Register),
    Zero(Register, usize),
    Jump(usize),
    Truncation,
}

pub struct Code {
    pub steps: Vec<Step>,
    /// The registers' first values: the thread's names, then what expressions need.
    pub registers: Vec<u64>,
}

pub fn compile(test: &Test, number: usize, thread: &CThread) -> Result<Code, ExploreError> {
    let first = |name: &String| {
        let value = test.registers.get(&(number, name.clone()));
        value.map_or(0, |value| encode(*value))
    };
    let mut compiler = Compiler {
        code: Code {
            steps: Vec::new(),
            registers: thread.variables.iter().map(first).collect(),
        },
    };
    compiler.block(&thread.body)?;
    Ok(compiler.code)
}

struct Compiler {
    code: Code,
}

fn order(order: MemoryOrder) -> Order {
    match order {
        MemoryOrder::Relaxed => Order::Rlx,
        MemoryOrder::Consume | MemoryOrder::Acquire => Order::Acq,
        MemoryOrder::Release => Order::Rel,
        MemoryOrder::AcqRel => Order::AcqRel,
        MemoryOrder::SeqCst => Order::Sc,
    }
}

impl Compiler {
    fn emit(&mut self, step: Step) {
        self.code.steps.push(step);
    }

    fn fresh(&mut self) -> Register {
        self.code.registers.push(0);
        self.code.registers.len() - 1
    }

    fn here(&self) -> usize {
        self.code.steps.len()
    }

    /// A jump whose target comes later.
    fn jump(&mut self, step: fn(Register, usize) -> Step, register: Register) -> usize {
        self.emit(step(register, 0));
        self.here() - 1
    }

    fn land(&mut self, jump: usize) {
        let here = self.here();
        match &mut self.code.steps[jump] {
            Step::Zero(_, target) | Step::Jump(target) => *target = here,
            _ => {}
        }
    }

    fn block(&mut self, body: &[Statement]) -> Result<(), ExploreError> {
        body.iter().try_for_each(|stmt| self.statement(stmt))
    }

    fn statement(&mut self, stmt: &Statement) -> Result<(), ExploreError> {
        match stmt {
            Statement::Assign(to, e) => {
                let from = self.expression(e)?;
                self.emit(Step::Copy(*to, from));
            }
            Statement::Effect(e) => {
                self.expression(e)?;
            }
            Statement::Store(at, value, written) => {
                let at = self.expression(at)?;
                let from = self.expression(value)?;
                self.emit(Step::Write {
                    at,
                    from,
                    order: written.map_or(Order::Na, order),
                    rmw: false,
                });
            }
            Statement::Fence(written) => self.emit(Step::Fence(order(*written))),
            Statement::Lock(at) => {
                let at = self.expression(at)?;
                let (held, one) = (self.fresh(), self.fresh());
                self.emit(Step::Set(one, 1));
                self.emit(Step::Read {
                    to: held,
                    at,
                    order: Order::Acq,
                    rmw: true,
                });
                self.emit(Step::Await(held));
                self.emit(Step::Write {
                    at,
                    from: one,
                    order: Order::Acq,
                    rmw: true,
                });
            }
            Statement::Unlock(at) => {
                let at = self.expression(at)?;
                let from = self.fresh();
                self.emit(Step::Set(from, 0));
                self.emit(Step::Write {
                    at,
                    from,
                    order: Order::Rel,
                    rmw: false,
                });
            }
            Statement::If(condition, then, otherwise) => {
                let truth = self.expression(condition)?;
                let skip = self.jump(Step::Zero, truth);
                self.block(then)?;
                let over = self.jump(|_, target| Step::Jump(target), 0);
                self.land(skip);
                self.block(otherwise)?;
                self.land(over);
            }
            Statement::While(condition, body) => {
                let mut ends = Vec::new();
                for _ in 0..UNROLL {
                    let truth = self.expression(condition)?;
                    ends.push(self.jump(Step::Zero, truth));
                    self.block(body)?;
                }
                let truth = self.expression(condition)?;
                ends.push(self.jump(Step::Zero, truth));
                self.emit(Step::Truncation);
                ends.into_iter().for_each(|end| self.land(end));
            }
            Statement::Position => {}
            Statement::Kernel(_) => return Err(unsupported("an operation of the kernel")),
        }
        Ok(())
    }

    /// The register that holds the expression's value.
    fn expression(&mut self, e: &Expression) -> Result<Register, ExploreError> {
        let to = match e {
            Expression::Reg(register) => *register,
            Expression::Const(value) => {
                let to = self.fresh();
                self.emit(Step::Set(to, encode(*value)));
                to
            }
            Expression::Load(at, written) => {
                let at = self.expression(at)?;
                let to = self.fresh();
                self.emit(Step::Read {
                    to,
                    at,
                    order: written.map_or(Order::Na, order),
                    rmw: false,
                });
                to
            }
            Expression::Binary(op, a, b) => {
                let (a, b) = (self.operand(a)?, self.operand(b)?);
                let to = self.fresh();
                self.emit(Step::Compute(to, *op, a, b));
                to
            }
            Expression::Exchange {
                at,
                value,
                order: written,
            } => {
                let from = self.operand(value)?;
                let at = self.expression(at)?;
                self.update(at, *written, |_, _| from)
            }
            Expression::Fetch {
                op,
                at,
                value,
                order: written,
            } => {
                let with = self.operand(value)?;
                let at = self.expression(at)?;
                self.update(at, *written, |compiler, read| {
                    let from = compiler.fresh();
                    compiler.emit(Step::Compute(from, *op, read, with));
                    from
                })
            }
            Expression::CompareExchange { .. } => self.compare_exchange(e)?,
            Expression::Kernel(_) => return Err(unsupported("an operation of the kernel")),
        };
        Ok(to)
    }

    /// The value of an expression that later parts of its statement may not change.
    fn operand(&mut self, e: &Expression) -> Result<Register, ExploreError> {
        self.expression(e)
    }

    fn update(
        &mut self,
        at: Register,
        written: MemoryOrder,
        value: impl FnOnce(&mut Compiler, Register) -> Register,
    ) -> Register {
        let to = self.fresh();
        let order = order(written);
        self.emit(Step::Read {
            to,
            at,
            order,
            rmw: true,
        });
        let from = value(self, to);
        self.emit(Step::Write {
            at,
            from,
            order,
            rmw: true,
        });
        to
    }

    fn compare_exchange(&mut self, e: &Expression) -> Result<Register, ExploreError> {
        let Expression::CompareExchange {
            at,
            expected,
            desired,
            success,
            failure,
            strong,
        } = e
        else {
            return Err(unsupported("a compare-exchange is expected"));
        };
        if !matches!(
            **desired,
            Expression::Reg(_) | Expression::Const(_) | Expression::Binary(..)
        ) {
            return Err(unsupported(
                "the new value of a compare-exchange is an operation on memory",
            ));
        }
        let expected = self.expression(expected)?;
        let at = self.expression(at)?;
        let from = self.expression(desired)?;
        let (seen, old, same, to) = (self.fresh(), self.fresh(), self.fresh(), self.fresh());
        self.emit(Step::Read {
            to: seen,
            at: expected,
            order: Order::Na,
            rmw: false,
        });
        self.emit(Step::Read {
            to: old,
            at,
            order: order(*failure),
            rmw: true,
        });
        self.emit(Step::Compare(same, old, seen));
        let mut failures = vec![self.jump(Step::Zero, same)];
        if !strong {
            let (spurious, normal) = (self.fresh(), self.fresh());
            self.emit(Step::Choose(spurious));
            self.emit(Step::Set(to, 0));
            self.emit(Step::Compute(normal, Op::Eq, spurious, to));
            failures.push(self.jump(Step::Zero, normal));
        }
        self.emit(Step::Write {
            at,
            from,
            order: order(*success),
            rmw: true,
        });
        self.emit(Step::Set(to, 1));
        let over = self.jump(|_, target| Step::Jump(target), 0);
        failures.into_iter().for_each(|failure| self.land(failure));
        self.emit(Step::Write {
            at: expected,
            from: old,
            order: Order::Na,
            rmw: false,
        });
        self.emit(Step::Set(to, 0));
        self.land(over);
        self.emit(Step::Depend(to, old));
        self.emit(Step::Depend(to, seen));
        Ok(to)
    }
}

pub fn unsupported(message: &str) -> ExploreError {
    ExploreError::Unsupported {
        message: message.to_owned(),
        site: None,
    }
}
