//! The paths of a C thread, as herd7's C semantics gives them: a read-modify-write is one
//! event; a compare-exchange that fails is a read and writes what it saw to the expected
//! location; `while` is unrolled twice.

use super::builder::Builder;
use super::event::{Act, Held, Id, Operand, Path};
use super::limits::{Limit, PATHS};
use litmus::c::ast::{Expr, Order, Stmt, Thread};
use litmus::value::{Op, Value};
use smallvec::{smallvec, SmallVec};

/// The sets a C event may belong to, beside those of every architecture.
pub const TAGS: [&str; 19] = [
    "RLX", "CON", "ACQ", "REL", "ACQ_REL", "SC", "A", "NA", "RMW", "LK", "LS", "LF", "UL", "LKR",
    "LKW", "RL", "RU", "annot", "Rcu-lock",
];

const ATOMIC: u64 = 1 << 6;
pub const PLAIN: u64 = 1 << 7;
const RMW: u64 = 1 << 8;
const LOCKED: u64 = PLAIN | 1 << 9 | 1 << 10;
const UNLOCKED: u64 = PLAIN | 1 << 12;

const UNROLL: u32 = 2;

fn order_tag(order: Order) -> u64 {
    match order {
        Order::Relaxed => 1,
        Order::Consume => 1 << 1,
        Order::Acquire => 1 << 2,
        Order::Release => 1 << 3,
        Order::AcqRel => 1 << 4,
        Order::SeqCst => 1 << 5,
    }
}

fn access_tags(order: Option<Order>) -> u64 {
    order.map_or(PLAIN, |o| order_tag(o) | ATOMIC)
}

/// The value of an expression and the events that give it.
struct Out {
    value: Operand,
    from: SmallVec<[Id; 2]>,
}

/// Builders are large, and handed on with each part of an expression.
type Handed = Box<Builder>;

type Builders = SmallVec<[Handed; 1]>;

type Outs = SmallVec<[(Handed, Out); 1]>;

#[derive(Clone)]
enum Task<'a> {
    Run(&'a Stmt),
    Loop(&'a Expr, &'a [Stmt], u32),
    /// One turn too many.
    Cut,
    /// The branch ends: so many deciders remain.
    Leave(usize),
}

struct Walk<'a> {
    done: Vec<Path>,
    /// Paths given up because of the bound.
    pending: Vec<(Handed, Vec<Task<'a>>)>,
}

/// All paths of the thread.
pub fn paths(thread: &Thread, registers: Vec<Held>) -> Result<Vec<Path>, Limit> {
    let tasks = thread.body.iter().rev().map(Task::Run).collect();
    let mut start = Box::new(Builder::new(registers));
    start.path.structured = true;
    let mut walk = Walk {
        done: Vec::new(),
        pending: vec![(start, tasks)],
    };
    while let Some((builder, tasks)) = walk.pending.pop() {
        walk.run(builder, tasks);
        if walk.done.len() + walk.pending.len() > PATHS {
            return Err(Limit::Paths);
        }
    }
    Ok(walk.done)
}

impl<'a> Walk<'a> {
    fn run(&mut self, mut b: Handed, mut tasks: Vec<Task<'a>>) {
        while let Some(task) = tasks.pop() {
            let states = match task {
                Task::Cut => {
                    b.path.cut = true;
                    break;
                }
                Task::Leave(n) => {
                    b.deciders.truncate(n);
                    continue;
                }
                Task::Loop(condition, body, turn) => {
                    b.next_instance(None);
                    let mut inside = vec![Task::Cut];
                    if turn < UNROLL {
                        inside = vec![Task::Loop(condition, body, turn + 1)];
                        inside.extend(body.iter().rev().map(Task::Run));
                    }
                    self.branch(b, tasks, condition, inside, Vec::new());
                    return;
                }
                Task::Run(Stmt::While(condition, body)) => {
                    tasks.push(Task::Loop(condition, body, 0));
                    continue;
                }
                Task::Run(Stmt::If(condition, then, otherwise)) => {
                    b.next_instance(None);
                    let then = then.iter().rev().map(Task::Run).collect();
                    let otherwise = otherwise.iter().rev().map(Task::Run).collect();
                    self.branch(b, tasks, condition, then, otherwise);
                    return;
                }
                Task::Run(stmt) => {
                    b.next_instance(None);
                    simple(b, stmt)
                }
            };
            let mut states = states.into_iter();
            let Some(first) = states.next() else { return };
            for other in states {
                self.pending.push((other, tasks.clone()));
            }
            b = first;
        }
        self.done.push(b.path);
    }

