//! How values change when a graph grows: a static analysis for explorers that build execution
//! graphs event by event.
//!
//! What the graph gives on the old events does not change when an event is added. The value of each
//! operation, restricted to the old events, then either stays the same, only grows, only shrinks, or may
//! change in any way. Which of these, depends on where the event may be ([`Position`]): if it is the last
//! of its thread and in coherence order, and reads from an old write, no pair that the graph gives leads
//! from it.
use super::patterns::{self, covers, is_coherence, is_po_loc, is_write_between};
use crate::plan::builtin::Builtin;
use crate::plan::operation::{Op, OpId, Operations};
use crate::plan::steps::CheckStep;
use crate::syntax::ast::*;
use crate::types::typed::TypedPlan;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Growth {
    /// No pair between old events is lost.
    up: bool,
    /// No pair between old events is added.
    down: bool,
    /// Whatever leads to an old event is old.
    closed: bool,
    /// No pair leads from the new event; a set does not contain it.
    sink: bool,
    /// No pair joins an old event and the new one.
    apart: bool,
}

const STAYS: Growth = Growth {
    up: true,
    down: true,
    closed: true,
    sink: true,
    apart: true,
};
const UNKNOWN: Growth = Growth {
    up: false,
    down: false,
    closed: false,
    sink: false,
    apart: false,
};

/// Where the new event may be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    /// Last in the coherence order of what it writes or reads from.
    Last,
    /// At the end of its thread; events that are there may read from it. It may be an initial
    /// write, or the two halves of a read-modify-write, which come together.
    AtEnd,
    /// Anywhere in its thread; events that are there may read from it. It may be an initial write.
    AnywhereInThread,
}

/// For each operation: whether its value on the old events only grows when events are added
/// anywhere.
pub fn grows_with_more(typed: &TypedPlan) -> Vec<bool> {
    let found = growths(typed, Position::AnywhereInThread);
    found.iter().map(|growth| growth.up).collect()
}

/// For each operation: whether its value on the old events only grows when events are added at the
/// ends of threads, and reads that are there read from them. The two halves of a read-modify-write come
/// together.
pub fn grows_at_ends(typed: &TypedPlan) -> Vec<bool> {
    let found = growths(typed, Position::AtEnd);
    found.iter().map(|growth| growth.up).collect()
}

/// For each operation: whether its value on the old events only shrinks when events are added
/// anywhere.
pub fn shrinks_with_more(typed: &TypedPlan) -> Vec<bool> {
    let found = growths(typed, Position::AnywhereInThread);
    found.iter().map(|growth| growth.down).collect()
}

/// For each check: whether it still holds after the addition of an event that is last in coherence
/// order. If no pair between old events is added and none leads from the new event, there is no new
/// cycle. The write of a read-modify-write comes directly after what its read reads from, so that
/// no write is between the two.
pub fn keeps_maximal(typed: &TypedPlan) -> impl Fn(&CheckStep) -> bool + '_ {
    let found = growths(typed, Position::Last);
    move |check| {
        let growth = found[check.value as usize];
        let empty = typed.is_nothing(check.value);
        let holds = check.claim != Claim::Empty || is_write_between(typed, check.value);
        !check.negated && (empty || holds && growth.down && growth.sink)
    }
}

fn growths(typed: &TypedPlan, position: Position) -> Vec<Growth> {
    let operations = &typed.plan.operations;
    patterns::of_each(typed, |id, found| match typed.is_nothing(id) {
        true => STAYS,
        false => of(operations, typed, operations.op(id), found, position),
    })
}

