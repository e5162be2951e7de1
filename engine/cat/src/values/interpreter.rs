//! The interpreter of expressions that cannot be planned: recursion over sets, functions as values,
//! `match`.
use super::builtins;
use super::operators::{self, message, type_fault, Context, EvalResult};
use super::value::{compare, Closure, Scope, Value, Values};
use crate::plan::fault::Fault;
use crate::syntax::ast::*;
use crate::syntax::names::Symbol;
use relation::Set;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::Arc;

/// How deeply calls may nest, tail calls excepted.
const MAX_DEPTH: u32 = 4_000;
/// From which depth on the interpreter runs on a stack of its own, and the size of that stack.
const DEEP: u32 = 60;
const STACK: usize = 128 << 20;

const TOO_DEEP: &str = "calls nest too deeply";

/// An interpreter on one graph.
pub struct Interpreter<'g> {
    pub context: Context<'g>,
    pub locations: &'g [Option<u32>],
    pub variants: &'g HashMap<String, bool>,
    /// How many more steps it may take.
    pub fuel: &'g AtomicU64,
    pub depth: AtomicU32,
}

/// The result of a step: the value, or what to evaluate instead.
enum Next {
    Done(Value),
    Continue(ExpRef, Scope),
}

impl Interpreter<'_> {
    fn spend(&self) -> Result<(), Fault> {
        let left = self.fuel.load(Relaxed);
        if left == 0 {
            return Err(Fault::Limit("the evaluation of the model takes too long"));
        }
        self.fuel.store(left - 1, Relaxed);
        Ok(())
    }

    /// The value of an expression. Tail calls take no stack.
    pub fn eval(&self, exp: &ExpRef, scope: &Scope) -> EvalResult {
        let depth = self.depth.load(Relaxed);
        if depth >= MAX_DEPTH {
            return Err(Fault::Limit(TOO_DEEP));
        }
        self.depth.store(depth + 1, Relaxed);
        let result = if depth == DEEP {
            self.run_apart(exp.clone(), scope.clone())
        } else {
            self.run(exp.clone(), scope.clone())
        };
        self.depth.store(depth, Relaxed);
        result
    }

    /// [`Interpreter::run`] on a thread with a large stack.
    fn run_apart(&self, exp: ExpRef, scope: Scope) -> EvalResult {
        std::thread::scope(|threads| {
            let builder = std::thread::Builder::new().stack_size(STACK);
            let handle = builder.spawn_scoped(threads, || self.run(exp, scope));
            let joined = handle.ok().and_then(|handle| handle.join().ok());
            joined.unwrap_or(Err(Fault::Limit(TOO_DEEP)))
        })
    }

    fn run(&self, mut exp: ExpRef, mut scope: Scope) -> EvalResult {
        loop {
            self.spend()?;
            match self.step(&exp, &scope)? {
                Next::Done(value) => return Ok(value),
                Next::Continue(next, inner) => {
                    exp = next;
                    scope = inner;
                }
            }
        }
    }

    fn step(&self, exp: &ExpRef, scope: &Scope) -> Result<Next, Fault> {
        match &exp.kind {
            ExpKind::Apply(function, argument) => {
                let function = self.eval(function, scope)?;
                let argument = self.eval(argument, scope)?;
                self.call(&function, argument)
            }
            ExpKind::Let(bindings, body) => {
                let mut inner = scope.clone();
                for binding in bindings {
                    let value = self.eval(&binding.value, scope);
                    inner = bind_lazily(&binding.pattern, value, inner)?;
                }
                Ok(Next::Continue(body.clone(), inner))
            }
            ExpKind::LetRec(bindings, body) => {
                let inner = self.recursion(bindings, scope)?;
                Ok(Next::Continue(body.clone(), inner))
            }
            ExpKind::MatchTag(value, clauses, otherwise) => {
                let value = self.eval(value, scope)?;
                let body = clause(&value, clauses, otherwise.as_ref())?;
                Ok(Next::Continue(body.clone(), scope.clone()))
            }
            ExpKind::MatchSet(value, empty, pattern, body) => {
                let value = self.eval(value, scope)?;
                Ok(match matched(&value, pattern, scope)? {
                    None => Next::Continue(empty.clone(), scope.clone()),
                    Some(inner) => Next::Continue(body.clone(), inner),
                })
            }
            ExpKind::Try(first, second) => match self.eval(first, scope) {
                Err(Fault::Limit(limit)) => Err(Fault::Limit(limit)),
                Err(_) => Ok(Next::Continue(second.clone(), scope.clone())),
                Ok(value) => Ok(Next::Done(value)),
            },
            ExpKind::If(condition, yes, no) => {
                let body = if self.condition(condition, scope)? {
                    yes
                } else {
                    no
                };
                Ok(Next::Continue(body.clone(), scope.clone()))
            }
            ExpKind::Unary(op, inner) => {
                let inner = self.eval(inner, scope)?;
                operators::unary(*op, &inner, &self.context).map(Next::Done)
            }
            ExpKind::Binary(op, a, b) => {
                let (a, b) = (self.eval(a, scope)?, self.eval(b, scope)?);
                operators::binary(*op, &a, &b, &self.context).map(Next::Done)
            }
            ExpKind::Explicit(items)
            | ExpKind::Tuple(items)
            | ExpKind::Union(items)
            | ExpKind::Sequence(items) => {
                let mut values = Vec::with_capacity(items.len());
                for item in items {
                    values.push(self.eval(item, scope)?);
                }
                several(&exp.kind, values, self.context.n).map(Next::Done)
            }
            ExpKind::EmptyRelation
            | ExpKind::Universe
            | ExpKind::Tag(_)
            | ExpKind::Var(_)
            | ExpKind::Fun(_) => simple(&exp.kind, scope, self.context.n).map(Next::Done),
        }
    }

    fn condition(&self, condition: &Condition, scope: &Scope) -> Result<bool, Fault> {
        let (a, b) = match condition {
            Condition::Variant(variant) => {
                return Ok(variant.holds(&|name| self.variants.get(name).copied().unwrap_or(false)));
            }
            Condition::Equal(a, b) | Condition::Subset(a, b) | Condition::In(a, b) => {
                (self.eval(a, scope)?, self.eval(b, scope)?)
            }
        };
        match condition {
            Condition::Subset(..) => operators::is_subset(&a, &b, self.context.n),
            Condition::In(..) => operators::is_element(&a, &b, self.context.n),
            _ => Ok(compare(&a, &b).is_eq()),
        }
    }

    /// Applies a function to an argument.
    pub fn apply(&self, function: &Value, argument: Value) -> EvalResult {
        match self.call(function, argument)? {
            Next::Done(value) => Ok(value),
            Next::Continue(body, scope) => self.eval(&body, &scope),
        }
    }

    fn call(&self, function: &Value, argument: Value) -> Result<Next, Fault> {
        match function {
            Value::Closure(closure) => {
                let mut scope = closure.scope.clone();
                if let Some(group) = &closure.group {
                    scope = with_group(&scope, group);
                }
                let scope = bind(&closure.function.parameter, argument, scope)?;
                Ok(Next::Continue(closure.function.body.clone(), scope))
            }
            Value::Builtin(builtin) => {
                builtins::apply(*builtin, &argument, self.locations).map(Next::Done)
            }
            other => type_fault("a function", other),
        }
    }

    /// `let rec`: functions refer to one another; values are the least fixpoint.
    fn recursion(&self, bindings: &[Binding], scope: &Scope) -> Result<Scope, Fault> {
        let mut group = Vec::new();
        let mut values = Vec::new();
        for binding in bindings {
            match (&binding.value.kind, &binding.pattern) {
                (ExpKind::Fun(function), Pattern::One(name)) => {
                    group.push((*name, function.clone()))
                }
                _ => values.push((binding, Value::Nothing)),
            }
        }
        let group = Arc::new(group);
        if values.is_empty() {
            return Ok(with_group(scope, &group));
        }
        loop {
            self.spend()?;
            let mut stable = true;
            for index in 0..values.len() {
                let inner = fix_scope(&values, scope)?;
                let inner = with_group(&inner, &group);
                let new = self.eval(&values[index].0.value, &inner)?;
                stable &= is_stable(&values[index].1, &new, self.context.n)?;
                values[index].1 = new;
            }
            if stable {
                let inner = fix_scope(&values, scope)?;
                return Ok(with_group(&inner, &group));
            }
        }
    }
}

