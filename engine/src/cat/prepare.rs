//! A plan over one graph of events: what is fixed is computed, the rest is cut down to
//! what can still matter and put into stages.
use super::ast::*;
use super::error::CatError;
use super::eval::Store;
use super::kinds::{self, Type};
use super::load::Files;
use super::node::{Id, Op};
use super::plan::{self, ChoiceStep, Plan};
use super::stages::{self, Stages};
use super::value::{Fault, Value};
use super::{Given, Input, Prepared};
use crate::graph::{Relation, Set};
use std::sync::Arc;

/// What is known of an operation before anything is chosen.
pub struct Facts {
    /// Of what is not fixed, the type its value has.
    kinds: Vec<Type>,
    /// Whether its value is known.
    pub fixed: Vec<bool>,
    /// What it depends on, as far as that can still matter; see `Node::level`.
    pub level: Vec<u32>,
}

/// Evaluates what depends on the graph alone.
pub fn prepare(
    files: &Arc<Files>,
    plan: &Arc<Plan>,
    input: &Input,
) -> Result<Prepared, Box<CatError>> {
    let count = plan.nodes.all.len();
    let mut store = Store::new(plan, input.n);
    store.locations = input.locations.to_vec();
    let mut facts = Facts {
        kinds: vec![Type::Open; count],
        fixed: vec![false; count],
        level: vec![0; count],
    };
    for id in &plan.needed {
        settle(&mut store, plan, &mut facts, *id, input);
    }
    let never = plan.choices.iter().find(|choice| {
        let impossible =
            matches!(store.value(choice.choice), Value::Values(none) if none.items.is_empty());
        facts.fixed[choice.choice as usize] && impossible
    });
    let never = never.map(|choice| plan.names.text(choice.name).to_owned());
    let stages = stages::lay(&store, &facts);
    let mut prepared = Prepared {
        store,
        files: files.clone(),
        stages: Arc::new(stages),
        never,
        steps: 0,
        limit: None,
        over: None,
    };
    prepared.settle_checks()?;
    Ok(prepared)
}

/// Finds out what is known of an operation, those before it being settled.
fn settle(store: &mut Store, plan: &Plan, facts: &mut Facts, id: Id, input: &Input) {
    let node = &plan.nodes.all[id as usize];
    let index = id as usize;
    if node.level == 0 {
        facts.fixed[index] = true;
        match &node.op {
            Op::Given(name) => store.values[index] = given(plan, *name, input),
            _ => store.compute_in(plan, id),
        }
        return;
    }
    if node.op == Op::Finals && !plan.needs_finals {
        facts.fixed[index] = true;
        store.values[index] = Value::Set(Set::new(store.n));
        return;
    }
    let (mut all_fixed, mut level, mut fault) = (true, own_level(&node.op), None);
    plan.nodes.operands(&node.op, &mut |operand| {
        if plan.nodes.all[operand as usize].group != 0 {
            return;
        }
        let operand = store.same[operand as usize] as usize;
        if facts.fixed[operand] {
            if let Value::Fault(found) = &store.values[operand] {
                fault = fault.take().or(Some(found.clone()));
            }
        } else {
            all_fixed = false;
            level = level.max(facts.level[operand]);
        }
    });
    facts.level[index] = level;
    if level == 0 && all_fixed {
        facts.fixed[index] = true;
        store.compute_in(plan, id);
        return;
    }
    let known = &*store;
    let kind = kinds::of_op(
        &node.op,
        &|operand| {
            let operand = known.same[operand as usize] as usize;
            match facts.fixed[operand] {
                true => kinds::of_value(&known.values[operand]),
                false => facts.kinds[operand],
            }
        },
        &|choice| plan::source_parts(&plan.nodes, plan.choices[choice as usize].source).is_some(),
    );
    match kind {
        Ok(kind) => facts.kinds[index] = kind,
        Err(wrong) => fault = fault.or(Some(wrong)),
    }
    let simpler = match &node.op {
        Op::Choice(choice) => fixed_choice(store, facts, &plan.choices[*choice as usize]),
        Op::Try(..) | Op::If(..) | Op::Tuple(_) | Op::Eval(_) | Op::Closure(_) => {
            simplify(store, facts, id, &node.op)
        }
        _ => match fault {
            Some(fault) => Some(Simpler::Value(Value::Fault(fault))),
            None => simplify(store, facts, id, &node.op),
        },
    };
    match simpler {
        None => {}
        Some(Simpler::Value(value)) => {
            facts.fixed[index] = true;
            store.values[index] = value;
        }
        Some(Simpler::Same(other)) => {
            let other = store.same[other as usize];
            store.same[index] = other;
            facts.fixed[index] = facts.fixed[other as usize];
            facts.level[index] = facts.level[other as usize];
        }
    }
}

fn own_level(op: &Op) -> u32 {
    match op {
        Op::ReadsFrom | Op::Finals => 1,
        Op::Choice(index) => index + 2,
        _ => 0,
    }
}

fn given(plan: &Plan, name: Sym, input: &Input) -> Value {
    match (input.given)(plan.names.text(name)) {
        Some(Given::Set(set)) => Value::Set(set),
        Some(Given::Relation(relation)) => Value::Relation(relation),
        None => Value::Fault(Fault::Unbound(name)),
    }
}

enum Simpler {
    Value(Value),
    Same(Id),
}