    fn branch(
        &mut self,
        b: Handed,
        tasks: Vec<Task<'a>>,
        condition: &Expr,
        then: Vec<Task<'a>>,
        otherwise: Vec<Task<'a>>,
    ) {
        let start = b.path.events.len();
        let comparison = matches!(
            condition,
            Expr::Binary(Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge, ..)
        );
        for (mut b, out) in eval(b, condition, false) {
            let truth = match comparison {
                true => out.value,
                false => b.compute(Op::Ne, out.value, Operand::ZERO),
            };
            let outer = b.deciders.len();
            let deciders: Vec<Id> = (start..b.path.events.len())
                .filter(|id| {
                    let act = &b.path.events[*id].act;
                    act.is_load() || matches!(act, Act::RegisterRead)
                })
                .collect();
            for (wanted, inside) in [(1, &then), (0, &otherwise)] {
                let mut b = b.clone();
                if !b.require(truth, Operand::int(wanted)) {
                    continue;
                }
                b.next_instance(None);
                b.deciders.extend(&deciders);
                let mut tasks = tasks.clone();
                tasks.push(Task::Leave(outer));
                tasks.extend(inside.iter().cloned());
                self.pending.push((b, tasks));
            }
        }
    }
}

fn simple(b: Handed, stmt: &Stmt) -> Builders {
    match stmt {
        Stmt::Assign(reg, e) => each(eval(b, e, true), |b, out| {
            let w = b.write_register(*reg, out.value);
            b.data(&out.from, w);
        }),
        Stmt::Effect(e) => each(eval(b, e, true), |_, _| {}),
        Stmt::Store(at, value, order) => {
            let mut done = Builders::new();
            for (b, at) in eval(b, at, false) {
                done.extend(each(eval(b, value, true), |b, value| {
                    let act = Act::Write {
                        at: at.value,
                        value: value.value,
                    };
                    let w = b.event(act, access_tags(*order), false);
                    b.data(&at.from, w);
                    b.data(&value.from, w);
                }));
            }
            done
        }
        Stmt::Fence(order) => {
            let mut b = b;
            b.event(Act::Fence, order_tag(*order) | PLAIN, false);
            smallvec![b]
        }
        Stmt::Lock(at) => each(eval(b, at, false), |b, at| {
            let id = b.event(Act::Lock { at: at.value }, LOCKED, false);
            b.data(&at.from, id);
        }),
        Stmt::Unlock(at) => each(eval(b, at, false), |b, at| {
            let id = b.event(Act::Unlock { at: at.value }, UNLOCKED, false);
            b.data(&at.from, id);
        }),
        Stmt::If(..) | Stmt::While(..) => smallvec![b],
    }
}

fn each(outs: Outs, f: impl Fn(&mut Builder, Out)) -> Builders {
    outs.into_iter()
        .map(|(mut b, out)| {
            f(&mut b, out);
            b
        })
        .collect()
}