/// The clause for a tag.
fn clause<'e>(
    value: &Value,
    clauses: &'e [(Symbol, ExpRef)],
    otherwise: Option<&'e ExpRef>,
) -> Result<&'e ExpRef, Fault> {
    let Value::Tag(_, name) = value else {
        return type_fault("a tag", value);
    };
    let clause = clauses.iter().find(|(tag, _)| tag == name);
    match clause.map(|(_, body)| body).or(otherwise) {
        Some(body) => Ok(body),
        None => message("no clause of match for this tag"),
    }
}

/// The value of an expression with several subexpressions, from their values.
fn several(kind: &ExpKind, values: Vec<Value>, n: usize) -> EvalResult {
    match kind {
        ExpKind::Explicit(_) => operators::explicit(values, n),
        ExpKind::Tuple(_) => Ok(Value::Tuple(values.into())),
        ExpKind::Union(_) => operators::union(&values.iter().collect::<Vec<_>>()),
        _ => {
            let mut values = values.into_iter();
            let first = values.next().unwrap_or_default();
            values.try_fold(first, |all, value| operators::sequence(&all, &value, n))
        }
    }
}

/// The value of an expression without subexpressions.
fn simple(kind: &ExpKind, scope: &Scope, n: usize) -> EvalResult {
    match kind {
        ExpKind::EmptyRelation => Ok(Value::Relation(relation::Relation::new(n))),
        ExpKind::Universe => Ok(Value::Universe),
        ExpKind::Tag(name) | ExpKind::Var(name) => match scope.find(*name) {
            Some(Value::Fault(fault)) => Err(fault.clone()),
            Some(value) => Ok(value.clone()),
            None => Err(Fault::Unbound(*name)),
        },
        ExpKind::Fun(function) => Ok(Value::Closure(Arc::new(Closure {
            function: function.clone(),
            scope: scope.clone(),
            group: None,
        }))),
        _ => message("this expression has subexpressions"),
    }
}

