//! Type inference: a plan → a plan typed for graphs that give certain names.
//!
//! Types never depend on the events, so they are inferred once for all graphs: `try`, unbound names
//! and the polymorphic `{}` and `_` are resolved here. What is neither a set nor a relation
//! (tuples, sets of values, deferred functions) is dynamic and computed on [`Value`]s. An operation
//! on sets and relations with ill-typed operands is a fault in every graph.
use super::instruction::*;
use super::typed::{InputSlot, TypedPlan};
use super::value_type::{InputType, Type};
use crate::plan::builtin::{self, Builtin};
use crate::plan::fault::Fault;
use crate::plan::operation::{Group, Op, OpId};
use crate::plan::polarity::polarities;
use crate::plan::steps::{order_operands, roots, Plan};
use crate::syntax::ast::*;
use crate::values::operators::EvalResult;
use crate::values::store::Store;
use crate::values::value::Value;
use relation::{Relation, Set};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Types a plan for graphs that give what `given` says. If `complete`, the graph also gives rf, the
/// final writes (`FW`) and, by name, the choices. `relations` are the choices from listed values
/// whose values are relations.
pub fn infer(
    plan: &Arc<Plan>,
    complete: bool,
    given: &dyn Fn(&str) -> Option<InputType>,
    relations: &[u32],
) -> TypedPlan {
    let mut assumed = HashMap::new();
    loop {
        let mut inference = Inference::new(plan, complete, given, assumed);
        inference.relations = relations;
        let stable = inference.all();
        assumed = inference.assumed;
        if stable {
            let mut typed = inference.typed;
            let value = |fault: &Option<Fault>| match fault {
                Some(fault) => Value::Fault(fault.clone()),
                None => Value::Nothing,
            };
            typed.fixed = Arc::new(typed.faults.iter().map(value).collect());
            typed.operands = (0..typed.same.len())
                .map(|id| typed.operands_of(id as OpId))
                .collect();
            typed.is_computed = (0..typed.same.len())
                .map(|id| {
                    let op = plan.operations.op(id as OpId);
                    let comes = matches!(op, Op::ReadsFrom | Op::Finals | Op::Choice(_));
                    !comes && typed.faults[id].is_none()
                })
                .collect();
            let mut seen = HashSet::new();
            let roots = roots(&plan.operations, &plan.steps).into_iter();
            let needed = roots.flat_map(|root| typed.needed(root, &mut seen));
            let fails = |id: &OpId| typed.faults[*id as usize].is_some();
            let failing = (0..typed.faults.len() as OpId).filter(fails);
            typed.live = needed.chain(failing).collect();
            typed.live.sort_unstable();
            return typed;
        }
    }
}

struct Inference<'p> {
    given: &'p dyn Fn(&str) -> Option<InputType>,
    complete: bool,
    typed: TypedPlan,
    /// For each operation, a value of its type over no events: operators are typed by applying them
    /// to these.
    samples: Store,
    /// The types assumed for the names of `let rec`; `Nothing` if absent.
    assumed: HashMap<(u32, u32), Type>,
    /// The choices from listed values that are relations.
    relations: &'p [u32],
    /// For each group, whether its names only grow.
    grows: Vec<bool>,
}

impl<'p> Inference<'p> {
    fn new(
        plan: &Arc<Plan>,
        complete: bool,
        given: &'p dyn Fn(&str) -> Option<InputType>,
        assumed: HashMap<(u32, u32), Type>,
    ) -> Self {
        let count = plan.operations.all.len();
        let polarity = polarities(&plan.operations, &|_| true);
        let grows = |group: &Group| {
            let mut bodies = group.bodies.iter();
            bodies.all(|body| polarity[*body as usize].up)
        };
        Inference {
            given,
            complete,
            samples: Store::bare(plan),
            assumed,
            relations: &[],
            grows: plan.operations.groups.iter().map(grows).collect(),
            typed: TypedPlan {
                plan: plan.clone(),
                types: vec![Type::Dynamic; count],
                slots: vec![0; count],
                instructions: vec![Instruction::None; count],
                same: Arc::new((0..count as OpId).collect()),
                faults: vec![None; count],
                fixed: Arc::default(),
                live: Vec::new(),
                operands: Vec::new(),
                is_computed: Vec::new(),
                inputs: Vec::new(),
                candidates: Vec::new(),
                sets: 2,
                relations: 3,
            },
        }
    }

