//! Whether a graph stays consistent when a read reads from an earlier write: a static analysis for
//! explorers that may perform a read before the writes that it could wait for.
//!
//! Let E be a consistent graph, and G a part of it in which one read r reads from another write. r reads w in
//! E, which is not in G; in G it reads s, the last write of G that precedes w in coherence order. w is in
//! another thread than r. Nothing in G needs r: what follows r in its thread has no dependency on it, r does
//! not acquire, no fence follows it, nor a write that releases where such a write needs what is before it.
//!
//! So one pair that the graph gives is new in G: that of rf, from s to r. In E, co leads from s to w, and rf
//! from w to r. What r reads before in G, by fr, it does in E. The analysis follows the new pairs through the
//! operations: whether they lead to r, whether r leads on, and whether E has a detour for them.
use super::patterns::{
    self, covers, is_coherence, is_from_read, is_given, is_po_loc, is_write_between,
};
use crate::plan::builtin::Builtin;
use crate::plan::operation::{Op, OpId};
use crate::plan::steps::CheckStep;
use crate::syntax::ast::*;
use crate::types::typed::TypedPlan;

/// What is known of the value of an operation on G, beside that on E.
#[derive(Clone, Debug)]
struct Moved {
    /// There may be new pairs.
    new: bool,
    /// A new pair leads to r.
    into: bool,
    /// A new pair is a path of the new pair of rf and of pairs of these operations, as E has them.
    by: Option<Vec<OpId>>,
    /// No pair leads from r, but to r itself if it is `reflexive`.
    ends: bool,
    /// A pair from r leads to a later event of its thread.
    later: bool,
    reflexive: bool,
    /// It is that of E, without the pairs of events that G lacks.
    same: bool,
    /// A set, or the identity on one: does not contain r.
    lacks_read: bool,
    /// And does not contain what follows r in its thread.
    lacks_later: bool,
    /// And contains no write but those that release.
    releases: bool,
}

/// A part of what E has.
fn kept() -> Moved {
    Moved {
        new: false,
        into: true,
        by: Some(Vec::new()),
        ends: false,
        later: false,
        reflexive: true,
        same: false,
        lacks_read: false,
        lacks_later: false,
        releases: false,
    }
}

fn same() -> Moved {
    Moved {
        same: true,
        ..kept()
    }
}

/// A relation in which no pair leads from r.
fn leads_nowhere(relation: Moved) -> Moved {
    Moved {
        ends: true,
        reflexive: false,
        ..relation
    }
}

fn unknown() -> Moved {
    Moved {
        new: true,
        into: false,
        by: None,
        ..kept()
    }
}

/// For each check: whether it holds on G if it holds on E. `releases_last`: whether a write that releases
/// needs everything before it; `forwarded`: whether s may be in the thread of r.
pub fn allows_earlier_source(
    typed: &TypedPlan,
    (releases_last, forwarded): (bool, bool),
    coherent: bool,
) -> impl Fn(&CheckStep) -> bool + '_ {
    let found = patterns::of_each(typed, |id, found| match typed.is_nothing(id) {
        true => Moved {
            lacks_read: true,
            lacks_later: true,
            ..leads_nowhere(same())
        },
        false => of(typed, id, found, (releases_last, forwarded)),
    });
    move |check| {
        let moved = &found[check.value as usize];
        match check.claim {
            _ if check.negated => false,
            _ if !moved.new => true,
            Claim::Empty => is_write_between(typed, check.value),
            Claim::Acyclic => {
                let detour = || coherent && has_detour(typed, check.value);
                let parts = || moved.by.iter().flatten();
                moved.into && moved.ends
                    || moved.by.is_some()
                        && detour()
                        && parts().all(|part| contains(typed, check.value, *part))
            }
            Claim::Irreflexive => false,
        }
    }
}

