//! A plan: the checks and choices of a model, in its order, on numbered operations.
use super::builtin::Builtin;
use super::operation::{Op, OpId, Operations};
use crate::syntax::ast::{Claim, Role};
use crate::syntax::names::{Names, SourcePosition, Symbol};
use std::collections::HashMap;

#[derive(Clone, Copy, Debug)]
pub struct CheckStep {
    pub at: SourcePosition,
    /// Where its value stands.
    pub value_at: SourcePosition,
    pub role: Role,
    pub negated: bool,
    pub claim: Claim,
    pub value: OpId,
    pub name: Option<Symbol>,
}

impl CheckStep {
    /// What is claimed, in cat's words.
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
    /// The operation that is the choice.
    pub choice: OpId,
}

#[derive(Clone, Copy, Debug)]
pub enum Step {
    Check(CheckStep),
    Choose(ChoiceStep),
}

/// A model laid out for some variants.
pub struct Plan {
    pub names: Names,
    pub operations: Operations,
    pub steps: Vec<Step>,
    /// The tags of each enumeration.
    pub enums: HashMap<Symbol, Vec<Symbol>>,
    /// The choices, in their order: each one's source.
    pub choices: Vec<ChoiceStep>,
    /// Whether each variant is on.
    pub variants: HashMap<String, bool>,
    /// The names that are asked of a graph, in order.
    pub given: Vec<OpId>,
    /// Whether the final writes matter; see `Prepared::needs_final_writes`.
    pub needs_finals: bool,
}

/// The operations whose values make a choice's source, when they are to be had one by
/// one: of orders, what is ordered and what they extend.
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

/// The operations whose values the steps look at.
pub fn roots(operations: &Operations, steps: &[Step]) -> Vec<OpId> {
    let mut waiting = Vec::new();
    for step in steps {
        match step {
            Step::Check(check) => waiting.push(check.value),
            Step::Choose(choice) => {
                waiting.push(choice.choice);
                match order_operands(operations, choice.source) {
                    Some((_, set, base)) => waiting.extend([set, base]),
                    None => waiting.push(choice.source),
                }
            }
        }
    }
    waiting
}
