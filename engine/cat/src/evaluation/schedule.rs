//! The order in which the unknown values are computed and the checks on them made.
//!
//! A stage begins when a choice (for the first stage: rf) becomes known. It makes the checks that
//! depend on no later choice, cheapest first, each after the operations that it needs and that no
//! earlier check computed; then it computes the operations that only later stages need; then it
//! makes the next choice.
use crate::analysis::coherence_axioms::{AxiomMatcher, CoherenceAxioms};
use crate::plan::operation::{Op, OpId};
use crate::plan::polarity::{polarities, Polarity};
use crate::plan::steps::{order_operands, CheckStep, ChoiceStep, Step};
use crate::syntax::ast::*;
use crate::types::instruction::Instruction;
use crate::types::typed::TypedPlan;

/// A check and the operations to compute before it, apart from those that an earlier check
/// computes.
#[derive(Clone, Debug)]
pub struct ScheduledCheck {
    pub check: CheckStep,
    pub operations: Vec<OpId>,
}

/// The source of a choice's values.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// The orders of a set that extend a relation, per location or as a whole.
    Orders {
        by_location: bool,
        set: OpId,
        base: OpId,
    },
    Values(OpId),
}

#[derive(Clone, Debug)]
pub struct Choice {
    pub step: ChoiceStep,
    pub source: Source,
    /// The checks that fail for good once they fail while the choice is being made.
    pub prune: Vec<ScheduledCheck>,
}

#[derive(Clone, Debug, Default)]
pub struct Stage {
    pub level: u32,
    pub checks: Vec<ScheduledCheck>,
    pub rest: Vec<OpId>,
    pub choice: Option<Choice>,
}

/// The checks of a partial candidate: lower bounds for the choices, and the checks that fail for
/// good once they fail.
#[derive(Clone, Debug, Default)]
pub struct PartialChecks {
    pub bounds: Vec<(Vec<OpId>, ChoiceStep, Option<Source>)>,
    pub checks: Vec<ScheduledCheck>,
    /// The coherence axioms on the last choice if their operands only grow, with the operations to
    /// compute for them; and the checks that remain then.
    pub coherence: Option<(CoherenceAxioms, Vec<OpId>)>,
    pub others: Vec<ScheduledCheck>,
}

#[derive(Clone, Debug, Default)]
pub struct Schedule {
    /// The checks whose values are known.
    pub decided: Vec<CheckStep>,
    pub stages: Vec<Stage>,
    /// The coherence axioms on the last choice, if nothing else depends on it.
    pub coherence: Option<CoherenceAxioms>,
    /// The operations that flags and `undefined_unless` need after the last stage.
    pub flag_operations: Vec<OpId>,
    /// Flags and `undefined_unless`, in the model's order.
    pub flags: Vec<CheckStep>,
    pub asserts: Vec<CheckStep>,
    /// Every axiom, in the model's order.
    pub axioms: Vec<CheckStep>,
    pub partial: PartialChecks,
}

struct Scheduler<'t> {
    typed: &'t TypedPlan,
    /// For each operation, whether its value is known.
    known: &'t [bool],
    /// For each operation, what it depends on that is not known, in terms of `Operation::level`.
    levels: Vec<u32>,
}

