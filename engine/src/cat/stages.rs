//! The order in which what is not fixed is computed and checked.
//!
//! A stage is what a choice (first, reads-from) makes known: its checks, cheapest first,
//! each with the operations that none before needed; then the operations that only later
//! stages need; then the next choice.
use super::ast::*;
use super::eval::Store;
use super::node::{Id, Op};
use super::plan::{self, CheckStep, ChoiceStep, Step};
use super::polarity::{polarities, Polarity};
use super::prepare::Facts;
use super::prims::classes_by_location;
use super::value::Value;
use crate::graph::Set;

/// A check, and the operations to compute before it.
#[derive(Clone, Debug)]
pub struct Due {
    pub check: CheckStep,
    pub nodes: Vec<Id>,
}

/// Where a choice's values come from.
#[derive(Clone, Debug)]
pub enum Source {
    /// Orders of a set that extend a relation, location by location or as a whole. The
    /// classes are given where the set is fixed.
    Orders {
        by_location: bool,
        set: Id,
        base: Id,
        classes: Option<Vec<Set>>,
    },
    Values(Id),
}

#[derive(Clone, Debug)]
pub struct Choice {
    pub step: ChoiceStep,
    pub source: Source,
    /// The checks that no more pairs of this choice can repair, to look at while it is
    /// made.
    pub prune: Vec<Due>,
}

#[derive(Clone, Debug, Default)]
pub struct Stage {
    pub level: u32,
    pub checks: Vec<Due>,
    pub rest: Vec<Id>,
    pub choice: Option<Choice>,
}

/// What to do about parts of a candidate: lower bounds of the choices, and the checks that
/// nothing more can repair.
#[derive(Clone, Debug, Default)]
pub struct Joint {
    pub bounds: Vec<(Vec<Id>, ChoiceStep, Option<Source>)>,
    pub checks: Vec<Due>,
}

#[derive(Clone, Debug, Default)]
pub struct Stages {
    /// The checks whose outcome is fixed.
    pub decided: Vec<CheckStep>,
    pub all: Vec<Stage>,
    /// What flags and `undefined_unless` need after the last stage.
    pub flag_nodes: Vec<Id>,
    /// Flags and `undefined_unless`, in the model's order.
    pub flags: Vec<CheckStep>,
    pub asserts: Vec<CheckStep>,
    /// Every axiom, in the model's order.
    pub axioms: Vec<CheckStep>,
    pub joint: Joint,
}

/// The classes that are ordered one by one.
pub fn classes(by_location: bool, set: &Set, locations: &[Option<u32>]) -> Vec<Set> {
    if by_location {
        classes_by_location(set, locations)
    } else {
        vec![set.clone()]
    }
}

struct Layout<'s> {
    store: &'s Store,
    facts: &'s Facts,
}

/// Lays the stages of a prepared plan.
pub fn lay(store: &Store, facts: &Facts) -> Stages {
    let layout = Layout { store, facts };
    let mut stages = Stages::default();
    let mut live = Vec::new();
    for step in &store.plan.steps {
        let Step::Check(check) = step else { continue };
        match check.role {
            Role::Axiom => stages.axioms.push(*check),
            Role::Assert => stages.asserts.push(*check),
            Role::Flag | Role::UndefinedUnless => stages.flags.push(*check),
        }
        if layout.is_fixed(check.value) {
            stages.decided.push(*check);
        } else if check.role == Role::Axiom {
            live.push(*check);
        }
    }
    layout.lay_stages(&live, &mut stages);
    layout.lay_joint(&live, &mut stages);
    stages
}

