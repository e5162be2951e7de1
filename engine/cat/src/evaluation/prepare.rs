//! A typed plan and a graph → a [`Prepared`] model: the values that the graph alone determines are
//! computed, and the remaining operations are scheduled.
use super::graph_values::GraphValues;
use super::input::{Given, Input};
use super::order_classes::Classes;
use super::plan_cache::{CachedPlan, Relations};
use super::prepared::Prepared;
use crate::error::CatError;
use crate::plan::fault::Fault;
use crate::plan::operation::{Op, OpId};
use crate::plan::steps::{order_operands, ChoiceStep};
use crate::syntax::ast::*;
use crate::syntax::files::Files;
use crate::types::instruction::Instruction;
use crate::types::typed::TypedPlan;
use crate::types::value_type::Type;
use crate::values::operators;
use crate::values::value::Value;
use relation::Relation;
use std::sync::Arc;

/// Evaluates what the graph alone determines.
pub fn prepare(
    files: &Arc<Files>,
    cached: &CachedPlan,
    input: &Input,
) -> Result<Prepared, Box<CatError>> {
    let given: Vec<Option<Given>> = cached
        .given
        .iter()
        .map(|(_, name)| (input.given)(name))
        .collect();
    let (assumed, mut types) = cached.typed(&given, None);
    let mut typed = types.typed.clone();
    let mut settled = Settled::new(cached, &typed, &given, input);
    if settled.relations != assumed {
        types = cached.typed(&given, Some(&settled.relations)).1;
        typed = types.typed.clone();
        settled = Settled::new(cached, &typed, &given, input);
    }
    let Settled {
        known,
        classes,
        never,
        values,
        ..
    } = settled;
    let never = never.map(|choice| typed.plan.names.text(choice.name).to_owned());
    let mut prepared = Prepared {
        schedule: types.schedule(&known),
        chosen: vec![Relation::default(); typed.plan.choices.len()],
        typed,
        values,
        classes,
        files: files.clone(),
        never,
        steps: 0,
        limit: None,
        interrupt: None,
    };
    prepared.settle_checks(&known)?;
    Ok(prepared)
}

/// The part of a typed plan that a graph determines.
struct Settled {
    values: GraphValues,
    /// For each operation, whether its value is known.
    known: Vec<bool>,
    /// For each choice of orders of a known set, the sets that are ordered.
    classes: Vec<Option<Classes>>,
    /// The first choice that has no possible value.
    never: Option<ChoiceStep>,
    /// The choices from listed values whose only value is a relation.
    relations: Relations,
}

impl Settled {
    fn new(
        cached: &CachedPlan,
        typed: &TypedPlan,
        given: &[Option<Given>],
        input: &Input,
    ) -> Settled {
        let mut values = GraphValues::new(typed);
        values.begin(typed, input.n);
        values.store.locations.extend_from_slice(input.locations);
        for ((id, _), given) in cached.given.iter().zip(given) {
            match given {
                Some(Given::Set(set)) => values.rows.put_set(typed.slot(*id), set),
                Some(Given::Relation(relation)) => {
                    values.rows.put_relation(typed.slot(*id), relation);
                }
                None => {}
            }
        }
        let settled = Settled {
            known: vec![false; typed.same.len()],
            classes: vec![None; typed.plan.choices.len()],
            never: None,
            relations: Vec::new(),
            values,
        };
        let mut settling = Settling { typed, settled };
        typed.live.iter().for_each(|id| settling.settle(*id));
        settling.settled
    }
}

struct Settling<'t> {
    typed: &'t TypedPlan,
    settled: Settled,
}

