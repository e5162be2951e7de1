//! A C litmus test as something to explore, so that exploration and enumeration can be compared.
//!
//! The threads do what `enumerate`'s C threads do, loops unrolled as often; a lock is a
//! read-modify-write that waits.

use std::collections::{BTreeSet, HashMap};
use std::sync::Mutex;

use super::execution::Ended;

use super::outcome::{End, Exploration, ExploreError, Options};
use super::source::{Action, Initial, Location, Next, Source, ThreadId, Told, Wait};
use crate::cat::Model;
use crate::litmus::c::ast::{Expr, Order as Written, Stmt, Thread};
use crate::litmus::value::{Address, Op, Value};
use crate::litmus::{Observable, Program, Test};
use crate::program::ir::{Order, SiteId};

/// How often `while` goes round before it is cut, as in `enumerate`.
const UNROLL: u32 = 2;

/// Addresses are numbers that integers of litmus tests are far from.
const POINTER: u64 = 0x4c00_0000_0000_0000;

fn encode(value: Value) -> u64 {
    match value {
        Value::Int(int) => int as u64,
        Value::Address(at) => POINTER | u64::from(at.name) << 32 | u64::from(at.offset as u32),
        Value::Open(_) => 0,
    }
}

fn decode(word: u64) -> Value {
    match word >> 56 == POINTER >> 56 {
        true => Value::Address(Address {
            name: (word >> 32) as u32 & 0xff_ffff,
            offset: i64::from(word as u32 as i32),
        }),
        false => Value::Int(word as i64),
    }
}

type Register = usize;

/// The operands are registers.
#[derive(Clone, Copy, Debug)]
enum Step {
    Set(Register, u64),
    Copy(Register, Register),
    Compute(Register, Op, Register, Register),
    Read {
        to: Register,
        at: Register,
        order: Order,
        exclusive: bool,
    },
    Write {
        at: Register,
        from: Register,
        order: Order,
        exclusive: bool,
    },
    Fence(Order),
    /// Whether a weak compare-exchange fails for no reason.
    Choose(Register),
    /// Waits unless the register is 0.
    Await(Register),
    Zero(Register, usize),
    Jump(usize),
    Cut,
}

struct Code {
    steps: Vec<Step>,
    /// The registers' first values: the thread's names, then what expressions need.
    registers: Vec<u64>,
}

/// The test's threads; main starts them all and has none of the test's events.
pub struct Threads<'t> {
    test: &'t Test,
    codes: Vec<Code>,
}

#[derive(Clone)]
pub struct Running {
    /// 0: main.
    number: ThreadId,
    at: usize,
    registers: Box<[u64]>,
}

impl<'t> Threads<'t> {
    pub fn new(test: &'t Test) -> Result<Threads<'t>, ExploreError> {
        let Program::C(threads) = &test.program else {
            return Err(unsupported("only tests of C are explored"));
        };
        let threads = threads.iter().enumerate();
        let codes = threads.map(|(number, thread)| compile(test, number, thread));
        Ok(Threads {
            test,
            codes: codes.collect::<Result<_, _>>()?,
        })
    }

    fn event(action: Action, at: usize) -> Next {
        Next::Event(Told {
            action,
            site: at as SiteId,
        })
    }

    fn value(&self, execution: &Ended<Running>, observable: &Observable) -> Value {
        match observable {
            Observable::Register { thread, name } => {
                let names = match &self.test.program {
                    Program::C(threads) => &threads[*thread].names,
                    Program::Assembly(_) => return Value::ZERO,
                };
                let register = names.iter().position(|known| known == name);
                let running = execution.thread(thread + 1);
                match (register, running) {
                    (Some(register), Some(running)) => decode(running.registers[register]),
                    _ => Value::ZERO,
                }
            }
            Observable::Memory(address) => {
                let at = location(encode(Value::Address(*address)));
                match execution.graph.place(at) {
                    Some(place) => {
                        let last = execution.graph.last_write(place);
                        decode(execution.graph.value_of(place, last))
                    }
                    None => self
                        .test
                        .memory
                        .get(address)
                        .copied()
                        .unwrap_or(Value::ZERO),
                }
            }
        }
    }
}

fn location(address: u64) -> Location {
    Location { address, size: 8 }
}

fn unsupported(message: &str) -> ExploreError {
    ExploreError::Unsupported {
        message: message.to_owned(),
        site: None,
    }
}

impl Source for Threads<'_> {
    type Thread = Running;

    fn main(&self) -> Running {
        Running {
            number: 0,
            at: 0,
            registers: Box::default(),
        }
    }

    fn created(&self, _: &Running, thread: ThreadId) -> Running {
        Running {
            number: thread,
            at: 0,
            registers: self.codes[thread - 1].registers.clone().into(),
        }
    }

