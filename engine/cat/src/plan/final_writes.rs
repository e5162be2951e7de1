//! Whether the final writes influence a model's solutions.
use super::operation::{Op, OpId, Operations};
use super::steps::{order_operands, Step};
use crate::syntax::ast::{Claim, Role};
use crate::syntax::names::Names;

/// Whether the final writes influence anything but the bases of coherence orders over all writes,
/// and checks that these bases are acyclic.
///
/// Every coherence order ends with some write. Fixing which one, and then choosing only orders that
/// end with it, merely partitions the same orders.
pub fn needs_finals(operations: &Operations, names: &Names, steps: &[Step]) -> bool {
    let mut reached = vec![false; operations.all.len()];
    for (id, node) in operations.all.iter().enumerate() {
        let mut reaches = node.op == Op::Finals;
        if !matches!(node.op, Op::Choice(_)) {
            operations.operands(&node.op, &mut |operand| {
                reaches |= reached.get(operand as usize) == Some(&true)
            });
        }
        reached[id] = reaches;
    }
    let reaches = |id: OpId| reached[id as usize];
    let mut bases = Vec::new();
    for step in steps {
        let Step::Choose(choice) = step else { continue };
        match order_operands(operations, choice.source) {
            None if reaches(choice.source) => return true,
            Some((by_location, set, base)) if reaches(set) || reaches(base) => {
                let writes =
                    matches!(operations.op(set), Op::Given(name) if names.text(*name) == "W");
                if reaches(set) || !writes || !by_location {
                    return true;
                }
                bases.push(base);
            }
            _ => {}
        }
    }
    steps.iter().any(|step| {
        let Step::Check(check) = step else {
            return false;
        };
        let harmless = check.claim == Claim::Acyclic && check.role == Role::Axiom && !check.negated;
        reaches(check.value) && !(harmless && bases.contains(&check.value))
    })
}