fn of(
    operations: &Operations,
    typed: &TypedPlan,
    op: &Op,
    found: &[Growth],
    position: Position,
) -> Growth {
    let get = |id: OpId| found[typed.root(id) as usize];
    let meet = |a: Growth, b: Growth| Growth {
        up: a.up && b.up,
        down: a.down && b.down,
        closed: a.closed && b.closed,
        sink: a.sink && b.sink,
        apart: a.apart && b.apart,
    };
    let given = |closed: bool| Growth {
        closed,
        sink: closed,
        apart: false,
        ..STAYS
    };
    let ends = |a: Growth| Growth {
        closed: false,
        sink: false,
        apart: false,
        ..a
    };
    let last = |id: OpId| {
        let op = operations.op(typed.root(id));
        position == Position::Last && matches!(op, Op::Choice(_)) && is_coherence(typed, op)
    };
    let inverse_rf = |id: OpId| match operations.op(typed.root(id)) {
        Op::Unary(Unary::Inverse, rf) => *operations.op(typed.root(*rf)) == Op::ReadsFrom,
        _ => false,
    };
    match op {
        Op::Given(_) | Op::ReadsFrom if position == Position::AnywhereInThread => given(false),
        Op::ReadsFrom if position == Position::AtEnd => given(false),
        Op::Given(name) => match typed.plan.names.text(*name) {
            // Its two halves are new.
            "rmw" if position == Position::AtEnd => STAYS,
            "po" | "addr" | "data" | "ctrl" | "chosen" | "rmw" | "amo" => given(true),
            // The new event is no initial write.
            "IW" if position == Position::Last => Growth {
                sink: true,
                ..given(false)
            },
            _ => given(false),
        },
        Op::Identity => Growth {
            sink: false,
            ..STAYS
        },
        Op::EmptyRelation => STAYS,
        Op::ReadsFrom => given(true),
        Op::Choice(_) if position == Position::Last && is_coherence(typed, op) => given(true),
        // fr: the source of the new event is the last write, or the last but the new event itself.
        Op::Sequence(a, b) if inverse_rf(*a) && last(*b) => Growth {
            sink: false,
            ..given(true)
        },
        // The last write of a location may become another one.
        Op::Finals => UNKNOWN,
        Op::Universe | Op::Choice(_) => given(false),
        // Assumed to grow; whether old events are unaffected depends on the bodies.
        Op::Variable(..) => Growth {
            up: true,
            ..UNKNOWN
        },
        Op::Union(items) => items.iter().map(|item| get(*item)).fold(STAYS, meet),
        Op::Unary(Unary::Optional, a) => Growth {
            sink: false,
            ..get(*a)
        },
        Op::Unary(Unary::Identity, a) => Growth {
            closed: true,
            apart: true,
            ..get(*a)
        },
        Op::Unary(Unary::Inverse, a) => Growth {
            closed: false,
            sink: false,
            ..get(*a)
        },
        Op::Unary(Unary::Complement, a) => Growth {
            up: get(*a).down,
            down: get(*a).up,
            closed: false,
            sink: false,
            apart: false,
        },
        Op::Unary(closure @ (Unary::Plus | Unary::Star), a) => Growth {
            down: get(*a).down && get(*a).closed,
            sink: get(*a).sink && *closure == Unary::Plus,
            ..get(*a)
        },
        Op::Call(Builtin::AsTransitive, a) => Growth {
            down: get(*a).down && get(*a).closed,
            ..get(*a)
        },
        Op::Binary(Binary::Intersection, a, b) => Growth {
            closed: get(*a).closed || get(*b).closed,
            sink: get(*a).sink || get(*b).sink,
            apart: get(*a).apart || get(*b).apart,
            ..meet(get(*a), get(*b))
        },
        Op::Binary(Binary::Product, a, b) => Growth {
            closed: get(*a).sink,
            sink: get(*a).sink,
            apart: false,
            ..meet(get(*a), get(*b))
        },
        Op::Binary(Binary::Difference, a, b) => Growth {
            up: get(*a).up && get(*b).down,
            down: get(*a).down && get(*b).up,
            closed: get(*a).closed,
            apart: get(*a).apart,
            sink: get(*a).sink || get(*a).closed && *operations.op(typed.root(*b)) == Op::Identity,
        },
        // A path through a new event adds a pair, unless only old events lead to old events.
        Op::Sequence(a, b) => {
            let both = meet(get(*a), get(*b));
            Growth {
                down: both.down && get(*b).closed,
                // The new event leads at most to itself, and from there nowhere.
                sink: get(*a).sink || get(*a).closed && get(*b).sink,
                ..both
            }
        }
        Op::Restrict(from, inner, to) => {
            let sides = from.iter().chain(to).map(|side| get(*side));
            Growth {
                closed: get(*inner).closed,
                sink: get(*inner).sink,
                apart: get(*inner).apart,
                ..sides.fold(get(*inner), meet)
            }
        }
        Op::Call(Builtin::Range, a) => Growth {
            down: get(*a).down && (get(*a).closed || get(*a).apart),
            ..ends(get(*a))
        },
        Op::Call(Builtin::Domain, a) => Growth {
            down: get(*a).down && get(*a).apart,
            ..ends(get(*a))
        },
        Op::Fix(group) => {
            let mut bodies = operations.groups[*group as usize].bodies.iter();
            Growth {
                up: bodies.all(|body| get(*body).up),
                ..UNKNOWN
            }
        }
        Op::Item(of, ..) => get(*of),
        _ => UNKNOWN,
    }
}

