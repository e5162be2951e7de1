//! A plan for graphs that give certain names: the type of each operation's value, where the
//! value stands, and the instruction that computes it from rows of bits.
//!
//! What a set or relation is called on never depends on the events, so that types are known
//! once for all graphs: `try`, unbound names and the adaptive `{}` and `_` are resolved here.
//! What is neither a set nor a relation (tuples, sets of values, functions left to the
//! interpreter) has no type and is computed on [`Value`]s; an operation of sets and relations
//! whose types do not fit is a fault, known here too.
use super::form::{Form, GivenForm};
use super::instruction::*;
use super::typed::{Taken, Typed};
use crate::plan::builtin::{self, Prim};
use crate::plan::fault::Fault;
use crate::plan::operation::{Group, Id, Op};
use crate::plan::polarity::polarities;
use crate::plan::steps::{roots, source_parts, Plan};
use crate::syntax::ast::*;
use crate::values::operators::Outcome;
use crate::values::store::Store;
use crate::values::value::Value;
use relation::{Relation, Set};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Types a plan for graphs that give what `given` says; with `complete`, the graph also
/// says what is read from where (`rf`), the final writes (`FW`) and, under their names,
/// what is chosen. `relations` are the choices among listed values that are relations.
pub fn infer(
    plan: &Arc<Plan>,
    complete: bool,
    given: &dyn Fn(&str) -> Option<GivenForm>,
    relations: &[u32],
) -> Typed {
    let mut assumed = HashMap::new();
    loop {
        let mut typer = Typer::new(plan, complete, given, assumed);
        typer.relations = relations;
        let over = typer.all();
        assumed = typer.assumed;
        if over {
            let mut typed = typer.typed;
            let value = |fault: &Option<Fault>| match fault {
                Some(fault) => Value::Fault(fault.clone()),
                None => Value::Nothing,
            };
            typed.fixed = Arc::new(typed.faults.iter().map(value).collect());
            typed.operands = (0..typed.same.len())
                .map(|id| typed.operands_of(id as Id))
                .collect();
            typed.follows = (0..typed.same.len())
                .map(|id| {
                    let op = plan.nodes.op(id as Id);
                    let comes = matches!(op, Op::ReadsFrom | Op::Finals | Op::Choice(_));
                    !comes && typed.faults[id].is_none()
                })
                .collect();
            let mut seen = HashSet::new();
            let roots = roots(&plan.nodes, &plan.steps).into_iter();
            let needed = roots.flat_map(|root| typed.needed(root, &mut seen));
            let fails = |id: &Id| typed.faults[*id as usize].is_some();
            let failing = (0..typed.faults.len() as Id).filter(fails);
            typed.live = needed.chain(failing).collect();
            typed.live.sort_unstable();
            return typed;
        }
    }
}

struct Typer<'p> {
    given: &'p dyn Fn(&str) -> Option<GivenForm>,
    complete: bool,
    typed: Typed,
    /// Values of each operation's type over no events, to ask the operators for types.
    samples: Store,
    /// The types that the names of `let rec` are taken to have, unless `Nothing`.
    assumed: HashMap<(u32, u32), Form>,
    /// The choices among listed values that are relations.
    relations: &'p [u32],
    /// Whether the names of a group only grow.
    grows: Vec<bool>,
}

impl<'p> Typer<'p> {
    fn new(
        plan: &Arc<Plan>,
        complete: bool,
        given: &'p dyn Fn(&str) -> Option<GivenForm>,
        assumed: HashMap<(u32, u32), Form>,
    ) -> Self {
        let count = plan.nodes.all.len();
        let polarity = polarities(&plan.nodes, &|_| true);
        let grows = |group: &Group| {
            let mut bodies = group.bodies.iter();
            bodies.all(|body| polarity[*body as usize].up)
        };
        Typer {
            given,
            complete,
            samples: Store::bare(plan),
            assumed,
            relations: &[],
            grows: plan.nodes.groups.iter().map(grows).collect(),
            typed: Typed {
                plan: plan.clone(),
                forms: vec![Form::Any; count],
                slots: vec![0; count],
                instrs: vec![Instr::None; count],
                same: Arc::new((0..count as Id).collect()),
                faults: vec![None; count],
                fixed: Arc::default(),
                live: Vec::new(),
                operands: Vec::new(),
                follows: Vec::new(),
                taken: Vec::new(),
                candidates: Vec::new(),
                sets: 2,
                relations: 3,
            },
        }
    }

    /// Types every operation; false when a `let rec` does not have the types assumed of it,
    /// which are others then.
    fn all(&mut self) -> bool {
        let plan = self.typed.plan.clone();
        let mut over = true;
        for (id, node) in plan.nodes.all.iter().enumerate() {
            self.operation(id as Id, &node.op);
            if let Op::Fix(group) = node.op {
                over &= self.is_as_assumed(group);
            }
            self.samples.put(id as Id, self.sample(id as Id));
        }
        over
    }

