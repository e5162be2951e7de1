//! What the analyses of a plan have in common: one pass over its operations, and the forms in which models
//! write what is of interest.
use crate::plan::operation::{Op, OpId};
use crate::syntax::ast::*;
use crate::types::typed::TypedPlan;

/// What is known of each operation: `of` gets what is known of those before it.
pub fn of_each<T: Clone>(typed: &TypedPlan, of: impl Fn(OpId, &[T]) -> T) -> Vec<T> {
    let mut found: Vec<T> = Vec::with_capacity(typed.same.len());
    for id in 0..typed.same.len() {
        let root = typed.root(id as OpId) as usize;
        let known = match root < id {
            true => found[root].clone(),
            false => of(id as OpId, &found),
        };
        found.push(known);
    }
    found
}

/// Whether an operation is what the graph gives by this name.
pub fn is_given(typed: &TypedPlan, id: OpId, name: &str) -> bool {
    let given = typed.plan.operations.op(typed.root(id));
    matches!(given, Op::Given(found) if typed.plan.names.text(*found) == name)
}

/// Whether an operation is `po & loc`.
pub fn is_po_loc(typed: &TypedPlan, found: &Op) -> bool {
    let given = |id: &OpId, name: &str| is_given(typed, *id, name);
    match found {
        Op::Binary(Binary::Intersection, a, b) => {
            given(a, "po") && given(b, "loc") || given(a, "loc") && given(b, "po")
        }
        _ => false,
    }
}

/// Whether an operation is the coherence order that the model chooses.
pub fn is_coherence(typed: &TypedPlan, op: &Op) -> bool {
    match op {
        Op::Choice(index) => {
            let step = &typed.plan.choices[*index as usize];
            matches!(typed.plan.names.text(step.name), "co" | "mo")
        }
        _ => false,
    }
}

/// Whether an operation is `rf^-1; co`.
pub fn is_from_read(typed: &TypedPlan, found: &Op) -> bool {
    let op = |id: OpId| typed.plan.operations.op(typed.root(id));
    match found {
        Op::Sequence(back, co) => {
            is_coherence(typed, op(*co))
                && matches!(op(*back), Op::Unary(Unary::Inverse, rf) if *op(*rf) == Op::ReadsFrom)
        }
        _ => false,
    }
}

/// Whether a relation is a part of `rmw & (fr; co)`, as far as its operations show.
pub fn is_write_between(typed: &TypedPlan, id: OpId) -> bool {
    let is_rmw =
        |found: &Op| matches!(found, Op::Given(name) if typed.plan.names.text(*name) == "rmw");
    let is_co = |found: &Op| is_coherence(typed, found);
    let is_fr = |found: &Op| is_from_read(typed, found);
    let is_path = |found: &Op| match found {
        Op::Sequence(fr, co) => is_within(typed, *fr, &is_fr) && is_within(typed, *co, &is_co),
        _ => false,
    };
    is_within(typed, id, &is_rmw) && is_within(typed, id, &is_path)
}

/// Whether a relation is a part of one that `whole` accepts, as far as its operations show.
fn is_within(typed: &TypedPlan, id: OpId, whole: &dyn Fn(&Op) -> bool) -> bool {
    let op = typed.plan.operations.op(typed.root(id));
    whole(op)
        || match op {
            Op::Binary(Binary::Intersection, a, b) => {
                is_within(typed, *a, whole) || is_within(typed, *b, whole)
            }
            Op::Binary(Binary::Difference, a, _) | Op::Restrict(_, a, _) => {
                is_within(typed, *a, whole)
            }
            _ => false,
        }
}

/// Whether a relation contains every pair of `part`, as far as its operations show.
pub fn covers(typed: &TypedPlan, id: OpId, part: &dyn Fn(&Op) -> bool) -> bool {
    let operations = &typed.plan.operations;
    let op = operations.op(typed.root(id));
    part(op)
        || match op {
            Op::Union(items) => items.iter().any(|item| covers(typed, *item, part)),
            Op::Unary(Unary::Plus | Unary::Star | Unary::Optional, a) => covers(typed, *a, part),
            // A sequence contains an operand if the other operand is reflexive.
            Op::Sequence(a, b) => {
                optional(typed, *a) && covers(typed, *b, part)
                    || optional(typed, *b) && covers(typed, *a, part)
            }
            _ => false,
        }
}

/// Whether a relation is reflexive, as far as its operations show.
fn optional(typed: &TypedPlan, id: OpId) -> bool {
    match typed.plan.operations.op(typed.root(id)) {
        Op::Unary(Unary::Optional | Unary::Star, _) | Op::Identity => true,
        Op::Union(items) => items.iter().any(|item| optional(typed, *item)),
        Op::Sequence(a, b) => optional(typed, *a) && optional(typed, *b),
        _ => false,
    }
}
