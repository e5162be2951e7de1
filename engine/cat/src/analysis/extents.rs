//! Which flags a model can raise on graphs whose events belong to a few classes, and whether it can do
//! without the events of a class: a static analysis for explorers that check many such graphs.
//!
//! It is an abstract interpretation (Cousot and Cousot, POPL 1977). The abstract value of a set
//! says which classes may have events in it and which are contained in it; that of a relation says
//! the same of pairs of classes.
use super::patterns;
use crate::plan::builtin::Builtin;
use crate::plan::operation::{Op, OpId};
use crate::plan::steps::CheckStep;
use crate::syntax::ast::*;
use crate::types::typed::TypedPlan;
use crate::types::value_type::Type;

/// The abstract value of a set or a relation: for a set, one bit per class; for a relation, one bit
/// per pair of classes. Bit `a · MAX_CLASSES + b` stands for the pairs from class `a` to class `b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// No other class, or pair of classes, has elements in the value.
    pub may: u16,
    /// All elements of these classes, or pairs of classes, are in the value.
    pub must: u16,
}

pub const MAX_CLASSES: usize = 4;

/// The pairs of a class with itself.
const DIAGONAL: u16 = 0x8421;

impl Extent {
    pub const NOTHING: Extent = Extent { may: 0, must: 0 };
    pub const UNKNOWN: Extent = Extent {
        may: u16::MAX,
        must: 0,
    };
    const ALL: Extent = Extent {
        may: u16::MAX,
        must: u16::MAX,
    };

    fn union(self, other: Extent) -> Extent {
        Extent {
            may: self.may | other.may,
            must: self.must | other.must,
        }
    }

    fn intersection(self, other: Extent) -> Extent {
        Extent {
            may: self.may & other.may,
            must: self.must & other.must,
        }
    }

    fn complement(self) -> Extent {
        Extent {
            may: !self.must,
            must: !self.may,
        }
    }

    fn map(self, of: impl Fn(u16) -> u16) -> Extent {
        Extent {
            may: of(self.may),
            must: of(self.must),
        }
    }
}

fn pairs(holds: impl Fn(usize, usize) -> bool) -> u16 {
    let all = (0..MAX_CLASSES).flat_map(|a| (0..MAX_CLASSES).map(move |b| (a, b)));
    let bit = |(a, b): (usize, usize)| u16::from(holds(a, b)) << (a * MAX_CLASSES + b);
    all.map(bit).fold(0, |bits, bit| bits | bit)
}

fn has(relation: u16, a: usize, b: usize) -> bool {
    relation >> (a * MAX_CLASSES + b) & 1 == 1
}

fn product(from: u16, to: u16) -> u16 {
    pairs(|a, b| from >> a & 1 == 1 && to >> b & 1 == 1)
}

fn sequence(first: u16, second: u16) -> u16 {
    pairs(|a, b| (0..MAX_CLASSES).any(|via| has(first, a, via) && has(second, via, b)))
}

fn close(relation: u16) -> u16 {
    (0..MAX_CLASSES).fold(relation, |all, _| all | sequence(all, relation))
}

/// For each check: whether it has nothing to report on any graph that is as `given` describes it.
pub fn never_reported<'t>(
    typed: &'t TypedPlan,
    given: &dyn Fn(&str) -> Extent,
) -> impl Fn(&CheckStep) -> bool + 't {
    let found = of_each(typed, given);
    move |check| {
        let may = found[check.value as usize].may;
        let holds = match check.claim {
            Claim::Empty => may == 0,
            Claim::Irreflexive => may & DIAGONAL == 0,
            Claim::Acyclic => close(may) & DIAGONAL == 0,
        };
        // A flag is reported if its claim holds, any other check if its claim does not hold.
        holds && check.negated == (check.role == Role::Flag)
    }
}

/// For each check: whether it says the same of any graph that is as `given` describes it, and of that
/// graph without the events of a class.
pub fn ignores<'t>(
    typed: &'t TypedPlan,
    given: &dyn Fn(&str) -> Extent,
    class: usize,
) -> impl Fn(&CheckStep) -> bool + 't {
    let extents = of_each(typed, given);
    let restricted = patterns::of_each(typed, |id, restricted| {
        typed.is_nothing(id) || is_restricted(typed, id, restricted, &extents, class)
    });
    move |check| {
        let may = extents[check.value as usize].may;
        restricted[check.value as usize]
            && match (check.claim, typed.type_of(check.value)) {
                (Claim::Empty, Type::Set) => may >> class & 1 == 0,
                (Claim::Empty, _) => {
                    (0..MAX_CLASSES).all(|other| !has(may, class, other) && !has(may, other, class))
                }
                (Claim::Irreflexive, _) => !has(may, class, class),
                (Claim::Acyclic, _) => !has(close(may), class, class),
            }
    }
}