    /// The value of an operation's type over no events.
    fn sample(&self, id: Id) -> Value {
        let fault = &self.typed.faults[self.typed.root(id) as usize];
        match (self.typed.form(id), fault) {
            (Form::Nothing, _) => Value::Nothing,
            (Form::Universe, _) => Value::Universe,
            (Form::Set, _) => Value::Set(Set::new(0)),
            (Form::Relation, _) => Value::Relation(Relation::new(0)),
            (Form::Any, Some(fault)) => Value::Fault(fault.clone()),
            (Form::Any, None) => Value::Nothing,
        }
    }

    fn is_as_assumed(&mut self, group: u32) -> bool {
        let plan = self.typed.plan.clone();
        let of = &plan.nodes.groups[group as usize];
        let mut over = true;
        for (index, body) in of.bodies.iter().enumerate() {
            let key = (group, index as u32);
            let before = *self.assumed.get(&key).unwrap_or(&Form::Nothing);
            let found = match self.typed.form(*body) {
                form @ (Form::Set | Form::Relation) if self.grows[group as usize] => form,
                Form::Nothing => Form::Nothing,
                _ => Form::Any,
            };
            // One name that is computed on values takes the others with it.
            let found = match before {
                Form::Any => Form::Any,
                _ if (0..of.bodies.len())
                    .any(|other| self.assumed.get(&(group, other as u32)) == Some(&Form::Any)) =>
                {
                    Form::Any
                }
                Form::Nothing => found,
                before if before == found => found,
                _ => Form::Any,
            };
            if found != before {
                self.assumed.insert(key, found);
                over = false;
            }
        }
        over
    }

    fn is(&mut self, id: Id, form: Form, instr: Instr) {
        let index = id as usize;
        self.typed.forms[index] = form;
        self.typed.instrs[index] = instr;
        match form {
            Form::Set => {
                self.typed.slots[index] = self.typed.sets as Slot;
                self.typed.sets += 1;
            }
            Form::Relation => {
                self.typed.slots[index] = self.typed.relations as Slot;
                self.typed.relations += 1;
            }
            _ => {}
        }
    }

    /// The value stands in a slot of its own from the beginning.
    fn constant(&mut self, id: Id, form: Form, slot: Slot) {
        self.typed.forms[id as usize] = form;
        self.typed.slots[id as usize] = slot;
    }

    fn alias(&mut self, id: Id, other: Id) {
        let other = self.typed.root(other);
        Arc::make_mut(&mut self.typed.same)[id as usize] = other;
        self.samples.alias(id, other);
    }

    fn fails(&mut self, id: Id, fault: Fault) {
        self.typed.faults[id as usize] = Some(fault);
    }

    fn takes(&mut self, id: Id, name: &str, given: Option<GivenForm>) {
        let form = match given {
            None => return,
            Some(GivenForm::Nothing) => return self.is(id, Form::Nothing, Instr::None),
            Some(GivenForm::Set) => Form::Set,
            Some(GivenForm::Relation) => Form::Relation,
        };
        self.is(id, form, Instr::None);
        let slot = self.typed.slots[id as usize];
        let name = name.to_owned();
        self.typed.taken.push(Taken {
            id,
            name,
            form,
            slot,
        });
    }

    fn comes_with_candidate(&mut self, id: Id, form: Form) {
        self.is(id, form, Instr::None);
        self.typed.candidates.push(id);
    }