/// The schedule of a typed plan, given which operations have known values.
pub fn schedule(typed: &TypedPlan, known: &[bool]) -> Schedule {
    let mut levels = vec![0; known.len()];
    for id in &typed.live {
        let index = *id as usize;
        if known[index] {
            continue;
        }
        let own = match typed.plan.operations.op(*id) {
            Op::ReadsFrom | Op::Finals => 1,
            Op::Choice(index) => index + 2,
            _ => 0,
        };
        let operands = typed.operands[index].iter();
        levels[index] = operands.fold(own, |level, id| level.max(levels[*id as usize]));
    }
    let scheduler = Scheduler {
        typed,
        known,
        levels,
    };
    let mut schedule = Schedule::default();
    let mut live = Vec::new();
    for step in &typed.plan.steps {
        let Step::Check(check) = step else { continue };
        match check.role {
            Role::Axiom => schedule.axioms.push(*check),
            Role::Assert => schedule.asserts.push(*check),
            Role::Flag | Role::UndefinedUnless => schedule.flags.push(*check),
        }
        if scheduler.is_known(check.value) {
            schedule.decided.push(*check);
        } else if check.role == Role::Axiom {
            live.push(*check);
        }
    }
    scheduler.schedule_stages(&live, &mut schedule);
    schedule.coherence = scheduler.coherence(&live, &schedule);
    scheduler.schedule_partial(&live, &mut schedule);
    schedule
}