fn eval(mut b: Handed, e: &Expr, data: bool) -> Outs {
    match e {
        Expr::Const(v) => {
            let value = Operand::Known(*v);
            let from = smallvec![];
            smallvec![(b, Out { value, from })]
        }
        Expr::Reg(r) => {
            let (value, id) = b.read_register(*r, data);
            let from = smallvec![id];
            smallvec![(b, Out { value, from })]
        }
        Expr::Load(at, order) => map(eval(b, at, data), |b, at| {
            let (value, id) = b.read(at.value, access_tags(*order), data);
            b.data(&at.from, id);
            Out {
                value,
                from: smallvec![id],
            }
        }),
        Expr::Binary(op, x, y) => pairs(b, (x, data), (y, data), |b, x, y| {
            let value = b.compute(*op, x.value, y.value);
            let mut from = x.from.clone();
            from.extend(y.from);
            Out { value, from }
        }),
        Expr::Exchange { at, value, order } => {
            pairs(b, (value, true), (at, false), |b, value, at| {
                let read = b.fresh();
                update(b, value, at, read, value.value, *order, data)
            })
        }
        Expr::Fetch {
            op,
            at,
            value,
            order,
        } => pairs(b, (value, true), (at, false), |b, value, at| {
            let read = b.fresh();
            let written = b.compute(*op, read, value.value);
            update(b, value, at, read, written, *order, false)
        }),
        Expr::CompareExchange {
            at,
            expected,
            desired,
            success,
            failure,
            strong,
        } => {
            let mut done = Vec::new();
            for (b, expected) in eval(b, expected, false) {
                for (mut b, at) in eval(b, at, false) {
                    b.data(&expected.from, at.from.first().copied().unwrap_or(0));
                    let (seen, old) = b.read(expected.value, PLAIN, true);
                    b.data(&at.from, old);
                    done.push(fail(
                        b.clone(),
                        &expected,
                        &at,
                        seen,
                        old,
                        *failure,
                        *strong,
                    ));
                    done.extend(succeed(b, &at, seen, old, desired, *success));
                }
            }
            done.into_iter().flatten().collect()
        }
    }
}

fn update(
    b: &mut Builder,
    value: &Out,
    at: Out,
    read: Operand,
    written: Operand,
    order: Order,
    data: bool,
) -> Out {
    let act = Act::Update {
        at: at.value,
        read,
        written,
    };
    let id = b.event(act, order_tag(order) | ATOMIC | RMW, data);
    b.data(&value.from, id);
    b.data(&at.from, id);
    Out {
        value: read,
        from: smallvec![id],
    }
}

/// The failing half of a compare-exchange.
fn fail(
    mut b: Handed,
    expected: &Out,
    at: &Out,
    seen: Operand,
    old: Id,
    order: Order,
    strong: bool,
) -> Option<(Handed, Out)> {
    let (value, read) = b.read(at.value, access_tags(Some(order)), true);
    b.data(&at.from, read);
    b.ctrl(&[old], read);
    if strong {
        let same = b.compute(Op::Eq, value, seen);
        if !b.require(same, Operand::ZERO) {
            return None;
        }
    }
    let act = Act::Write {
        at: expected.value,
        value,
    };
    let w = b.event(act, PLAIN, false);
    b.data(&at.from, w);
    b.ctrl(&[read], w);
    let value = Operand::Known(Value::ZERO);
    Some((
        b,
        Out {
            value,
            from: smallvec![w],
        },
    ))
}

/// The succeeding half of a compare-exchange.
fn succeed(
    b: Handed,
    at: &Out,
    seen: Operand,
    old: Id,
    desired: &Expr,
    order: Order,
) -> Vec<Option<(Handed, Out)>> {
    map(eval(b, desired, true), |b, desired| {
        let act = Act::Update {
            at: at.value,
            read: seen,
            written: desired.value,
        };
        let id = b.event(act, order_tag(order) | ATOMIC | RMW, false);
        let first = match desired.from.is_empty() {
            true => smallvec![id],
            false => desired.from.clone(),
        };
        b.data(&desired.from, id);
        for f in first {
            b.data(&at.from, f);
            b.ctrl(&[old], f);
        }
        Out {
            value: Operand::Known(Value::ONE),
            from: smallvec![id],
        }
    })
    .into_iter()
    .map(Some)
    .collect()
}

fn map(outs: Outs, f: impl Fn(&mut Builder, Out) -> Out) -> Outs {
    outs.into_iter()
        .map(|(mut b, out)| {
            let out = f(&mut b, out);
            (b, out)
        })
        .collect()
}

fn pairs(
    b: Handed,
    first: (&Expr, bool),
    second: (&Expr, bool),
    f: impl Fn(&mut Builder, &Out, Out) -> Out,
) -> Outs {
    let mut done = Outs::new();
    for (b, x) in eval(b, first.0, first.1) {
        for (mut b, y) in eval(b, second.0, second.1) {
            let out = f(&mut b, &x, y);
            done.push((b, out));
        }
    }
    done
}
