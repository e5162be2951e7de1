//! The search over choices.
use super::ast::*;
use super::error::CatError;
use super::node::{Id, Op};
use super::plan::{CheckStep, ChoiceStep};
use super::stages::{classes, Choice, Due, Source, Stages};
use super::value::{Fault, Value};
use super::{ops, Prepared, Solution, Visit};
use crate::graph::{Relation, Set};
use std::ops::ControlFlow;
use std::sync::Arc;

type Found<T> = Result<T, Box<CatError>>;

/// How many steps go by between two looks at the clock.
const WATCH: u64 = 64;

/// What a search does with what it finds.
enum Goal<'g, 'v> {
    Solve(&'g mut Visit<'v>),
    /// Every way to choose that some axiom fails: which fails it first.
    Explain(&'g mut dyn FnMut(&str, &Solution)),
}

/// The orders of classes, one after another.
struct Chains {
    choice: Id,
    classes: Vec<Set>,
    /// For each event, those of its class that stand before it.
    before: Vec<Set>,
}

impl Prepared {
    pub(super) fn search(
        &mut self,
        rf: &Relation,
        finals: Option<&Set>,
        visit: &mut Visit,
    ) -> Found<()> {
        if self.never.is_some() {
            return Ok(());
        }
        self.open(rf, finals);
        let stages = self.stages.clone();
        self.stage(&stages, 0, &mut Goal::Solve(visit)).map(|_| ())
    }

    pub(super) fn explain(
        &mut self,
        rf: &Relation,
        finals: Option<&Set>,
        visit: &mut dyn FnMut(&str, &Solution),
    ) -> Found<()> {
        self.open(rf, finals);
        let stages = self.stages.clone();
        self.stage(&stages, 0, &mut Goal::Explain(visit))
            .map(|_| ())
    }

    /// Whether nothing fails for good of this part of a candidate.
    pub(super) fn may_hold(&mut self, rf: &Relation, co: Option<&Relation>) -> Found<bool> {
        if self.never.is_some() {
            return Ok(false);
        }
        self.open(rf, None);
        let stages = self.stages.clone();
        for (nodes, step, source) in &stages.joint.bounds {
            self.compute(nodes);
            let named = matches!(self.store.plan.names.text(step.name), "co" | "mo");
            let bound = match (co, source) {
                (Some(co), _) if named => co.clone(),
                (
                    _,
                    Some(Source::Orders {
                        base,
                        classes: Some(classes),
                        ..
                    }),
                ) => {
                    let base = self.relation(*base)?;
                    let mut bound = Relation::new(self.store.n);
                    for class in classes {
                        bound.union_with(
                            &base.restrict_domain(class).restrict_range(class).closure(),
                        );
                    }
                    bound
                }
                _ => Relation::new(self.store.n),
            };
            self.store.values[step.choice as usize] = Value::Relation(bound);
        }
        self.hold(&stages.joint.checks)
    }

    /// Sets what comes with a candidate.
    fn open(&mut self, rf: &Relation, finals: Option<&Set>) {
        self.store.refuel();
        let plan = self.store.plan.clone();
        for id in &plan.needed {
            match plan.nodes.op(*id) {
                Op::ReadsFrom => {
                    let value = &mut self.store.values[*id as usize];
                    match value {
                        Value::Relation(relation) => relation.copy_from(rf),
                        _ => *value = Value::Relation(rf.clone()),
                    }
                }
                Op::Finals if plan.needs_finals => {
                    let finals = finals.cloned().unwrap_or_else(|| Set::new(self.store.n));
                    self.store.values[*id as usize] = Value::Set(finals);
                }
                _ => {}
            }
        }
    }

    fn spend(&mut self) -> Found<()> {
        self.steps += 1;
        if self.steps % WATCH == 0 && self.over.as_ref().is_some_and(|over| over()) {
            let mut error = CatError::placeless("the search was ended", "");
            error.limit = true;
            return Err(Box::new(error));
        }
        match self.limit {
            Some(limit) if self.steps > limit => {
                let mut error =
                    CatError::placeless(format!("more than {limit} ways to choose"), "");
                error.limit = true;
                Err(Box::new(error))
            }
            _ => Ok(()),
        }
    }