impl Scheduler<'_> {
    /// Whether an operation's value is known.
    fn is_known(&self, id: OpId) -> bool {
        let root = self.typed.root(id);
        self.known[root as usize]
    }

    fn level(&self, id: OpId) -> u32 {
        self.levels[self.typed.root(id) as usize]
    }

    /// The operations that `root` needs and that are not `done`, in order; marks them as done.
    fn collect(&self, root: OpId, done: &mut [bool]) -> Vec<OpId> {
        let mut found = Vec::new();
        let mut pending = vec![self.typed.root(root)];
        while let Some(id) = pending.pop() {
            let index = id as usize;
            if self.known[index] || std::mem::replace(&mut done[index], true) {
                continue;
            }
            if !matches!(self.typed.instructions[index], Instruction::None) {
                found.push(id);
            }
            pending.extend(self.typed.operands[index].iter());
        }
        found.sort_unstable();
        found
    }

    fn fresh(&self) -> Vec<bool> {
        vec![false; self.known.len()]
    }

    fn cost(&self, check: &CheckStep) -> u32 {
        let operations = self.collect(check.value, &mut self.fresh());
        operations.iter().map(|id| self.typed.cost(*id)).sum()
    }

    fn source(&self, step: &ChoiceStep) -> Source {
        match order_operands(&self.typed.plan.operations, step.source) {
            None => Source::Values(step.source),
            Some((by_location, set, base)) => Source::Orders {
                by_location,
                set,
                base,
            },
        }
    }

    fn schedule_stages(&self, live: &[CheckStep], schedule: &mut Schedule) {
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
        for (position, level) in levels.iter().enumerate() {
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
                stage.checks.push(ScheduledCheck {
                    check: *check,
                    operations: now,
                });
            }
            schedule.stages.push(stage);
            early
                .into_iter()
                .for_each(|operations| self.put(operations, &mut schedule.stages));
            if let Some(index) = open.get(position) {
                let step = choices[*index];
                let source = self.source(&step);
                let needs = match &source {
                    Source::Values(id) => vec![*id],
                    Source::Orders { set, base, .. } => vec![*set, *base],
                };
                for id in needs {
                    let operations = self.collect(id, &mut done);
                    self.put(operations, &mut schedule.stages);
                }
                let prune = self.prunable(&costs, *index as u32 + 2);
                schedule.stages[position].choice = Some(Choice {
                    step,
                    source,
                    prune,
                });
            }
        }
        for check in schedule.flags.iter().chain(&schedule.asserts) {
            let operations = self.collect(check.value, &mut done);
            let last = levels[levels.len() - 1];
            let (now, before) = operations
                .into_iter()
                .partition(|id| self.level(*id) == last);
            schedule.flag_operations.extend::<Vec<OpId>>(now);
            self.put(before, &mut schedule.stages);
        }
        // Operations needed while a choice is being made are computed before it.
        for stage in &mut schedule.stages {
            stage.rest.sort_unstable();
            stage.rest.dedup();
        }
    }

    /// Assigns operations to the latest stages that know their operands.
    fn put(&self, operations: Vec<OpId>, schedule: &mut [Stage]) {
        for id in operations {
            let level = self.level(id);
            let stage = schedule.iter_mut().rev().find(|stage| stage.level <= level);
            if let Some(stage) = stage {
                stage.rest.push(id);
            }
        }
    }

    fn polarities(&self, open_from: u32) -> Vec<Polarity> {
        let fixed = |id: OpId| self.level(id) < open_from;
        polarities(&self.typed.plan.operations, &fixed)
    }

    /// The checks of a level that fail for good once they fail.
    fn prunable(&self, costs: &[(u32, CheckStep)], level: u32) -> Vec<ScheduledCheck> {
        let polarity = self.polarities(level);
        let mut done = self.fresh();
        let mut prune = Vec::new();
        for (_, check) in costs
            .iter()
            .filter(|(_, check)| self.level(check.value) == level)
        {
            if fails_for_good(check, polarity[self.typed.root(check.value) as usize]) {
                let mut operations = self.collect(check.value, &mut done);
                operations.retain(|id| self.level(*id) == level);
                prune.push(ScheduledCheck {
                    check: *check,
                    operations,
                });
            }
        }
        prune
    }

    /// The coherence axioms on the last choice, if nothing else depends on it.
    fn coherence(&self, live: &[CheckStep], schedule: &Schedule) -> Option<CoherenceAxioms> {
        let choice = schedule
            .stages
            .iter()
            .rev()
            .find_map(|stage| stage.choice.as_ref())?;
        let last = self.level(choice.step.choice);
        let depends = |id: OpId| self.level(id) >= last;
        let mut others = schedule.flags.iter().chain(&schedule.asserts);
        let orders = matches!(choice.source, Source::Orders { .. });
        if !orders || others.any(|check| depends(check.value)) {
            return None;
        }
        let matcher = AxiomMatcher {
            typed: self.typed,
            choice: self.typed.root(choice.step.choice),
            depends: &depends,
        };
        matcher.coherence_axioms(live.iter().filter(|check| depends(check.value)))
    }

    fn schedule_partial(&self, live: &[CheckStep], schedule: &mut Schedule) {
        let polarity = self.polarities(1);
        let choices = &self.typed.plan.choices;
        let mut picked: Vec<(u32, CheckStep)> = Vec::new();
        let mut used = vec![false; choices.len()];
        for check in live {
            if !fails_for_good(check, polarity[self.typed.root(check.value) as usize]) {
                continue;
            }
            let mut seen = self.fresh();
            let operations = self.collect(check.value, &mut seen);
            let cost = operations.iter().map(|id| self.typed.cost(*id)).sum();
            let of = |step: &ChoiceStep| seen[step.choice as usize];
            // A choice from listed values cannot be made in part.
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
        // The base of an order may depend on earlier choices.
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
            let (operations, source) = match usable {
                Some((source, base)) => (self.collect(base, &mut done), Some(source)),
                None => (Vec::new(), None),
            };
            schedule.partial.bounds.push((operations, step, source));
        }
        let grows = |id: &OpId| polarity[self.typed.root(*id) as usize].up;
        if let Some(coherence) = &schedule.coherence {
            let operands = coherence.operands();
            if operands.iter().all(grows) {
                let mut done = done.clone();
                let mut operations: Vec<OpId> = Vec::new();
                for id in operands {
                    operations.extend(self.collect(id, &mut done));
                }
                let last = choices.iter().map(|step| self.level(step.choice)).max();
                let others = picked
                    .iter()
                    .filter(|(_, check)| Some(self.level(check.value)) < last);
                schedule.partial.others = others
                    .map(|(_, check)| ScheduledCheck {
                        check: *check,
                        operations: self.collect(check.value, &mut done),
                    })
                    .collect();
                schedule.partial.coherence = Some((coherence.clone(), operations));
            }
        }
        for (_, check) in picked {
            let operations = self.collect(check.value, &mut done);
            schedule
                .partial
                .checks
                .push(ScheduledCheck { check, operations });
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
