//! The events of x86's instructions, as in herd7: one reads and writes its memory operand.

use super::builder::PathBuilder;
use super::operands::{
    address, evaluate, in_halves, read_memory, source, write_memory, write_register,
};
use super::path::PathEventId;
use crate::term::Term;
use litmus::assembly::formula::Formula;
use litmus::assembly::instruction::{Outcome, Transform};

/// One path, or one for each outcome of a condition.
pub fn transform(mut b: PathBuilder, t: &Transform) -> Vec<PathBuilder> {
    let at = t.at.as_ref().map(|at| address(&mut b, at));
    let (mut values, mut from) = (vec![Term::ZERO], Vec::new());
    let (mut read, mut upper) = (Vec::new(), None);
    if let (Some(at), true) = (&at, t.reads) {
        let half = |b: &mut PathBuilder, at: &_| read_memory(b, at, t.annotations, t.atomic);
        if t.halves {
            let (both, ids) = in_halves(&mut b, at, |b, at, _| half(b, at));
            (values[0], upper, read) = (both[0], Some(both[1]), ids);
        } else {
            (values[0], read) = half(&mut b, at);
        }
    }
    for operand in &t.operands {
        let operand = source(&mut b, *operand, true);
        values.push(operand.value);
        from.extend(operand.from);
    }
    values.extend(upper);
    let result = evaluate(&mut b, &t.result, &values, Term::ZERO);
    let all: Vec<PathEventId> = from.iter().copied().chain(read).collect();
    let flags = t.flags.as_ref().map(|(register, formula)| {
        let flags = evaluate(&mut b, formula, &values, result);
        (*register, flags)
    });
    let when = t
        .when
        .as_ref()
        .map(|when| evaluate(&mut b, when, &values, result));
    if let Some((register, flags)) = flags {
        write_register(&mut b, Some(register), flags, &all);
    }
    let done = |mut b: PathBuilder, outcome: &Outcome| {
        if let (Some(at), Some(formula)) = (&at, outcome.stored.first()) {
            let formulas = outcome.stored.iter();
            let stored: Vec<Term> = formulas
                .map(|formula| evaluate(&mut b, formula, &values, result))
                .collect();
            let half = |b: &mut PathBuilder, at: &_, number: usize| {
                write_memory(b, at, stored[number], t.annotations, t.atomic)
            };
            let stored = match t.halves {
                true => in_halves(&mut b, at, |b, at, number| ((), half(b, at, number))).1,
                false => half(&mut b, at, 0),
            };
            b.data_to_all(&from, &stored);
            match uses_memory(formula) || *formula != t.result && uses_memory(&t.result) {
                true => b.data_to_all(&all, &stored),
                false => b.ctrl_to_all(&all, &stored),
            }
        }
        let computed: Vec<Term> = outcome
            .registers
            .iter()
            .map(|(_, formula)| evaluate(&mut b, formula, &values, result))
            .collect();
        for ((register, _), value) in outcome.registers.iter().zip(computed) {
            write_register(&mut b, Some(*register), value, &all);
        }
        b
    };
    let Some(when) = when else {
        return t.outcomes.iter().map(|o| done(b.clone(), o)).collect();
    };
    let mut paths = Vec::new();
    for (wanted, outcome) in [1, 0].into_iter().zip(&t.outcomes) {
        let mut b = b.clone();
        if b.require(when, Term::int(wanted)) {
            paths.push(done(b, outcome));
        }
    }
    paths
}

/// Whether the value depends on that in memory.
fn uses_memory(formula: &Formula) -> bool {
    match formula {
        Formula::Operand(n) => *n == 0,
        Formula::Constant(_) | Formula::Result => false,
        Formula::Apply(_, of) => of.iter().any(uses_memory),
    }
}
