//! The order in which what is not fixed is computed and checked.
//!
//! A stage is what a choice (first, reads-from) makes known: its checks, cheapest first,
//! each with the operations that none before needed; then the operations that only later
//! stages need; then the next choice.
use crate::analysis::coherence_axioms::{Forms, Tame};
use crate::plan::operation::{Id, Op};
use crate::plan::polarity::{polarities, Polarity};
use crate::plan::steps::{source_parts, CheckStep, ChoiceStep, Step};
use crate::syntax::ast::*;
use crate::types::instruction::Instr;
use crate::types::typed::Typed;

/// A check, and the operations to compute before it.
#[derive(Clone, Debug)]
pub struct Due {
    pub check: CheckStep,
    pub nodes: Vec<Id>,
}

/// Where a choice's values come from.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// Orders of a set that extend a relation, location by location or as a whole.
    Orders {
        by_location: bool,
        set: Id,
        base: Id,
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
    /// What the axioms on the last choice say of its orders, where that only ever grows, with
    /// the operations that say it; and the checks that are left then.
    pub tame: Option<(Tame, Vec<Id>)>,
    pub others: Vec<Due>,
}

#[derive(Clone, Debug, Default)]
pub struct Stages {
    /// The checks whose outcome is fixed.
    pub decided: Vec<CheckStep>,
    pub all: Vec<Stage>,
    /// What the axioms on the last choice say of its orders, where nothing else depends on it.
    pub tame: Option<Tame>,
    /// What flags and `undefined_unless` need after the last stage.
    pub flag_nodes: Vec<Id>,
    /// Flags and `undefined_unless`, in the model's order.
    pub flags: Vec<CheckStep>,
    pub asserts: Vec<CheckStep>,
    /// Every axiom, in the model's order.
    pub axioms: Vec<CheckStep>,
    pub joint: Joint,
}

struct Layout<'t> {
    typed: &'t Typed,
    /// Whether an operation's value is known.
    known: &'t [bool],
    /// What an operation depends on that is not known, as `Node::level` has it.
    levels: Vec<u32>,
}

/// Lays the stages of a typed plan over graphs of which so much is known.
pub fn lay(typed: &Typed, known: &[bool]) -> Stages {
    let mut levels = vec![0; known.len()];
    for id in &typed.live {
        let index = *id as usize;
        if known[index] {
            continue;
        }
        let own = match typed.plan.nodes.op(*id) {
            Op::ReadsFrom | Op::Finals => 1,
            Op::Choice(index) => index + 2,
            _ => 0,
        };
        let operands = typed.operands[index].iter();
        levels[index] = operands.fold(own, |level, id| level.max(levels[*id as usize]));
    }
    let layout = Layout {
        typed,
        known,
        levels,
    };
    let mut stages = Stages::default();
    let mut live = Vec::new();
    for step in &typed.plan.steps {
        let Step::Check(check) = step else { continue };
        match check.role {
            Role::Axiom => stages.axioms.push(*check),
            Role::Assert => stages.asserts.push(*check),
            Role::Flag | Role::UndefinedUnless => stages.flags.push(*check),
        }
        if layout.is_known(check.value) {
            stages.decided.push(*check);
        } else if check.role == Role::Axiom {
            live.push(*check);
        }
    }
    layout.lay_stages(&live, &mut stages);
    stages.tame = layout.tame(&live, &stages);
    layout.lay_joint(&live, &mut stages);
    stages
}

