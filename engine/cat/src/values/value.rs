//! Values: what expressions evaluate to.
use crate::plan::builtin::Builtin;
use crate::plan::fault::Fault;
use crate::syntax::ast::{Function, Functions};
use crate::syntax::names::Symbol;
use relation::{Relation, Set};
use std::cmp::Ordering;
use std::sync::Arc;

/// A value.
///
/// `{}` and `_` have every type and take that of the other operand.
#[derive(Clone, Debug, Default)]
pub enum Value {
    #[default]
    Nothing,
    Universe,
    Set(Set),
    Relation(Relation),
    Event(usize),
    Pair(usize, usize),
    /// A tag: its enumeration and its name.
    Tag(Symbol, Symbol),
    Values(Arc<Values>),
    Tuple(Arc<[Value]>),
    Closure(Arc<Closure>),
    Builtin(Builtin),
    /// The reason for which there is no value; raised when the value is used.
    Fault(Fault),
}

/// A set of values, sorted, without duplicates.
#[derive(Clone, Debug, Default)]
pub struct Values {
    /// The enumeration, if the elements are tags.
    pub tags: Option<Symbol>,
    pub items: Vec<Value>,
}

/// A function and its scope.
#[derive(Debug)]
pub struct Closure {
    pub function: Arc<Function>,
    pub scope: Scope,
    /// The functions that are defined together with it, itself included.
    pub group: Option<Functions>,
}

/// The values of names; inner definitions hide outer ones.
#[derive(Clone, Debug, Default)]
pub struct Scope(Option<Arc<Entry>>);

#[derive(Debug)]
struct Entry {
    name: Symbol,
    value: Value,
    outer: Scope,
}

impl Scope {
    pub fn with(&self, name: Option<Symbol>, value: Value) -> Scope {
        match name {
            None => self.clone(),
            Some(name) => Scope(Some(Arc::new(Entry {
                name,
                value,
                outer: self.clone(),
            }))),
        }
    }

    pub fn find(&self, name: Symbol) -> Option<&Value> {
        let mut scope = self;
        while let Some(entry) = &scope.0 {
            if entry.name == name {
                return Some(&entry.value);
            }
            scope = &entry.outer;
        }
        None
    }
}

impl Drop for Scope {
    /// Iterative, because the chain may be long.
    fn drop(&mut self) {
        let mut next = self.0.take();
        while let Some(mut entry) = next.and_then(|entry| Arc::try_unwrap(entry).ok()) {
            next = entry.outer.0.take();
        }
    }
}

impl Value {
    pub fn values(items: Vec<Value>) -> Value {
        let tags = items.iter().find_map(|item| match item {
            Value::Tag(tags, _) => Some(*tags),
            _ => None,
        });
        Value::Values(Arc::new(Values { tags, items }))
    }

    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Nothing => "{}",
            Value::Universe => "_",
            Value::Set(_) => "a set of events",
            Value::Relation(_) => "a relation",
            Value::Event(_) => "an event",
            Value::Pair(..) => "a pair",
            Value::Tag(..) => "a tag",
            Value::Values(_) => "a set",
            Value::Tuple(_) => "a tuple",
            Value::Closure(_) | Value::Builtin(_) => "a function",
            Value::Fault(_) => "nothing",
        }
    }

    /// Whether the value is known to be empty.
    pub fn is_empty_value(&self) -> bool {
        match self {
            Value::Nothing => true,
            Value::Set(set) => set.is_empty(),
            Value::Relation(relation) => relation.is_empty(),
            _ => false,
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Value::Nothing => 0,
            Value::Universe => 1,
            Value::Event(_) => 2,
            Value::Pair(..) => 3,
            Value::Set(_) => 4,
            Value::Relation(_) => 5,
            Value::Tag(..) => 6,
            Value::Values(_) => 7,
            Value::Tuple(_) => 8,
            Value::Closure(_) | Value::Builtin(_) | Value::Fault(_) => 9,
        }
    }
}

/// The order of the elements of sets. `{}` equals every empty value. Values of different types,
/// which no set contains together, are unequal.
pub fn compare(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Event(a), Value::Event(b)) => a.cmp(b),
        (Value::Pair(a, b), Value::Pair(c, d)) => (a, b).cmp(&(c, d)),
        (Value::Set(a), Value::Set(b)) => a.cmp(b),
        (Value::Relation(a), Value::Relation(b)) => a.cmp(b),
        (Value::Tag(_, a), Value::Tag(_, b)) => a.cmp(b),
        (Value::Values(a), Value::Values(b)) => compare_all(&a.items, &b.items),
        (Value::Tuple(a), Value::Tuple(b)) => compare_all(a, b),
        (Value::Closure(a), Value::Closure(b)) => Arc::as_ptr(a).cmp(&Arc::as_ptr(b)),
        (Value::Builtin(a), Value::Builtin(b)) => a.cmp(b),
        (Value::Nothing, Value::Values(items)) if items.items.is_empty() => Ordering::Equal,
        (Value::Values(items), Value::Nothing) if items.items.is_empty() => Ordering::Equal,
        (Value::Nothing, other) | (other, Value::Nothing) if other.is_empty_value() => {
            Ordering::Equal
        }
        _ => a.rank().cmp(&b.rank()),
    }
}

fn compare_all(a: &[Value], b: &[Value]) -> Ordering {
    for (a, b) in a.iter().zip(b) {
        match compare(a, b) {
            Ordering::Equal => {}
            other => return other,
        }
    }
    a.len().cmp(&b.len())
}
