//! The values of operations.
use super::ast::*;
use super::interp::{self, Interp};
use super::node::{Id, Op, Test};
use super::ops::{self, said, type_fault, Ground, Outcome};
use super::plan::Plan;
use super::prims;
use super::rows::Rows;
use super::typed::{Form, Typed};
use super::value::{compare, Closure, Fault, Scope, Value};
use crate::graph::{Relation, Set};
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::Arc;

/// How many steps the interpreter may take for one graph, and for one candidate.
const FUEL: u64 = 20_000_000;

/// How often the names of a `let rec` may be computed anew.
const MAX_ROUNDS: usize = 20_000;

/// The values of a plan's operations, over one graph of events.
pub struct Store {
    pub plan: Arc<Plan>,
    pub n: usize,
    pub locations: Vec<Option<u32>>,
    pub values: Vec<Value>,
    /// For each operation, the one that has the same value; often itself.
    pub same: Vec<Id>,
    /// Of a union, the operands that are not empty whatever is chosen.
    pub parts: Vec<Option<Box<[Id]>>>,
    /// How many more steps the interpreter may take.
    pub fuel: AtomicU64,
}

impl Clone for Store {
    fn clone(&self) -> Store {
        Store {
            plan: self.plan.clone(),
            n: self.n,
            locations: self.locations.clone(),
            values: self.values.clone(),
            same: self.same.clone(),
            parts: self.parts.clone(),
            fuel: AtomicU64::new(FUEL),
        }
    }
}

impl Store {
    pub fn new(plan: &Arc<Plan>, n: usize) -> Store {
        let count = plan.nodes.all.len();
        Store {
            plan: plan.clone(),
            n,
            locations: vec![None; n],
            values: vec![Value::Nothing; count],
            same: (0..count as Id).collect(),
            parts: vec![None; count],
            fuel: AtomicU64::new(FUEL),
        }
    }

    /// Takes over what types say of values: which are the same, and which are none.
    pub fn adopt(&mut self, typed: &Typed) {
        self.same.clone_from(&typed.same);
        for (value, fault) in self.values.iter_mut().zip(&typed.faults) {
            if let Some(fault) = fault {
                *value = Value::Fault(fault.clone());
            }
        }
    }

    /// Makes a value of what stands in an operation's slot.
    pub fn take(&mut self, typed: &Typed, rows: &Rows, id: Id) {
        let root = typed.root(id);
        self.values[root as usize] = match typed.form(root) {
            Form::Any => return,
            Form::Nothing => Value::Nothing,
            Form::Universe => Value::Universe,
            Form::Set => Value::Set(rows.to_set(typed.slot(root))),
            Form::Relation => Value::Relation(rows.to_relation(typed.slot(root))),
        };
    }

    /// Lets the interpreter take as many steps as it may for one graph.
    pub fn refuel(&mut self) {
        *self.fuel.get_mut() = FUEL;
    }

    /// Where the fault in the value of `root`, which stands at `at`, comes from.
    pub fn origin(&self, root: Id, at: Place, fault: &Fault) -> Place {
        let nodes = &self.plan.nodes;
        let mut place = at;
        let mut id = root;
        loop {
            let mut origin = None;
            nodes.operands(nodes.op(self.same[id as usize]), &mut |operand| {
                if origin.is_none()
                    && matches!(self.value(operand), Value::Fault(found) if found == fault)
                {
                    origin = Some(operand);
                }
            });
            if matches!(self.value(id), Value::Fault(_)) {
                place = nodes.all[id as usize].at;
            }
            match origin {
                Some(operand) if operand < id => id = operand,
                _ => return place,
            }
        }
    }

    /// The value of an operation as it is now.
    pub fn value(&self, id: Id) -> &Value {
        &self.values[self.same[id as usize] as usize]
    }

    fn relation(&self, id: Id) -> Option<&Relation> {
        match self.value(id) {
            Value::Relation(relation) => Some(relation),
            _ => None,
        }
    }

    fn set(&self, id: Id) -> Option<&Set> {
        match self.value(id) {
            Value::Set(set) => Some(set),
            _ => None,
        }
    }

    /// Computes the value of an operation from those of its operands.
    pub fn compute(&mut self, id: Id) {
        let plan = self.plan.clone();
        self.compute_in(&plan, id);
    }

    /// [`Store::compute`], of the store's own plan.
    pub fn compute_in(&mut self, plan: &Plan, id: Id) {
        let op = plan.nodes.op(id);
        if let Some(set) = self.set_of(op) {
            self.values[id as usize] = Value::Set(set);
            return;
        }
        let old = std::mem::take(&mut self.values[id as usize]);
        let mut buffer = match old {
            Value::Relation(relation) => relation,
            _ => Relation::default(),
        };
        let value = if self.compute_relation(id, op, &mut buffer) {
            Value::Relation(buffer)
        } else {
            self.compute_any(plan, op).unwrap_or_else(Value::Fault)
        };
        self.values[id as usize] = value;
    }

