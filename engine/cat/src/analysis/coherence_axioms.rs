//! Coherence axioms: axioms whose meaning for the coherence order of one location is known in
//! closed form, so that the allowed orders can be counted instead of listed.
//!
//! Assume that rf is fixed. A coherence order `co` of a location's writes gives each event of the
//! location a position: a write or rmw has its own; a read has that of the write it reads from. An
//! rmw is *tight* if it immediately follows the write it reads from. Below, `fr` is `(rf^-1; co) \
//! id`, `eco` is `(rf | co | fr)+`, and `S` is a relation that does not depend on `co`.
//!
//! **Steps.** `co` and `fr` lead to a later position, with one exception: `fr` from an rmw that is
//! not tight leads to a write between the rmw and its source, and together with `co` back from that
//! write it is a cycle. Hence, if every rmw is tight, `a` leads to `b` in `eco` if and only if `a`
//! has the earlier position, or `a` is a write that the read `b` reads from.
//!
//! **`acyclic S | co | fr`, where `S` contains `rf`,** holds if and only if (1) every rmw is tight,
//! (2) no pair of `S+` leads to an earlier position, and (3) `S` is acyclic. If these hold, no
//! cycle contains a step to a later position, because it could not return; so every cycle is a
//! cycle of `S`. If (2) fails for `a, b`: the write at `a`'s position leads to `a` by `rf` or is
//! `a`, and `b` leads to that write by `co` or `fr`: a cycle. If (1) fails there is a cycle by
//! *Steps*.
//!
//! **`irreflexive H; eco?`,** if every rmw is tight, holds if and only if `H` is irreflexive, leads
//! from no read to the write it reads from, and leads to no earlier position: the converse of
//! *Steps*.
//!
//! **`irreflexive [U]; eco`** holds if and only if every rmw in `U` is tight: an rmw before its
//! source leads there by `co`, and back by `rf`; for a write between them see *Steps*; and if every
//! rmw is tight, nothing leads to its own position. If `M` is a subset of the identity,
//! `irreflexive M; eco` is equivalent, and `empty M & (fr; co)` follows.
//!
//! **`acyclic S | C` with any `C` contained in `co | fr`** follows if `S` is acyclic and no pair of
//! `S+` can lead to an earlier position: again, no cycle contains a step to a later position.
//!
//! If the order of several locations is open, the pairs of `S+` must not lead from one of these
//! locations through others back to it. Then the `co` and `fr` steps of a cycle are all of one
//! location, and it is a cycle of that location's order and `S+`.
//!
//! So the axioms amount to a partial order of each location's writes in which some writes must be
//! adjacent; its linear extensions are the orders that the search would find.
use crate::plan::operation::{Op, OpId};
use crate::plan::steps::CheckStep;
use crate::syntax::ast::*;
use crate::types::typed::TypedPlan;
use crate::types::value_type::Type;

/// The form of a coherence axiom; the module documentation gives the meaning of each.
#[derive(Clone, Debug)]
pub enum AxiomShape {
    /// `acyclic parts | co | fr`, with `rf` among the parts.
    Whole(Vec<OpId>),
    /// `acyclic parts | …`, where the rest is contained in `co | fr`.
    Partly(Vec<OpId>),
    /// `irreflexive H; eco?`
    Before(OpId),
    /// `irreflexive [U]; eco`
    Tight(OpId),
    /// `irreflexive M; eco`
    TightPairs(OpId),
    /// `empty M & (fr; co)`
    Between(OpId),
}

/// The coherence axioms on one choice of orders.
#[derive(Clone, Debug)]
pub struct CoherenceAxioms {
    pub shapes: Vec<AxiomShape>,
}

/// Recognises the forms of axioms.
pub struct AxiomMatcher<'t> {
    pub typed: &'t TypedPlan,
    /// The choice of a coherence order.
    pub choice: OpId,
    /// Whether an operation depends on that choice.
    pub depends: &'t dyn Fn(OpId) -> bool,
}

