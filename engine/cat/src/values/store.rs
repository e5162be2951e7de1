//! The values of a plan's operations on one graph, where they are not rows of bits.
use super::builtins;
use super::interpreter::{is_stable, Interpreter};
use super::operators::{self, message, type_fault, Context, EvalResult};
use super::value::{compare, Closure, Scope, Value};
use crate::plan::fault::Fault;
use crate::plan::operation::{Op, OpId, Test};
use crate::plan::steps::Plan;
use crate::syntax::ast::*;
use crate::syntax::names::{SourcePosition, Symbol};
use relation::{Relation, Set};
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::Arc;

/// How many steps the interpreter may take for a graph, and again for each candidate.
const FUEL: u64 = 20_000_000;

/// How many rounds a `let rec` may take.
const MAX_ROUNDS: usize = 20_000;

/// The values of dynamic operations and of their operands.
pub struct Store {
    pub plan: Arc<Plan>,
    pub n: usize,
    pub locations: Vec<Option<u32>>,
    /// The values that all graphs share.
    fixed: Arc<Vec<Value>>,
    /// For each operation that has a value of this graph, the number of it in `own` plus one; else 0.
    slots: Arc<Vec<u32>>,
    own: Arc<Vec<Value>>,
    /// For each operation, the first one that has the same value; often itself.
    same: Arc<Vec<OpId>>,
    /// How many more steps the interpreter may take.
    pub fuel: AtomicU64,
}

impl Clone for Store {
    fn clone(&self) -> Store {
        Store {
            plan: self.plan.clone(),
            n: self.n,
            locations: self.locations.clone(),
            fixed: self.fixed.clone(),
            slots: self.slots.clone(),
            own: self.own.clone(),
            same: self.same.clone(),
            fuel: AtomicU64::new(FUEL),
        }
    }
}

impl Store {
    /// Values over no events: the faults that hold in every graph.
    pub fn new(plan: Arc<Plan>, fixed: Arc<Vec<Value>>, same: Arc<Vec<OpId>>) -> Store {
        Store {
            plan,
            n: 0,
            locations: Vec::new(),
            slots: Arc::new(vec![0; fixed.len()]),
            fixed,
            own: Arc::default(),
            same,
            fuel: AtomicU64::new(FUEL),
        }
    }

    /// Values over no events, all unknown.
    pub fn bare(plan: &Arc<Plan>) -> Store {
        let count = plan.operations.all.len();
        Store {
            plan: plan.clone(),
            n: 0,
            locations: Vec::new(),
            fixed: Arc::new(vec![Value::Nothing; count]),
            slots: Arc::new(vec![0; count]),
            own: Arc::default(),
            same: Arc::new((0..count as OpId).collect()),
            fuel: AtomicU64::new(FUEL),
        }
    }

    /// Stores the value of an operation.
    pub fn put(&mut self, id: OpId, value: Value) {
        let own = Arc::make_mut(&mut self.own);
        match self.slots[id as usize] {
            0 => {
                own.push(value);
                Arc::make_mut(&mut self.slots)[id as usize] = own.len() as u32;
            }
            slot => own[slot as usize - 1] = value,
        }
    }

    /// Records that an operation has the same value as another.
    pub fn alias(&mut self, id: OpId, other: OpId) {
        Arc::make_mut(&mut self.same)[id as usize] = other;
    }

    /// Resets the interpreter's number of steps.
    pub fn refuel(&mut self) {
        *self.fuel.get_mut() = FUEL;
    }

    /// The position at which a fault in the value of `root` originates; `at` is that of `root`.
    pub fn origin(&self, root: OpId, at: SourcePosition, fault: &Fault) -> SourcePosition {
        let operations = &self.plan.operations;
        let mut position = at;
        let mut id = root;
        loop {
            let mut origin = None;
            operations.operands(operations.op(self.same[id as usize]), &mut |operand| {
                if origin.is_none()
                    && matches!(self.value(operand), Value::Fault(found) if found == fault)
                {
                    origin = Some(operand);
                }
            });
            if matches!(self.value(id), Value::Fault(_)) {
                position = operations.all[id as usize].at;
            }
            match origin {
                Some(operand) if operand < id => id = operand,
                _ => return position,
            }
        }
    }