    /// Whether a check's claim holds of its value as it is.
    pub(super) fn holds(&self, check: &CheckStep) -> Found<bool> {
        match ops::holds(check.claim, self.store.value(check.value), self.store.n) {
            Ok(holds) => Ok(holds != check.negated),
            Err(fault) => Err(self.error(check.value, check.value_at, fault)),
        }
    }

    fn compute(&mut self, nodes: &[Id]) {
        let plan = self.store.plan.clone();
        nodes
            .iter()
            .for_each(|id| self.store.compute_in(&plan, *id));
    }

    fn hold(&mut self, checks: &[Due]) -> Found<bool> {
        for due in checks {
            self.compute(&due.nodes);
            if !self.holds(&due.check)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn stage(
        &mut self,
        stages: &Arc<Stages>,
        index: usize,
        goal: &mut Goal,
    ) -> Found<ControlFlow<()>> {
        self.spend()?;
        let stage = &stages.all[index];
        match goal {
            Goal::Solve(_) => {
                if !self.hold(&stage.checks)? {
                    return Ok(ControlFlow::Continue(()));
                }
            }
            Goal::Explain(_) => {
                stage.checks.iter().for_each(|due| self.compute(&due.nodes));
            }
        }
        self.compute(&stage.rest);
        match &stage.choice {
            None => self.leaf(stages, goal),
            Some(choice) => self.choose(stages, index, choice, goal),
        }
    }

    fn choose(
        &mut self,
        stages: &Arc<Stages>,
        index: usize,
        choice: &Choice,
        goal: &mut Goal,
    ) -> Found<ControlFlow<()>> {
        let node = choice.step.choice;
        match &choice.source {
            Source::Orders {
                by_location,
                set,
                base,
                classes: known,
            } => {
                let classes = match known {
                    Some(classes) => classes.clone(),
                    None => {
                        let value = self.store.value(*set);
                        let events = ops::as_set(value, self.store.n);
                        let events =
                            events.map_err(|fault| self.error(*set, choice.step.at, fault))?;
                        classes(*by_location, &events, &self.store.locations)
                    }
                };
                let turned = self.relation(*base)?.inverse();
                let mut before = vec![Set::new(self.store.n); self.store.n];
                for class in &classes {
                    for event in class.iter() {
                        before[event] = turned.image(event).intersection(class);
                    }
                }
                self.store.values[node as usize] = Value::Relation(Relation::new(self.store.n));
                let chains = Chains {
                    choice: node,
                    classes,
                    before,
                };
                let first = chains
                    .classes
                    .first()
                    .cloned()
                    .unwrap_or_else(|| Set::new(self.store.n));
                self.place(stages, index, &chains, 0, first, goal)
            }
            Source::Values(source) => {
                let items = match self.store.value(*source) {
                    Value::Nothing => Vec::new(),
                    Value::Values(values) => values.items.clone(),
                    Value::Fault(fault) => {
                        return Err(self.error(*source, choice.step.at, fault.clone()))
                    }
                    other => {
                        let fault = Fault::Type("a set of values to choose from", other.kind());
                        return Err(self.error(*source, choice.step.at, fault));
                    }
                };
                for item in items {
                    self.store.values[node as usize] = item;
                    if self.stage(stages, index + 1, goal)?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                Ok(ControlFlow::Continue(()))
            }
        }
    }

    fn order(&mut self, choice: Id) -> &mut Relation {
        let value = &mut self.store.values[choice as usize];
        if !matches!(value, Value::Relation(_)) {
            *value = Value::Relation(Relation::new(self.store.n));
        }
        match value {
            Value::Relation(relation) => relation,
            _ => unreachable!("it was made a relation above"),
        }
    }

    /// Places the rest of a class, and the classes after it, in every way.
    fn place(
        &mut self,
        stages: &Arc<Stages>,
        index: usize,
        chains: &Chains,
        class: usize,
        left: Set,
        goal: &mut Goal,
    ) -> Found<ControlFlow<()>> {
        if left.is_empty() {
            return match chains.classes.get(class + 1) {
                Some(next) => self.place(stages, index, chains, class + 1, next.clone(), goal),
                None => self.stage(stages, index + 1, goal),
            };
        }
        let last = class + 1 >= chains.classes.len();
        let free: Vec<usize> = left
            .iter()
            .filter(|event| !chains.before[*event].meets(&left))
            .collect();
        for event in &free {
            self.spend()?;
            let mut rest = left.clone();
            rest.remove(*event);
            self.order(chains.choice).insert_all(*event, &rest);
            let over = last && rest.count() < 2;
            let prune =
                matches!(goal, Goal::Solve(_)) && !over && (free.len() > 1 || rest.is_empty());
            let mut flow = ControlFlow::Continue(());
            let choice = stages.all[index].choice.as_ref();
            let due = choice.map_or(&[][..], |choice| &choice.prune);
            if !prune || self.hold(due)? {
                flow = self.place(stages, index, chains, class, rest.clone(), goal)?;
            }
            self.order(chains.choice).remove_all(*event, &rest);
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn leaf(&mut self, stages: &Arc<Stages>, goal: &mut Goal) -> Found<ControlFlow<()>> {
        stages
            .flag_nodes
            .iter()
            .for_each(|id| self.store.compute(*id));
        match goal {
            Goal::Explain(visit) => {
                for axiom in &stages.axioms {
                    if !self.holds(axiom)? {
                        let choices = self.choices();
                        visit(
                            &self.name_of(axiom),
                            &Solution {
                                co: order_of(&choices),
                                choices: &choices,
                                flags: &[],
                                undefined: false,
                            },
                        );
                        break;
                    }
                }
                Ok(ControlFlow::Continue(()))
            }
            Goal::Solve(visit) => {
                for check in &stages.asserts {
                    if !self.holds(check)? {
                        let names = &self.store.plan.names;
                        return Err(Box::new(self.files.assertion(names, check)));
                    }
                }
                let (mut flags, mut undefined) = (Vec::new(), false);
                for check in &stages.flags {
                    let holds = self.holds(check)?;
                    match (check.role, check.name) {
                        (Role::UndefinedUnless, _) => undefined |= !holds,
                        (_, Some(name)) if holds => flags.push(self.store.plan.names.text(name)),
                        _ => {}
                    }
                }
                flags.sort_unstable();
                flags.dedup();
                let choices = self.choices();
                Ok(visit(&Solution {
                    co: order_of(&choices),
                    choices: &choices,
                    flags: &flags,
                    undefined,
                }))
            }
        }
    }

    /// The relations chosen, by name.
    fn choices(&self) -> Vec<(&str, &Relation)> {
        let plan = &self.store.plan;
        let chosen = |step: &ChoiceStep| match self.store.value(step.choice) {
            Value::Relation(relation) => Some((plan.names.text(step.name), relation)),
            _ => None,
        };
        plan.choices.iter().filter_map(chosen).collect()
    }

    fn relation(&self, id: Id) -> Found<Relation> {
        let relation = ops::as_relation(self.store.value(id), self.store.n);
        relation.map_err(|fault| self.error(id, self.store.plan.nodes.all[id as usize].at, fault))
    }

    pub(super) fn name_of(&self, check: &CheckStep) -> String {
        self.files.check_name(&self.store.plan.names, check)
    }

    /// The error of a fault in the value of `root`, at the operation it comes from.
    pub(super) fn error(&self, root: Id, at: Place, fault: Fault) -> Box<CatError> {
        let place = self.store.origin(root, at, &fault);
        let names = &self.store.plan.names;
        Box::new(super::fault_error(&self.files, names, place, fault))
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