impl Layout<'_> {
    fn is_fixed(&self, id: Id) -> bool {
        self.facts.fixed[self.store.same[id as usize] as usize]
    }

    fn level(&self, id: Id) -> u32 {
        let id = self.store.same[id as usize];
        if self.facts.fixed[id as usize] {
            0
        } else {
            self.facts.level[id as usize]
        }
    }

    /// The operations that `root` needs and that are not done, in order; they are then.
    fn collect(&self, root: Id, done: &mut [bool]) -> Vec<Id> {
        let nodes = &self.store.plan.nodes;
        let mut found = Vec::new();
        let mut waiting = vec![root];
        while let Some(id) = waiting.pop() {
            let id = self.store.same[id as usize];
            let inside = nodes.all[id as usize].group != 0;
            if self.facts.fixed[id as usize] || std::mem::replace(&mut done[id as usize], true) {
                continue;
            }
            let op = nodes.op(id);
            if !inside && !matches!(op, Op::ReadsFrom | Op::Finals | Op::Choice(_)) {
                found.push(id);
            }
            match (&self.store.parts[id as usize], inside) {
                (Some(parts), false) => waiting.extend(parts.iter()),
                _ => nodes.operands(op, &mut |operand| waiting.push(operand)),
            }
        }
        found.sort_unstable();
        found
    }

    fn fresh(&self) -> Vec<bool> {
        vec![false; self.store.plan.nodes.all.len()]
    }

    fn cost(&self, check: &CheckStep) -> usize {
        self.collect(check.value, &mut self.fresh()).len()
    }

    fn source(&self, step: &ChoiceStep) -> Source {
        match plan::source_parts(&self.store.plan.nodes, step.source) {
            None => Source::Values(step.source),
            Some((by_location, set, base)) => {
                let classes = match self.store.value(set) {
                    Value::Set(events) if self.is_fixed(set) => {
                        Some(classes(by_location, events, &self.store.locations))
                    }
                    _ => None,
                };
                Source::Orders {
                    by_location,
                    set,
                    base,
                    classes,
                }
            }
        }
    }

    fn lay_stages(&self, live: &[CheckStep], stages: &mut Stages) {
        let choices = &self.store.plan.choices;
        let open: Vec<usize> = (0..choices.len())
            .filter(|index| !self.is_fixed(choices[*index].choice))
            .collect();
        let mut levels = vec![1];
        levels.extend(open.iter().map(|index| *index as u32 + 2));
        let mut done = self.fresh();
        let mut costs: Vec<(usize, CheckStep)> = live
            .iter()
            .map(|check| (self.cost(check), *check))
            .collect();
        costs.sort_by_key(|(cost, _)| *cost);
        for (place, level) in levels.iter().enumerate() {
            let mut stage = Stage {
                level: *level,
                ..Stage::default()
            };
            let mut early = Vec::new();
            for (_, check) in costs
                .iter()
                .filter(|(_, check)| self.level(check.value) == *level)
            {
                let needed = self.collect(check.value, &mut done);
                let (now, before) = needed.into_iter().partition(|id| self.level(*id) == *level);
                early.push(before);
                stage.checks.push(Due {
                    check: *check,
                    nodes: now,
                });
            }
            stages.all.push(stage);
            early
                .into_iter()
                .for_each(|nodes| self.put(nodes, &mut stages.all));
            if let Some(index) = open.get(place) {
                let step = choices[*index];
                let source = self.source(&step);
                let needs = match &source {
                    Source::Values(id) => vec![*id],
                    Source::Orders { set, base, .. } => vec![*set, *base],
                };
                for id in needs {
                    let nodes = self.collect(id, &mut done);
                    self.put(nodes, &mut stages.all);
                }
                let prune = self.prunable(&costs, *index as u32 + 2);
                stages.all[place].choice = Some(Choice {
                    step,
                    source,
                    prune,
                });
            }
        }
        for check in stages.flags.iter().chain(&stages.asserts) {
            let nodes = self.collect(check.value, &mut done);
            let last = levels[levels.len() - 1];
            let (now, before) = nodes.into_iter().partition(|id| self.level(*id) == last);
            stages.flag_nodes.extend::<Vec<Id>>(now);
            self.put(before, &mut stages.all);
        }
        // What is computed in the middle of making a choice stands before it.
        for stage in &mut stages.all {
            stage.rest.sort_unstable();
            stage.rest.dedup();
        }
    }

    /// Puts operations into the latest stages that know all they depend on.
    fn put(&self, nodes: Vec<Id>, stages: &mut [Stage]) {
        for id in nodes {
            let level = self.level(id);
            let stage = stages.iter_mut().rev().find(|stage| stage.level <= level);
            if let Some(stage) = stage {
                stage.rest.push(id);
            }
        }
    }

    fn polarities(&self, open_from: u32) -> Vec<Polarity> {
        let fixed = |id: Id| self.level(id) < open_from;
        polarities(&self.store.plan.nodes, &fixed)
    }

    /// The checks of a level that fail for good once they fail.
    fn prunable(&self, costs: &[(usize, CheckStep)], level: u32) -> Vec<Due> {
        let polarity = self.polarities(level);
        let mut done = self.fresh();
        let mut prune = Vec::new();
        for (_, check) in costs
            .iter()
            .filter(|(_, check)| self.level(check.value) == level)
        {
            if fails_for_good(
                check,
                polarity[self.store.same[check.value as usize] as usize],
            ) {
                let mut nodes = self.collect(check.value, &mut done);
                nodes.retain(|id| self.level(*id) == level);
                prune.push(Due {
                    check: *check,
                    nodes,
                });
            }
        }
        prune
    }

    fn lay_joint(&self, live: &[CheckStep], stages: &mut Stages) {
        let polarity = self.polarities(1);
        let choices = &self.store.plan.choices;
        let mut picked: Vec<(usize, CheckStep)> = Vec::new();
        let mut used = vec![false; choices.len()];
        for check in live {
            if !fails_for_good(
                check,
                polarity[self.store.same[check.value as usize] as usize],
            ) {
                continue;
            }
            let mut seen = self.fresh();
            let cost = self.collect(check.value, &mut seen).len();
            let of = |step: &ChoiceStep| seen[step.choice as usize];
            // A choice among listed values has no parts.
            let whole = |step: &ChoiceStep| matches!(self.source(step), Source::Values(_));
            if !choices.iter().any(|step| of(step) && whole(step)) {
                choices
                    .iter()
                    .enumerate()
                    .for_each(|(index, step)| used[index] |= of(step));
                picked.push((cost, *check));
            }
        }
        picked.sort_by_key(|(cost, _)| *cost);
        let mut done = self.fresh();
        // The base of an order may depend on choices before it.
        let mut bounds = Vec::new();
        for index in (0..choices.len()).rev() {
            let step = choices[index];
            if !used[index] || self.is_fixed(step.choice) {
                continue;
            }
            let source = self.source(&step);
            let mut usable = None;
            if let Source::Orders { set, base, .. } = &source {
                let mut seen = self.fresh();
                self.collect(*set, &mut seen);
                let fixed_set = !seen.iter().any(|seen| *seen);
                self.collect(*base, &mut seen);
                let grows = polarity[self.store.same[*base as usize] as usize].up;
                let whole = |step: &ChoiceStep| matches!(self.source(step), Source::Values(_));
                let listed = choices
                    .iter()
                    .any(|step| seen[step.choice as usize] && whole(step));
                if fixed_set && grows && !listed {
                    choices
                        .iter()
                        .enumerate()
                        .for_each(|(other, step)| used[other] |= seen[step.choice as usize]);
                    usable = Some((source.clone(), *base));
                }
            }
            bounds.push((step, usable));
        }
        for (step, usable) in bounds.into_iter().rev() {
            let (nodes, source) = match usable {
                Some((source, base)) => (self.collect(base, &mut done), Some(source)),
                None => (Vec::new(), None),
            };
            stages.joint.bounds.push((nodes, step, source));
        }
        for (_, check) in picked {
            let nodes = self.collect(check.value, &mut done);
            stages.joint.checks.push(Due { check, nodes });
        }
    }
}

fn fails_for_good(check: &CheckStep, polarity: Polarity) -> bool {
    if check.negated {
        polarity.down
    } else {
        polarity.up
    }
}