    /// Types every operation; returns false if the names of a `let rec` do not have the types
    /// assumed, and corrects these.
    fn all(&mut self) -> bool {
        let plan = self.typed.plan.clone();
        let mut stable = true;
        for (id, node) in plan.operations.all.iter().enumerate() {
            self.operation(id as OpId, &node.op);
            if let Op::Fix(group) = node.op {
                stable &= self.is_as_assumed(group);
            }
            self.samples.put(id as OpId, self.sample(id as OpId));
        }
        stable
    }

    /// A value of an operation's type over no events.
    fn sample(&self, id: OpId) -> Value {
        let fault = &self.typed.faults[self.typed.root(id) as usize];
        match (self.typed.type_of(id), fault) {
            (Type::Nothing, _) => Value::Nothing,
            (Type::Universe, _) => Value::Universe,
            (Type::Set, _) => Value::Set(Set::new(0)),
            (Type::Relation, _) => Value::Relation(Relation::new(0)),
            (Type::Dynamic, Some(fault)) => Value::Fault(fault.clone()),
            (Type::Dynamic, None) => Value::Nothing,
        }
    }

    fn is_as_assumed(&mut self, group: u32) -> bool {
        let plan = self.typed.plan.clone();
        let of = &plan.operations.groups[group as usize];
        let mut stable = true;
        for (index, body) in of.bodies.iter().enumerate() {
            let key = (group, index as u32);
            let before = *self.assumed.get(&key).unwrap_or(&Type::Nothing);
            let found = match self.typed.type_of(*body) {
                ty @ (Type::Set | Type::Relation) if self.grows[group as usize] => ty,
                Type::Nothing => Type::Nothing,
                _ => Type::Dynamic,
            };
            // If one name is dynamic, so are the others.
            let found = match before {
                Type::Dynamic => Type::Dynamic,
                _ if (0..of.bodies.len()).any(|other| {
                    self.assumed.get(&(group, other as u32)) == Some(&Type::Dynamic)
                }) =>
                {
                    Type::Dynamic
                }
                Type::Nothing => found,
                before if before == found => found,
                _ => Type::Dynamic,
            };
            if found != before {
                self.assumed.insert(key, found);
                stable = false;
            }
        }
        stable
    }

    fn is(&mut self, id: OpId, ty: Type, instr: Instruction) {
        let index = id as usize;
        self.typed.types[index] = ty;
        self.typed.instructions[index] = instr;
        match ty {
            Type::Set => {
                self.typed.slots[index] = self.typed.sets as Slot;
                self.typed.sets += 1;
            }
            Type::Relation => {
                self.typed.slots[index] = self.typed.relations as Slot;
                self.typed.relations += 1;
            }
            _ => {}
        }
    }

    /// The value is in a slot of its own and never changes.
    fn constant(&mut self, id: OpId, ty: Type, slot: Slot) {
        self.typed.types[id as usize] = ty;
        self.typed.slots[id as usize] = slot;
    }

    fn alias(&mut self, id: OpId, other: OpId) {
        let other = self.typed.root(other);
        Arc::make_mut(&mut self.typed.same)[id as usize] = other;
        self.samples.alias(id, other);
    }

    fn fails(&mut self, id: OpId, fault: Fault) {
        self.typed.faults[id as usize] = Some(fault);
    }

    fn takes(&mut self, id: OpId, name: &str, given: Option<InputType>) {
        let ty = match given {
            None => return,
            Some(InputType::Nothing) => return self.is(id, Type::Nothing, Instruction::None),
            Some(InputType::Set) => Type::Set,
            Some(InputType::Relation) => Type::Relation,
        };
        self.is(id, ty, Instruction::None);
        let slot = self.typed.slots[id as usize];
        let name = name.to_owned();
        self.typed.inputs.push(InputSlot { id, name, ty, slot });
    }

