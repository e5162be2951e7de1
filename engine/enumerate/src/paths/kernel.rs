//! The operations of the Linux kernel in the paths of a C thread, with herd7's events and the
//! causality between them (CSem.ml and event.ml of release 7.58).

use super::builder::PathBuilder;
use super::evaluated::{each, map, pairs, BoxedBuilder, Builders, Evaluate, Evaluated, Outcomes};
use super::path::{Action, PathEventId};
use crate::term::Term;
use litmus::c::ast::{Expression, KernelExpression, KernelStatement, RmwTags, Tag};
use litmus::dialects::c::{
    tag_annotation, ANNOT, IS_LOCKED, IS_UNLOCKED, LOCK_FAILURE, LOCK_READ, LOCK_WRITE, RMW,
};
use litmus::value::Op;
use litmus::Annotations;
use smallvec::{smallvec, SmallVec};
use std::ops::Range;

type EventIds = SmallVec<[PathEventId; 2]>;

/// The value of an expression, and its events.
struct Part {
    value: Term,
    /// The events from which the value comes.
    from: EventIds,
    /// Those that no other of its events follows by causality.
    last: EventIds,
}

pub fn statement(eval: Evaluate, b: BoxedBuilder, statement: &KernelStatement) -> Builders {
    match statement {
        KernelStatement::Store { at, value, tag } => {
            let stored = pairs(eval, b, (at, false), (value, true), |b, at, value| {
                let action = Action::Write {
                    at: at.value,
                    value: value.value,
                };
                let id = b.event(action, tag_annotation(*tag), false);
                b.data(&at.from, id);
                b.data(&value.from, id);
                value
            });
            each(stored, |_, _| {})
        }
        KernelStatement::Fence(tag) => {
            let mut b = b;
            b.event(Action::Fence, tag_annotation(*tag), false);
            smallvec![b]
        }
        KernelStatement::Lock(at) => each(eval(b, at, false), |b, at| {
            lock(b, &at);
        }),
        KernelStatement::Srcu { at, tag, value } => match value {
            None => each(eval(b, at, false), |b, at| {
                srcu(b, &at, *tag, None);
            }),
            Some(value) => {
                let all = pairs(eval, b, (at, false), (value, true), |b, at, value| {
                    let id = srcu(b, at, *tag, Some(value.value));
                    b.data(&value.from, id);
                    value
                });
                each(all, |_, _| {})
            }
        },
    }
}

/// `data`: the value is data.
pub fn expression(eval: Evaluate, b: BoxedBuilder, e: &KernelExpression, data: bool) -> Outcomes {
    match e {
        KernelExpression::Load { at, tag } => map(eval(b, at, data), |b, at| {
            let (value, id) = b.read(at.value, tag_annotation(*tag), data);
            b.data(&at.from, id);
            Evaluated {
                value,
                from: smallvec![id],
            }
        }),
        KernelExpression::Exchange { at, value, tags } => exchange(eval, b, at, value, *tags, data),
        KernelExpression::CompareExchange { at, old, new, tags } => {
            let mut outcomes = exchange_if(eval, b.clone(), at, old, new, *tags);
            outcomes.extend(no_exchange(eval, b, at, old, *tags));
            outcomes
        }
        KernelExpression::Update {
            op,
            at,
            operand,
            tags,
            returns_old,
        } => update(eval, b, *op, (at, operand), *tags, *returns_old),
        KernelExpression::AddUnless {
            at,
            addend,
            unless,
            tags,
        } => {
            let mut outcomes = add(eval, b.clone(), at, addend, unless, *tags);
            outcomes.extend(add_nothing(eval, b, at, unless, *tags));
            outcomes
        }
        KernelExpression::TryLock(at) => {
            let mut outcomes = Outcomes::new();
            for (b, at) in eval(b, at, false) {
                let mut locked = b.clone();
                let write = lock(&mut locked, &at);
                outcomes.push((locked, known(1, write)));
                outcomes.push(test_lock(b, &at, LOCK_FAILURE, 0));
            }
            outcomes
        }
        KernelExpression::IsLocked(at) => {
            let mut outcomes = Outcomes::new();
            for (b, at) in eval(b, at, false) {
                outcomes.push(test_lock(b.clone(), &at, IS_LOCKED, 1));
                outcomes.push(test_lock(b, &at, IS_UNLOCKED, 0));
            }
            outcomes
        }
        KernelExpression::Srcu { at, tag, locks } => map(eval(b, at, false), |b, at| {
            let value = match locks {
                true => b.srcu_index(),
                false => 0,
            };
            let id = srcu(b, &at, *tag, locks.then(|| Term::int(value)));
            known(value, id)
        }),
    }
}

fn known(value: i64, from: PathEventId) -> Evaluated {
    Evaluated {
        value: Term::int(value),
        from: smallvec![from],
    }
}

