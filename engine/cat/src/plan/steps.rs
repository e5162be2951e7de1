//! A plan: the checks and choices of a model, in order, on numbered operations.
use super::builtin::Builtin;
use super::operation::{Op, OpId, Operations};
use crate::syntax::ast::{Claim, Role};
use crate::syntax::names::{Names, SourcePosition, Symbol};
use std::collections::HashMap;

#[derive(Clone, Copy, Debug)]
pub struct CheckStep {
    pub at: SourcePosition,
    /// The position of the expression.
    pub value_at: SourcePosition,
    pub role: Role,
    pub negated: bool,
    pub claim: Claim,
    pub value: OpId,
    pub name: Option<Symbol>,
}

impl CheckStep {
    /// The claim in cat's words.
    pub fn claim_text(&self) -> String {
        let claim = match self.claim {
            Claim::Acyclic => "acyclic",
            Claim::Irreflexive => "irreflexive",
            Claim::Empty => "empty",
        };
        format!("{}{claim}", if self.negated { "~" } else { "" })
    }
}

#[derive(Clone, Copy, Debug)]
pub struct ChoiceStep {
    pub at: SourcePosition,
    pub name: Symbol,
    pub source: OpId,
    /// The operation that stands for the chosen value.
    pub choice: OpId,
}

#[derive(Clone, Copy, Debug)]
pub enum Step {
    Check(CheckStep),
    Choose(ChoiceStep),
}

/// A model, planned for some variants.
pub struct Plan {
    pub names: Names,
    pub operations: Operations,
    pub steps: Vec<Step>,
    /// The tags of each enumeration.
    pub enums: HashMap<Symbol, Vec<Symbol>>,
    /// The choices, in order.
    pub choices: Vec<ChoiceStep>,
    /// Whether each variant is on.
    pub variants: HashMap<String, bool>,
    /// The operations that a graph gives the values of, in order.
    pub given: Vec<OpId>,
    /// Whether the final writes matter; see [`crate::Prepared::needs_final_writes`].
    pub needs_finals: bool,
}

/// For a choice of orders, whether they are per location, and the operations for the ordered set
/// and for the relation that the orders extend. None for other choices.
pub fn order_operands(operations: &Operations, source: OpId) -> Option<(bool, OpId, OpId)> {
    match *operations.op(source) {
        Op::Orders(set, base) => Some((true, set, base)),
        Op::Call(Builtin::Linearisations, argument) => match operations.op(argument) {
            Op::Tuple(items) => match items[..] {
                [set, base] => Some((false, set, base)),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

/// The operations whose values the steps need.
pub fn roots(operations: &Operations, steps: &[Step]) -> Vec<OpId> {
    let mut pending = Vec::new();
    for step in steps {
        match step {
            Step::Check(check) => pending.push(check.value),
            Step::Choose(choice) => {
                pending.push(choice.choice);
                match order_operands(operations, choice.source) {
                    Some((_, set, base)) => pending.extend([set, base]),
                    None => pending.push(choice.source),
                }
            }
        }
    }
    pending
}