    fn comes_with_candidate(&mut self, id: OpId, ty: Type) {
        self.is(id, ty, Instruction::None);
        self.typed.candidates.push(id);
    }

    fn operation(&mut self, id: OpId, op: &Op) {
        let plan = self.typed.plan.clone();
        match op {
            Op::Nothing => self.is(id, Type::Nothing, Instruction::None),
            Op::Universe => self.is(id, Type::Universe, Instruction::None),
            Op::EmptyRelation => self.constant(id, Type::Relation, NO_PAIRS),
            Op::Identity => self.constant(id, Type::Relation, IDENTITY),
            Op::Given(name) => {
                let text = plan.names.text(*name);
                let given = (self.given)(text);
                self.takes(id, text, given);
                if given.is_none() {
                    self.fails(id, Fault::Unbound(*name));
                }
            }
            Op::ReadsFrom if self.complete => self.takes(id, "rf", Some(InputType::Relation)),
            Op::ReadsFrom => self.comes_with_candidate(id, Type::Relation),
            Op::Finals => match self.complete {
                true => self.takes(id, "FW", (self.given)("FW").or(Some(InputType::Nothing))),
                false => self.comes_with_candidate(id, Type::Set),
            },
            Op::Choice(index) => self.choice(id, *index),
            Op::Variable(group, index) => {
                let ty = self.assumed.get(&(*group, *index));
                self.is(id, *ty.unwrap_or(&Type::Nothing), Instruction::None);
            }
            Op::Fix(group) => {
                let of = &plan.operations.groups[*group as usize];
                let ty = self.typed.type_of(of.variables[0]);
                self.typed.instructions[id as usize] = match ty {
                    Type::Dynamic => Instruction::OnValues,
                    _ => Instruction::Fix(*group),
                };
            }
            Op::Item(of, index, _) => match *plan.operations.op(*of) {
                Op::Fix(group) => {
                    let variable =
                        plan.operations.groups[group as usize].variables[*index as usize];
                    match self.typed.type_of(variable) {
                        Type::Dynamic => self.is(id, Type::Dynamic, Instruction::OnValues),
                        _ => self.alias_item(id, variable),
                    }
                }
                _ => self.is(id, Type::Dynamic, Instruction::OnValues),
            },
            Op::Try(first, second) => {
                let root = self.typed.root(*first);
                match (self.typed.type_of(root), &self.typed.faults[root as usize]) {
                    (Type::Dynamic, None) => self.is(id, Type::Dynamic, Instruction::OnValues),
                    (Type::Dynamic, Some(Fault::Limit(_))) => self.alias(id, *first),
                    (Type::Dynamic, Some(_)) => self.alias(id, *second),
                    _ => self.alias(id, *first),
                }
            }
            Op::Fault(fault) => self.fails(id, plan.operations.faults[*fault as usize].clone()),
            Op::Union(_)
            | Op::Unary(..)
            | Op::Binary(Binary::Intersection | Binary::Difference | Binary::Product, ..)
            | Op::Sequence(..)
            | Op::Restrict(..)
            | Op::Call(Builtin::Domain | Builtin::Range | Builtin::AsTransitive, _) => {
                self.operator(id, op, &plan);
            }
            Op::Call(Builtin::Unsupported(name), argument) if self.is_void(name, *argument) => {
                match builtin::returns_set(name) {
                    true => self.constant(id, Type::Set, NO_EVENTS),
                    false => self.alias(id, *argument),
                }
            }
            _ => self.is(id, Type::Dynamic, Instruction::OnValues),
        }
    }

    /// Whether an unsupported function is applied to what is empty in every graph.
    fn is_void(&self, function: &str, argument: OpId) -> bool {
        let looked_at = match (
            builtin::returns_set(function),
            self.typed.plan.operations.op(argument),
        ) {
            (true, Op::Tuple(items)) => items.first().copied(),
            (true, _) => None,
            (false, _) => Some(argument),
        };
        builtin::is_known_on_empty(function)
            && looked_at.is_some_and(|id| self.typed.is_nothing(id))
    }