/// The read and the write of a lock that is taken; returns the write.
fn lock(b: &mut PathBuilder, at: &Evaluated) -> PathEventId {
    let read = b.event(Action::Lock { at: at.value }, LOCK_READ, false);
    let write = b.event(Action::Lock { at: at.value }, LOCK_WRITE, false);
    b.data(&at.from, read);
    b.data(&at.from, write);
    b.ctrl(&[read], write);
    write
}

/// A lock that is looked at and not taken.
fn test_lock(
    mut b: BoxedBuilder,
    at: &Evaluated,
    annotations: Annotations,
    value: i64,
) -> (BoxedBuilder, Evaluated) {
    let id = b.event(Action::LockTest { at: at.value }, annotations, false);
    b.data(&at.from, id);
    (b, known(value, id))
}

fn srcu(b: &mut PathBuilder, at: &Evaluated, tag: Tag, value: Option<Term>) -> PathEventId {
    let action = Action::Srcu {
        at: at.value,
        value,
    };
    // the set `annot` has accesses and fences only
    let id = b.event(action, tag_annotation(tag) & !ANNOT, false);
    b.data(&at.from, id);
    id
}

/// The value of an expression, with the last of its events.
fn parts(eval: Evaluate, b: BoxedBuilder, e: &Expression, data: bool) -> Vec<(BoxedBuilder, Part)> {
    let start = b.path.events.len();
    let outcomes = eval(b, e, data).into_iter().map(|(b, out)| {
        let last = extremes(&b, start..b.path.events.len(), |(from, _)| from);
        let part = Part {
            value: out.value,
            from: out.from,
            last,
        };
        (b, part)
    });
    outcomes.collect()
}

/// The events among these that are at no end of a causality pair of the kind that `end` selects.
fn extremes(
    b: &PathBuilder,
    among: Range<PathEventId>,
    end: impl Fn((PathEventId, PathEventId)) -> PathEventId,
) -> EventIds {
    let path = &b.path;
    let causes = [&path.iico_data, &path.iico_ctrl, &path.iico_order];
    let mut extreme = vec![true; among.len()];
    for pair in causes.into_iter().flatten() {
        if among.contains(&pair.0) && among.contains(&pair.1) {
            extreme[end(*pair) - among.start] = false;
        }
    }
    let start = among.start;
    among.filter(|id| extreme[id - start]).collect()
}

/// The fence before a read-modify-write that is fully ordered, and where the events of the
/// latter start.
#[derive(Clone, Copy)]
struct Fences {
    before: Option<PathEventId>,
    start: PathEventId,
    tag: Option<Tag>,
}

impl Fences {
    fn before(b: &mut PathBuilder, tags: RmwTags) -> Fences {
        let fence = |tag| b.event(Action::Fence, tag_annotation(tag), false);
        let before = tags.fences.map(fence);
        Fences {
            before,
            start: b.path.events.len(),
            tag: tags.fences,
        }
    }

    /// Adds the fence after it. In herd7, nothing depends on what comes out of a fence.
    fn after(self, b: &mut PathBuilder, from: EventIds) -> EventIds {
        let (Some(before), Some(tag)) = (self.before, self.tag) else {
            return from;
        };
        let inside = self.start..b.path.events.len();
        for first in extremes(b, inside.clone(), |(_, to)| to) {
            b.ctrl(&[before], first);
        }
        let last = extremes(b, inside, |(from, _)| from);
        let after = b.event(Action::Fence, tag_annotation(tag), false);
        b.ctrl(&last, after);
        EventIds::new()
    }
}

/// The read of a read-modify-write.
fn rmw_read(b: &mut PathBuilder, at: Term, tag: Tag, data: bool) -> (Term, PathEventId) {
    let (value, id) = b.read(at, tag_annotation(tag) | RMW, data);
    b.path.events[id].atomic = true;
    (value, id)
}

fn rmw_write(b: &mut PathBuilder, at: Term, value: Term, tag: Tag) -> PathEventId {
    let annotations = tag_annotation(tag) | RMW;
    let id = b.event(Action::Write { at, value }, annotations, false);
    b.path.events[id].atomic = true;
    id
}

fn exchange(
    eval: Evaluate,
    mut b: BoxedBuilder,
    at: &Expression,
    value: &Expression,
    tags: RmwTags,
    data: bool,
) -> Outcomes {
    let fences = Fences::before(&mut b, tags);
    let mut done = Outcomes::new();
    for (b, at) in parts(eval, b, at, false) {
        for (mut b, new) in parts(eval, b, value, true) {
            let (old, read) = rmw_read(&mut b, at.value, tags.read, data);
            let write = rmw_write(&mut b, at.value, new.value, tags.write);
            b.data(&at.last, read);
            b.data(&at.last, write);
            b.data(&new.last, write);
            b.ctrl(&[read], write);
            let from = fences.after(&mut b, smallvec![read]);
            done.push((b, Evaluated { value: old, from }));
        }
    }
    done
}