    fn operation(&mut self, id: Id, op: &Op) {
        let plan = self.typed.plan.clone();
        match op {
            Op::Nothing => self.is(id, Form::Nothing, Instr::None),
            Op::Universe => self.is(id, Form::Universe, Instr::None),
            Op::EmptyRelation => self.constant(id, Form::Relation, NO_PAIRS),
            Op::Identity => self.constant(id, Form::Relation, IDENTITY),
            Op::Given(name) => {
                let text = plan.names.text(*name);
                let given = (self.given)(text);
                self.takes(id, text, given);
                if given.is_none() {
                    self.fails(id, Fault::Unbound(*name));
                }
            }
            Op::ReadsFrom if self.complete => self.takes(id, "rf", Some(GivenForm::Relation)),
            Op::ReadsFrom => self.comes_with_candidate(id, Form::Relation),
            Op::Finals => match self.complete {
                true => self.takes(id, "FW", (self.given)("FW").or(Some(GivenForm::Nothing))),
                false => self.comes_with_candidate(id, Form::Set),
            },
            Op::Choice(index) => self.choice(id, *index),
            Op::Variable(group, index) => {
                let form = self.assumed.get(&(*group, *index));
                self.is(id, *form.unwrap_or(&Form::Nothing), Instr::None);
            }
            Op::Fix(group) => {
                let of = &plan.nodes.groups[*group as usize];
                let form = self.typed.form(of.variables[0]);
                self.typed.instrs[id as usize] = match form {
                    Form::Any => Instr::Any,
                    _ => Instr::Fix(*group),
                };
            }
            Op::Item(of, index, _) => match *plan.nodes.op(*of) {
                Op::Fix(group) => {
                    let variable = plan.nodes.groups[group as usize].variables[*index as usize];
                    match self.typed.form(variable) {
                        Form::Any => self.is(id, Form::Any, Instr::Any),
                        _ => self.alias_item(id, variable),
                    }
                }
                _ => self.is(id, Form::Any, Instr::Any),
            },
            Op::Try(first, second) => {
                let root = self.typed.root(*first);
                match (self.typed.form(root), &self.typed.faults[root as usize]) {
                    (Form::Any, None) => self.is(id, Form::Any, Instr::Any),
                    (Form::Any, Some(Fault::Limit(_))) => self.alias(id, *first),
                    (Form::Any, Some(_)) => self.alias(id, *second),
                    _ => self.alias(id, *first),
                }
            }
            Op::Fault(fault) => self.fails(id, plan.nodes.faults[*fault as usize].clone()),
            Op::Union(_)
            | Op::Unary(..)
            | Op::Binary(Binary::Intersection | Binary::Difference | Binary::Product, ..)
            | Op::Sequence(..)
            | Op::Restrict(..)
            | Op::Call(Prim::Domain | Prim::Range | Prim::AsTransitive, _) => {
                self.operator(id, op, &plan);
            }
            Op::Call(Prim::Missing(name), argument) if self.is_void(name, *argument) => {
                match builtin::gives_a_set(name) {
                    true => self.constant(id, Form::Set, NO_EVENTS),
                    false => self.alias(id, *argument),
                }
            }
            _ => self.is(id, Form::Any, Instr::Any),
        }
    }

    /// Whether a function that the engine has for nothing alone is called on nothing, whatever
    /// the graph.
    fn is_void(&self, function: &str, argument: Id) -> bool {
        let looked_at = match (
            builtin::gives_a_set(function),
            self.typed.plan.nodes.op(argument),
        ) {
            (true, Op::Tuple(items)) => items.first().copied(),
            (true, _) => None,
            (false, _) => Some(argument),
        };
        builtin::takes_nothing(function) && looked_at.is_some_and(|id| self.typed.is_nothing(id))
    }

    /// An item of a fixpoint: where the name stands, once the fixpoint is computed.
    fn alias_item(&mut self, id: Id, variable: Id) {
        let form = self.typed.form(variable);
        let slot = self.typed.slot(variable);
        self.constant(id, form, slot);
        if matches!(form, Form::Set | Form::Relation) {
            self.typed.instrs[id as usize] = Instr::Item;
        }
    }

    fn choice(&mut self, id: Id, index: u32) {
        let plan = self.typed.plan.clone();
        let step = &plan.choices[index as usize];
        let name = plan.names.text(step.name);
        if self.complete {
            if let Some(given) = (self.given)(name) {
                return self.takes(id, name, Some(given));
            }
        }
        match source_parts(&plan.nodes, step.source) {
            Some((_, set, _)) if self.typed.form(set) == Form::Nothing => {
                self.is(id, Form::Nothing, Instr::None);
            }
            Some(_) => self.is(id, Form::Relation, Instr::None),
            None if self.relations.contains(&index) => self.is(id, Form::Relation, Instr::None),
            None => self.is(id, Form::Any, Instr::None),
        }
    }