fn of(
    typed: &TypedPlan,
    id: OpId,
    found: &[Moved],
    (releases_last, forwarded): (bool, bool),
) -> Moved {
    let operations = &typed.plan.operations;
    let get = |id: OpId| &found[typed.root(id) as usize];
    let op_of = |id: OpId| operations.op(typed.root(id));
    let is_w = |id: OpId| is_given(typed, id, "W");
    let is_internal =
        |rf: OpId, int: OpId| *op_of(rf) == Op::ReadsFrom && is_given(typed, int, "int");
    let op = operations.op(id);
    match op {
        Op::Given(name) => given(typed.plan.names.text(*name)),
        Op::Universe | Op::Identity | Op::EmptyRelation => same(),
        Op::ReadsFrom => Moved {
            new: true,
            ..leads_nowhere(kept())
        },
        Op::Choice(_) if is_coherence(typed, op) => leads_nowhere(kept()),
        _ if is_from_read(typed, op) => kept(),
        // what leads to s by co or fr leads to w, and so to r
        Op::Sequence(a, b) if is_before(typed, *a) && is_reading(typed, *b) => kept(),
        Op::Union(items) => {
            let reads_later = items.iter().any(|item| match op_of(*item) {
                Op::Sequence(a, b) => {
                    covers(typed, *a, &|op| is_coherence(typed, op)) && is_reading(typed, *b)
                }
                _ => false,
            });
            let moved = items.iter().map(|item| match op_of(*item) {
                Op::ReadsFrom if reads_later => kept(),
                _ => get(*item).clone(),
            });
            moved.reduce(|a, b| union(a, &b)).unwrap_or_else(same)
        }
        Op::Binary(Binary::Intersection, a, b)
            if !forwarded && (is_internal(*a, *b) || is_internal(*b, *a)) =>
        {
            leads_nowhere(kept())
        }
        Op::Binary(Binary::Intersection, a, b) => {
            let (left, right) = (get(*a), get(*b));
            let released = is_w(*a) && right.releases || is_w(*b) && left.releases;
            let both = union(left.clone(), right);
            let lacks_read = left.lacks_read || right.lacks_read;
            Moved {
                new: both.new && !lacks_read,
                ends: left.ends || right.ends,
                later: left.later || right.later,
                reflexive: left.reflexive && right.reflexive,
                lacks_read,
                lacks_later: left.lacks_later || right.lacks_later || releases_last && released,
                releases: left.releases || right.releases,
                ..both
            }
        }
        // what is taken away must not become less
        Op::Binary(Binary::Difference, a, b) if get(*b).same => {
            let (left, right) = (get(*a), get(*b));
            Moved {
                new: (left.new || right.new) && !left.lacks_read,
                ..left.clone()
            }
        }
        Op::Binary(Binary::Product, a, b) if !get(*a).new && !get(*b).new => Moved {
            ends: get(*a).lacks_read,
            same: get(*a).same && get(*b).same,
            ..kept()
        },
        Op::Unary(Unary::Complement, a) if get(*a).same && !get(*a).new => same(),
        Op::Unary(Unary::Inverse, a) if !get(*a).new => Moved {
            same: get(*a).same,
            ..kept()
        },
        Op::Unary(Unary::Identity, a) if !get(*a).new => Moved {
            ends: true,
            reflexive: !get(*a).lacks_read,
            ..get(*a).clone()
        },
        Op::Unary(Unary::Optional, a) => Moved {
            reflexive: true,
            ..get(*a).clone()
        },
        Op::Unary(closure @ (Unary::Plus | Unary::Star), a) => {
            closed(get(*a), *a, *closure == Unary::Star)
        }
        Op::Call(Builtin::AsTransitive, a) => closed(get(*a), *a, false),
        Op::Call(Builtin::Domain | Builtin::Range, a) if !get(*a).new => kept(),
        Op::Sequence(a, b) => {
            let is_identity = matches!(op_of(*b), Op::Unary(Unary::Identity, _));
            sequence((get(*a), *a), (get(*b), *b), is_identity)
        }
        Op::Restrict(from, inner, to) => {
            let side = |id: &Option<OpId>| id.map(|id| get(id).clone()).unwrap_or_else(same);
            let (from, to) = (side(from), side(to));
            let inner = get(*inner);
            if from.new || to.new {
                return unknown();
            }
            Moved {
                new: inner.new && !(inner.into && to.lacks_read),
                ends: inner.ends || from.lacks_read || inner.later && to.lacks_later,
                reflexive: inner.reflexive && !from.lacks_read && !to.lacks_read,
                same: inner.same && from.same && to.same,
                ..inner.clone()
            }
        }
        _ => unknown(),
    }
}

/// What the graph gives.
fn given(name: &str) -> Moved {
    let leads_on = Moved {
        reflexive: false,
        ..same()
    };
    // r may be the read of a compare-exchange that succeeds in E, and fails in G
    let varies = Moved {
        same: true,
        ..unknown()
    };
    match name {
        "po" => Moved {
            later: true,
            ..leads_on
        },
        // nothing needs r
        "addr" | "data" | "ctrl" | "chosen" | "rmw" | "amo" => leads_nowhere(same()),
        "ext" => leads_on,
        "loc" | "int" | "R" | "M" | "A" | "NA" | "Exp" => same(),
        "RLX" | "RMW" | "AMO" | "CASF" => varies,
        "W" | "IW" => Moved {
            lacks_read: true,
            ..same()
        },
        "F" | "LIGHT" | "HEAVY" => Moved {
            lacks_read: true,
            lacks_later: true,
            ..same()
        },
        "ACQ" => Moved {
            lacks_read: true,
            ..same()
        },
        "ACQ_REL" | "SC" => Moved {
            lacks_read: true,
            releases: true,
            ..same()
        },
        "REL" => Moved {
            releases: true,
            ..varies
        },
        _ => unknown(),
    }
}

