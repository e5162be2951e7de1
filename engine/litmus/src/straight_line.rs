//! C tests whose threads are straight-line code of accesses, fences and guards: the form from
//! which tests in other languages are generated. It has no loops, locks, computed values or
//! computed addresses, and the condition is `exists` over a conjunction.

use std::collections::{BTreeMap, BTreeSet};

use super::c::ast::{CThread, Expression, MemoryOrder, Statement};
use super::condition::{Prop, Quantifier};
use super::observable::Observable;
use super::program::Program;
use super::test::Test;
use super::value::{Address, Op, RegisterId, Value};

/// Memory orders are written na, rlx, acq, rel, acq_rel, sc.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    Load {
        reg: String,
        loc: String,
        order: &'static str,
    },
    Store {
        loc: String,
        value: i64,
        order: &'static str,
    },
    Rmw {
        reg: String,
        loc: String,
        op: &'static str,
        operand: i64,
        order: &'static str,
    },
    Cas {
        reg: String,
        loc: String,
        expected: i64,
        desired: i64,
        success: &'static str,
        failure: &'static str,
        weak: bool,
    },
    Fence {
        order: &'static str,
    },
    /// What follows runs only if the register has the value.
    Guard {
        reg: String,
        value: i64,
    },
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StraightLineTest {
    pub threads: Vec<Vec<Step>>,
    /// The conjuncts of the condition: thread (none for a location), name, value.
    pub atoms: Vec<(Option<usize>, String, i64)>,
    /// In the order of their first accesses.
    pub locations: Vec<String>,
    /// The initial values that are not 0.
    pub init: BTreeMap<String, i64>,
    /// The locations that have plain accesses.
    pub plain: BTreeSet<String>,
}

/// The initial value of a register that is written behind a guard.
pub const UNREACHED: i64 = -1;

/// The test in this form; none if it has none or is not in C.
pub fn straight_line(test: &Test) -> Option<StraightLineTest> {
    let Program::C(threads) = &test.program else {
        return None;
    };
    // a parameter is the address of the location with its name
    let passed = |((_, register), value): (&(usize, String), &Value)| match value {
        Value::Address(at) => {
            at.offset == 0 && test.location_names.get(at.name as usize) == Some(register)
        }
        _ => false,
    };
    if test.filter.is_some() || !test.registers.iter().all(passed) {
        return None;
    }
    let mut reader = Extractor {
        test,
        cells: BTreeMap::new(),
        atomic: BTreeSet::new(),
        written: Vec::new(),
        out: StraightLineTest::default(),
    };
    for thread in threads {
        let actions = reader.thread(thread)?;
        reader.out.threads.push(actions);
    }
    reader.condition()?;
    reader.initial()?;
    let Extractor {
        cells, atomic, out, ..
    } = reader;
    // no location has both atomic and plain accesses or also holds an expected value
    let apart = |name: &String| !(atomic.contains(name) && out.plain.contains(name));
    let once = cells
        .iter()
        .all(|(c, n)| *n == 1 && !out.locations.contains(c));
    (once && out.locations.iter().all(apart)).then_some(out)
}

struct Extractor<'t> {
    test: &'t Test,
    /// The locations that hold the expected values of compare-exchanges, and how often each does.
    cells: BTreeMap<String, usize>,
    atomic: BTreeSet<String>,
    /// By thread, the registers that are written.
    written: Vec<BTreeSet<String>>,
    out: StraightLineTest,
}

/// What has been assigned so far in a thread.
#[derive(Default)]
struct ThreadState {
    written: BTreeSet<RegisterId>,
    unreached: BTreeSet<RegisterId>,
    guarded: bool,
}

