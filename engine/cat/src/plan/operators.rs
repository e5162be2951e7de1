//! Normalisation of operators: the operands that change least often are combined first, and sets in
//! brackets become restrictions of their neighbours.
use super::fault::Fault;
use super::operation::{Op, OpId, Operations};
use crate::syntax::ast::*;
use crate::syntax::names::SourcePosition;

/// How many operations a plan may have.
const MAX_NODES: usize = 100_000;

/// Why a model cannot be planned, and where.
pub type PlanError = (SourcePosition, Fault);
pub type PlanResult<T> = Result<T, PlanError>;

impl Operations {
    /// [`Operations::intern`] within the limit.
    pub fn add(&mut self, op: Op, at: SourcePosition) -> PlanResult<OpId> {
        if self.all.len() >= MAX_NODES {
            return Err((at, Fault::Limit("the model has too many operations")));
        }
        let (op, grain) = self.of_one_grain(op, at)?;
        let id = self.intern(op, at);
        self.set_grain(id, grain);
        Ok(id)
    }

    /// `let rec r = e | r; r` is `let r = e+`.
    pub fn transitive(&mut self, body: OpId, group: u32) -> PlanResult<Option<OpId>> {
        let at = self.all[body as usize].at;
        let variable = self.add(Op::Variable(group, 0), at)?;
        let twice = Op::Sequence(variable, variable);
        let mut flat = Vec::new();
        let mut pending = vec![body];
        while let Some(id) = pending.pop() {
            match self.op(id) {
                Op::Union(items) => pending.extend(items.iter()),
                _ => flat.push(id),
            }
        }
        let (steps, rest): (Vec<OpId>, Vec<OpId>) =
            flat.into_iter().partition(|id| *self.op(*id) == twice);
        let depends = |id: &OpId| self.all[*id as usize].group > group;
        if steps.len() != 1 || rest.is_empty() || rest.iter().any(depends) {
            return Ok(None);
        }
        let once = self.union(rest, at)?;
        self.add(Op::Unary(Unary::Plus, once), at).map(Some)
    }

    fn level(&self, id: OpId) -> (u32, u32) {
        let node = &self.all[id as usize];
        (node.group, node.level)
    }

    /// A union; the operands that change least often are united first.
    pub fn union(&mut self, mut items: Vec<OpId>, at: SourcePosition) -> PlanResult<OpId> {
        items.sort_by_key(|id| (self.level(*id), *id));
        items.dedup();
        let mut whole: Option<OpId> = None;
        let mut start = 0;
        while start < items.len() {
            let level = self.level(items[start]);
            let end = start
                + items[start..]
                    .iter()
                    .take_while(|id| self.level(**id) == level)
                    .count();
            let mut part: Vec<OpId> = whole.into_iter().collect();
            part.extend(&items[start..end]);
            whole = Some(match part[..] {
                [one] => one,
                _ => self.add(Op::Union(part.into()), at)?,
            });
            start = end;
        }
        match whole {
            Some(id) => Ok(id),
            None => self.add(Op::Nothing, at),
        }
    }

    pub fn binary(&mut self, op: Binary, a: OpId, b: OpId, at: SourcePosition) -> PlanResult<OpId> {
        if op == Binary::Intersection {
            for (relation, other) in [(a, b), (b, a)] {
                if let Op::Binary(Binary::Product, from, to) = *self.op(other) {
                    let side = |id: OpId| (*self.op(id) != Op::Universe).then_some(id);
                    let op = Op::Restrict(side(from), relation, side(to));
                    return self.add(op, at);
                }
            }
            if let Op::Unary(Unary::Complement, inner) = *self.op(b) {
                return self.add(Op::Binary(Binary::Difference, a, inner), at);
            }
        }
        self.add(Op::Binary(op, a, b), at)
    }

    /// `a; b; …`; sets in brackets restrict their neighbours, and the operands that change least
    /// often are composed first.
    pub fn sequence(&mut self, items: &[OpId], at: SourcePosition) -> PlanResult<OpId> {
        let mut list: Vec<(Option<OpId>, Option<OpId>)> = Vec::new();
        for item in items {
            let next = match *self.op(*item) {
                Op::Unary(Unary::Identity, set) => (Some(set), None),
                _ => (None, Some(*item)),
            };
            match (list.last_mut(), next) {
                (Some((Some(set), None)), (Some(more), None)) => {
                    *set = self.add(Op::Binary(Binary::Intersection, *set, more), at)?;
                }
                _ => list.push(next),
            }
        }
        let mut relations: Vec<OpId> = Vec::new();
        let mut index = 0;
        while index < list.len() {
            let set = |index: usize| list.get(index).and_then(|(set, _)| *set);
            let (from, relation) = match list[index] {
                (Some(set), None) if index + 1 == list.len() => {
                    // It is alone, or the relation before it already has a set behind it.
                    relations.push(self.add(Op::Unary(Unary::Identity, set), at)?);
                    break;
                }
                (Some(set), None) => {
                    index += 1;
                    (Some(set), list[index].1)
                }
                (_, relation) => (None, relation),
            };
            let Some(relation) = relation else { break };
            let to = set(index + 1);
            index += 1 + usize::from(to.is_some());
            relations.push(match (from, to) {
                (None, None) => relation,
                _ => self.add(Op::Restrict(from, relation, to), at)?,
            });
        }
        while relations.len() > 1 {
            // what is between parts first
            let mut pairs = relations.windows(2);
            let of_parts = pairs.position(|pair| self.are_of_parts(pair[0], pair[1]));
            let pairs = relations.windows(2).enumerate();
            let cost = |pair: &[OpId]| self.level(pair[0]).max(self.level(pair[1]));
            let cheapest = pairs.min_by_key(|(_, pair)| cost(pair));
            let best = of_parts.unwrap_or(cheapest.map_or(0, |(index, _)| index));
            let (a, b) = (relations[best], relations.remove(best + 1));
            relations[best] = self.add(Op::Sequence(a, b), at)?;
        }
        Ok(relations[0])
    }
}