    fn next(&self, thread: &mut Running) -> Next {
        let Some(number) = thread.number.checked_sub(1) else {
            thread.at += 1;
            return match thread.at > self.codes.len() {
                true => Next::Done(0),
                false => Self::event(Action::Create { thread: thread.at }, 0),
            };
        };
        let code = &self.codes[number];
        let registers = &mut thread.registers;
        loop {
            let at = thread.at;
            let Some(step) = code.steps.get(at) else {
                return Next::Done(0);
            };
            thread.at += 1;
            let action = match *step {
                Step::Set(to, value) => {
                    registers[to] = value;
                    continue;
                }
                Step::Copy(to, from) => {
                    registers[to] = registers[from];
                    continue;
                }
                Step::Compute(to, op, a, b) => {
                    match op.apply(decode(registers[a]), decode(registers[b])) {
                        Ok(value) => registers[to] = encode(value),
                        Err(_) => {
                            return Next::Unsupported {
                                message: "the test computes what has no result".to_owned(),
                                site: None,
                            }
                        }
                    }
                    continue;
                }
                Step::Zero(register, target) => {
                    if registers[register] == 0 {
                        thread.at = target;
                    }
                    continue;
                }
                Step::Jump(target) => {
                    thread.at = target;
                    continue;
                }
                Step::Await(register) => {
                    if registers[register] == 0 {
                        continue;
                    }
                    return Next::Blocked {
                        wait: Wait::For {
                            what: "a lock",
                            reads: 1,
                        },
                        site: at as SiteId,
                    };
                }
                Step::Cut => {
                    return Next::Cut {
                        message: "a loop goes round more often".to_owned(),
                        site: None,
                    }
                }
                Step::Read {
                    at,
                    order,
                    exclusive,
                    ..
                } => Action::Read {
                    at: location(registers[at]),
                    order,
                    exclusive,
                    lax: false,
                },
                Step::Write {
                    at,
                    from,
                    order,
                    exclusive,
                } => Action::Write {
                    at: location(registers[at]),
                    order,
                    value: registers[from],
                    exclusive,
                },
                Step::Fence(order) => Action::Fence { order },
                Step::Choose(_) => Action::Choose { ways: 2 },
            };
            return Self::event(action, at);
        }
    }

    fn answer(&self, thread: &mut Running, value: u64) {
        let code = &self.codes[thread.number - 1];
        if let Step::Read { to, .. } | Step::Choose(to) = code.steps[thread.at - 1] {
            thread.registers[to] = value;
        }
    }

    fn initial(&self, at: Location) -> Initial {
        match decode(at.address) {
            Value::Address(address) => {
                let value = self.test.memory.get(&address);
                Initial::Value(encode(value.copied().unwrap_or(Value::ZERO)))
            }
            _ => Initial::Outside,
        }
    }

    fn extent(&self, _: u64) -> Option<u64> {
        None
    }
}

fn compile(test: &Test, number: usize, thread: &Thread) -> Result<Code, ExploreError> {
    let first = |name: &String| {
        let value = test.registers.get(&(number, name.clone()));
        value.map_or(0, |value| encode(*value))
    };
    let mut compiler = Compiler {
        code: Code {
            steps: Vec::new(),
            registers: thread.names.iter().map(first).collect(),
        },
    };
    compiler.block(&thread.body)?;
    Ok(compiler.code)
}

struct Compiler {
    code: Code,
}

