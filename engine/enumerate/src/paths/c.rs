//! The paths of a C thread. As in herd7, a read-modify-write is one event, a compare-exchange that
//! fails is a read and a write of the value to the expected location, and `while` is unrolled
//! twice. For a model that orders by dependencies ([`cat::Model::splits_rmw`]) a read-modify-write
//! is a read and a write, as in herd7 for the model of the Linux kernel, and the write of a
//! compare-exchange depends by control on what it reads and on what it expects.

use super::builder::PathBuilder;
use super::evaluated::{each, map, pairs, BoxedBuilder, Builders, Evaluated, Outcomes};
use super::kernel;
use super::path::{Action, Path, PathEventId, RegisterState};
use crate::limits::{Limit, PATHS};
use crate::term::Term;
use litmus::c::ast::{CThread, Expression, MemoryOrder, Statement};
use litmus::dialects::c::{
    access_annotations, order_annotation, ATOMIC, CASF, LOCK, PLAIN, RMW, UNLOCK,
};
use litmus::value::{Op, Value};
use smallvec::smallvec;

/// How often herd7 unrolls a `while` loop.
const MAX_ROUNDS: u32 = 2;

/// What a path has yet to execute.
#[derive(Clone)]
enum Task<'a> {
    Run(&'a Statement),
    /// A loop, of which this many rounds have been executed.
    Loop(&'a Expression, &'a [Statement], u32),
    StopAtLoopBound,
    /// The end of a branch: the deciders from this number on no longer apply.
    LeaveBranch(usize),
}

const POSITION: Task<'_> = Task::Run(&Statement::Position);

struct Walk<'a> {
    done: Vec<Path>,
    /// Paths that have not ended, with their tasks, the next one last.
    pending: Vec<(BoxedBuilder, Vec<Task<'a>>)>,
}

