//! The operators on values, with herd7's typing: `{}` and `_` adapt to the other operand, and a set
//! is never combined with a relation.
use super::value::{compare, Value, Values};
use crate::plan::fault::Fault;
use crate::syntax::ast::{Binary, Claim, Unary};
use crate::syntax::names::Symbol;
use relation::{Relation, Set};
use std::collections::HashMap;
use std::sync::Arc;

pub type EvalResult = Result<Value, Fault>;

/// What operators depend on: the number of events, and the tags of enumerations.
pub struct Context<'g> {
    pub n: usize,
    pub enums: &'g HashMap<Symbol, Vec<Symbol>>,
}

/// How many elements a set of values may have.
pub const MAX_VALUES: usize = 2_000_000;

pub fn type_fault<T>(expected: &'static str, found: &Value) -> Result<T, Fault> {
    match found {
        Value::Fault(fault) => Err(fault.clone()),
        _ => Err(Fault::Type(expected, found.type_name())),
    }
}

pub fn message<T>(message: &str) -> Result<T, Fault> {
    Err(Fault::Message(message.into()))
}

/// The tags of an enumeration, in order.
pub fn all_tags(enumeration: Symbol, enums: &HashMap<Symbol, Vec<Symbol>>) -> Vec<Value> {
    let tags = enums.get(&enumeration).into_iter().flatten();
    tags.map(|tag| Value::Tag(enumeration, *tag)).collect()
}

/// A tag as a singleton set; other values unchanged.
fn lifted(value: &Value) -> Value {
    match value {
        Value::Tag(..) => Value::values(vec![value.clone()]),
        _ => value.clone(),
    }
}

/// A value as a set of events.
pub fn as_set(value: &Value, n: usize) -> Result<Set, Fault> {
    match value {
        Value::Set(set) => Ok(set.clone()),
        Value::Event(event) => Ok(Set::of(n, [*event])),
        Value::Nothing => Ok(Set::new(n)),
        Value::Universe => Ok(Set::full(n)),
        _ => type_fault("a set of events", value),
    }
}

/// A value as a relation.
pub fn as_relation(value: &Value, n: usize) -> Result<Relation, Fault> {
    match value {
        Value::Relation(relation) => Ok(relation.clone()),
        Value::Pair(from, to) => Ok(Relation::of(n, [(*from, *to)])),
        Value::Nothing => Ok(Relation::new(n)),
        Value::Universe => Ok(Relation::full(n)),
        _ => type_fault("a relation", value),
    }
}

pub fn union(values: &[&Value]) -> EvalResult {
    let mut result = Value::Nothing;
    let mut universe = false;
    for value in values {
        let value = lifted(value);
        result = match (result, value) {
            (result, Value::Nothing) => result,
            (result, Value::Universe) => {
                universe = true;
                result
            }
            (Value::Nothing, value @ (Value::Set(_) | Value::Relation(_) | Value::Values(_))) => {
                value
            }
            (Value::Set(a), Value::Set(b)) => Value::Set(a.union(&b)),
            (Value::Relation(mut a), Value::Relation(b)) => {
                a.union_with(&b);
                Value::Relation(a)
            }
            (Value::Values(a), Value::Values(b)) => merge(&a, &b)?,
            (Value::Nothing, value) => return type_fault("a set or relation", &value),
            (Value::Set(_), value) => return type_fault("a set of events", &value),
            (Value::Relation(_), value) => return type_fault("a relation", &value),
            (_, value) => return type_fault("a set", &value),
        };
    }
    Ok(if universe { Value::Universe } else { result })
}

fn merge(a: &Values, b: &Values) -> EvalResult {
    let mut items = a.items.clone();
    items.extend(b.items.iter().cloned());
    let mut value = collect(items)?;
    if let Value::Values(values) = &mut value {
        if values.items.is_empty() {
            let tags = a.tags.or(b.tags);
            value = Value::Values(Arc::new(Values {
                tags,
                items: Vec::new(),
            }));
        }
    }
    Ok(value)
}