    /// An operator on sets and relations: its type is that of its value over no events.
    fn operator(&mut self, id: Id, op: &Op, plan: &Plan) {
        let (mut open, mut fault) = (false, None);
        plan.nodes.operands(op, &mut |operand| {
            let root = self.typed.root(operand);
            if self.typed.form(root) == Form::Any {
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
            return self.is(id, Form::Any, Instr::Any);
        }
        match self.sampled(op) {
            Err(fault) => self.fails(id, fault),
            Ok(Value::Nothing) => self.is(id, Form::Nothing, Instr::None),
            Ok(Value::Universe) => self.is(id, Form::Universe, Instr::None),
            Ok(Value::Set(_)) => self.set(id, op),
            Ok(Value::Relation(_)) => self.relation(id, op),
            Ok(_) => self.is(id, Form::Any, Instr::Any),
        }
    }

    fn sampled(&mut self, op: &Op) -> Outcome {
        let plan = self.typed.plan.clone();
        self.samples.compute_any(&plan, op)
    }

    fn set_slot(&self, id: Id) -> Slot {
        match self.typed.form(id) {
            Form::Nothing => NO_EVENTS,
            Form::Universe => ALL_EVENTS,
            _ => self.typed.slot(id),
        }
    }

    fn relation_slot(&self, id: Id) -> Slot {
        match self.typed.form(id) {
            Form::Nothing => NO_PAIRS,
            Form::Universe => ALL_PAIRS,
            _ => self.typed.slot(id),
        }
    }

    /// The operands of a union that may have elements.
    fn parts(&self, items: &[Id]) -> Vec<Id> {
        let parts = items.iter().map(|item| self.typed.root(*item));
        parts.filter(|item| !self.typed.is_nothing(*item)).collect()
    }

    fn set(&mut self, id: Id, op: &Op) {
        let slot = |id: Id| self.set_slot(id);
        let form = |id: Id| self.typed.form(id);
        let instr = match op {
            Op::Union(items) => match self.parts(items)[..] {
                [one] => return self.alias(id, one),
                ref parts => Instr::SetUnion(parts.iter().map(|part| slot(*part)).collect()),
            },
            Op::Binary(Binary::Intersection, a, b) => match (form(*a), form(*b)) {
                (Form::Universe, _) => return self.alias(id, *b),
                (_, Form::Universe) => return self.alias(id, *a),
                _ => Instr::SetIntersection(slot(*a), slot(*b)),
            },
            Op::Binary(Binary::Difference, a, b) => match (form(*a), form(*b)) {
                (Form::Universe, _) => Instr::SetComplement(slot(*b)),
                _ if self.typed.is_nothing(*b) => return self.alias(id, *a),
                _ => Instr::SetDifference(slot(*a), slot(*b)),
            },
            Op::Unary(Unary::Complement, a) => Instr::SetComplement(slot(*a)),
            Op::Call(Prim::Domain, a) => Instr::Domain(self.relation_slot(*a)),
            Op::Call(Prim::Range, a) => Instr::Range(self.relation_slot(*a)),
            _ => Instr::Any,
        };
        self.computed(id, Form::Set, instr);
    }

    fn relation(&mut self, id: Id, op: &Op) {
        let slot = |id: Id| self.relation_slot(id);
        let set = |id: Id| self.set_slot(id);
        let form = |id: Id| self.typed.form(id);
        let instr = match op {
            Op::Union(items) => match self.parts(items)[..] {
                [one] => return self.alias(id, one),
                ref parts => Instr::Union(parts.iter().map(|part| slot(*part)).collect()),
            },
            Op::Binary(Binary::Intersection, a, b) => match (form(*a), form(*b)) {
                (Form::Universe, _) => return self.alias(id, *b),
                (_, Form::Universe) => return self.alias(id, *a),
                _ => Instr::Intersection(slot(*a), slot(*b)),
            },
            Op::Binary(Binary::Difference, a, b) => match (form(*a), form(*b)) {
                (Form::Universe, _) => Instr::Complement(slot(*b)),
                _ if self.typed.is_nothing(*b) => return self.alias(id, *a),
                _ => Instr::Difference(slot(*a), slot(*b)),
            },
            Op::Binary(Binary::Product, a, b) => Instr::Product(set(*a), set(*b)),
            Op::Sequence(a, b) => Instr::Sequence(slot(*a), slot(*b)),
            Op::Restrict(from, inner, to) => {
                let side = |side: &Option<Id>| {
                    let side = side.filter(|side| form(*side) != Form::Universe);
                    side.map(set)
                };
                match (side(from), side(to), form(*inner)) {
                    (None, None, Form::Relation) => return self.alias(id, *inner),
                    (from, to, _) => Instr::Restrict(from, slot(*inner), to),
                }
            }
            Op::Unary(Unary::Identity, a) => Instr::Identity(set(*a)),
            Op::Unary(Unary::Complement, a) => Instr::Complement(slot(*a)),
            Op::Unary(Unary::Inverse, a) => Instr::Inverse(slot(*a)),
            Op::Unary(Unary::Plus, a) | Op::Call(Prim::AsTransitive, a) => Instr::Plus(slot(*a)),
            Op::Unary(Unary::Star, a) => Instr::Star(slot(*a)),
            Op::Unary(Unary::Optional, a) => Instr::Optional(slot(*a)),
            _ => Instr::Any,
        };
        self.computed(id, Form::Relation, instr);
    }

    fn computed(&mut self, id: Id, form: Form, instr: Instr) {
        let nothing = instr.comes_to_nothing(&|slot| slot == NO_EVENTS, &|slot| slot == NO_PAIRS);
        match instr {
            Instr::Any => self.is(id, Form::Any, Instr::Any),
            _ if nothing => self.constant(id, form, NOTHING),
            _ => self.is(id, form, instr),
        }
    }
}
