//! A plan: the checks and choices of a model, in its order, on numbered operations.
use super::builtin::Prim;
use super::operation::{Id, Nodes, Op};
use crate::syntax::ast::{Claim, Role};
use crate::syntax::names::{Names, Place, Sym};
use std::collections::HashMap;

#[derive(Clone, Copy, Debug)]
pub struct CheckStep {
    pub at: Place,
    /// Where its value stands.
    pub value_at: Place,
    pub role: Role,
    pub negated: bool,
    pub claim: Claim,
    pub value: Id,
    pub name: Option<Sym>,
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
    pub at: Place,
    pub name: Sym,
    pub source: Id,
    /// The operation that is the choice.
    pub choice: Id,
}

#[derive(Clone, Copy, Debug)]
pub enum Step {
    Check(CheckStep),
    Choose(ChoiceStep),
}

/// A model laid out for some variants.
pub struct Plan {
    pub names: Names,
    pub nodes: Nodes,
    pub steps: Vec<Step>,
    /// The tags of each enumeration.
    pub enums: HashMap<Sym, Vec<Sym>>,
    /// The choices, in their order: each one's source.
    pub choices: Vec<ChoiceStep>,
    /// Whether each variant is on.
    pub variants: HashMap<String, bool>,
    /// The names that are asked of a graph, in order.
    pub given: Vec<Id>,
    /// Whether the final writes matter; see `Prepared::needs_final_writes`.
    pub needs_finals: bool,
}

/// The operations whose values make a choice's source, when they are to be had one by
/// one: of orders, what is ordered and what they extend.
pub fn source_parts(nodes: &Nodes, source: Id) -> Option<(bool, Id, Id)> {
    match *nodes.op(source) {
        Op::Orders(set, base) => Some((true, set, base)),
        Op::Call(Prim::Linearisations, argument) => match nodes.op(argument) {
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
pub fn roots(nodes: &Nodes, steps: &[Step]) -> Vec<Id> {
    let mut waiting = Vec::new();
    for step in steps {
        match step {
            Step::Check(check) => waiting.push(check.value),
            Step::Choose(choice) => {
                waiting.push(choice.choice);
                match source_parts(nodes, choice.source) {
                    Some((_, set, base)) => waiting.extend([set, base]),
                    None => waiting.push(choice.source),
                }
            }
        }
    }
    waiting
}
