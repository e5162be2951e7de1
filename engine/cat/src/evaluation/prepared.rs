//! A model evaluated as far as a graph alone decides.
use super::graph_values::GraphValues;
use super::input::Over;
use super::order_classes::Classes;
use super::schedule::Schedule;
use crate::error::CatError;
use crate::plan::fault::Fault;
use crate::plan::operation::{Op, OpId};
use crate::plan::steps::CheckStep;
use crate::syntax::files::Files;
use crate::syntax::names::SourcePosition;
use crate::types::typed::TypedPlan;
use relation::Relation;
use std::sync::Arc;

pub type SearchResult<T> = Result<T, Box<CatError>>;

/// How many steps go by between two looks at the clock.
const WATCH: u64 = 64;

/// A model with all that depends on the graph alone evaluated.
pub struct Prepared {
    pub(super) typed: Arc<TypedPlan>,
    pub(super) values: GraphValues,
    pub(super) files: Arc<Files>,
    pub(super) schedule: Arc<Schedule>,
    /// Of each choice among orders of a known set, what is ordered one by one.
    pub(super) classes: Vec<Option<Classes>>,
    /// The relations chosen in the solution that is told.
    pub(super) chosen: Vec<Relation>,
    pub(super) never: Option<String>,
    /// How many steps the searches have taken, and how many they may.
    pub(super) steps: u64,
    pub(super) limit: Option<u64>,
    pub(super) over: Option<Over>,
}

impl Prepared {
    /// The name of an axiom that fails whatever is read from where, if there is one: then
    /// there are no solutions.
    pub fn never(&self) -> Option<&str> {
        self.never.as_deref()
    }

    /// Whether the model looks at the final writes `FW` other than to order them last in
    /// a coherence order it chooses. When not, leave `FW` out: the final write of a
    /// location is then the last in `co`, and every one occurs.
    pub fn needs_final_writes(&self) -> bool {
        self.typed.plan.needs_finals
    }

    /// How many steps of search there may be in all from now; none for no limit. The
    /// error then has its `limit` set.
    pub fn set_limit(&mut self, steps: Option<u64>) {
        self.steps = 0;
        self.limit = steps;
    }

    /// Has a search ask now and then whether to end; if so, the error has its `limit` set.
    pub fn set_over(&mut self, over: Over) {
        self.over = Some(over);
    }

    pub(super) fn choice_index(&self, choice: OpId) -> usize {
        match self.typed.plan.operations.op(choice) {
            Op::Choice(index) => *index as usize,
            _ => 0,
        }
    }

    pub(super) fn spend(&mut self) -> SearchResult<()> {
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

    /// The error of a fault in the value of `root`, at the operation it comes from.
    pub(super) fn error(&self, root: OpId, at: SourcePosition, fault: Fault) -> Box<CatError> {
        Box::new(self.values.error(&self.files, root, at, fault))
    }
}
