//! The search over the model's choices: a depth-first enumeration, stage by stage.
use super::input::{Solution, Visit};
use super::order_classes::Classes;
use super::prepared::{Prepared, SearchResult};
use super::schedule::{Choice, Schedule, Source};
use crate::error::CatError;
use crate::plan::fault::Fault;
use crate::types::instruction::Slot;
use crate::types::value_type::Type;
use crate::values::operators;
use crate::values::value::Value;
use relation::{Relation, Set};
use std::ops::ControlFlow;
use std::sync::Arc;

/// The purpose of a search.
enum Goal<'g, 'v> {
    /// Visit every solution. If only the last writes among a set are observed, solutions may be
    /// counted together.
    Solve(&'g mut Visit<'v>, Option<&'g Set>),
    /// Visit every assignment of the choices that violates an axiom, with the first axiom it
    /// violates.
    Explain(&'g mut dyn FnMut(&str, &Solution)),
}

/// The enumeration of orders, class after class.
struct OrderSearch {
    /// The slot of the order.
    slot: Slot,
    classes: Vec<Set>,
    /// For each event, the events of its class that must precede it.
    before: Vec<Set>,
}

impl Prepared {
    /// Calls `visit` with every solution for this rf and, if [`Prepared::needs_final_writes`],
    /// these final writes.
    pub fn solutions(
        &mut self,
        rf: &Relation,
        finals: Option<&Set>,
        visit: &mut Visit,
    ) -> Result<(), CatError> {
        self.search(rf, finals, None, visit).map_err(|error| *error)
    }

    /// Like [`Prepared::solutions`] for callers that need no choices but only which of the
    /// `observed` writes are last in coherence order. Solutions that agree on those may be visited
    /// as one, with a `count` and `last_writes` instead of choices.
    pub fn tally(
        &mut self,
        rf: &Relation,
        finals: Option<&Set>,
        observed: &Set,
        visit: &mut Visit,
    ) -> Result<(), CatError> {
        self.search(rf, finals, Some(observed), visit)
            .map_err(|error| *error)
    }

    /// Calls `visit` with every assignment of the choices that violates an axiom, and with the
    /// first axiom that it violates.
    pub fn failures(
        &mut self,
        rf: &Relation,
        finals: Option<&Set>,
        visit: &mut dyn FnMut(&str, &Solution),
    ) -> Result<(), CatError> {
        self.explain(rf, finals, visit).map_err(|error| *error)
    }

    fn search(
        &mut self,
        rf: &Relation,
        finals: Option<&Set>,
        observed: Option<&Set>,
        visit: &mut Visit,
    ) -> SearchResult<()> {
        if self.never.is_some() {
            return Ok(());
        }
        self.begin_candidate(rf, finals);
        let schedule = self.schedule.clone();
        let goal = &mut Goal::Solve(visit, observed);
        self.stage(&schedule, 0, goal).map(|_| ())
    }

    fn explain(
        &mut self,
        rf: &Relation,
        finals: Option<&Set>,
        visit: &mut dyn FnMut(&str, &Solution),
    ) -> SearchResult<()> {
        self.begin_candidate(rf, finals);
        let schedule = self.schedule.clone();
        self.stage(&schedule, 0, &mut Goal::Explain(visit))
            .map(|_| ())
    }

    fn stage(
        &mut self,
        schedule: &Arc<Schedule>,
        index: usize,
        goal: &mut Goal,
    ) -> SearchResult<ControlFlow<()>> {
        self.spend()?;
        let stage = &schedule.stages[index];
        match goal {
            Goal::Solve(..) => {
                if !self.all_hold(&stage.checks)? {
                    return Ok(ControlFlow::Continue(()));
                }
            }
            Goal::Explain(_) => {
                stage
                    .checks
                    .iter()
                    .for_each(|due| self.compute(&due.operations));
            }
        }
        self.compute(&stage.rest);
        let Some(choice) = &stage.choice else {
            return self.report(schedule, goal);
        };
        if let (Goal::Solve(visit, Some(observed)), 2) = (&mut *goal, schedule.stages.len() - index)
        {
            if let Some(flow) = self.count(schedule, observed, visit)? {
                return Ok(flow);
            }
        }
        self.choose(schedule, index, choice, goal)
    }

    fn choose(
        &mut self,
        schedule: &Arc<Schedule>,
        index: usize,
        choice: &Choice,
        goal: &mut Goal,
    ) -> SearchResult<ControlFlow<()>> {
        let node = choice.step.choice;
        let n = self.values.rows.n;
        match choice.source {
            Source::Orders {
                by_location,
                set,
                base,
            } => {
                let classes = match &self.classes[self.choice_index(node)] {
                    Some(classes) => classes.clone(),
                    None => {
                        let events = operators::as_set(&self.values.value(&self.typed, set), n);
                        let events =
                            events.map_err(|fault| self.error(set, choice.step.at, fault))?;
                        Classes::new(by_location, &events, &self.values.store.locations)
                    }
                };
                let turned = self.relation(base)?.inverse();
                let mut before = vec![Set::new(n); n];
                for class in &classes.0 {
                    for event in class.iter() {
                        before[event] = turned.image(event).intersection(class);
                    }
                }
                let slot = self.typed.slot(node);
                self.values.rows.relation_mut(slot).fill(0);
                let order = OrderSearch {
                    slot,
                    classes: classes.0,
                    before,
                };
                let first = order.classes.first().cloned();
                let first = first.unwrap_or_else(|| Set::new(n));
                self.enumerate_orders(schedule, index, &order, 0, first, goal)
            }
            Source::Values(source) => {
                let items = match self.values.value(&self.typed, source) {
                    Value::Nothing => Vec::new(),
                    Value::Values(values) => values.items.clone(),
                    Value::Fault(fault) => return Err(self.error(source, choice.step.at, fault)),
                    other => {
                        let fault =
                            Fault::Type("a set of values to choose from", other.type_name());
                        return Err(self.error(source, choice.step.at, fault));
                    }
                };
                for item in items {
                    self.values.store.put(node, item);
                    if self.stage(schedule, index + 1, goal)?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                Ok(ControlFlow::Continue(()))
            }
        }
    }

    /// Enumerates the orders of the rest of a class and of the classes after it.
    fn enumerate_orders(
        &mut self,
        schedule: &Arc<Schedule>,
        index: usize,
        order: &OrderSearch,
        class: usize,
        left: Set,
        goal: &mut Goal,
    ) -> SearchResult<ControlFlow<()>> {
        if left.is_empty() {
            return match order.classes.get(class + 1) {
                Some(next) => {
                    self.enumerate_orders(schedule, index, order, class + 1, next.clone(), goal)
                }
                None => self.stage(schedule, index + 1, goal),
            };
        }
        let last = class + 1 >= order.classes.len();
        let free = left
            .iter()
            .filter(|event| !order.before[*event].meets(&left));
        let free = Set::of(left.len(), free);
        let several = free.count() > 1;
        for event in free.iter() {
            self.spend()?;
            let mut rest = left.clone();
            rest.remove(event);
            self.values.rows.insert_all(order.slot, event, &rest);
            let complete = last && rest.count() < 2;
            let prune =
                matches!(goal, Goal::Solve(..)) && !complete && (several || rest.is_empty());
            let mut flow = ControlFlow::Continue(());
            let choice = schedule.stages[index].choice.as_ref();
            let due = choice.map_or(&[][..], |choice| &choice.prune);
            if !prune || self.all_hold(due)? {
                flow = self.enumerate_orders(schedule, index, order, class, rest.clone(), goal)?;
            }
            self.values.rows.remove_all(order.slot, event, &rest);
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn report(
        &mut self,
        schedule: &Arc<Schedule>,
        goal: &mut Goal,
    ) -> SearchResult<ControlFlow<()>> {
        self.compute(&schedule.flag_operations);
        self.store_choices();
        match goal {
            Goal::Explain(visit) => {
                for axiom in &schedule.axioms {
                    if !self.holds(axiom)? {
                        let choices = self.choices();
                        visit(
                            &self.name_of(axiom),
                            &Solution {
                                co: order_of(&choices),
                                choices: &choices,
                                flags: &[],
                                undefined: false,
                                count: 1,
                                last_writes: None,
                            },
                        );
                        break;
                    }
                }
                Ok(ControlFlow::Continue(()))
            }
            Goal::Solve(visit, _) => {
                let (flags, undefined) = self.flags_raised(schedule)?;
                let choices = self.choices();
                Ok(visit(&Solution {
                    co: order_of(&choices),
                    choices: &choices,
                    flags: &flags,
                    undefined,
                    count: 1,
                    last_writes: None,
                }))
            }
        }
    }

    /// Copies the chosen relations, for the solution.
    fn store_choices(&mut self) {
        let typed = &self.typed;
        for (step, chosen) in typed.plan.choices.iter().zip(&mut self.chosen) {
            let n = self.values.rows.n;
            match typed.type_of(step.choice) {
                Type::Relation => {
                    let slot = typed.slot(step.choice);
                    match self.values.rows.has_no_pairs(slot) {
                        true => chosen.clear(n),
                        false => chosen.copy_rows(n, self.values.rows.relation(slot)),
                    }
                }
                Type::Dynamic => {
                    if let Value::Relation(relation) = self.values.store.value(step.choice) {
                        chosen.copy_from(relation);
                    }
                }
                _ => chosen.clear(n),
            }
        }
    }

    /// The relations chosen, by name.
    fn choices(&self) -> Vec<(&str, &Relation)> {
        let typed = &self.typed;
        let steps = typed.plan.choices.iter().zip(&self.chosen);
        steps
            .filter(|(step, _)| {
                let value = self.values.store.value(step.choice);
                typed.type_of(step.choice) != Type::Dynamic || matches!(value, Value::Relation(_))
            })
            .map(|(step, relation)| (typed.plan.names.text(step.name), relation))
            .collect()
    }
}

/// The coherence order among choices: the last that is called `co`, else `mo`.
fn order_of<'r>(choices: &[(&str, &'r Relation)]) -> Option<&'r Relation> {
    let named = |wanted: &str| {
        let mut found = choices.iter().rev().filter(|(name, _)| *name == wanted);
        found.next().map(|(_, relation)| *relation)
    };
    named("co").or_else(|| named("mo"))
}
