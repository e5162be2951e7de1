//! C tests whose threads are straight lines of accesses, fences and guards, as what emits other
//! languages from a test takes them. Loops, locks, computed values and addresses are not among
//! them, nor conditions other than `exists` over a conjunction.
use super::c::ast::{Expr, Order, Reg, Stmt, Thread};
use super::value::{Address, Op, Value};
use super::{Observable, Program, Prop, Quantifier, Test};
use std::collections::{BTreeMap, BTreeSet};

/// Orders are in the words of the models: na, rlx, acq, rel, acq_rel, sc.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
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
pub struct Straight {
    pub threads: Vec<Vec<Action>>,
    /// Thread (none for a location), name, value: all of them together are what must exist.
    pub atoms: Vec<(Option<usize>, String, i64)>,
    /// In the order of their first accesses.
    pub locations: Vec<String>,
    /// The initial values that are not 0.
    pub init: BTreeMap<String, i64>,
    /// The locations that are accessed without an order.
    pub plain: BTreeSet<String>,
}

/// The value that a register has before a guard lets it be written.
pub const UNREACHED: i64 = -1;

/// The test as straight lines; none if it is not, or not in C.
pub fn straight(test: &Test) -> Option<Straight> {
    let Program::C(threads) = &test.program else {
        return None;
    };
    // a parameter is the address of the location of its name
    let passed = |((_, register), value): (&(usize, String), &Value)| match value {
        Value::Address(at) => at.offset == 0 && test.names.get(at.name as usize) == Some(register),
        _ => false,
    };
    if test.filter.is_some() || !test.registers.iter().all(passed) {
        return None;
    }
    let mut reader = Reader {
        test,
        cells: BTreeMap::new(),
        atomic: BTreeSet::new(),
        written: Vec::new(),
        out: Straight::default(),
    };
    for thread in threads {
        let actions = reader.thread(thread)?;
        reader.out.threads.push(actions);
    }
    reader.condition()?;
    reader.initial()?;
    let Reader {
        cells, atomic, out, ..
    } = reader;
    // a location that is both, or whose address is also a compare-exchange's expected value
    let apart = |name: &String| !(atomic.contains(name) && out.plain.contains(name));
    let once = cells
        .iter()
        .all(|(c, n)| *n == 1 && !out.locations.contains(c));
    (once && out.locations.iter().all(apart)).then_some(out)
}

struct Reader<'t> {
    test: &'t Test,
    /// The locations that hold expected values, and how often they are given.
    cells: BTreeMap<String, usize>,
    atomic: BTreeSet<String>,
    /// By thread, the registers that are read into.
    written: Vec<BTreeSet<String>>,
    out: Straight,
}

/// What is known of a thread's registers where the reader stands.
#[derive(Default)]
struct Known {
    written: BTreeSet<Reg>,
    unreached: BTreeSet<Reg>,
    guarded: bool,
}