fn order(order: Written) -> Order {
    match order {
        Written::Relaxed => Order::Rlx,
        Written::Consume | Written::Acquire => Order::Acq,
        Written::Release => Order::Rel,
        Written::AcqRel => Order::AcqRel,
        Written::SeqCst => Order::Sc,
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

    fn block(&mut self, body: &[Stmt]) -> Result<(), ExploreError> {
        body.iter().try_for_each(|stmt| self.statement(stmt))
    }

    fn statement(&mut self, stmt: &Stmt) -> Result<(), ExploreError> {
        match stmt {
            Stmt::Assign(to, e) => {
                let from = self.expression(e)?;
                self.emit(Step::Copy(*to, from));
            }
            Stmt::Effect(e) => {
                self.expression(e)?;
            }
            Stmt::Store(at, value, written) => {
                let at = self.expression(at)?;
                let from = self.expression(value)?;
                self.emit(Step::Write {
                    at,
                    from,
                    order: written.map_or(Order::Na, order),
                    exclusive: false,
                });
            }
            Stmt::Fence(written) => self.emit(Step::Fence(order(*written))),
            Stmt::Lock(at) => {
                let at = self.expression(at)?;
                let (held, one) = (self.fresh(), self.fresh());
                self.emit(Step::Set(one, 1));
                self.emit(Step::Read {
                    to: held,
                    at,
                    order: Order::Acq,
                    exclusive: true,
                });
                self.emit(Step::Await(held));
                self.emit(Step::Write {
                    at,
                    from: one,
                    order: Order::Acq,
                    exclusive: true,
                });
            }
            Stmt::Unlock(at) => {
                let at = self.expression(at)?;
                let from = self.fresh();
                self.emit(Step::Set(from, 0));
                self.emit(Step::Write {
                    at,
                    from,
                    order: Order::Rel,
                    exclusive: false,
                });
            }
            Stmt::If(condition, then, otherwise) => {
                let truth = self.expression(condition)?;
                let skip = self.jump(Step::Zero, truth);
                self.block(then)?;
                let over = self.jump(|_, target| Step::Jump(target), 0);
                self.land(skip);
                self.block(otherwise)?;
                self.land(over);
            }
            Stmt::While(condition, body) => {
                let mut ends = Vec::new();
                for _ in 0..UNROLL {
                    let truth = self.expression(condition)?;
                    ends.push(self.jump(Step::Zero, truth));
                    self.block(body)?;
                }
                let truth = self.expression(condition)?;
                ends.push(self.jump(Step::Zero, truth));
                self.emit(Step::Cut);
                ends.into_iter().for_each(|end| self.land(end));
            }
        }
        Ok(())
    }

    /// The register that holds the expression's value.
    fn expression(&mut self, e: &Expr) -> Result<Register, ExploreError> {
        let to = match e {
            Expr::Reg(register) => *register,
            Expr::Const(value) => {
                let to = self.fresh();
                self.emit(Step::Set(to, encode(*value)));
                to
            }
            Expr::Load(at, written) => {
                let at = self.expression(at)?;
                let to = self.fresh();
                self.emit(Step::Read {
                    to,
                    at,
                    order: written.map_or(Order::Na, order),
                    exclusive: false,
                });
                to
            }
            Expr::Binary(op, a, b) => {
                let (a, b) = (self.operand(a)?, self.operand(b)?);
                let to = self.fresh();
                self.emit(Step::Compute(to, *op, a, b));
                to
            }
            Expr::Exchange {
                at,
                value,
                order: written,
            } => {
                let from = self.operand(value)?;
                let at = self.expression(at)?;
                self.update(at, *written, |_, _| from)
            }
            Expr::Fetch {
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
            Expr::CompareExchange { .. } => self.compare_exchange(e)?,
        };
        Ok(to)
    }

    /// The value of an expression that later parts of its statement may not change.
    fn operand(&mut self, e: &Expr) -> Result<Register, ExploreError> {
        self.expression(e)
    }

    fn update(
        &mut self,
        at: Register,
        written: Written,
        value: impl FnOnce(&mut Compiler, Register) -> Register,
    ) -> Register {
        let to = self.fresh();
        let order = order(written);
        self.emit(Step::Read {
            to,
            at,
            order,
            exclusive: true,
        });
        let from = value(self, to);
        self.emit(Step::Write {
            at,
            from,
            order,
            exclusive: true,
        });
        to
    }

    fn compare_exchange(&mut self, e: &Expr) -> Result<Register, ExploreError> {
        let Expr::CompareExchange {
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
        if !matches!(**desired, Expr::Reg(_) | Expr::Const(_) | Expr::Binary(..)) {
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
            exclusive: false,
        });
        self.emit(Step::Read {
            to: old,
            at,
            order: order(*failure),
            exclusive: true,
        });
        self.emit(Step::Compute(same, Op::Eq, old, seen));
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
            exclusive: true,
        });
        self.emit(Step::Set(to, 1));
        let over = self.jump(|_, target| Step::Jump(target), 0);
        failures.into_iter().for_each(|failure| self.land(failure));
        self.emit(Step::Write {
            at: expected,
            from: old,
            order: Order::Na,
            exclusive: false,
        });
        self.emit(Step::Set(to, 0));
        self.land(over);
        Ok(to)
    }
}

/// The final states of a test, of what it shows and in that order, and what exploring it found.
pub fn states(
    test: &Test,
    model: &Model,
    options: &Options,
) -> Result<(BTreeSet<Vec<Value>>, Exploration), ExploreError> {
    let threads = Threads::new(test)?;
    let shown = test.displayed();
    let observed = test.observed();
    let states = Mutex::new(BTreeSet::new());
    let found = super::explore_each(&threads, model, options, |execution, end| {
        if end != End::Complete {
            return;
        }
        let values: HashMap<&Observable, Value> = observed
            .iter()
            .map(|observable| (observable, threads.value(execution, observable)))
            .collect();
        let value =
            |observable: &Observable| values.get(observable).copied().unwrap_or(Value::ZERO);
        if test
            .filter
            .as_ref()
            .map_or(true, |filter| filter.holds(&value))
        {
            let state = shown.iter().map(value).collect();
            if let Ok(mut states) = states.lock() {
                states.insert(state);
            }
        }
    })?;
    Ok((states.into_inner().unwrap_or_default(), found))
}