/// A compare-exchange that finds the old value.
fn exchange_if(
    eval: Evaluate,
    mut b: BoxedBuilder,
    at: &Expression,
    old: &Expression,
    new: &Expression,
    tags: RmwTags,
) -> Outcomes {
    let fences = Fences::before(&mut b, tags);
    let mut done = Outcomes::new();
    for (b, at) in parts(eval, b, at, false) {
        for (b, old) in parts(eval, b, old, true) {
            for (mut b, new) in parts(eval, b, new, true) {
                let (value, read) = rmw_read(&mut b, at.value, tags.read, true);
                let write = rmw_write(&mut b, at.value, new.value, tags.write);
                if !b.require(value, old.value) {
                    continue;
                }
                b.data(&at.last, read);
                b.data(&at.last, write);
                b.data(&new.last, write);
                b.ctrl(&old.last, write);
                b.ctrl(&[read], write);
                let from = fences.after(&mut b, smallvec![read]);
                done.push((b, Evaluated { value, from }));
            }
        }
    }
    done
}

/// A compare-exchange that finds another value: a read, and no fences.
fn no_exchange(
    eval: Evaluate,
    b: BoxedBuilder,
    at: &Expression,
    old: &Expression,
    tags: RmwTags,
) -> Outcomes {
    let mut done = Outcomes::new();
    for (b, at) in parts(eval, b, at, false) {
        for (mut b, old) in parts(eval, b, old, true) {
            let (value, read) = rmw_read(&mut b, at.value, tags.failed, true);
            b.data(&at.last, read);
            let same = b.compute(Op::Eq, value, old.value);
            if b.require(same, Term::ZERO) {
                let from = smallvec![read];
                done.push((b, Evaluated { value, from }));
            }
        }
    }
    done
}

/// An addition or another operation on what a location holds. Unlike the others, its write has no
/// causality from its address: it comes through the read.
fn update(
    eval: Evaluate,
    mut b: BoxedBuilder,
    op: Op,
    (at, operand): (&Expression, &Expression),
    tags: RmwTags,
    returns_old: bool,
) -> Outcomes {
    let fences = Fences::before(&mut b, tags);
    pairs(eval, b, (operand, true), (at, false), |b, operand, at| {
        let (old, read) = rmw_read(b, at.value, tags.read, true);
        b.data(&at.from, read);
        let new = b.compute(op, old, operand.value);
        let write = rmw_write(b, at.value, new, tags.write);
        b.data(&operand.from, write);
        b.data(&[read], write);
        let mut from = operand.from.clone();
        from.push(read);
        let from = fences.after(b, from);
        let value = if returns_old { old } else { new };
        Evaluated { value, from }
    })
}

/// An addition that the value does not prevent.
fn add(
    eval: Evaluate,
    mut b: BoxedBuilder,
    at: &Expression,
    addend: &Expression,
    unless: &Expression,
    tags: RmwTags,
) -> Outcomes {
    let fences = Fences::before(&mut b, tags);
    let mut done = Outcomes::new();
    for (b, at) in parts(eval, b, at, false) {
        for (b, addend) in parts(eval, b, addend, true) {
            for (mut b, unless) in parts(eval, b, unless, true) {
                let (old, read) = rmw_read(&mut b, at.value, tags.read, true);
                let new = b.compute(Op::Add, old, addend.value);
                let write = rmw_write(&mut b, at.value, new, tags.write);
                let same = b.compute(Op::Eq, old, unless.value);
                if !b.require(same, Term::ZERO) {
                    continue;
                }
                b.data(&at.last, read);
                b.data(&at.last, write);
                b.data(&addend.last, write);
                b.data(&[read], write);
                b.ctrl(&unless.last, write);
                let mut from: EventIds = smallvec![read];
                from.extend(unless.from);
                let from = fences.after(&mut b, from);
                let value = Term::int(1);
                done.push((b, Evaluated { value, from }));
            }
        }
    }
    done
}

/// An addition that the value prevents: a read, and no fences.
fn add_nothing(
    eval: Evaluate,
    b: BoxedBuilder,
    at: &Expression,
    unless: &Expression,
    tags: RmwTags,
) -> Outcomes {
    let mut done = Outcomes::new();
    for (b, at) in parts(eval, b, at, false) {
        for (mut b, unless) in parts(eval, b, unless, true) {
            let (old, read) = rmw_read(&mut b, at.value, tags.failed, true);
            b.data(&at.last, read);
            if b.require(old, unless.value) {
                let mut from: EventIds = smallvec![read];
                from.extend(unless.from);
                let value = Term::int(0);
                done.push((b, Evaluated { value, from }));
            }
        }
    }
    done
}