    /// The common case, of relations and sets: writes the result over `out`. False when
    /// the operands are not of those types.
    fn compute_relation(&self, id: Id, op: &Op, out: &mut Relation) -> bool {
        self.relation_of(id, op, out).is_some()
    }

    fn relation_of(&self, id: Id, op: &Op, out: &mut Relation) -> Option<()> {
        match op {
            Op::Union(items) => {
                let items = self.parts[id as usize].as_deref().unwrap_or(items);
                let (first, rest) = items.split_first()?;
                out.copy_from(self.relation(*first)?);
                for item in rest {
                    out.union_with(self.relation(*item)?);
                }
            }
            Op::Binary(Binary::Intersection, a, b) => {
                self.relation(*a)?
                    .intersection_into(self.relation(*b)?, out);
            }
            Op::Binary(Binary::Difference, a, b) => {
                self.relation(*a)?.difference_into(self.relation(*b)?, out);
            }
            Op::Binary(Binary::Product, a, b) => {
                Relation::product_into(self.set(*a)?, self.set(*b)?, out);
            }
            Op::Sequence(a, b) => self.relation(*a)?.sequence_into(self.relation(*b)?, out),
            Op::Restrict(from, inner, to) => {
                let side = |set: &Option<Id>| match set {
                    None => Some(None),
                    Some(id) => self.set(*id).map(Some),
                };
                self.relation(*inner)?
                    .restrict_into(side(from)?, side(to)?, out);
            }
            Op::Unary(Unary::Inverse, a) => self.relation(*a)?.inverse_into(out),
            Op::Unary(Unary::Plus, a) => {
                out.copy_from(self.relation(*a)?);
                out.close();
            }
            Op::Unary(Unary::Star, a) => {
                out.copy_from(self.relation(*a)?);
                out.close();
                out.add_identity();
            }
            Op::Unary(Unary::Optional, a) => {
                out.copy_from(self.relation(*a)?);
                out.add_identity();
            }
            Op::Item(fix, index, _) => {
                let Op::Fix(group) = *self.plan.nodes.op(*fix) else {
                    return None;
                };
                if matches!(self.value(*fix), Value::Fault(_)) {
                    return None;
                }
                let variable = self.plan.nodes.groups[group as usize].variables[*index as usize];
                out.copy_from(self.relation(variable)?);
            }
            _ => return None,
        }
        Some(())
    }

    /// The common operations on sets of events; none when the operands are not such sets.
    fn set_of(&self, op: &Op) -> Option<Set> {
        Some(match op {
            Op::Union(items) => {
                let (first, rest) = items.split_first()?;
                let mut union = self.set(*first)?.clone();
                for item in rest {
                    union.union_with(self.set(*item)?);
                }
                union
            }
            Op::Binary(Binary::Intersection, a, b) => self.set(*a)?.intersection(self.set(*b)?),
            Op::Binary(Binary::Difference, a, b) => self.set(*a)?.difference(self.set(*b)?),
            Op::Unary(Unary::Complement, a) => self.set(*a)?.complement(),
            _ => return None,
        })
    }

    fn checked(&self, id: Id) -> Result<&Value, Fault> {
        match self.value(id) {
            Value::Fault(fault) => Err(fault.clone()),
            value => Ok(value),
        }
    }

    fn several(&self, items: &[Id]) -> Result<Vec<Value>, Fault> {
        items
            .iter()
            .map(|item| self.checked(*item).cloned())
            .collect()
    }

