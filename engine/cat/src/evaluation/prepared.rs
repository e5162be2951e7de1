//! A model in which everything that the graph alone determines has been evaluated.
use super::graph_values::GraphValues;
use super::input::Interrupt;
use super::order_classes::Classes;
use super::schedule::{Schedule, ScheduledCheck};
use crate::error::CatError;
use crate::plan::fault::Fault;
use crate::plan::operation::{Op, OpId};
use crate::plan::steps::CheckStep;
use crate::syntax::ast::Role;
use crate::syntax::files::Files;
use crate::syntax::names::SourcePosition;
use crate::types::typed::TypedPlan;
use relation::{Relation, Set};
use std::sync::Arc;

pub type SearchResult<T> = Result<T, Box<CatError>>;

/// The number of steps between two calls of the interrupt.
const WATCH: u64 = 64;

/// A model, evaluated as far as one graph of events determines it.
pub struct Prepared {
    pub(super) typed: Arc<TypedPlan>,
    pub(super) values: GraphValues,
    pub(super) files: Arc<Files>,
    pub(super) schedule: Arc<Schedule>,
    /// For each choice of orders of a known set, the sets that are ordered.
    pub(super) classes: Vec<Option<Classes>>,
    /// The relations chosen in the current solution.
    pub(super) chosen: Vec<Relation>,
    pub(super) never: Option<String>,
    /// The steps that searches have taken, and their limit.
    pub(super) steps: u64,
    pub(super) limit: Option<u64>,
    pub(super) interrupt: Option<Interrupt>,
}

impl Prepared {
    /// The name of an axiom that fails for every rf, if there is one: then there are no solutions.
    pub fn always_fails(&self) -> Option<&str> {
        self.never.as_deref()
    }

    /// Whether the model depends on the final writes `FW` other than by placing them last in a
    /// coherence order that it chooses. If not, omit `FW`: the last write in `co` is the final
    /// write of its location, and every choice of final writes occurs.
    pub fn needs_final_writes(&self) -> bool {
        self.typed.plan.needs_finals
    }

    /// Limits the total number of search steps from now on; `None` removes the limit. Beyond it,
    /// the search ends with an error whose `limit` is set.
    pub fn set_limit(&mut self, steps: Option<u64>) {
        self.steps = 0;
        self.limit = steps;
    }

    /// Sets a callback that may end a search; the error then has its `limit` set.
    pub fn set_interrupt(&mut self, interrupt: Interrupt) {
        self.interrupt = Some(interrupt);
    }

    pub(super) fn choice_index(&self, choice: OpId) -> usize {
        match self.typed.plan.operations.op(choice) {
            Op::Choice(index) => *index as usize,
            _ => 0,
        }
    }

    pub(super) fn spend(&mut self) -> SearchResult<()> {
        self.steps += 1;
        if self.steps % WATCH == 0 && self.interrupt.as_ref().is_some_and(|interrupt| interrupt()) {
            let mut error = CatError::placeless("the search was interrupted", "");
            error.limit = true;
            return Err(Box::new(error));
        }
        match self.limit {
            Some(limit) if self.steps > limit => {
                let mut error =
                    CatError::placeless(format!("the search takes more than {limit} steps"), "");
                error.limit = true;
                Err(Box::new(error))
            }
            _ => Ok(()),
        }
    }

    /// Whether a check holds, given the current value of its operation.
    pub(super) fn holds(&self, check: &CheckStep) -> SearchResult<bool> {
        self.values
            .holds(&self.typed, check)
            .map_err(|fault| self.error(check.value, check.value_at, fault))
    }

    pub(super) fn compute(&mut self, operations: &[OpId]) {
        for id in operations {
            self.values.compute(&self.typed, *id);
        }
    }

    pub(super) fn relation(&self, id: OpId) -> SearchResult<Relation> {
        let relation = self.values.relation(&self.typed, id);
        relation
            .map_err(|fault| self.error(id, self.typed.plan.operations.all[id as usize].at, fault))
    }

    pub(super) fn name_of(&self, check: &CheckStep) -> String {
        self.files
            .check_name(&self.typed.plan.names, check.name, check.at)
    }

    /// The error for a fault in the value of `root`, at the position of the operation that caused
    /// it.
    pub(super) fn error(&self, root: OpId, at: SourcePosition, fault: Fault) -> Box<CatError> {
        Box::new(self.values.error(&self.files, root, at, fault))
    }

    /// Stores rf and the final writes of a candidate.
    pub(super) fn begin_candidate(&mut self, rf: &Relation, finals: Option<&Set>) {
        self.values.store.refuel();
        let typed = self.typed.clone();
        let rows = &mut self.values.rows;
        for id in &typed.candidates {
            let slot = typed.slot(*id);
            match typed.plan.operations.op(*id) {
                Op::ReadsFrom => rows.put_relation(slot, rf),
                _ if typed.plan.needs_finals => match finals {
                    Some(finals) => rows.put_set(slot, finals),
                    None => rows.put_set(slot, &Set::new(rows.n)),
                },
                _ => {}
            }
        }
    }

    pub(super) fn all_hold(&mut self, checks: &[ScheduledCheck]) -> SearchResult<bool> {
        for due in checks {
            self.compute(&due.operations);
            if !self.holds(&due.check)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The flags raised, and whether the program has undefined behaviour. A failing assertion is an
    /// error.
    pub(super) fn flags_raised(&self, schedule: &Schedule) -> SearchResult<(Vec<&str>, bool)> {
        for check in &schedule.asserts {
            if !self.holds(check)? {
                let names = &self.typed.plan.names;
                return Err(Box::new(self.files.assertion(names, check.name, check.at)));
            }
        }
        let (mut flags, mut undefined) = (Vec::new(), false);
        for check in &schedule.flags {
            let holds = self.holds(check)?;
            match (check.role, check.name) {
                (Role::UndefinedUnless, _) => undefined |= !holds,
                (_, Some(name)) if holds => flags.push(self.typed.plan.names.text(name)),
                _ => {}
            }
        }
        flags.sort_unstable();
        flags.dedup();
        Ok((flags, undefined))
    }
}