    /// An item of a fixpoint is in the slot of the name once the fixpoint is computed.
    fn alias_item(&mut self, id: OpId, variable: OpId) {
        let ty = self.typed.type_of(variable);
        let slot = self.typed.slot(variable);
        self.constant(id, ty, slot);
        if matches!(ty, Type::Set | Type::Relation) {
            self.typed.instructions[id as usize] = Instruction::Item;
        }
    }

    fn choice(&mut self, id: OpId, index: u32) {
        let plan = self.typed.plan.clone();
        let step = &plan.choices[index as usize];
        let name = plan.names.text(step.name);
        if self.complete {
            if let Some(given) = (self.given)(name) {
                return self.takes(id, name, Some(given));
            }
        }
        match order_operands(&plan.operations, step.source) {
            Some((_, set, _)) if self.typed.type_of(set) == Type::Nothing => {
                self.is(id, Type::Nothing, Instruction::None);
            }
            Some(_) => self.is(id, Type::Relation, Instruction::None),
            None if self.relations.contains(&index) => {
                self.is(id, Type::Relation, Instruction::None)
            }
            None => self.is(id, Type::Dynamic, Instruction::None),
        }
    }

    /// The type of an operator on sets and relations is that of its value over no events.
    fn operator(&mut self, id: OpId, op: &Op, plan: &Plan) {
        let (mut open, mut fault) = (false, None);
        plan.operations.operands(op, &mut |operand| {
            let root = self.typed.root(operand);
            if self.typed.type_of(root) == Type::Dynamic {
                match &self.typed.faults[root as usize] {
                    Some(found) => fault = fault.take().or(Some(found.clone())),
                    None => open = true,
                }
            }
        });
        if let Some(fault) = fault {
            return self.fails(id, fault);
        }
        if open {
            return self.is(id, Type::Dynamic, Instruction::OnValues);
        }
        match self.sampled(op) {
            Err(fault) => self.fails(id, fault),
            Ok(Value::Nothing) => self.is(id, Type::Nothing, Instruction::None),
            Ok(Value::Universe) => self.is(id, Type::Universe, Instruction::None),
            Ok(Value::Set(_)) => self.set(id, op),
            Ok(Value::Relation(_)) => self.relation(id, op),
            Ok(_) => self.is(id, Type::Dynamic, Instruction::OnValues),
        }
    }

    fn sampled(&mut self, op: &Op) -> EvalResult {
        let plan = self.typed.plan.clone();
        self.samples.compute_any(&plan, op)
    }

    fn set_slot(&self, id: OpId) -> Slot {
        match self.typed.type_of(id) {
            Type::Nothing => NO_EVENTS,
            Type::Universe => ALL_EVENTS,
            _ => self.typed.slot(id),
        }
    }

    fn relation_slot(&self, id: OpId) -> Slot {
        match self.typed.type_of(id) {
            Type::Nothing => NO_PAIRS,
            Type::Universe => ALL_PAIRS,
            _ => self.typed.slot(id),
        }
    }

    /// Whether a relation is transitive, as its last operation shows.
    fn is_transitive(&self, id: OpId) -> bool {
        match self.typed.plan.operations.op(self.typed.root(id)) {
            Op::Unary(Unary::Plus | Unary::Star, _) | Op::Call(Builtin::AsTransitive, _) => true,
            Op::Unary(Unary::Optional, a) => self.is_transitive(*a),
            _ => false,
        }
    }

    /// The operands of a union that may be non-empty.
    fn parts(&self, items: &[OpId]) -> Vec<OpId> {
        let parts = items.iter().map(|item| self.typed.root(*item));
        parts.filter(|item| !self.typed.is_nothing(*item)).collect()
    }

