//! A typed plan.
use super::form::Form;
use super::instruction::{Instr, Slot, NOTHING};
use crate::plan::fault::Fault;
use crate::plan::operation::Id;
use crate::plan::steps::Plan;
use crate::values::value::Value;
use std::collections::HashSet;
use std::sync::Arc;

/// A set or relation that the graph gives.
#[derive(Clone, Debug)]
pub struct Taken {
    pub id: Id,
    pub name: String,
    pub form: Form,
    pub slot: Slot,
}

pub struct Typed {
    pub plan: Arc<Plan>,
    pub forms: Vec<Form>,
    pub slots: Vec<Slot>,
    pub instrs: Vec<Instr>,
    /// For each operation, the one that has the same value whatever the graph; often itself.
    pub same: Arc<Vec<Id>>,
    /// For operations without a value, why; their form is `Any`.
    pub faults: Vec<Option<Fault>>,
    /// Each operation's value where it is a fault in every graph, else nothing yet.
    pub fixed: Arc<Vec<Value>>,
    /// The operations that the plan's steps need, in order, those inside a `let rec` aside, and
    /// those without a value.
    pub live: Vec<Id>,
    /// What an operation outside every `let rec` is computed from, where it is computed.
    pub operands: Vec<Box<[Id]>>,
    /// Whether an operation's value follows from those of its operands: it is not chosen, does
    /// not come with a candidate, and is no fault in every graph.
    pub follows: Vec<bool>,
    pub taken: Vec<Taken>,
    /// `rf` and `FW`, where they come with a candidate.
    pub candidates: Vec<Id>,
    /// How many slots there are.
    pub sets: usize,
    pub relations: usize,
}

impl Typed {
    /// The number of the operation that has this one's value.
    pub fn root(&self, id: Id) -> Id {
        self.same[id as usize]
    }

    pub fn form(&self, id: Id) -> Form {
        self.forms[self.root(id) as usize]
    }

    pub fn slot(&self, id: Id) -> Slot {
        self.slots[self.root(id) as usize]
    }

    /// Whether an operation's value is empty whatever the graph.
    pub fn is_nothing(&self, id: Id) -> bool {
        match self.form(id) {
            Form::Nothing => true,
            Form::Set | Form::Relation => self.slot(id) == NOTHING,
            Form::Universe | Form::Any => false,
        }
    }

    pub fn operands_of(&self, id: Id) -> Box<[Id]> {
        let nodes = &self.plan.nodes;
        let outside = nodes.all[id as usize].group == 0;
        if !outside || matches!(self.instrs[id as usize], Instr::None) {
            return Box::default();
        }
        let mut found = Vec::new();
        nodes.operands(nodes.op(id), &mut |operand| {
            let root = self.root(operand);
            if nodes.all[root as usize].group == 0 && !found.contains(&root) {
                found.push(root);
            }
        });
        found.into()
    }

    /// The operations that `root` needs and that are not in `seen`, in order; they are then.
    pub fn needed(&self, root: Id, seen: &mut HashSet<Id>) -> Vec<Id> {
        let nodes = &self.plan.nodes;
        let mut found = Vec::new();
        let mut waiting = vec![root];
        while let Some(id) = waiting.pop() {
            let id = self.root(id);
            if !seen.insert(id) || self.faults[id as usize].is_some() {
                continue;
            }
            let inside = nodes.all[id as usize].group != 0;
            if !inside {
                found.push(id);
            }
            if inside || !matches!(self.instrs[id as usize], Instr::None) {
                nodes.operands(nodes.op(id), &mut |operand| waiting.push(operand));
            }
        }
        found.sort_unstable();
        found
    }

    /// About how long an operation takes, beside others.
    pub fn cost(&self, id: Id) -> u32 {
        match self.instrs[id as usize] {
            Instr::None | Instr::Item => 0,
            Instr::Sequence(..) => 5,
            Instr::Inverse(_) => 3,
            Instr::Plus(_) | Instr::Star(_) => 10,
            Instr::Fix(_) => 50,
            Instr::Any => 200,
            _ => 1,
        }
    }
}