/// All paths of the thread.
pub fn paths(
    number: usize,
    thread: &CThread,
    registers: Vec<RegisterState>,
    split_rmw: bool,
) -> Result<Vec<Path>, Limit> {
    let tasks = thread.body.iter().rev().map(Task::Run).collect();
    let mut start = Box::new(PathBuilder::new(registers).of_thread(number));
    start.path.structured = true;
    start.split_rmw = split_rmw;
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
    fn run(&mut self, mut b: BoxedBuilder, mut tasks: Vec<Task<'a>>) {
        while let Some(task) = tasks.pop() {
            let states = match task {
                Task::StopAtLoopBound => {
                    b.path.loop_bound_reached = true;
                    break;
                }
                Task::LeaveBranch(n) => {
                    b.deciders.truncate(n);
                    continue;
                }
                Task::Loop(condition, body, round) => {
                    b.next_instance(None);
                    b.next_position();
                    let mut inside = vec![Task::StopAtLoopBound];
                    if round < MAX_ROUNDS {
                        inside = vec![Task::Loop(condition, body, round + 1)];
                        inside.extend(body.iter().rev().map(Task::Run));
                    }
                    self.branch(b, tasks, condition, inside, Vec::new());
                    return;
                }
                Task::Run(Statement::Position) => {
                    b.next_position();
                    continue;
                }
                Task::Run(Statement::While(condition, body)) => {
                    tasks.push(Task::Loop(condition, body, 0));
                    continue;
                }
                Task::Run(Statement::If(condition, then, otherwise)) => {
                    b.next_instance(None);
                    b.next_position();
                    // herd7 counts a branch, unless it is absent
                    let branch = |statements: &'a [Statement]| -> Vec<Task<'a>> {
                        let tasks = statements.iter().rev().map(Task::Run);
                        let counted = (!statements.is_empty()).then_some(POSITION);
                        tasks.chain(counted).collect()
                    };
                    let (then, otherwise) = (branch(then), branch(otherwise));
                    self.branch(b, tasks, condition, then, otherwise);
                    return;
                }
                Task::Run(stmt) => {
                    b.next_instance(None);
                    b.next_position();
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
        b: BoxedBuilder,
        tasks: Vec<Task<'a>>,
        condition: &Expression,
        then: Vec<Task<'a>>,
        otherwise: Vec<Task<'a>>,
    ) {
        let start = b.path.events.len();
        let comparison = matches!(condition, Expression::Binary(op, ..) if compares(*op));
        for (mut b, out) in eval(b, condition, false) {
            let truth = match comparison {
                true => out.value,
                false => b.compute(Op::Ne, out.value, Term::ZERO),
            };
            let outer = b.deciders.len();
            let deciders: Vec<PathEventId> = (start..b.path.events.len())
                .filter(|id| {
                    let action = &b.path.events[*id].action;
                    action.is_load_or_test() || matches!(action, Action::RegisterRead)
                })
                .collect();
            for (wanted, inside) in [(1, &then), (0, &otherwise)] {
                let mut b = b.clone();
                if !b.require(truth, Term::int(wanted)) {
                    continue;
                }
                b.next_instance(None);
                b.deciders.extend(&deciders);
                let mut tasks = tasks.clone();
                tasks.push(Task::LeaveBranch(outer));
                tasks.extend(inside.iter().cloned());
                self.pending.push((b, tasks));
            }
        }
    }
}

fn simple(b: BoxedBuilder, stmt: &Statement) -> Builders {
    match stmt {
        Statement::Assign(reg, e) => each(eval(b, e, true), |b, out| {
            let w = b.write_register(*reg, out.value);
            b.data(&out.from, w);
        }),
        Statement::Effect(e) => each(eval(b, e, true), |_, _| {}),
        Statement::Store(at, value, order) => {
            let mut done = Builders::new();
            for (b, at) in eval(b, at, false) {
                done.extend(each(eval(b, value, true), |b, value| {
                    let action = Action::Write {
                        at: at.value,
                        value: value.value,
                    };
                    let w = b.event(action, access_annotations(*order), false);
                    b.data(&at.from, w);
                    b.data(&value.from, w);
                }));
            }
            done
        }
        Statement::Fence(order) => {
            let mut b = b;
            b.event(Action::Fence, order_annotation(*order) | PLAIN, false);
            smallvec![b]
        }
        Statement::Lock(at) => each(eval(b, at, false), |b, at| {
            let id = b.event(Action::Lock { at: at.value }, LOCK, false);
            b.data(&at.from, id);
        }),
        Statement::Unlock(at) => each(eval(b, at, false), |b, at| {
            let id = b.event(Action::Unlock { at: at.value }, UNLOCK, false);
            b.data(&at.from, id);
        }),
        Statement::Kernel(statement) => kernel::statement(eval, b, statement),
        Statement::If(..) | Statement::While(..) | Statement::Position => smallvec![b],
    }
}

fn compares(op: Op) -> bool {
    matches!(op, Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge)
}

fn eval(mut b: BoxedBuilder, e: &Expression, data: bool) -> Outcomes {
    match e {
        Expression::Const(v) => {
            let value = Term::Known(*v);
            let from = smallvec![];
            smallvec![(b, Evaluated { value, from })]
        }
        Expression::Reg(r) => {
            let (value, id) = b.read_register(*r, data);
            let from = smallvec![id];
            smallvec![(b, Evaluated { value, from })]
        }
        Expression::Load(at, order) => map(eval(b, at, data), |b, at| {
            let (value, id) = b.read(at.value, access_annotations(*order), data);
            b.data(&at.from, id);
            Evaluated {
                value,
                from: smallvec![id],
            }
        }),
        Expression::Binary(op, x, y) => pairs(eval, b, (x, data), (y, data), |b, x, y| {
            let value = b.compute(*op, x.value, y.value);
            let mut from = x.from.clone();
            from.extend(y.from);
            if compares(*op) {
                from = b.chosen(from, data);
            }
            Evaluated { value, from }
        }),
        Expression::Exchange { at, value, order } => {
            pairs(eval, b, (value, true), (at, false), |b, value, at| {
                let read = b.fresh();
                let update = Update {
                    operand: &value.from,
                    at: &at,
                    read,
                    written: value.value,
                    order: *order,
                    computed: false,
                };
                let id = update.events(b, data);
                b.data(&at.from, id);
                Evaluated {
                    value: read,
                    from: smallvec![id],
                }
            })
        }
        Expression::Fetch {
            op,
            at,
            value,
            order,
        } => pairs(eval, b, (value, true), (at, false), |b, value, at| {
            let read = b.fresh();
            let written = b.compute(*op, read, value.value);
            let update = Update {
                operand: &value.from,
                at: &at,
                read,
                written,
                order: *order,
                computed: true,
            };
            let id = update.events(b, false);
            b.data(&at.from, id);
            Evaluated {
                value: read,
                from: smallvec![id],
            }
        }),
        Expression::CompareExchange {
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
            let done = done.into_iter().flatten().collect();
            map(done, |b, out| Evaluated {
                from: b.chosen(out.from, data),
                ..out
            })
        }
        Expression::Kernel(e) => kernel::expression(eval, b, e, data),
    }
}

/// A read-modify-write that succeeds.
struct Update<'u> {
    /// The events from which its operand comes.
    operand: &'u [PathEventId],
    at: &'u Evaluated,
    read: Term,
    written: Term,
    order: MemoryOrder,
    /// What it writes is computed from what it reads.
    computed: bool,
}

impl Update<'_> {
    /// Adds its event, or its two; returns the one that reads. `data`: its result is data.
    fn events(&self, b: &mut PathBuilder, data: bool) -> PathEventId {
        let (at, read, written) = (self.at.value, self.read, self.written);
        let annotations = order_annotation(self.order) | ATOMIC | RMW;
        if !b.split_rmw {
            let id = b.event(Action::Update { at, read, written }, annotations, data);
            b.data(self.operand, id);
            return id;
        }
        let value = read;
        let reads = b.event(
            Action::Read { at, value },
            annotations,
            data || self.computed,
        );
        let value = written;
        let writes = b.event(Action::Write { at, value }, annotations, false);
        for half in [reads, writes] {
            b.path.events[half].atomic = true;
        }
        b.data(&self.at.from, writes);
        b.data(self.operand, writes);
        match self.computed {
            true => b.data(&[reads], writes),
            false => b.order(reads, writes),
        }
        reads
    }
}

/// A compare-exchange that fails; a strong one fails only if the values differ.
fn fail(
    mut b: BoxedBuilder,
    expected: &Evaluated,
    at: &Evaluated,
    seen: Term,
    old: PathEventId,
    order: MemoryOrder,
    strong: bool,
) -> Option<(BoxedBuilder, Evaluated)> {
    let annotations = access_annotations(Some(order)) | CASF;
    let (value, read) = b.read(at.value, annotations, true);
    b.data(&at.from, read);
    b.ctrl(&[old], read);
    if strong {
        let same = b.compute(Op::Eq, value, seen);
        if !b.require(same, Term::ZERO) {
            return None;
        }
    }
    let action = Action::Write {
        at: expected.value,
        value,
    };
    let w = b.event(action, PLAIN, false);
    b.data(&at.from, w);
    b.ctrl(&[read], w);
    let from = match b.split_rmw {
        true => smallvec![old, read],
        false => smallvec![w],
    };
    let value = Term::Known(Value::ZERO);
    Some((b, Evaluated { value, from }))
}

/// A compare-exchange that succeeds.
fn succeed(
    b: BoxedBuilder,
    at: &Evaluated,
    seen: Term,
    old: PathEventId,
    desired: &Expression,
    order: MemoryOrder,
) -> Vec<Option<(BoxedBuilder, Evaluated)>> {
    map(eval(b, desired, true), |b, desired| {
        let update = Update {
            operand: &desired.from,
            at,
            read: seen,
            written: desired.value,
            order,
            computed: false,
        };
        let id = update.events(b, false);
        if b.split_rmw {
            // the write, which follows the read, is the first event to depend on the branch
            let writes = id + 1;
            b.path.control.extend([(old, writes), (id, writes)]);
        }
        let first = match desired.from.is_empty() {
            true => smallvec![id],
            false => desired.from.clone(),
        };
        for f in first {
            b.data(&at.from, f);
            b.ctrl(&[old], f);
        }
        let from = match b.split_rmw {
            true => smallvec![old, id],
            false => smallvec![id],
        };
        Evaluated {
            value: Term::Known(Value::ONE),
            from,
        }
    })
    .into_iter()
    .map(Some)
    .collect()
}