impl Reader<'_> {
    fn thread(&mut self, thread: &Thread) -> Option<Vec<Action>> {
        let mut actions = Vec::new();
        let mut known = Known::default();
        let mut rest = thread.body.as_slice();
        loop {
            let (last, before) = match rest {
                [before @ .., Stmt::If(condition, then, otherwise)] if otherwise.is_empty() => {
                    (Some((condition, then)), before)
                }
                all => (None, all),
            };
            for statement in before {
                self.statement(thread, statement, &mut known, &mut actions)?;
            }
            let Some((condition, then)) = last else {
                let names = known.written.iter().map(|reg| thread.names[*reg].clone());
                self.written.push(names.collect());
                return Some(actions);
            };
            let Expr::Binary(Op::Eq, left, right) = condition else {
                return None;
            };
            let (Expr::Reg(reg), Expr::Const(Value::Int(value))) = (&**left, &**right) else {
                return None;
            };
            if !known.written.contains(reg) {
                return None;
            }
            known.guarded = true;
            actions.push(Action::Guard {
                reg: thread.names[*reg].clone(),
                value: *value,
            });
            rest = then;
        }
    }

    fn statement(
        &mut self,
        thread: &Thread,
        statement: &Stmt,
        known: &mut Known,
        actions: &mut Vec<Action>,
    ) -> Option<()> {
        let action = match statement {
            Stmt::Assign(reg, Expr::Const(Value::Int(UNREACHED))) => {
                let first = known.unreached.insert(*reg) && !known.written.contains(reg);
                return first.then_some(());
            }
            Stmt::Assign(reg, value) => {
                let local = *reg >= thread.parameters && known.written.insert(*reg);
                if !local || known.guarded && !known.unreached.contains(reg) {
                    return None;
                }
                self.effect(thread, thread.names[*reg].clone(), value)?
            }
            Stmt::Effect(value) => {
                let taken = |name: &String| thread.names.contains(name);
                let fresh = |n: usize| format!("u{n}");
                let name = (actions.len()..).map(fresh).find(|name| !taken(name))?;
                self.effect(thread, name, value)?
            }
            Stmt::Store(at, value, order) => Action::Store {
                loc: self.location(thread, at, order.is_none())?,
                value: constant(value)?,
                order: order.map_or(Some("na"), word)?,
            },
            Stmt::Fence(order) => Action::Fence {
                order: word(*order)?,
            },
            Stmt::Lock(_) | Stmt::Unlock(_) | Stmt::If(..) | Stmt::While(..) => return None,
        };
        actions.push(action);
        Some(())
    }

    fn effect(&mut self, thread: &Thread, reg: String, value: &Expr) -> Option<Action> {
        Some(match value {
            Expr::Load(at, order) => Action::Load {
                reg,
                loc: self.location(thread, at, order.is_none())?,
                order: order.map_or(Some("na"), word)?,
            },
            Expr::Exchange { at, value, order } => Action::Rmw {
                reg,
                loc: self.location(thread, at, false)?,
                op: "exch",
                operand: constant(value)?,
                order: word(*order)?,
            },
            Expr::Fetch {
                op,
                at,
                value,
                order,
            } => Action::Rmw {
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
            Expr::CompareExchange {
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
                Action::Cas {
                    reg,
                    loc: self.location(thread, at, false)?,
                    expected,
                    desired: constant(desired)?,
                    success: word(*success)?,
                    failure: word(*failure)?,
                    weak: !strong,
                }
            }
            Expr::Const(_) | Expr::Reg(_) | Expr::Binary(..) => return None,
        })
    }

    fn location(&mut self, thread: &Thread, at: &Expr, plain: bool) -> Option<String> {
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
        let index = self.test.names.iter().position(|n| n == name);
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
        if self.test.condition.quantifier != Quantifier::Exists || !self.test.locations.is_empty() {
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
                Observable::Memory(at) if at.offset == 0 => {
                    (None, self.test.names.get(at.name as usize)?.clone())
                }
                Observable::Memory(_) => return None,
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
            let name = self.test.names.get(at.name as usize)?;
            let value = self.value_of(name)?;
            if value != 0 && !self.cells.contains_key(name) {
                self.out.init.insert(name.clone(), value);
            }
        }
        Some(())
    }
}

fn parameter(thread: &Thread, at: &Expr) -> Option<String> {
    match at {
        Expr::Reg(reg) if *reg < thread.parameters => Some(thread.names[*reg].clone()),
        _ => None,
    }
}

fn constant(value: &Expr) -> Option<i64> {
    match value {
        Expr::Const(Value::Int(value)) => Some(*value),
        _ => None,
    }
}

/// None for consume, which nothing but a C compiler gives a meaning to.
fn word(order: Order) -> Option<&'static str> {
    Some(match order {
        Order::Relaxed => "rlx",
        Order::Consume => return None,
        Order::Acquire => "acq",
        Order::Release => "rel",
        Order::AcqRel => "acq_rel",
        Order::SeqCst => "sc",
    })
}
