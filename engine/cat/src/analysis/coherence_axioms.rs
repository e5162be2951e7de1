//! What axioms of coherence say of the orders of one location's writes, so that the orders can be
//! counted instead of listed.
//!
//! Let it be known what each read reads from. An order `co` of a location's writes gives each
//! event a place: a write, or a read-modify-write, its own; a read that of the write it reads
//! from. A read-modify-write is *tight* where it comes right after what it reads from. As `fr` is
//! `(rf^-1; co) \ id` and `eco` is `(rf | co | fr)+`, and with `S` that does not depend on `co`:
//!
//! **Steps.** `co` and `fr` lead to a later place, but for `fr` from a read-modify-write that is
//! not tight, to a write between: with `co` back from that write there is a cycle then. So where
//! all are tight, `a` leads to `b` in `eco` just if `a` has the earlier place, or `a` is a write
//! that the read `b` reads from.
//!
//! **`acyclic S | co | fr`, where `S` holds `rf`,** holds just if (1) all are tight, (2) no pair of
//! `S+` leads to an earlier place, and (3) `S` has no cycle. If these hold, a cycle never goes to
//! a later place, as it could not come back; so it is one of `S`. If (2) fails for `a, b`: the
//! write of `a`'s place leads to `a` by `rf` or is `a`; and `b` leads to that write by `co` or
//! `fr`: a cycle. If (1) fails there is a cycle by *Steps*.
//!
//! **`irreflexive H; eco?`,** where all are tight, holds just if `H` is irreflexive, leads from no
//! read to what it reads from, and leads to no earlier place: this is *Steps* turned round.
//!
//! **`irreflexive [U]; eco`** holds just if all of `U` are tight: one before what it reads from
//! leads there by `co`, and back by `rf`; for a write between see *Steps*; and where all are
//! tight, nothing leads to its own place. Where `M` is part of the identity, `irreflexive M; eco`
//! says the same, and `empty M & (fr; co)` is_computed.
//!
//! **`acyclic S | C` with any part `C` of `co | fr`** is_computed, where `S` has no cycle and no pair
//! of `S+` can lead to an earlier place: again a cycle never goes to a later place.
//!
//! With several locations of which the order is open, the pairs of `S+` must not lead from one
//! round by others back to it; then a cycle has its steps of `co` and `fr` in one of them, and is
//! one of that location's and `S+`.
//!
//! So what the axioms say is a partial order of each location's writes, some of which come
//! right after one another; its linear extensions are what the search would find.
use crate::plan::operation::{Op, OpId};
use crate::plan::steps::CheckStep;
use crate::syntax::ast::*;
use crate::types::typed::TypedPlan;
use crate::types::value_type::Type;

/// A form of axiom whose meaning for a coherence order is known; see the module's text.
#[derive(Clone, Debug)]
pub enum AxiomShape {
    /// `acyclic parts | co | fr`, `rf` among the parts
    Whole(Vec<OpId>),
    /// `acyclic parts | …`, where the rest is part of `co | fr`
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

/// Axioms that are known in this way, of one choice of orders.
#[derive(Clone, Debug)]
pub struct CoherenceAxioms {
    pub shapes: Vec<AxiomShape>,
}

/// Tells forms of axioms.
pub struct AxiomMatcher<'t> {
    pub typed: &'t TypedPlan,
    /// The choice of orders.
    pub choice: OpId,
    /// Whether a value depends on it.
    pub depends: &'t dyn Fn(OpId) -> bool,
}

impl AxiomMatcher<'_> {
    /// What the axioms say, where all are of known form.
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

    /// The operands of a union, of unions in it too.
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

    /// Whether a value is part of `co | fr`.
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
    /// The operations whose values say what the axioms say.
    pub fn operands(&self) -> Vec<OpId> {
        let each = |shape: &AxiomShape| match shape {
            AxiomShape::Whole(parts) | AxiomShape::Partly(parts) => parts.clone(),
            AxiomShape::Before(id) | AxiomShape::Tight(id) => vec![*id],
            AxiomShape::TightPairs(id) | AxiomShape::Between(id) => vec![*id],
        };
        self.shapes.iter().flat_map(each).collect()
    }
}
