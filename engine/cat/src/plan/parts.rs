//! Models of graphs in which accesses of several sizes overlap.
//!
//! Such an access is several events, one for each part of memory that some access has alone: `si`
//! relates the parts of one access. rf, co, loc and rmw are relations between parts, and so is what is
//! computed from them alone: fr, a closure of rf | co | fr, what po and loc have in common. Everything
//! else is between accesses: a relation between parts that is combined with one between accesses
//! stands for `si; r; si`. So a release that is read in part happens before what follows, as a whole,
//! while coherence is asked of each part of memory alone, as herd7's variant `mixed` does. That an
//! access is not torn apart is an axiom of its own: the accesses have one order that is the coherence
//! order of every part, and no access reads before a write, and from that or a later one of another
//! thread; from its own thread a store may be forwarded to a part of a load. See Flur,
//! Sarkar, Pulte, Nienhuis, Maranget, Gray, Sezgin, Batty, Sewell, "Mixed-size concurrency: ARM, POWER,
//! C/C++11, and SC", POPL 2017. A model that says itself what holds, by herd7's variant `mixed`, is
//! planned as it stands.

use super::grain::Grain;
use super::operation::{Op, OpId, Operations};
use super::operators::PlanResult;
use crate::syntax::ast::{Binary, Unary};
use crate::syntax::names::SourcePosition;

impl Operations {
    /// An operation as one on accesses.
    pub fn between_accesses(&mut self, id: OpId, at: SourcePosition) -> PlanResult<OpId> {
        let (Grain::Parts, Some(parts)) = (self.grain(id), &self.parts) else {
            return Ok(id);
        };
        let same = parts.same_access;
        let before = self.intern(Op::Sequence(same, id), at);
        let whole = self.intern(Op::Sequence(before, same), at);
        self.set_grain(before, Grain::Accesses);
        self.set_grain(whole, Grain::Accesses);
        Ok(whole)
    }

    fn all_between_accesses(
        &mut self,
        items: &[OpId],
        at: SourcePosition,
    ) -> PlanResult<Box<[OpId]>> {
        items
            .iter()
            .map(|id| self.between_accesses(*id, at))
            .collect()
    }

    /// Neighbours in a sequence whose composition is one of parts.
    pub fn are_of_parts(&self, one: OpId, other: OpId) -> bool {
        self.grain(one).max(self.grain(other)) == Grain::Parts
    }

    /// An operation with operands of one grain, and its grain.
    pub fn of_one_grain(&mut self, op: Op, at: SourcePosition) -> PlanResult<(Op, Grain)> {
        let Some(parts) = &self.parts else {
            return Ok((op, Grain::Any));
        };
        let same_access = parts.same_access;
        let mut grain = Grain::Any;
        self.operands(&op, &mut |operand| grain = grain.max(self.grain(operand)));
        Ok(match op {
            Op::Choice(_) => (op, Grain::Parts),
            Op::Fix(_) | Op::Variable(..) | Op::Item(..) | Op::Eval(_) | Op::Closure(_) => {
                (op, Grain::Accesses)
            }
            // a relation between accesses has all parts of those, or none
            Op::Binary(Binary::Intersection, a, b) => {
                match [a, b].iter().any(|id| self.grain(*id) == Grain::Parts) {
                    true => (op, Grain::Parts),
                    false => (op, grain),
                }
            }
            Op::Binary(Binary::Difference, a, b) => match (self.grain(a), self.op(b)) {
                (Grain::Accesses, Op::Identity) => {
                    (Op::Binary(Binary::Difference, a, same_access), grain)
                }
                (Grain::Accesses, _) => {
                    let b = self.between_accesses(b, at)?;
                    (Op::Binary(Binary::Difference, a, b), grain)
                }
                (Grain::Parts, _) => (op, Grain::Parts),
                (Grain::Any, _) => (op, grain),
            },
            Op::Unary(Unary::Complement, a) if grain == Grain::Parts => (
                Op::Unary(Unary::Complement, self.between_accesses(a, at)?),
                Grain::Accesses,
            ),
            Op::Call(builtin, a) => (Op::Call(builtin, self.between_accesses(a, at)?), Grain::Any),
            Op::Apply(a, b) => {
                let (a, b) = (self.between_accesses(a, at)?, self.between_accesses(b, at)?);
                (Op::Apply(a, b), Grain::Accesses)
            }
            Op::Tuple(items) => (
                Op::Tuple(self.all_between_accesses(&items, at)?),
                Grain::Accesses,
            ),
            Op::If(test, a, b, yes, no) => {
                match self.all_between_accesses(&[a, b, yes, no], at)?[..] {
                    [a, b, yes, no] => (Op::If(test, a, b, yes, no), Grain::Accesses),
                    _ => unreachable!("there are as many as before"),
                }
            }
            _ if grain != Grain::Accesses => (op, grain),
            Op::Union(items) => (Op::Union(self.all_between_accesses(&items, at)?), grain),
            Op::Sequence(a, b) => {
                let (a, b) = (self.between_accesses(a, at)?, self.between_accesses(b, at)?);
                (Op::Sequence(a, b), grain)
            }
            Op::Try(a, b) => {
                let (a, b) = (self.between_accesses(a, at)?, self.between_accesses(b, at)?);
                (Op::Try(a, b), grain)
            }
            op => (op, grain),
        })
    }
}