    fn interp(&self) -> Interp<'_> {
        Interp {
            ground: self.ground(),
            locations: &self.locations,
            variants: &self.plan.variants,
            fuel: &self.fuel,
            depth: AtomicU32::new(0),
        }
    }

    fn ground(&self) -> Ground<'_> {
        Ground {
            n: self.n,
            enums: &self.plan.enums,
        }
    }

    pub fn compute_any(&mut self, plan: &Plan, op: &Op) -> Outcome {
        let n = self.n;
        Ok(match op {
            Op::Nothing => Value::Nothing,
            Op::Universe => Value::Universe,
            Op::EmptyRelation => Value::Relation(Relation::new(n)),
            Op::Identity => Value::Relation(Relation::identity(&Set::full(n))),
            Op::Prim(prim) => Value::Prim(*prim),
            Op::Tag(tags, name) => Value::Tag(*tags, *name),
            Op::Enum(name) => Value::values(self.plan.enums.get(name).cloned().unwrap_or_default()),
            Op::Union(items) => {
                let items: Result<Vec<&Value>, _> =
                    items.iter().map(|item| self.checked(*item)).collect();
                ops::union(&items?)?
            }
            Op::Unary(op, a) => ops::unary(*op, self.checked(*a)?, &self.ground())?,
            Op::Binary(op, a, b) => {
                ops::binary(*op, self.checked(*a)?, self.checked(*b)?, &self.ground())?
            }
            Op::Sequence(a, b) => ops::sequence(self.checked(*a)?, self.checked(*b)?, n)?,
            Op::Restrict(from, inner, to) => {
                let mut value = self.checked(*inner)?.clone();
                if let Some(from) = from {
                    let from = ops::unary(Unary::Identity, self.checked(*from)?, &self.ground())?;
                    value = ops::sequence(&from, &value, n)?;
                }
                if let Some(to) = to {
                    let to = ops::unary(Unary::Identity, self.checked(*to)?, &self.ground())?;
                    value = ops::sequence(&value, &to, n)?;
                }
                value
            }
            Op::Explicit(items) => ops::explicit(self.several(items)?, n)?,
            Op::Tuple(items) => {
                Value::Tuple(items.iter().map(|item| self.value(*item).clone()).collect())
            }
            Op::Item(of, index, count) => self.item(*of, *index as usize, *count as usize)?,
            Op::Apply(function, argument) => {
                let function = self.checked(*function)?;
                self.interp()
                    .apply(function, self.checked(*argument)?.clone())?
            }
            Op::Call(prim, argument) => {
                prims::apply(*prim, self.checked(*argument)?, &self.locations)?
            }
            Op::Orders(set, base) => {
                let set = ops::as_set(self.checked(*set)?, n)?;
                let base = ops::as_relation(self.checked(*base)?, n)?;
                prims::orders(&set, &base, &self.locations)?
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
                let code = &self.plan.nodes.codes[*code as usize];
                self.interp().eval(&code.exp, &self.scope(&code.captured))?
            }
            Op::Closure(code) => {
                let code = &self.plan.nodes.codes[*code as usize];
                let Kind::Fun(function) = &code.exp.kind else {
                    return said("this is no function");
                };
                Value::Closure(Arc::new(Closure {
                    function: function.clone(),
                    scope: self.scope(&code.captured),
                    group: code.group.clone(),
                }))
            }
            Op::Fault(fault) => return Err(self.plan.nodes.faults[*fault as usize].clone()),
            Op::Given(name) => return Err(Fault::Unbound(*name)),
            Op::ReadsFrom | Op::Finals | Op::Choice(_) | Op::Variable(..) => {
                return said("this is not known yet")
            }
        })
    }

    /// Whether a condition on two values holds.
    pub fn test(&self, test: Test, a: Id, b: Id) -> Result<bool, Fault> {
        let (a, b) = (self.checked(a)?, self.checked(b)?);
        match test {
            Test::Equal => Ok(compare(a, b).is_eq()),
            Test::Subset => ops::is_subset(a, b, self.n),
            Test::In => ops::is_element(a, b, self.n),
        }
    }

    fn item(&self, of: Id, index: usize, count: usize) -> Outcome {
        if let Op::Fix(group) = *self.plan.nodes.op(of) {
            self.checked(of)?;
            let variable = self.plan.nodes.groups[group as usize].variables[index];
            return Ok(self.values[variable as usize].clone());
        }
        match self.checked(of)? {
            Value::Tuple(items) if items.len() == count => match &items[index] {
                Value::Fault(fault) => Err(fault.clone()),
                item => Ok(item.clone()),
            },
            Value::Pair(from, to) if count == 2 => Ok(Value::Event([*from, *to][index])),
            Value::Tuple(_) => said("the number of arguments is not that of the parameters"),
            other => type_fault("a tuple", other),
        }
    }

    fn scope(&self, captured: &[(Sym, Id)]) -> Scope {
        let start = Scope::default();
        captured.iter().fold(start, |scope, (name, id)| {
            scope.with(Some(*name), self.value(*id).clone())
        })
    }

    /// Computes the names of a `let rec`, from nothing until they grow no more, each from
    /// the latest values of the others.
    fn fixpoint(&mut self, plan: &Plan, group: usize) -> Result<(), Fault> {
        let group = &plan.nodes.groups[group];
        for variable in &group.variables {
            self.values[*variable as usize] = Value::Nothing;
        }
        for _ in 0..MAX_ROUNDS {
            let mut over = true;
            for (index, variable) in group.variables.iter().enumerate() {
                for inner in &group.inner[index] {
                    self.compute_in(plan, *inner);
                }
                let new = self.checked(group.bodies[index])?;
                let old = &self.values[*variable as usize];
                over &= interp::is_stable(old, new, self.n)?;
                let new = new.clone();
                self.values[*variable as usize] = new;
            }
            if over {
                return Ok(());
            }
        }
        Err(Fault::Limit("let rec does not come to an end"))
    }
}
