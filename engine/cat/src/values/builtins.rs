//! The built-in functions on values.
use super::operators::{as_relation, as_set, message, type_fault, EvalResult};
use super::value::{self, Value};
use crate::plan::builtin::{is_known_on_empty, returns_set, Builtin};
use crate::plan::fault::Fault;
use relation::{Relation, Set};
use std::collections::BTreeMap;

/// How many orders `linearisations` may return.
const MAX_ORDERS: usize = 200_000;

/// Applies a function to its argument; `locations` has the location of each event.
pub fn apply(builtin: Builtin, argument: &Value, locations: &[Option<u32>]) -> EvalResult {
    let n = locations.len();
    match builtin {
        Builtin::Domain | Builtin::Range => match argument {
            Value::Nothing | Value::Universe => Ok(argument.clone()),
            Value::Relation(relation) if builtin == Builtin::Domain => {
                Ok(Value::Set(relation.domain()))
            }
            Value::Relation(relation) => Ok(Value::Set(relation.range())),
            _ => type_fault("a relation", argument),
        },
        Builtin::ClassesLoc => {
            let set = as_set(argument, n)?;
            let classes = classes_by_location(&set, locations);
            sorted(classes.into_iter().map(Value::Set).collect())
        }
        Builtin::Classes => {
            let relation = as_relation(argument, n)?;
            let mut seen = Set::new(n);
            let mut classes = Vec::new();
            for event in relation.domain().iter() {
                if !seen.contains(event) {
                    let mut class = relation.image(event);
                    class.insert(event);
                    seen = seen.union(&class);
                    classes.push(Value::Set(class));
                }
            }
            sorted(classes)
        }
        Builtin::Linearisations => {
            let Value::Tuple(items) = argument else {
                return type_fault("a set and a relation", argument);
            };
            let [set, base] = &items[..] else {
                return type_fault("a set and a relation", argument);
            };
            linearisations(&as_set(set, n)?, &as_relation(base, n)?)
        }
        Builtin::Fail => message("fail is called"),
        Builtin::AsTransitive => Ok(Value::Relation(as_relation(argument, n)?.closure())),
        Builtin::TagEvents | Builtin::TagScope => message("the tag depends on the graph"),
        Builtin::Unsupported(name) => match argument {
            Value::Tuple(items)
                if returns_set(name) && items.first().is_some_and(Value::is_empty_value) =>
            {
                Ok(Value::Set(Set::new(n)))
            }
            _ if !returns_set(name) && is_known_on_empty(name) && argument.is_empty_value() => {
                Ok(argument.clone())
            }
            _ => message(&format!("the function {name} is not supported")),
        },
    }
}

fn sorted(mut items: Vec<Value>) -> EvalResult {
    items.sort_by(value::compare);
    items.dedup_by(|a, b| value::compare(a, b).is_eq());
    Ok(Value::values(items))
}

/// The partition of a set by location, without events that have none.
pub fn classes_by_location(set: &Set, locations: &[Option<u32>]) -> Vec<Set> {
    let mut classes: BTreeMap<u32, Set> = BTreeMap::new();
    for event in set.iter() {
        if let Some(location) = locations[event] {
            let class = classes
                .entry(location)
                .or_insert_with(|| Set::new(locations.len()));
            class.insert(event);
        }
    }
    classes.into_values().collect()
}

fn linearisations(set: &Set, base: &Relation) -> EvalResult {
    let mut orders = Vec::new();
    for order in base.linear_extensions(set) {
        if orders.len() >= MAX_ORDERS {
            return Err(Fault::Limit("linearisations of too many events"));
        }
        orders.push(Value::Relation(order));
    }
    sorted(orders)
}

/// All ways to order the events of each location that extend `base`: what `generate_orders` of
/// herd7's cross.cat returns.
pub fn orders(set: &Set, base: &Relation, locations: &[Option<u32>]) -> EvalResult {
    let mut all = vec![Relation::new(locations.len())];
    for class in classes_by_location(set, locations) {
        let mut longer = Vec::new();
        for order in base.linear_extensions(&class) {
            for shorter in &all {
                if longer.len() >= MAX_ORDERS {
                    return Err(Fault::Limit("orders of too many events"));
                }
                longer.push(shorter.union(&order));
            }
        }
        all = longer;
    }
    sorted(all.into_iter().map(Value::Relation).collect())
}