impl Extractor<'_> {
    fn thread(&mut self, thread: &CThread) -> Option<Vec<Step>> {
        let mut actions = Vec::new();
        let mut known = ThreadState::default();
        let mut rest = thread.body.as_slice();
        loop {
            let (last, before) = match rest {
                [before @ .., Statement::If(condition, then, otherwise)]
                    if otherwise.is_empty() =>
                {
                    (Some((condition, then)), before)
                }
                all => (None, all),
            };
            for statement in before {
                self.statement(thread, statement, &mut known, &mut actions)?;
            }
            let Some((condition, then)) = last else {
                let names = known
                    .written
                    .iter()
                    .map(|reg| thread.variables[*reg].clone());
                self.written.push(names.collect());
                return Some(actions);
            };
            let Expression::Binary(Op::Eq, left, right) = condition else {
                return None;
            };
            let (Expression::Reg(reg), Expression::Const(Value::Int(value))) = (&**left, &**right)
            else {
                return None;
            };
            if !known.written.contains(reg) {
                return None;
            }
            known.guarded = true;
            actions.push(Step::Guard {
                reg: thread.variables[*reg].clone(),
                value: *value,
            });
            rest = then;
        }
    }

    fn statement(
        &mut self,
        thread: &CThread,
        statement: &Statement,
        known: &mut ThreadState,
        actions: &mut Vec<Step>,
    ) -> Option<()> {
        let action = match statement {
            Statement::Assign(reg, Expression::Const(Value::Int(UNREACHED))) => {
                let first = known.unreached.insert(*reg) && !known.written.contains(reg);
                return first.then_some(());
            }
            Statement::Assign(reg, value) => {
                let local = *reg >= thread.parameters && known.written.insert(*reg);
                if !local || known.guarded && !known.unreached.contains(reg) {
                    return None;
                }
                self.effect(thread, thread.variables[*reg].clone(), value)?
            }
            Statement::Effect(value) => {
                let taken = |name: &String| thread.variables.contains(name);
                let fresh = |n: usize| format!("u{n}");
                let name = (actions.len()..).map(fresh).find(|name| !taken(name))?;
                self.effect(thread, name, value)?
            }
            Statement::Store(at, value, order) => Step::Store {
                loc: self.location(thread, at, order.is_none())?,
                value: constant(value)?,
                order: order.map_or(Some("na"), word)?,
            },
            Statement::Fence(order) => Step::Fence {
                order: word(*order)?,
            },
            Statement::Lock(_)
            | Statement::Unlock(_)
            | Statement::If(..)
            | Statement::While(..)
            | Statement::Kernel(_)
            | Statement::Position => return None,
        };
        actions.push(action);
        Some(())
    }

    fn effect(&mut self, thread: &CThread, reg: String, value: &Expression) -> Option<Step> {
        Some(match value {
            Expression::Load(at, order) => Step::Load {
                reg,
                loc: self.location(thread, at, order.is_none())?,
                order: order.map_or(Some("na"), word)?,
            },
            Expression::Exchange { at, value, order } => Step::Rmw {
                reg,
                loc: self.location(thread, at, false)?,
                op: "exch",
                operand: constant(value)?,
                order: word(*order)?,
            },
            Expression::Fetch {
                op,
                at,
                value,
                order,
            } => Step::Rmw {
                reg,
                loc: self.location(thread, at, false)?,
                op: match op {
                    Op::Add => "fetch.add",
                    Op::Sub => "fetch.sub",
                    Op::Or => "fetch.or",
                    Op::And => "fetch.and",
                    Op::Xor => "fetch.xor",
                    _ => return None,
                },
                operand: constant(value)?,
                order: word(*order)?,
            },
            Expression::CompareExchange {
                at,
                expected,
                desired,
                success,
                failure,
                strong,
            } => {
                let cell = parameter(thread, expected)?;
                let expected = self.value_of(&cell)?;
                *self.cells.entry(cell).or_default() += 1;
                Step::Cas {
                    reg,
                    loc: self.location(thread, at, false)?,
                    expected,
                    desired: constant(desired)?,
                    success: word(*success)?,
                    failure: word(*failure)?,
                    weak: !strong,
                }
            }
            Expression::Const(_)
            | Expression::Reg(_)
            | Expression::Binary(..)
            | Expression::Kernel(_) => return None,
        })
    }

    fn location(&mut self, thread: &CThread, at: &Expression, plain: bool) -> Option<String> {
        let name = parameter(thread, at)?;
        self.note(&name);
        let kind = match plain {
            true => &mut self.out.plain,
            false => &mut self.atomic,
        };
        kind.insert(name.clone());
        Some(name)
    }

    fn note(&mut self, name: &str) {
        if !self.out.locations.iter().any(|known| known == name) {
            self.out.locations.push(name.to_string());
        }
    }

    fn value_of(&self, name: &str) -> Option<i64> {
        let index = self.test.location_names.iter().position(|n| n == name);
        let address = index.map(|index| Address {
            name: index as u32,
            offset: 0,
        });
        match address.and_then(|at| self.test.memory.get(&at)) {
            None => Some(0),
            Some(Value::Int(value)) => Some(*value),
            Some(_) => None,
        }
    }

    fn condition(&mut self) -> Option<()> {
        if self.test.condition.quantifier != Quantifier::Exists || !self.test.listed.is_empty() {
            return None;
        }
        let parts = match &self.test.condition.prop {
            Prop::And(parts) => parts.as_slice(),
            Prop::True => &[],
            single => std::slice::from_ref(single),
        };
        for part in parts {
            let Prop::Is(observable, Value::Int(value)) = part else {
                return None;
            };
            let (thread, name) = match observable {
                Observable::Register { thread, name } => (Some(*thread), name.clone()),
                Observable::Memory(at) if at.offset == 0 => (
                    None,
                    self.test.location_names.get(at.name as usize)?.clone(),
                ),
                _ => return None,
            };
            match thread {
                None => self.note(&name),
                Some(thread) if self.written.get(thread)?.contains(&name) => {}
                Some(_) => return None,
            }
            self.out.atoms.push((thread, name, *value));
        }
        Some(())
    }

    fn initial(&mut self) -> Option<()> {
        for at in self.test.memory.keys() {
            if at.offset != 0 {
                return None;
            }
            let name = self.test.location_names.get(at.name as usize)?;
            let value = self.value_of(name)?;
            if value != 0 && !self.cells.contains_key(name) {
                self.out.init.insert(name.clone(), value);
            }
        }
        Some(())
    }
}

fn parameter(thread: &CThread, at: &Expression) -> Option<String> {
    match at {
        Expression::Reg(reg) if *reg < thread.parameters => Some(thread.variables[*reg].clone()),
        _ => None,
    }
}

fn constant(value: &Expression) -> Option<i64> {
    match value {
        Expression::Const(Value::Int(value)) => Some(*value),
        _ => None,
    }
}

/// None for consume, to which only C compilers give a meaning.
fn word(order: MemoryOrder) -> Option<&'static str> {
    Some(match order {
        MemoryOrder::Relaxed => "rlx",
        MemoryOrder::Consume => return None,
        MemoryOrder::Acquire => "acq",
        MemoryOrder::Release => "rel",
        MemoryOrder::AcqRel => "acq_rel",
        MemoryOrder::SeqCst => "sc",
    })
}