/// What an operation comes to given that some of its operands are empty.
fn simplify(store: &mut Store, facts: &Facts, id: Id, op: &Op) -> Option<Simpler> {
    let n = store.n;
    let fixed = |store: &Store, id: Id| facts.fixed[store.same[id as usize] as usize];
    let void = |store: &Store, id: Id| fixed(store, id) && store.value(id).is_void();
    let empty = || Some(Simpler::Value(Value::Relation(Relation::new(n))));
    match op {
        Op::Union(items) => {
            let left: Vec<Id> = items
                .iter()
                .copied()
                .filter(|item| !void(store, *item))
                .collect();
            if let [one] = left[..] {
                return Some(Simpler::Same(one));
            }
            if left.len() < items.len() {
                store.parts[id as usize] = Some(left.into());
            }
            None
        }
        Op::Binary(Binary::Intersection, a, b) => {
            let empty = [*a, *b].into_iter().find(|side| void(store, *side))?;
            Some(Simpler::Value(store.value(empty).clone()))
        }
        Op::Binary(Binary::Difference, a, b) => {
            if void(store, *a) {
                return Some(Simpler::Value(store.value(*a).clone()));
            }
            void(store, *b).then_some(Simpler::Same(*a))
        }
        Op::Binary(Binary::Product, a, b) | Op::Sequence(a, b)
            if void(store, *a) || void(store, *b) =>
        {
            empty()
        }
        Op::Restrict(from, inner, to) => {
            let sides = from.iter().chain(to);
            if void(store, *inner) || sides.clone().any(|side| void(store, *side)) {
                return empty();
            }
            let full = |side: &Id| match store.value(*side) {
                Value::Universe => true,
                Value::Set(set) => fixed(store, *side) && set.count() == n,
                _ => false,
            };
            sides.clone().all(full).then_some(Simpler::Same(*inner))
        }
        Op::Try(first, second) => match store.value(*first) {
            Value::Fault(Fault::Limit(_)) if fixed(store, *first) => Some(Simpler::Same(*first)),
            Value::Fault(_) if fixed(store, *first) => Some(Simpler::Same(*second)),
            // What depends on choices has its types from what does not.
            _ => Some(Simpler::Same(*first)),
        },
        Op::If(test, a, b, yes, no) if fixed(store, *a) && fixed(store, *b) => {
            match store.test(*test, *a, *b) {
                Ok(holds) => Some(Simpler::Same(if holds { *yes } else { *no })),
                Err(fault) => Some(Simpler::Value(Value::Fault(fault))),
            }
        }
        _ => None,
    }
}

/// A choice that is none: its only value, or the empty set of values.
fn fixed_choice(store: &Store, facts: &Facts, choice: &ChoiceStep) -> Option<Simpler> {
    let fixed = |id: Id| facts.fixed[store.same[id as usize] as usize];
    if let Some((by_location, set, base)) = plan::source_parts(&store.plan.nodes, choice.source) {
        if !(fixed(set) && fixed(base)) {
            return None;
        }
        let (Value::Set(set), Value::Relation(base)) = (store.value(set), store.value(base)) else {
            return None;
        };
        let classes = stages::classes(by_location, set, &store.locations);
        let mut order = Relation::new(store.n);
        for class in &classes {
            match only_order(class, base)? {
                Ok(()) => {}
                Err(()) => return Some(Simpler::Value(Value::values(Vec::new()))),
            }
            for from in class.iter() {
                order.insert_all(from, &after(class, base, from));
            }
        }
        return Some(Simpler::Value(Value::Relation(order)));
    }
    if !fixed(choice.source) {
        return None;
    }
    match store.value(choice.source) {
        Value::Nothing => Some(Simpler::Value(Value::values(Vec::new()))),
        Value::Values(values) => match &values.items[..] {
            [] => Some(Simpler::Value(Value::values(Vec::new()))),
            [one] => Some(Simpler::Value(one.clone())),
            _ => None,
        },
        Value::Fault(fault) => Some(Simpler::Value(Value::Fault(fault.clone()))),
        other => Some(Simpler::Value(Value::Fault(Fault::Type(
            "a set of values to choose from",
            other.kind(),
        )))),
    }
}

/// Whether the class has one order that extends the base (`Ok`), or none (`Err`).
fn only_order(class: &Set, base: &Relation) -> Option<Result<(), ()>> {
    let mut left = class.clone();
    let among = base.restrict_domain(class).restrict_range(class);
    let before = among.inverse();
    if !among.is_acyclic() {
        return Some(Err(()));
    }
    while !left.is_empty() {
        let free: Vec<usize> = left
            .iter()
            .filter(|item| !before.image(*item).meets(&left))
            .collect();
        let [one] = free[..] else { return None };
        left.remove(one);
    }
    Some(Ok(()))
}

/// The events of a class that the base puts after one of them.
fn after(class: &Set, base: &Relation, from: usize) -> Set {
    let among = base.restrict_domain(class).restrict_range(class).closure();
    among.image(from)
}

impl Prepared {
    /// Looks at the checks that are decided already.
    fn settle_checks(&mut self) -> Result<(), Box<CatError>> {
        let stages = self.stages.clone();
        for choice in &self.store.plan.choices {
            if let Value::Fault(fault) = self.store.value(choice.choice) {
                return Err(self.error(choice.source, choice.at, fault.clone()));
            }
        }
        for check in &stages.decided {
            if self.never.is_some() {
                return Ok(());
            }
            let holds = self.holds(check)?;
            match check.role {
                Role::Axiom if !holds => self.never = Some(self.name_of(check)),
                Role::Assert if !holds => {
                    let names = &self.store.plan.names;
                    return Err(Box::new(self.files.assertion(names, check)));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// The stages of a prepared model.
pub type Shared = Arc<Stages>;