impl Settling<'_> {
    /// Determines whether an operation's value is known, after those of its operands.
    fn settle(&mut self, id: OpId) {
        let (typed, index) = (self.typed, id as usize);
        self.settled.known[index] = if typed.is_computed[index] {
            let mut operands = typed.operands[index].iter();
            let known = operands.all(|operand| self.settled.known[*operand as usize]);
            if known {
                self.settled.values.compute(typed, id);
            }
            known || self.settled.values.rows.yields_empty(typed, id) || self.fails(id)
        } else {
            match typed.plan.operations.op(id) {
                Op::ReadsFrom => false,
                Op::Finals => !typed.plan.needs_finals,
                Op::Choice(choice) => self.choose(id, *choice as usize),
                _ => true,
            }
        };
        if !self.settled.known[index] {
            let ty = typed.types[index];
            self.settled.values.rows.open(ty, typed.slots[index]);
        }
    }

    /// Whether an operation on values has no value because an operand has none; stores the fault.
    fn fails(&mut self, id: OpId) -> bool {
        let typed = self.typed;
        if !matches!(typed.instructions[id as usize], Instruction::OnValues) {
            return false;
        }
        let strict = !matches!(
            typed.plan.operations.op(id),
            Op::Try(..) | Op::If(..) | Op::Tuple(_) | Op::Eval(_) | Op::Closure(_)
        );
        if !strict {
            return false;
        }
        let mut operands = typed.operands[id as usize].iter();
        let fault = operands.find_map(|operand| {
            let known =
                self.settled.known[*operand as usize] && typed.type_of(*operand) == Type::Dynamic;
            match self.settled.values.store.value(*operand) {
                Value::Fault(fault) if known => Some(fault.clone()),
                _ => None,
            }
        });
        let Some(fault) = fault else { return false };
        self.settled.values.store.put(id, Value::Fault(fault));
        true
    }

    /// Whether a choice has at most one possible value; stores it.
    fn choose(&mut self, id: OpId, choice: usize) -> bool {
        let typed = self.typed;
        let known = |id: OpId| self.settled.known[typed.root(id) as usize];
        let step = &typed.plan.choices[choice];
        let Some((by_location, set, base)) = order_operands(&typed.plan.operations, step.source)
        else {
            return known(step.source) && self.only_value(id, step);
        };
        if typed.type_of(id) == Type::Nothing {
            return true;
        }
        if !known(set) {
            return false;
        }
        let set = self.settled.values.value(typed, set);
        let Ok(set) = operators::as_set(&set, self.settled.values.rows.n) else {
            return false;
        };
        let classes = Classes::new(by_location, &set, &self.settled.values.store.locations);
        let only = match known(base) {
            true => self.settled.values.relation(typed, base).ok(),
            false => None,
        };
        let only = only.and_then(|base| classes.only_order(&base));
        self.settled.classes[choice] = Some(classes);
        match only {
            None => false,
            Some(order) => {
                if order.is_none() {
                    self.settled.never = self.settled.never.or(Some(*step));
                }
                let order = order.unwrap_or_else(|| Relation::new(self.settled.values.rows.n));
                self.settled
                    .values
                    .rows
                    .put_relation(typed.slot(id), &order);
                true
            }
        }
    }

    /// Whether a choice from known, listed values has at most one; stores it.
    fn only_value(&mut self, id: OpId, step: &ChoiceStep) -> bool {
        let settled = &mut self.settled;
        let only = match settled.values.value(self.typed, step.source) {
            Value::Values(values) if values.items.len() > 1 => return false,
            Value::Values(values) if values.items.len() == 1 => values.items[0].clone(),
            Value::Nothing | Value::Values(_) => {
                settled.never = settled.never.or(Some(*step));
                Value::Nothing
            }
            Value::Fault(fault) => Value::Fault(fault),
            other => Value::Fault(Fault::Type(
                "a set of values to choose from",
                other.type_name(),
            )),
        };
        if let (Value::Relation(relation), Op::Choice(index)) =
            (&only, self.typed.plan.operations.op(id))
        {
            settled.relations.push(*index);
            if self.typed.type_of(id) == Type::Relation {
                settled
                    .values
                    .rows
                    .put_relation(self.typed.slot(id), relation);
                return true;
            }
        }
        settled.values.store.put(id, only);
        true
    }
}

impl Prepared {
    /// Evaluates the checks whose values are known.
    fn settle_checks(&mut self, known: &[bool]) -> Result<(), Box<CatError>> {
        let typed = self.typed.clone();
        for choice in &typed.plan.choices {
            let root = typed.root(choice.choice) as usize;
            if let (Type::Dynamic, true, Value::Fault(fault)) = (
                typed.types[root],
                known[root],
                self.values.store.value(root as OpId),
            ) {
                return Err(self.error(choice.source, choice.at, fault.clone()));
            }
        }
        let schedule = self.schedule.clone();
        for check in &schedule.decided {
            if self.never.is_some() {
                return Ok(());
            }
            let holds = self.holds(check)?;
            match check.role {
                Role::Axiom if !holds => self.never = Some(self.name_of(check)),
                Role::Assert if !holds => {
                    let names = &typed.plan.names;
                    return Err(Box::new(self.files.assertion(names, check.name, check.at)));
                }
                _ => {}
            }
        }
        Ok(())
    }
}