    fn set(&mut self, id: OpId, op: &Op) {
        let slot = |id: OpId| self.set_slot(id);
        let type_of = |id: OpId| self.typed.type_of(id);
        let instr = match op {
            Op::Union(items) => match self.parts(items)[..] {
                [one] => return self.alias(id, one),
                ref parts => Instruction::SetUnion(parts.iter().map(|part| slot(*part)).collect()),
            },
            Op::Binary(Binary::Intersection, a, b) => match (type_of(*a), type_of(*b)) {
                (Type::Universe, _) => return self.alias(id, *b),
                (_, Type::Universe) => return self.alias(id, *a),
                _ => Instruction::SetIntersection(slot(*a), slot(*b)),
            },
            Op::Binary(Binary::Difference, a, b) => match (type_of(*a), type_of(*b)) {
                (Type::Universe, _) => Instruction::SetComplement(slot(*b)),
                _ if self.typed.is_nothing(*b) => return self.alias(id, *a),
                _ => Instruction::SetDifference(slot(*a), slot(*b)),
            },
            Op::Unary(Unary::Complement, a) => Instruction::SetComplement(slot(*a)),
            Op::Call(Builtin::Domain, a) => Instruction::Domain(self.relation_slot(*a)),
            Op::Call(Builtin::Range, a) => Instruction::Range(self.relation_slot(*a)),
            _ => Instruction::OnValues,
        };
        self.computed(id, Type::Set, instr);
    }

    fn relation(&mut self, id: OpId, op: &Op) {
        let slot = |id: OpId| self.relation_slot(id);
        let set = |id: OpId| self.set_slot(id);
        let type_of = |id: OpId| self.typed.type_of(id);
        let instr = match op {
            Op::Union(items) => match self.parts(items)[..] {
                [one] => return self.alias(id, one),
                ref parts => Instruction::Union(parts.iter().map(|part| slot(*part)).collect()),
            },
            Op::Binary(Binary::Intersection, a, b) => match (type_of(*a), type_of(*b)) {
                (Type::Universe, _) => return self.alias(id, *b),
                (_, Type::Universe) => return self.alias(id, *a),
                _ => Instruction::Intersection(slot(*a), slot(*b)),
            },
            Op::Binary(Binary::Difference, a, b) => match (type_of(*a), type_of(*b)) {
                (Type::Universe, _) => Instruction::Complement(slot(*b)),
                _ if self.typed.is_nothing(*b) => return self.alias(id, *a),
                _ => Instruction::Difference(slot(*a), slot(*b)),
            },
            Op::Binary(Binary::Product, a, b) => Instruction::Product(set(*a), set(*b)),
            Op::Sequence(a, b) => Instruction::Sequence(slot(*a), slot(*b), self.is_transitive(*b)),
            Op::Restrict(from, inner, to) => {
                let side = |side: &Option<OpId>| {
                    let side = side.filter(|side| type_of(*side) != Type::Universe);
                    side.map(set)
                };
                match (side(from), side(to), type_of(*inner)) {
                    (None, None, Type::Relation) => return self.alias(id, *inner),
                    (from, to, _) => Instruction::Restrict(from, slot(*inner), to),
                }
            }
            Op::Unary(Unary::Identity, a) => Instruction::Identity(set(*a)),
            Op::Unary(Unary::Complement, a) => Instruction::Complement(slot(*a)),
            Op::Unary(Unary::Inverse, a) => Instruction::Inverse(slot(*a)),
            Op::Unary(Unary::Plus, a) | Op::Call(Builtin::AsTransitive, a) => {
                Instruction::Plus(slot(*a))
            }
            Op::Unary(Unary::Star, a) => Instruction::Star(slot(*a)),
            Op::Unary(Unary::Optional, a) => Instruction::Optional(slot(*a)),
            _ => Instruction::OnValues,
        };
        self.computed(id, Type::Relation, instr);
    }

    fn computed(&mut self, id: OpId, ty: Type, instr: Instruction) {
        let nothing = instr.yields_empty(&|slot| slot == NO_EVENTS, &|slot| slot == NO_PAIRS);
        match instr {
            Instruction::OnValues => self.is(id, Type::Dynamic, Instruction::OnValues),
            _ if nothing => self.constant(id, ty, NOTHING),
            _ => self.is(id, ty, instr),
        }
    }
}
