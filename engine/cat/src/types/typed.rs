//! The typed plan.
use super::instruction::{Instruction, Slot, NOTHING};
use super::value_type::Type;
use crate::plan::fault::Fault;
use crate::plan::operation::OpId;
use crate::plan::steps::Plan;
use crate::values::value::Value;
use std::collections::HashSet;
use std::sync::Arc;

/// A set or relation that the graph gives, with its slot.
#[derive(Clone, Debug)]
pub struct InputSlot {
    pub id: OpId,
    pub name: String,
    pub ty: Type,
    pub slot: Slot,
}

pub struct TypedPlan {
    pub plan: Arc<Plan>,
    pub types: Vec<Type>,
    pub slots: Vec<Slot>,
    pub instructions: Vec<Instruction>,
    /// For each operation, the first one that has the same value in every graph; often itself.
    pub same: Arc<Vec<OpId>>,
    /// For operations that have no value in any graph, the reason; their type is `Dynamic`.
    pub faults: Vec<Option<Fault>>,
    /// The initial values of a [`crate::values::store::Store`]: the faults.
    pub fixed: Arc<Vec<Value>>,
    /// The operations that the steps need, in order, without those inside a `let rec`; and those
    /// that have no value.
    pub live: Vec<OpId>,
    /// For each operation outside of every `let rec`, what it is computed from.
    pub operands: Vec<Box<[OpId]>>,
    /// Whether an operation's value is determined by its operands: it is neither a choice nor given
    /// with a candidate, and no fault.
    pub is_computed: Vec<bool>,
    pub inputs: Vec<InputSlot>,
    /// `rf` and `FW`, if they are given with each candidate.
    pub candidates: Vec<OpId>,
    /// The numbers of slots.
    pub sets: usize,
    pub relations: usize,
}

impl TypedPlan {
    /// The first operation that has the same value as this one.
    pub fn root(&self, id: OpId) -> OpId {
        self.same[id as usize]
    }

    pub fn type_of(&self, id: OpId) -> Type {
        self.types[self.root(id) as usize]
    }

    pub fn slot(&self, id: OpId) -> Slot {
        self.slots[self.root(id) as usize]
    }

    /// Whether an operation's value is empty in every graph.
    pub fn is_nothing(&self, id: OpId) -> bool {
        match self.type_of(id) {
            Type::Nothing => true,
            Type::Set | Type::Relation => self.slot(id) == NOTHING,
            Type::Universe | Type::Dynamic => false,
        }
    }

    pub fn operands_of(&self, id: OpId) -> Box<[OpId]> {
        let operations = &self.plan.operations;
        let outside = operations.all[id as usize].group == 0;
        if !outside || matches!(self.instructions[id as usize], Instruction::None) {
            return Box::default();
        }
        let mut found = Vec::new();
        operations.operands(operations.op(id), &mut |operand| {
            let root = self.root(operand);
            if operations.all[root as usize].group == 0 && !found.contains(&root) {
                found.push(root);
            }
        });
        found.into()
    }

    /// The operations that `root` needs and that are not in `seen`, in order; adds them to `seen`.
    pub fn needed(&self, root: OpId, seen: &mut HashSet<OpId>) -> Vec<OpId> {
        let operations = &self.plan.operations;
        let mut found = Vec::new();
        let mut pending = vec![root];
        while let Some(id) = pending.pop() {
            let id = self.root(id);
            if !seen.insert(id) || self.faults[id as usize].is_some() {
                continue;
            }
            let inside = operations.all[id as usize].group != 0;
            if !inside {
                found.push(id);
            }
            if inside || !matches!(self.instructions[id as usize], Instruction::None) {
                operations.operands(operations.op(id), &mut |operand| pending.push(operand));
            }
        }
        found.sort_unstable();
        found
    }

    /// The approximate cost of an operation, relative to others.
    pub fn cost(&self, id: OpId) -> u32 {
        match self.instructions[id as usize] {
            Instruction::None | Instruction::Item => 0,
            Instruction::Sequence(..) => 5,
            Instruction::Inverse(_) => 3,
            Instruction::Plus(_) | Instruction::Star(_) => 10,
            Instruction::Fix(_) => 50,
            Instruction::OnValues => 200,
            _ => 1,
        }
    }
}