/// The set of these values.
fn collect(mut items: Vec<Value>) -> EvalResult {
    if items.len() > MAX_VALUES {
        return Err(Fault::Limit("a set of too many values"));
    }
    items.sort_by(compare);
    items.dedup_by(|a, b| compare(a, b).is_eq());
    Ok(Value::values(items))
}

fn difference(a: &Value, b: &Value, context: &Context) -> EvalResult {
    Ok(match (&lifted(a), &lifted(b)) {
        (Value::Set(a), Value::Set(b)) => Value::Set(a.difference(b)),
        (Value::Relation(a), Value::Relation(b)) => Value::Relation(a.difference(b)),
        (Value::Values(a), Value::Values(b)) => without(a, &b.items),
        (Value::Universe, Value::Nothing) => Value::Universe,
        (Value::Universe, b @ (Value::Set(_) | Value::Relation(_) | Value::Values(_))) => {
            return unary(Unary::Complement, b, context)
        }
        (
            Value::Set(_)
            | Value::Relation(_)
            | Value::Values(_)
            | Value::Nothing
            | Value::Universe,
            Value::Universe,
        ) => Value::Nothing,
        (
            Value::Nothing,
            Value::Set(_) | Value::Relation(_) | Value::Values(_) | Value::Nothing,
        ) => Value::Nothing,
        (a @ (Value::Set(_) | Value::Relation(_) | Value::Values(_)), Value::Nothing) => a.clone(),
        (Value::Set(_), b) => return type_fault("a set of events", b),
        (Value::Relation(_), b) => return type_fault("a relation", b),
        (Value::Values(_), b) => return type_fault("a set", b),
        (Value::Universe | Value::Nothing, b) => return type_fault("a set or relation", b),
        (a, _) => return type_fault("a set or relation", a),
    })
}

fn without(a: &Values, b: &[Value]) -> Value {
    let is_left = |item: &&Value| b.binary_search_by(|other| compare(other, item)).is_err();
    let items = a.items.iter().filter(is_left).cloned().collect();
    Value::Values(Arc::new(Values {
        tags: a.tags,
        items,
    }))
}

fn intersection(a: &Value, b: &Value) -> EvalResult {
    Ok(match (&lifted(a), &lifted(b)) {
        (Value::Set(a), Value::Set(b)) => Value::Set(a.intersection(b)),
        (Value::Relation(a), Value::Relation(b)) => Value::Relation(a.intersection(b)),
        (Value::Values(a), Value::Values(b)) => {
            let outside = without(a, &b.items);
            match outside {
                Value::Values(outside) => without(a, &outside.items),
                other => other,
            }
        }
        (Value::Universe, other) | (other, Value::Universe) => match other {
            Value::Set(_)
            | Value::Relation(_)
            | Value::Values(_)
            | Value::Nothing
            | Value::Universe => other.clone(),
            other => return type_fault("a set or relation", other),
        },
        (Value::Nothing, other) | (other, Value::Nothing) => match other {
            Value::Set(_) | Value::Relation(_) | Value::Values(_) | Value::Nothing => {
                Value::Nothing
            }
            other => return type_fault("a set or relation", other),
        },
        (Value::Set(_), b) => return type_fault("a set of events", b),
        (Value::Relation(_), b) => return type_fault("a relation", b),
        (Value::Values(_), b) => return type_fault("a set", b),
        (a, _) => return type_fault("a set or relation", a),
    })
}

pub fn binary(op: Binary, a: &Value, b: &Value, context: &Context) -> EvalResult {
    match op {
        Binary::Intersection => intersection(a, b),
        Binary::Difference => difference(a, b, context),
        Binary::Product => {
            let from = as_set(a, context.n)?;
            Ok(Value::Relation(Relation::product(
                &from,
                &as_set(b, context.n)?,
            )))
        }
        Binary::Add => add(a, b, context.n),
    }
}