/// Whether an axiom states coherence explicitly, so that each thread observes each location in
/// coherence order: `acyclic` of a union, or `irreflexive` of a path of po followed by `(rf | co |
/// fr)+`, which is `rf | (co | fr); rf?`.
pub fn states_coherence(typed: &TypedPlan, check: &CheckStep) -> bool {
    let op = |id: OpId| typed.plan.operations.op(typed.root(id));
    let is_po = |found: &Op| match found {
        Op::Given(name) => typed.plan.names.text(*name) == "po",
        _ => is_po_loc(typed, found),
    };
    let is_rf = |found: &Op| matches!(found, Op::ReadsFrom);
    let is_co = |found: &Op| is_coherence(typed, found);
    let is_path = |found: &Op| match found {
        Op::Sequence(back, co) => {
            let from_read = |found: &Op| matches!(found, Op::Unary(Unary::Inverse, rf) if covers(typed, *rf, &is_rf));
            from_read(op(*back)) && covers(typed, *co, &is_co)
        }
        _ => false,
    };
    let is_fr = |found: &Op| match found {
        Op::Binary(Binary::Difference, path, identity) => {
            is_path(op(*path)) && matches!(op(*identity), Op::Identity)
        }
        path => is_path(path),
    };
    let communicates = |id: OpId| {
        covers(typed, id, &is_rf) && covers(typed, id, &is_co) && covers(typed, id, &is_fr)
    };
    let is_changed_then_read = |found: &Op| match found {
        Op::Sequence(changed, read) => {
            matches!(op(*read), Op::Unary(Unary::Optional, rf) if is_rf(op(*rf)))
                && covers(typed, *changed, &is_co)
                && covers(typed, *changed, &is_fr)
        }
        _ => false,
    };
    let closed = |id: OpId| {
        matches!(op(id), Op::Unary(Unary::Plus | Unary::Star, _))
            || covers(typed, id, &is_changed_then_read)
    };
    let whole = |id: OpId| covers(typed, id, &is_po) && communicates(id);
    if check.negated || check.role != Role::Axiom {
        return false;
    }
    match (check.claim, op(check.value)) {
        (Claim::Acyclic, _) => whole(check.value),
        (Claim::Irreflexive, Op::Unary(Unary::Plus, all)) => whole(*all),
        (Claim::Irreflexive, Op::Sequence(order, back)) => {
            let back = match op(*back) {
                Op::Unary(Unary::Optional, back) => *back,
                _ => *back,
            };
            covers(typed, *order, &is_po) && closed(back) && communicates(back)
        }
        _ => false,
    }
}
