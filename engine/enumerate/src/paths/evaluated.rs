//! Values of C expressions on the paths of a thread: what the evaluation of each kind of expression
//! shares.

use super::builder::PathBuilder;
use super::path::EventIds;
use crate::term::Term;
use litmus::c::ast::Expression;
use smallvec::SmallVec;

/// The value of an expression, and the events from which it comes.
pub struct Evaluated {
    pub value: Term,
    pub from: EventIds,
}

/// Builders are large and move with each part of an expression.
pub type BoxedBuilder = Box<PathBuilder>;

pub type Builders = SmallVec<[BoxedBuilder; 1]>;

pub type Outcomes = SmallVec<[(BoxedBuilder, Evaluated); 1]>;

/// Evaluates an expression on a path; its value is data or not.
pub type Evaluate = fn(BoxedBuilder, &Expression, bool) -> Outcomes;

pub fn each(outcomes: Outcomes, f: impl Fn(&mut PathBuilder, Evaluated)) -> Builders {
    outcomes
        .into_iter()
        .map(|(mut b, out)| {
            f(&mut b, out);
            b
        })
        .collect()
}

pub fn map(outcomes: Outcomes, f: impl Fn(&mut PathBuilder, Evaluated) -> Evaluated) -> Outcomes {
    outcomes
        .into_iter()
        .map(|(mut b, out)| {
            let out = f(&mut b, out);
            (b, out)
        })
        .collect()
}

pub fn pairs(
    eval: Evaluate,
    b: BoxedBuilder,
    first: (&Expression, bool),
    second: (&Expression, bool),
    f: impl Fn(&mut PathBuilder, &Evaluated, Evaluated) -> Evaluated,
) -> Outcomes {
    let mut done = Outcomes::new();
    for (b, x) in eval(b, first.0, first.1) {
        for (mut b, y) in eval(b, second.0, second.1) {
            let out = f(&mut b, &x, y);
            done.push((b, out));
        }
    }
    done
}