/// Whether the value of an operation on a graph without the events of a class is that on the whole graph,
/// restricted to the other events: so it is unless the class may be on the way between two of these.
fn is_restricted(
    typed: &TypedPlan,
    id: OpId,
    restricted: &[bool],
    extents: &[Extent],
    class: usize,
) -> bool {
    let is = |id: &OpId| restricted[typed.root(*id) as usize];
    let may = |id: &OpId| extents[typed.root(*id) as usize].may;
    let other =
        |of: &dyn Fn(usize) -> bool| (0..MAX_CLASSES).any(|other| other != class && of(other));
    let leads_in = |id: &OpId| other(&|from| has(may(id), from, class));
    let leads_through =
        |first: &OpId, then: &OpId| leads_in(first) && other(&|to| has(may(then), class, to));
    match typed.plan.operations.op(id) {
        Op::Universe | Op::EmptyRelation | Op::Identity | Op::Given(_) | Op::ReadsFrom => true,
        op @ Op::Choice(_) => patterns::is_coherence(typed, op),
        Op::Union(items) => items.iter().all(is),
        Op::Binary(Binary::Intersection | Binary::Difference | Binary::Product, a, b) => {
            is(a) && is(b)
        }
        Op::Unary(Unary::Plus | Unary::Star, a) | Op::Call(Builtin::AsTransitive, a) => {
            is(a) && !leads_through(a, a)
        }
        Op::Unary(_, a) => is(a),
        Op::Sequence(a, b) => is(a) && is(b) && !leads_through(a, b),
        Op::Restrict(from, inner, to) => from.iter().chain([inner]).chain(to).all(is),
        Op::Call(Builtin::Domain, a) => is(a) && !leads_in(a),
        _ => false,
    }
}

fn of_each(typed: &TypedPlan, given: &dyn Fn(&str) -> Extent) -> Vec<Extent> {
    patterns::of_each(typed, |id, found| match typed.type_of(id) {
        Type::Nothing => Extent::NOTHING,
        Type::Universe => Extent::ALL,
        Type::Dynamic => Extent::UNKNOWN,
        _ => of(typed, id, found, given),
    })
}

fn of(typed: &TypedPlan, id: OpId, found: &[Extent], given: &dyn Fn(&str) -> Extent) -> Extent {
    let names = &typed.plan.names;
    let get = |id: OpId| found[typed.root(id) as usize];
    let known = |may: u16, must: u16| Extent { may, must };
    match typed.plan.operations.op(id) {
        Op::Given(name) => given(names.text(*name)),
        Op::ReadsFrom => given("rf"),
        Op::Choice(index) => {
            let step = &typed.plan.choices[*index as usize];
            given(names.text(step.name))
        }
        Op::EmptyRelation => Extent::NOTHING,
        Op::Identity => known(DIAGONAL, 0),
        Op::Union(items) => {
            let items = items.iter().map(|item| get(*item));
            items.fold(Extent::NOTHING, Extent::union)
        }
        Op::Binary(Binary::Intersection, a, b) => get(*a).intersection(get(*b)),
        Op::Binary(Binary::Difference, a, b) => get(*a).intersection(get(*b).complement()),
        Op::Binary(Binary::Product, a, b) => known(
            product(get(*a).may, get(*b).may),
            product(get(*a).must, get(*b).must),
        ),
        Op::Unary(Unary::Complement, a) => get(*a).complement(),
        Op::Unary(Unary::Inverse, a) => get(*a).map(|all| pairs(|a, b| has(all, b, a))),
        Op::Unary(Unary::Identity, a) => known(product(get(*a).may, get(*a).may) & DIAGONAL, 0),
        Op::Unary(Unary::Plus, a) | Op::Call(Builtin::AsTransitive, a) => {
            known(close(get(*a).may), get(*a).must)
        }
        Op::Unary(Unary::Optional, a) => known(get(*a).may | DIAGONAL, get(*a).must),
        Op::Unary(Unary::Star, a) => known(close(get(*a).may) | DIAGONAL, get(*a).must),
        Op::Sequence(a, b) => known(sequence(get(*a).may, get(*b).may), 0),
        Op::Restrict(from, inner, to) => {
            let side = |side: &Option<OpId>| side.map_or(Extent::ALL, get);
            let (from, to) = (side(from), side(to));
            let sides = known(product(from.may, to.may), product(from.must, to.must));
            get(*inner).intersection(sides)
        }
        _ => Extent::UNKNOWN,
    }
}