fn fix_scope(values: &[(&Binding, Value)], scope: &Scope) -> Result<Scope, Fault> {
    let mut inner = scope.clone();
    for (binding, value) in values {
        inner = match (&binding.pattern, value) {
            (Pattern::Tuple(names), Value::Nothing) => names
                .iter()
                .fold(inner, |scope, name| scope.with(*name, Value::Nothing)),
            (pattern, value) => bind(pattern, value.clone(), inner)?,
        };
    }
    Ok(inner)
}

/// Whether a fixpoint is reached: the new value is contained in the old one.
pub fn is_stable(old: &Value, new: &Value, n: usize) -> Result<bool, Fault> {
    match (old, new) {
        (_, Value::Nothing) | (Value::Universe, _) => Ok(true),
        (Value::Tuple(old), Value::Tuple(new)) if old.len() == new.len() => {
            for (old, new) in old.iter().zip(new.iter()) {
                if !is_stable(old, new, n)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Value::Nothing, Value::Tuple(new)) => {
            let mut all = new.iter().map(|new| is_stable(&Value::Nothing, new, n));
            all.try_fold(true, |stable, item| Ok(stable && item?))
        }
        (_, Value::Universe) => operators::is_subset(new, old, n),
        _ => operators::is_subset(new, old, n),
    }
}

/// The scope extended by mutually recursive functions.
pub fn with_group(scope: &Scope, group: &Functions) -> Scope {
    let mut inner = scope.clone();
    for (name, function) in group.iter() {
        let closure = Closure {
            function: function.clone(),
            scope: scope.clone(),
            group: Some(group.clone()),
        };
        inner = inner.with(*name, Value::Closure(Arc::new(closure)));
    }
    inner
}

/// Binds a value that is needed only if its names are used, as in herd7: a fault is bound to the
/// names and raised at their use.
fn bind_lazily(pattern: &Pattern, value: EvalResult, scope: Scope) -> Result<Scope, Fault> {
    let bound = match value {
        Err(Fault::Limit(limit)) => return Err(Fault::Limit(limit)),
        Err(fault) => Err(fault),
        Ok(value) => bind(pattern, value, scope.clone()),
    };
    bound.or_else(|fault| match pattern {
        Pattern::One(name) => Ok(scope.with(*name, Value::Fault(fault))),
        Pattern::Tuple(names) => Ok(names.iter().fold(scope, |scope, name| {
            scope.with(*name, Value::Fault(fault.clone()))
        })),
    })
}

/// Binds the names of a pattern.
pub fn bind(pattern: &Pattern, value: Value, scope: Scope) -> Result<Scope, Fault> {
    let names = match pattern {
        Pattern::One(name) => return Ok(scope.with(*name, value)),
        Pattern::Tuple(names) => names,
    };
    let items = match value {
        Value::Tuple(items) if items.len() == names.len() => items,
        Value::Pair(from, to) if names.len() == 2 => [Value::Event(from), Value::Event(to)].into(),
        Value::Fault(fault) => return Err(fault),
        _ => return message("wrong number of arguments"),
    };
    let named = names.iter().zip(items.iter());
    Ok(named.fold(scope, |scope, (name, value)| {
        scope.with(*name, value.clone())
    }))
}

/// Binds the names of a set pattern to the least element and the rest; none if the set is empty.
fn matched(value: &Value, pattern: &SetPattern, scope: &Scope) -> Result<Option<Scope>, Fault> {
    let (element, rest) = match value {
        Value::Nothing => return Ok(None),
        Value::Set(set) => match set.least() {
            None => return Ok(None),
            Some(event) => {
                let mut rest = set.clone();
                rest.remove(event);
                (Value::Event(event), Value::Set(rest))
            }
        },
        Value::Relation(relation) => {
            let first = relation.iter().next();
            match first {
                None => return Ok(None),
                Some((from, to)) => {
                    let mut rest = relation.clone();
                    rest.remove(from, to);
                    (Value::Pair(from, to), Value::Relation(rest))
                }
            }
        }
        Value::Values(values) => match values.items.split_first() {
            None => return Ok(None),
            Some((first, rest)) => {
                let rest = Values {
                    tags: values.tags,
                    items: rest.to_vec(),
                };
                (first.clone(), Value::Values(Arc::new(rest)))
            }
        },
        other => return type_fault("a set", other),
    };
    Ok(Some(match pattern {
        SetPattern::First(x, xs) => scope.with(*x, element).with(*xs, rest),
        SetPattern::Middle(before, x, after) => {
            let none = match value {
                Value::Set(set) => Value::Set(Set::new(set.len())),
                _ => Value::Nothing,
            };
            scope
                .with(*x, element)
                .with(*before, none)
                .with(*after, rest)
        }
    }))
}
