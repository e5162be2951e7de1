//! Removal of the operations that no check or choice needs.
use super::operation::{Deferred, Group, Op, OpId, Operation, Operations};
use super::steps::{CheckStep, ChoiceStep, Step};

/// Renumbers the operations that `steps` need, in the same order, and removes the others. The
/// source of a choice of orders is preserved, although its value is not needed.
pub fn compact(
    operations: &mut Operations,
    steps: &mut [Step],
    choices: &mut [ChoiceStep],
    roots: &[OpId],
) {
    let mut seen = vec![false; operations.all.len()];
    let mut needed = vec![false; operations.groups.len()];
    let mut pending = roots.to_vec();
    while let Some(id) = pending.pop() {
        if std::mem::replace(&mut seen[id as usize], true) {
            continue;
        }
        operations.operands(operations.op(id), &mut |operand| pending.push(operand));
        // The operations that a fixpoint repeats belong to it.
        if let Op::Fix(group) = *operations.op(id) {
            needed[group as usize] = true;
            let group = &operations.groups[group as usize];
            pending.extend(group.variables.iter().chain(group.inner.iter().flatten()));
        }
    }
    let mut numbers: Vec<OpId> = Vec::with_capacity(seen.len());
    let mut next = 0;
    for seen in &seen {
        numbers.push(next);
        next += OpId::from(*seen);
    }
    let number = |id: OpId| numbers[id as usize];
    let all = std::mem::take(&mut operations.all);
    let needed_operations = all
        .into_iter()
        .zip(&seen)
        .filter(|(_, seen)| **seen)
        .map(|(node, _)| node);
    operations.all = needed_operations
        .map(|node| Operation {
            op: renumbered(&node.op, &number),
            ..node
        })
        .collect();
    let is_needed = |id: &OpId| seen[*id as usize];
    for Deferred { captured, .. } in &mut operations.deferred {
        captured.retain(|(_, id)| is_needed(id));
        captured.iter_mut().for_each(|(_, id)| *id = number(*id));
    }
    for (group, needed) in operations.groups.iter_mut().zip(needed) {
        let Group {
            variables,
            bodies,
            inner,
        } = group;
        if !needed {
            // Its operations are removed.
            variables.clear();
            bodies.clear();
            inner.clear();
        }
        let all = variables
            .iter_mut()
            .chain(bodies)
            .chain(inner.iter_mut().flatten());
        all.for_each(|id| *id = number(*id));
    }
    for step in steps {
        match step {
            Step::Check(CheckStep { value, .. }) => *value = number(*value),
            Step::Choose(choice) => renumber_choice(choice, &number),
        }
    }
    choices
        .iter_mut()
        .for_each(|choice| renumber_choice(choice, &number));
}

fn renumber_choice(choice: &mut ChoiceStep, number: &dyn Fn(OpId) -> OpId) {
    choice.source = number(choice.source);
    choice.choice = number(choice.choice);
}

fn renumbered(op: &Op, number: &dyn Fn(OpId) -> OpId) -> Op {
    let several = |items: &[OpId]| items.iter().map(|id| number(*id)).collect();
    match op {
        Op::Union(items) => Op::Union(several(items)),
        Op::Explicit(items) => Op::Explicit(several(items)),
        Op::Tuple(items) => Op::Tuple(several(items)),
        Op::Unary(op, a) => Op::Unary(*op, number(*a)),
        Op::Item(a, index, count) => Op::Item(number(*a), *index, *count),
        Op::Call(builtin, a) => Op::Call(*builtin, number(*a)),
        Op::Binary(op, a, b) => Op::Binary(*op, number(*a), number(*b)),
        Op::Sequence(a, b) => Op::Sequence(number(*a), number(*b)),
        Op::Apply(a, b) => Op::Apply(number(*a), number(*b)),
        Op::Orders(a, b) => Op::Orders(number(*a), number(*b)),
        Op::Try(a, b) => Op::Try(number(*a), number(*b)),
        Op::Restrict(from, inner, to) => {
            Op::Restrict(from.map(number), number(*inner), to.map(number))
        }
        Op::If(test, a, b, yes, no) => {
            Op::If(*test, number(*a), number(*b), number(*yes), number(*no))
        }
        other => other.clone(),
    }
}