    /// The current value of an operation.
    pub fn value(&self, id: OpId) -> &Value {
        self.stored(self.same[id as usize])
    }

    fn stored(&self, id: OpId) -> &Value {
        match self.slots[id as usize] {
            0 => &self.fixed[id as usize],
            slot => &self.own[slot as usize - 1],
        }
    }

    /// Computes the value of an operation from those of its operands.
    pub fn compute(&mut self, id: OpId) {
        let plan = self.plan.clone();
        self.compute_in(&plan, id);
    }

    /// [`Store::compute`] with the plan as an argument.
    fn compute_in(&mut self, plan: &Plan, id: OpId) {
        let value = self.compute_any(plan, plan.operations.op(id));
        self.put(id, value.unwrap_or_else(Value::Fault));
    }

    fn checked(&self, id: OpId) -> Result<&Value, Fault> {
        match self.value(id) {
            Value::Fault(fault) => Err(fault.clone()),
            value => Ok(value),
        }
    }

    fn several(&self, items: &[OpId]) -> Result<Vec<Value>, Fault> {
        items
            .iter()
            .map(|item| self.checked(*item).cloned())
            .collect()
    }

    fn interpreter(&self) -> Interpreter<'_> {
        Interpreter {
            context: self.context(),
            locations: &self.locations,
            variants: &self.plan.variants,
            fuel: &self.fuel,
            depth: AtomicU32::new(0),
        }
    }

    fn context(&self) -> Context<'_> {
        Context {
            n: self.n,
            enums: &self.plan.enums,
        }
    }

    pub fn compute_any(&mut self, plan: &Plan, op: &Op) -> EvalResult {
        let n = self.n;
        Ok(match op {
            Op::Nothing => Value::Nothing,
            Op::Universe => Value::Universe,
            Op::EmptyRelation => Value::Relation(Relation::new(n)),
            Op::Identity => Value::Relation(Relation::identity(&Set::full(n))),
            Op::Builtin(builtin) => Value::Builtin(*builtin),
            Op::Tag(tags, name) => Value::Tag(*tags, *name),
            Op::Enum(name) => Value::values(operators::all_tags(*name, &self.plan.enums)),
            Op::Union(items) => {
                let items: Result<Vec<&Value>, _> =
                    items.iter().map(|item| self.checked(*item)).collect();
                operators::union(&items?)?
            }
            Op::Unary(op, a) => operators::unary(*op, self.checked(*a)?, &self.context())?,
            Op::Binary(op, a, b) => {
                operators::binary(*op, self.checked(*a)?, self.checked(*b)?, &self.context())?
            }
            Op::Sequence(a, b) => operators::sequence(self.checked(*a)?, self.checked(*b)?, n)?,
            Op::Restrict(from, inner, to) => {
                let mut value = self.checked(*inner)?.clone();
                if let Some(from) = from {
                    let from =
                        operators::unary(Unary::Identity, self.checked(*from)?, &self.context())?;
                    value = operators::sequence(&from, &value, n)?;
                }
                if let Some(to) = to {
                    let to =
                        operators::unary(Unary::Identity, self.checked(*to)?, &self.context())?;
                    value = operators::sequence(&value, &to, n)?;
                }
                value
            }
            Op::Explicit(items) => operators::explicit(self.several(items)?, n)?,
            Op::Tuple(items) => {
                Value::Tuple(items.iter().map(|item| self.value(*item).clone()).collect())
            }
            Op::Item(of, index, count) => self.item(*of, *index as usize, *count as usize)?,
            Op::Apply(function, argument) => {
                let function = self.checked(*function)?;
                self.interpreter()
                    .apply(function, self.checked(*argument)?.clone())?
            }
            Op::Call(builtin, argument) => {
                builtins::apply(*builtin, self.checked(*argument)?, &self.locations)?
            }
            Op::Orders(set, base) => {
                let set = operators::as_set(self.checked(*set)?, n)?;
                let base = operators::as_relation(self.checked(*base)?, n)?;
                builtins::orders(&set, &base, &self.locations)?
            }
            Op::Fix(group) => {
                self.fixpoint(plan, *group as usize)?;
                Value::Nothing
            }
            Op::If(test, a, b, yes, no) => {
                let branch = if self.test(*test, *a, *b)? { yes } else { no };
                self.checked(*branch)?.clone()
            }
            Op::Try(first, second) => match self.value(*first) {
                Value::Fault(Fault::Limit(limit)) => return Err(Fault::Limit(limit)),
                Value::Fault(_) => self.checked(*second)?.clone(),
                value => value.clone(),
            },
            Op::Eval(code) => {
                let code = &self.plan.operations.deferred[*code as usize];
                self.interpreter()
                    .eval(&code.exp, &self.scope(&code.captured))?
            }
            Op::Closure(code) => {
                let code = &self.plan.operations.deferred[*code as usize];
                let ExpKind::Fun(function) = &code.exp.kind else {
                    return message("this is not a function");
                };
                Value::Closure(Arc::new(Closure {
                    function: function.clone(),
                    scope: self.scope(&code.captured),
                    group: code.group.clone(),
                }))
            }
            Op::Fault(fault) => return Err(self.plan.operations.faults[*fault as usize].clone()),
            Op::Given(name) => return Err(Fault::Unbound(*name)),
            Op::ReadsFrom | Op::Finals | Op::Choice(_) | Op::Variable(..) => {
                return message("this value is not known yet")
            }
        })
    }

    /// Whether a condition on two values holds.
    pub fn test(&self, test: Test, a: OpId, b: OpId) -> Result<bool, Fault> {
        let (a, b) = (self.checked(a)?, self.checked(b)?);
        match test {
            Test::Equal => Ok(compare(a, b).is_eq()),
            Test::Subset => operators::is_subset(a, b, self.n),
            Test::In => operators::is_element(a, b, self.n),
        }
    }

    fn item(&self, of: OpId, index: usize, count: usize) -> EvalResult {
        if let Op::Fix(group) = *self.plan.operations.op(of) {
            self.checked(of)?;
            let variable = self.plan.operations.groups[group as usize].variables[index];
            return Ok(self.stored(variable).clone());
        }
        match self.checked(of)? {
            Value::Tuple(items) if items.len() == count => match &items[index] {
                Value::Fault(fault) => Err(fault.clone()),
                item => Ok(item.clone()),
            },
            Value::Pair(from, to) if count == 2 => Ok(Value::Event([*from, *to][index])),
            Value::Tuple(_) => message("wrong number of arguments"),
            other => type_fault("a tuple", other),
        }
    }

    fn scope(&self, captured: &[(Symbol, OpId)]) -> Scope {
        let start = Scope::default();
        captured.iter().fold(start, |scope, (name, id)| {
            scope.with(Some(*name), self.value(*id).clone())
        })
    }

    /// Computes the names of a `let rec` as a least fixpoint: from the empty value, each name from
    /// the latest values of the others, until none changes.
    fn fixpoint(&mut self, plan: &Plan, group: usize) -> Result<(), Fault> {
        let group = &plan.operations.groups[group];
        for variable in &group.variables {
            self.put(*variable, Value::Nothing);
        }
        for _ in 0..MAX_ROUNDS {
            let mut stable = true;
            for (index, variable) in group.variables.iter().enumerate() {
                for inner in &group.inner[index] {
                    self.compute_in(plan, *inner);
                }
                let new = self.checked(group.bodies[index])?;
                let old = self.stored(*variable);
                stable &= is_stable(old, new, self.n)?;
                let new = new.clone();
                self.put(*variable, new);
            }
            if stable {
                return Ok(());
            }
        }
        Err(Fault::Limit("let rec does not terminate"))
    }
}
