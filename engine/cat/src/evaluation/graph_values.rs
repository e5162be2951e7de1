//! The values of a typed plan's operations on one graph: sets and relations as rows of bits, all
//! others as [`Value`]s.
use super::rows::Rows;
use crate::error::CatError;
use crate::plan::fault::Fault;
use crate::plan::operation::OpId;
use crate::plan::steps::CheckStep;
use crate::syntax::ast::Claim;
use crate::syntax::files::Files;
use crate::syntax::names::SourcePosition;
use crate::types::instruction::Instruction;
use crate::types::typed::TypedPlan;
use crate::types::value_type::Type;
use crate::values::operators;
use crate::values::store::Store;
use crate::values::value::Value;
use relation::Relation;

#[derive(Clone)]
pub struct GraphValues {
    pub rows: Rows,
    pub store: Store,
}

impl GraphValues {
    pub fn new(typed: &TypedPlan) -> GraphValues {
        GraphValues {
            rows: Rows::default(),
            store: Store::new(typed.plan.clone(), typed.fixed.clone(), typed.same.clone()),
        }
    }

    /// Starts a graph of `n` events in which everything given is empty and no event has a location.
    pub fn begin(&mut self, typed: &TypedPlan, n: usize) {
        self.rows.begin(typed, n);
        self.store.n = n;
        self.store.refuel();
    }

    /// Computes an operation's value from those of its operands.
    #[inline]
    pub fn compute(&mut self, typed: &TypedPlan, id: OpId) {
        match typed.instructions[id as usize] {
            Instruction::OnValues => {
                let operations = &typed.plan.operations;
                operations.operands(operations.op(id), &mut |operand| self.take(typed, operand));
                self.store.compute(id);
            }
            _ => self.rows.run(typed, id),
        }
    }

    /// Copies an operation's value from its slot to the store.
    fn take(&mut self, typed: &TypedPlan, id: OpId) {
        if typed.type_of(id) != Type::Dynamic {
            self.store.put(typed.root(id), self.value(typed, id));
        }
    }

    /// The value of an operation.
    pub fn value(&self, typed: &TypedPlan, id: OpId) -> Value {
        match typed.type_of(id) {
            Type::Dynamic => self.store.value(id).clone(),
            Type::Nothing => Value::Nothing,
            Type::Universe => Value::Universe,
            Type::Set => Value::Set(self.rows.to_set(typed.slot(id))),
            Type::Relation => Value::Relation(self.rows.to_relation(typed.slot(id))),
        }
    }

    /// An operation's value as a relation.
    pub fn relation(&self, typed: &TypedPlan, id: OpId) -> Result<Relation, Fault> {
        match typed.type_of(id) {
            Type::Relation => Ok(self.rows.to_relation(typed.slot(id))),
            _ => operators::as_relation(&self.value(typed, id), self.rows.n),
        }
    }

    /// Whether a check holds, given the current value of its operation.
    pub fn holds(&self, typed: &TypedPlan, check: &CheckStep) -> Result<bool, Fault> {
        let id = check.value;
        let holds = match typed.type_of(id) {
            Type::Nothing => true,
            Type::Universe => self.rows.n == 0,
            Type::Dynamic => operators::holds(check.claim, self.store.value(id), self.rows.n)?,
            Type::Set if check.claim != Claim::Empty => {
                operators::holds(check.claim, &self.value(typed, id), self.rows.n)?
            }
            ty => self.rows.holds(check.claim, ty, typed.slot(id)),
        };
        Ok(holds != check.negated)
    }

    /// The error for a fault in the value of `root`, at the position of the operation that caused
    /// it.
    pub fn error(&self, files: &Files, root: OpId, at: SourcePosition, fault: Fault) -> CatError {
        let origin = self.store.origin(root, at, &fault);
        fault.error(files, &self.store.plan.names, origin)
    }
}