impl Layout<'_> {
    /// Whether a value is known, or the same whatever the graph.
    fn is_known(&self, id: Id) -> bool {
        let root = self.typed.root(id);
        self.known[root as usize]
    }

    fn level(&self, id: Id) -> u32 {
        self.levels[self.typed.root(id) as usize]
    }

    /// The operations that `root` needs and that are not done, in order; they are then.
    fn collect(&self, root: Id, done: &mut [bool]) -> Vec<Id> {
        let mut found = Vec::new();
        let mut waiting = vec![self.typed.root(root)];
        while let Some(id) = waiting.pop() {
            let index = id as usize;
            if self.known[index] || std::mem::replace(&mut done[index], true) {
                continue;
            }
            if !matches!(self.typed.instrs[index], Instr::None) {
                found.push(id);
            }
            waiting.extend(self.typed.operands[index].iter());
        }
        found.sort_unstable();
        found
    }

    fn fresh(&self) -> Vec<bool> {
        vec![false; self.known.len()]
    }

    fn cost(&self, check: &CheckStep) -> u32 {
        let nodes = self.collect(check.value, &mut self.fresh());
        nodes.iter().map(|id| self.typed.cost(*id)).sum()
    }

    fn source(&self, step: &ChoiceStep) -> Source {
        match source_parts(&self.typed.plan.nodes, step.source) {
            None => Source::Values(step.source),
            Some((by_location, set, base)) => Source::Orders {
                by_location,
                set,
                base,
            },
        }
    }

    fn lay_stages(&self, live: &[CheckStep], stages: &mut Stages) {
        let choices = &self.typed.plan.choices;
        let open: Vec<usize> = (0..choices.len())
            .filter(|index| !self.is_known(choices[*index].choice))
            .collect();
        let mut levels = vec![1];
        levels.extend(open.iter().map(|index| *index as u32 + 2));
        let mut done = self.fresh();
        let mut costs: Vec<(u32, CheckStep)> = live
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
        polarities(&self.typed.plan.nodes, &fixed)
    }

    /// The checks of a level that fail for good once they fail.
    fn prunable(&self, costs: &[(u32, CheckStep)], level: u32) -> Vec<Due> {
        let polarity = self.polarities(level);
        let mut done = self.fresh();
        let mut prune = Vec::new();
        for (_, check) in costs
            .iter()
            .filter(|(_, check)| self.level(check.value) == level)
        {
            if fails_for_good(check, polarity[self.typed.root(check.value) as usize]) {
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

    /// What the axioms on the last choice say of its orders, if nothing else depends on it.
    fn tame(&self, live: &[CheckStep], stages: &Stages) -> Option<Tame> {
        let choice = stages
            .all
            .iter()
            .rev()
            .find_map(|stage| stage.choice.as_ref())?;
        let last = self.level(choice.step.choice);
        let depends = |id: Id| self.level(id) >= last;
        let mut others = stages.flags.iter().chain(&stages.asserts);
        let orders = matches!(choice.source, Source::Orders { .. });
        if !orders || others.any(|check| depends(check.value)) {
            return None;
        }
        let forms = Forms {
            typed: self.typed,
            choice: self.typed.root(choice.step.choice),
            depends: &depends,
        };
        forms.tame(live.iter().filter(|check| depends(check.value)))
    }

    fn lay_joint(&self, live: &[CheckStep], stages: &mut Stages) {
        let polarity = self.polarities(1);
        let choices = &self.typed.plan.choices;
        let mut picked: Vec<(u32, CheckStep)> = Vec::new();
        let mut used = vec![false; choices.len()];
        for check in live {
            if !fails_for_good(check, polarity[self.typed.root(check.value) as usize]) {
                continue;
            }
            let mut seen = self.fresh();
            let nodes = self.collect(check.value, &mut seen);
            let cost = nodes.iter().map(|id| self.typed.cost(*id)).sum();
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
            if !used[index] || self.is_known(step.choice) {
                continue;
            }
            let source = self.source(&step);
            let mut usable = None;
            if let Source::Orders { set, base, .. } = &source {
                let mut seen = self.fresh();
                self.collect(*set, &mut seen);
                let fixed_set = !seen.iter().any(|seen| *seen);
                self.collect(*base, &mut seen);
                let grows = polarity[self.typed.root(*base) as usize].up;
                let whole = |step: &ChoiceStep| matches!(self.source(step), Source::Values(_));
                let listed = choices
                    .iter()
                    .any(|step| seen[step.choice as usize] && whole(step));
                if fixed_set && grows && !listed {
                    choices
                        .iter()
                        .enumerate()
                        .for_each(|(other, step)| used[other] |= seen[step.choice as usize]);
                    usable = Some((source, *base));
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
        let grows = |id: &Id| polarity[self.typed.root(*id) as usize].up;
        if let Some(tame) = &stages.tame {
            let operands = tame.operands();
            if operands.iter().all(grows) {
                let mut done = done.clone();
                let mut nodes: Vec<Id> = Vec::new();
                for id in operands {
                    nodes.extend(self.collect(id, &mut done));
                }
                let last = choices.iter().map(|step| self.level(step.choice)).max();
                let others = picked
                    .iter()
                    .filter(|(_, check)| Some(self.level(check.value)) < last);
                stages.joint.others = others
                    .map(|(_, check)| Due {
                        check: *check,
                        nodes: self.collect(check.value, &mut done),
                    })
                    .collect();
                stages.joint.tame = Some((tame.clone(), nodes));
            }
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