fn union(a: Moved, b: &Moved) -> Moved {
    Moved {
        new: a.new || b.new,
        into: (!a.new || a.into) && (!b.new || b.into),
        by: a.by.zip(b.by.clone()).map(|(a, b)| [a, b].concat()),
        ends: a.ends && b.ends,
        later: a.later && b.later,
        reflexive: a.reflexive || b.reflexive,
        same: a.same && b.same,
        lacks_read: a.lacks_read && b.lacks_read,
        lacks_later: a.lacks_later && b.lacks_later,
        releases: a.releases && b.releases,
    }
}

fn closed(inner: &Moved, id: OpId, reflexive: bool) -> Moved {
    let mut by = inner.by.clone();
    if let (true, Some(by)) = (inner.new, &mut by) {
        by.push(id);
    }
    Moved {
        into: inner.into && inner.ends,
        by,
        reflexive: reflexive || inner.reflexive,
        same: false,
        ..inner.clone()
    }
}

fn sequence((a, a_id): (&Moved, OpId), (b, b_id): (&Moved, OpId), is_identity: bool) -> Moved {
    // what leads to r first leads nowhere then
    let dies = a.new && a.into && b.ends && !b.reflexive;
    let mut by = a.by.clone().zip(b.by.clone()).map(|(a, b)| [a, b].concat());
    if let Some(by) = &mut by {
        by.extend(a.new.then_some(b_id));
        by.extend(b.new.then_some(a_id));
    }
    Moved {
        new: a.new && !dies || b.new,
        into: (!a.new || dies || a.into && b.ends) && (!b.new || b.into),
        by,
        ends: a.ends && (!a.reflexive || b.ends) || a.later && is_identity && b.lacks_later,
        reflexive: !a.ends || a.reflexive && b.reflexive,
        ..kept()
    }
}

/// Whether a relation is a part of `co | fr`.
fn is_before(typed: &TypedPlan, id: OpId) -> bool {
    match typed.plan.operations.op(typed.root(id)) {
        Op::Union(items) => items.iter().all(|item| is_before(typed, *item)),
        Op::Binary(Binary::Difference, a, _) => is_before(typed, *a),
        op => is_coherence(typed, op) || is_from_read(typed, op),
    }
}

/// `rf`, or `rf?`.
fn is_reading(typed: &TypedPlan, id: OpId) -> bool {
    let op = |id: OpId| typed.plan.operations.op(typed.root(id));
    match op(id) {
        Op::ReadsFrom => true,
        Op::Unary(Unary::Optional, rf) => matches!(op(*rf), Op::ReadsFrom),
        _ => false,
    }
}

/// Whether a path leads from s to r without the new pair: by co between threads, or program order to a
/// write of the same location, and by rf from another thread.
fn has_detour(typed: &TypedPlan, id: OpId) -> bool {
    let op = |id: OpId| typed.plan.operations.op(typed.root(id));
    let named = |id: OpId, name: &str| is_given(typed, id, name);
    let is_rf = |found: &Op| matches!(found, Op::ReadsFrom);
    let is_co = |found: &Op| is_coherence(typed, found);
    let within = |found: &Op, kind: &str, whole: &dyn Fn(&Op) -> bool| match found {
        Op::Binary(Binary::Intersection, a, b) => {
            whole(op(*a)) && named(*b, kind) || whole(op(*b)) && named(*a, kind)
        }
        _ => whole(found),
    };
    let to_write = |found: &Op| match found {
        Op::Restrict(None, inner, Some(to)) => is_po_loc(typed, op(*inner)) && named(*to, "W"),
        Op::Sequence(inner, to) => {
            is_po_loc(typed, op(*inner))
                && matches!(op(*to), Op::Unary(Unary::Identity, set) if named(*set, "W"))
        }
        _ => is_po_loc(typed, found),
    };
    covers(typed, id, &|found| within(found, "ext", &is_rf))
        && covers(typed, id, &|found| within(found, "ext", &is_co))
        && (covers(typed, id, &|found| within(found, "int", &is_co))
            || covers(typed, id, &to_write))
}

/// Whether the transitive closure of a relation contains a part, as far as its operations show.
fn contains(typed: &TypedPlan, id: OpId, part: OpId) -> bool {
    let all = &typed.plan.operations;
    let root = typed.root(part);
    if typed.is_nothing(root) || covers(typed, id, &|found| found == all.op(root)) {
        return true;
    }
    let holds = |part: &OpId| contains(typed, id, *part);
    match all.op(root) {
        Op::Union(items) => items.iter().all(holds),
        Op::Binary(Binary::Intersection, a, b) => holds(a) || holds(b),
        Op::Binary(Binary::Difference, a, _) | Op::Restrict(_, a, _) => holds(a),
        Op::Unary(Unary::Plus, a) => holds(a),
        Op::Sequence(a, b) => holds(a) && holds(b),
        _ => false,
    }
}