impl AxiomMatcher<'_> {
    /// The axioms as coherence axioms; none if one of them has another form.
    pub fn coherence_axioms<'c>(
        &self,
        checks: impl Iterator<Item = &'c CheckStep>,
    ) -> Option<CoherenceAxioms> {
        let shapes: Option<Vec<AxiomShape>> = checks.map(|check| self.shape(check)).collect();
        shapes.map(|shapes| CoherenceAxioms { shapes })
    }

    fn op(&self, id: OpId) -> &Op {
        self.typed.plan.operations.op(self.typed.root(id))
    }

    fn shape(&self, check: &CheckStep) -> Option<AxiomShape> {
        if check.negated || check.role != Role::Axiom {
            return None;
        }
        let known = |id: OpId| !(self.depends)(id) && self.typed.type_of(id) == Type::Relation;
        match (check.claim, self.op(check.value)) {
            (Claim::Acyclic, _) => self.acyclic(check.value),
            (Claim::Irreflexive, Op::Sequence(before, back)) if known(*before) => {
                match self.op(*back) {
                    Op::Unary(Unary::Optional, eco) if self.is_eco(*eco) => {
                        Some(AxiomShape::Before(*before))
                    }
                    _ => self
                        .is_eco(*back)
                        .then_some(AxiomShape::TightPairs(*before)),
                }
            }
            (Claim::Irreflexive, Op::Restrict(Some(set), eco, None)) => {
                let set_known = !(self.depends)(*set) && self.typed.type_of(*set) == Type::Set;
                (set_known && self.is_eco(*eco)).then_some(AxiomShape::Tight(*set))
            }
            (Claim::Empty, Op::Binary(Binary::Intersection, a, b)) => {
                let (pairs, path) = if known(*a) { (*a, *b) } else { (*b, *a) };
                match self.op(path) {
                    Op::Sequence(fr, co) if known(pairs) => {
                        (self.is_fr(*fr) && self.is_co(*co)).then_some(AxiomShape::Between(pairs))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The operands of a union, nested unions flattened.
    fn parts(&self, id: OpId, found: &mut Vec<OpId>) {
        match self.op(id) {
            Op::Union(items) => items.iter().for_each(|item| self.parts(*item, found)),
            _ => found.push(self.typed.root(id)),
        }
    }

    fn acyclic(&self, value: OpId) -> Option<AxiomShape> {
        let mut parts = Vec::new();
        self.parts(value, &mut parts);
        let (open, below): (Vec<OpId>, Vec<OpId>) =
            parts.into_iter().partition(|part| (self.depends)(*part));
        if below
            .iter()
            .any(|id| !matches!(self.typed.type_of(*id), Type::Relation | Type::Nothing))
        {
            return None;
        }
        let whole = |is: &dyn Fn(OpId) -> bool| open.iter().any(|part| is(*part));
        let rf = below.iter().any(|part| *self.op(*part) == Op::ReadsFrom);
        let part = |id: &OpId| self.is_part(*id);
        match open.iter().all(part) {
            false => None,
            true if rf && whole(&|id| self.is_co(id)) && whole(&|id| self.is_fr(id)) => {
                Some(AxiomShape::Whole(below))
            }
            true => Some(AxiomShape::Partly(below)),
        }
    }

    fn is_co(&self, id: OpId) -> bool {
        self.typed.root(id) == self.choice
    }

    /// `(rf^-1; co) \ id`
    fn is_fr(&self, id: OpId) -> bool {
        let Op::Binary(Binary::Difference, path, identity) = self.op(id) else {
            return false;
        };
        let Op::Sequence(back, co) = self.op(*path) else {
            return false;
        };
        let Op::Unary(Unary::Inverse, rf) = self.op(*back) else {
            return false;
        };
        *self.op(*identity) == Op::Identity && *self.op(*rf) == Op::ReadsFrom && self.is_co(*co)
    }

    /// Whether a value is contained in `co | fr`.
    fn is_part(&self, id: OpId) -> bool {
        if self.is_co(id) || self.is_fr(id) {
            return true;
        }
        match self.op(id) {
            Op::Binary(Binary::Intersection, a, b) => self.is_part(*a) || self.is_part(*b),
            Op::Binary(Binary::Difference, a, _) | Op::Restrict(_, a, _) => self.is_part(*a),
            Op::Union(items) => items.iter().all(|item| self.is_part(*item)),
            _ => false,
        }
    }

    /// `(rf | co | fr)+`
    fn is_eco(&self, id: OpId) -> bool {
        let Op::Unary(Unary::Plus, union) = self.op(id) else {
            return false;
        };
        let mut parts = Vec::new();
        self.parts(*union, &mut parts);
        let is_rf = |id: &OpId| *self.op(*id) == Op::ReadsFrom;
        let some = |is: &dyn Fn(&OpId) -> bool| parts.iter().any(is);
        parts.len() == 3
            && some(&is_rf)
            && some(&|id| self.is_co(*id))
            && some(&|id| self.is_fr(*id))
    }
}

impl CoherenceAxioms {
    /// The operations whose values the axioms constrain the order with.
    pub fn operands(&self) -> Vec<OpId> {
        let each = |shape: &AxiomShape| match shape {
            AxiomShape::Whole(parts) | AxiomShape::Partly(parts) => parts.clone(),
            AxiomShape::Before(id) | AxiomShape::Tight(id) => vec![*id],
            AxiomShape::TightPairs(id) | AxiomShape::Between(id) => vec![*id],
        };
        self.shapes.iter().flat_map(each).collect()
    }
}