/// `a ++ b`: the set `b` with the element `a`.
fn add(a: &Value, b: &Value, n: usize) -> EvalResult {
    Ok(match (a, b) {
        (Value::Universe, _) => return message("_ cannot be an element of a set"),
        (Value::Fault(_), _) => return type_fault("an element", a),
        (_, Value::Universe) => Value::Universe,
        (Value::Event(event), Value::Nothing) => Value::Set(Set::of(n, [*event])),
        (Value::Pair(from, to), Value::Nothing) => Value::Relation(Relation::of(n, [(*from, *to)])),
        (_, Value::Nothing) => Value::values(vec![a.clone()]),
        (_, Value::Values(set)) => {
            let index = set.items.binary_search_by(|item| compare(item, a));
            let Err(index) = index else {
                return Ok(b.clone());
            };
            if set.items.len() >= MAX_VALUES {
                return Err(Fault::Limit("a set of too many values"));
            }
            let mut items = Vec::with_capacity(set.items.len() + 1);
            items.extend_from_slice(&set.items[..index]);
            items.push(a.clone());
            items.extend_from_slice(&set.items[index..]);
            Value::values(items)
        }
        (_, Value::Relation(relation)) => {
            let (from, to) = as_pair(a)?;
            let mut relation = relation.clone();
            relation.insert(from, to);
            Value::Relation(relation)
        }
        (Value::Event(event), Value::Set(set)) => {
            let mut set = set.clone();
            set.insert(*event);
            Value::Set(set)
        }
        (_, Value::Set(_)) => return type_fault("an event", a),
        (_, other) => return type_fault("a set", other),
    })
}

fn as_pair(value: &Value) -> Result<(usize, usize), Fault> {
    match value {
        Value::Pair(from, to) => Ok((*from, *to)),
        Value::Tuple(items) => match items[..] {
            [Value::Event(from), Value::Event(to)] => Ok((from, to)),
            _ => type_fault("a pair of events", value),
        },
        _ => type_fault("a pair", value),
    }
}

/// `{a, b, …}`
pub fn explicit(items: Vec<Value>, n: usize) -> EvalResult {
    if items.iter().any(|item| matches!(item, Value::Universe)) {
        return message("_ cannot be an element of a set");
    }
    if let Some(fault @ Value::Fault(_)) = items.iter().find(|item| matches!(item, Value::Fault(_)))
    {
        return type_fault("", fault);
    }
    if items.is_empty() {
        return Ok(Value::Nothing);
    }
    let mut kinds = items
        .iter()
        .filter(|item| !matches!(item, Value::Nothing))
        .map(Value::type_name);
    if let Some(first) = kinds.next() {
        if let Some(other) = kinds.find(|kind| *kind != first) {
            return Err(Fault::Type(first, other));
        }
        if first == "an event" || first == "a pair" {
            let start = Ok(Value::Nothing);
            return items.iter().fold(start, |set, item| add(item, &set?, n));
        }
    }
    collect(items)
}

pub fn unary(op: Unary, value: &Value, context: &Context) -> EvalResult {
    let n = context.n;
    Ok(match (op, value) {
        (Unary::Complement, Value::Nothing) => Value::Universe,
        (Unary::Complement, Value::Universe) => Value::Nothing,
        (Unary::Complement, Value::Set(set)) => Value::Set(set.complement()),
        (Unary::Complement, Value::Relation(relation)) => Value::Relation(relation.complement()),
        (Unary::Complement, Value::Values(values)) => match values.tags {
            Some(tags) => {
                let all = Values {
                    tags: Some(tags),
                    items: all_tags(tags, context.enums),
                };
                without(&all, &values.items)
            }
            None => {
                return message(
                    "only a set of events, a relation or a set of tags has a complement",
                )
            }
        },
        (Unary::Complement, _) => return type_fault("a set or relation", value),
        (Unary::Identity, Value::Nothing) => Value::Nothing,
        (Unary::Identity, _) => Value::Relation(Relation::identity(&as_set(value, n)?)),
        (_, Value::Universe) => Value::Universe,
        (Unary::Star | Unary::Optional, Value::Nothing) => {
            Value::Relation(Relation::identity(&Set::full(n)))
        }
        (_, Value::Nothing) => Value::Nothing,
        (Unary::Inverse, Value::Pair(from, to)) => Value::Pair(*to, *from),
        (Unary::Plus, Value::Relation(relation)) => Value::Relation(relation.closure()),
        (Unary::Star, Value::Relation(relation)) => Value::Relation(relation.reflexive_closure()),
        (Unary::Inverse, Value::Relation(relation)) => Value::Relation(relation.inverse()),
        (Unary::Optional, Value::Relation(relation)) => {
            let mut relation = relation.clone();
            relation.add_identity();
            Value::Relation(relation)
        }
        _ => return type_fault("a relation", value),
    })
}

