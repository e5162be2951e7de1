//! Whether a model forbids nothing but cycles of po, rf, co and fr: a static analysis for explorers
//! that build execution graphs event by event.
//!
//! A *walk* is a path of po, rf, co and fr, in which an initial write also precedes every other
//! event. A graph grows by events at the ends of threads that read from existing writes, and by
//! initial writes of new locations. The analysis finds operations of which every pair has a walk
//! from its first event to its second, and every new pair between old events has a walk through a
//! new event. If an axiom states that such an operation is acyclic, then a graph that violates it,
//! and did not before it grew, has a cycle through a new event.
use super::patterns::{self, is_given};
use crate::plan::builtin::Builtin;
use crate::plan::operation::{Op, OpId};
use crate::plan::steps::CheckStep;
use crate::syntax::ast::*;
use crate::types::typed::TypedPlan;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Paths {
    /// The value restricted to old events does not change.
    stays: bool,
    walks: Walks,
}

/// Whether every pair has a walk from its first event to its second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Walks {
    Unknown,
    /// Every pair has one, or leads from an event to itself and does not change.
    Perhaps,
    Always,
}

const UNKNOWN: Paths = Paths {
    stays: false,
    walks: Walks::Unknown,
};

/// For each check: whether a graph that fails it, and did not fail it before it grew, has a cycle
/// through one of the new events.
pub fn are_cycles(typed: &TypedPlan) -> impl Fn(&CheckStep) -> bool + '_ {
    let found = patterns::of_each(typed, |id, found| of(typed, id, found));
    move |check| {
        let cycles = found[check.value as usize].walks == Walks::Always;
        let empty = typed.is_nothing(check.value);
        !check.negated && (empty || cycles && check.claim != Claim::Empty)
    }
}

fn of(typed: &TypedPlan, id: OpId, found: &[Paths]) -> Paths {
    let operations = &typed.plan.operations;
    let get = |id: OpId| found[typed.root(id) as usize];
    let op = |id: OpId| operations.op(typed.root(id));
    let given = |id: OpId, name: &str| is_given(typed, id, name);
    let stays = |walks: Walks| Paths { stays: true, walks };
    let is_co = |id: OpId| patterns::is_coherence(typed, op(id));
    let is_inverse_rf = |id: OpId| matches!(op(id), Op::Unary(Unary::Inverse, rf) if matches!(op(*rf), Op::ReadsFrom));
    if typed.is_nothing(id) {
        return stays(Walks::Always);
    }
    match operations.op(id) {
        Op::ReadsFrom | Op::EmptyRelation => stays(Walks::Always),
        Op::Choice(_) if is_co(id) => stays(Walks::Always),
        Op::Given(name) if typed.plan.names.text(*name) == "po" => stays(Walks::Always),
        Op::Given(_) | Op::Universe => stays(Walks::Unknown),
        Op::Identity => stays(Walks::Perhaps),
        Op::Union(items) => {
            let all = items.iter().map(|item| get(*item));
            let both = |a: Paths, b: Paths| Paths {
                stays: a.stays && b.stays,
                walks: a.walks.min(b.walks),
            };
            all.fold(stays(Walks::Always), both)
        }
        Op::Unary(Unary::Identity, a) if get(*a).stays => stays(Walks::Perhaps),
        Op::Unary(Unary::Optional, a) => Paths {
            walks: get(*a).walks.min(Walks::Perhaps),
            ..get(*a)
        },
        Op::Unary(Unary::Plus, a) | Op::Call(Builtin::AsTransitive, a) => Paths {
            stays: false,
            ..get(*a)
        },
        Op::Unary(Unary::Star, a) => Paths {
            stays: false,
            walks: get(*a).walks.min(Walks::Perhaps),
        },
        Op::Unary(Unary::Complement | Unary::Inverse, a) => Paths {
            walks: Walks::Unknown,
            ..get(*a)
        },
        // The source of an rmw precedes what the rmw writes, which is no cycle.
        Op::Binary(Binary::Difference, path, identity)
            if *op(*identity) == Op::Identity
                && matches!(op(*path), Op::Sequence(a, b) if is_inverse_rf(*a) && is_co(*b)) =>
        {
            stays(Walks::Always)
        }
        Op::Binary(Binary::Difference, a, b) if get(*b).stays => get(*a),
        Op::Binary(Binary::Intersection, a, b) => {
            let (a, b) = (get(*a), get(*b));
            // A new pair is new in one of the operands: that operand either has no new pairs or has
            // a walk.
            let is_known = |side: Paths| side.stays || side.walks > Walks::Unknown;
            Paths {
                stays: a.stays && b.stays,
                walks: match is_known(a) && is_known(b) {
                    true => a.walks.max(b.walks),
                    false => Walks::Unknown,
                },
            }
        }
        // Nothing precedes an initial write.
        Op::Binary(Binary::Product, a, b) if given(*a, "IW") => stays(match op(*b) {
            Op::Binary(Binary::Difference, _, initial) if given(*initial, "IW") => Walks::Always,
            Op::Unary(Unary::Complement, initial) if given(*initial, "IW") => Walks::Always,
            _ => Walks::Unknown,
        }),
        Op::Binary(Binary::Product, a, b) => Paths {
            stays: get(*a).stays && get(*b).stays,
            ..UNKNOWN
        },
        Op::Sequence(a, b) => {
            let (a, b) = (get(*a).walks, get(*b).walks);
            Paths {
                stays: false,
                walks: match a.min(b) {
                    Walks::Unknown => Walks::Unknown,
                    _ => a.max(b),
                },
            }
        }
        Op::Restrict(from, inner, to) => {
            let mut sides = from.iter().chain(to);
            match sides.all(|side| get(*side).stays) {
                true => get(*inner),
                false => UNKNOWN,
            }
        }
        _ => UNKNOWN,
    }
}