/// `a; b`
pub fn sequence(a: &Value, b: &Value, n: usize) -> EvalResult {
    match (a, b) {
        (Value::Nothing, other) | (other, Value::Nothing) => {
            as_relation(other, n)?;
            Ok(Value::Nothing)
        }
        _ => Ok(Value::Relation(
            as_relation(a, n)?.sequence(&as_relation(b, n)?),
        )),
    }
}

/// Whether a claim holds for a value.
pub fn holds(claim: Claim, value: &Value, n: usize) -> Result<bool, Fault> {
    match (claim, value) {
        (_, Value::Relation(relation)) => Ok(match claim {
            Claim::Acyclic => relation.is_acyclic(),
            Claim::Irreflexive => relation.is_irreflexive(),
            Claim::Empty => relation.is_empty(),
        }),
        (Claim::Empty, Value::Set(set)) => Ok(set.is_empty()),
        (Claim::Empty, Value::Event(_) | Value::Pair(..)) => Ok(false),
        (_, Value::Nothing) => Ok(true),
        (_, Value::Universe) => Ok(n == 0),
        (Claim::Acyclic | Claim::Irreflexive, Value::Pair(from, to)) => Ok(from != to),
        (Claim::Acyclic | Claim::Irreflexive, _) => type_fault("a relation", value),
        (Claim::Empty, _) => type_fault("a set of events or a relation", value),
    }
}

/// Whether a is a subset of b.
pub fn is_subset(a: &Value, b: &Value, n: usize) -> Result<bool, Fault> {
    match (a, b) {
        (Value::Relation(_), _) | (_, Value::Relation(_)) => {
            Ok(as_relation(a, n)?.is_subset(&as_relation(b, n)?))
        }
        (Value::Set(_), _) | (_, Value::Set(_)) => Ok(as_set(a, n)?.is_subset(&as_set(b, n)?)),
        (Value::Values(a), Value::Values(b)) => Ok(match without(a, &b.items) {
            Value::Values(left) => left.items.is_empty(),
            _ => true,
        }),
        (Value::Nothing, _) => Ok(true),
        (Value::Values(a), Value::Nothing) => Ok(a.items.is_empty()),
        _ => type_fault("a set or relation", a),
    }
}

/// Whether a is an element of b.
pub fn is_element(a: &Value, b: &Value, n: usize) -> Result<bool, Fault> {
    match a {
        Value::Event(event) => Ok(as_set(b, n)?.contains(*event)),
        Value::Pair(from, to) => Ok(as_relation(b, n)?.contains(*from, *to)),
        Value::Tuple(items) if matches!(items[..], [Value::Event(_), Value::Event(_)]) => {
            let (from, to) = as_pair(a)?;
            Ok(as_relation(b, n)?.contains(from, to))
        }
        _ => match b {
            Value::Values(set) => Ok(set.items.binary_search_by(|item| compare(item, a)).is_ok()),
            Value::Nothing => Ok(false),
            _ => type_fault("a set", b),
        },
    }
}
