//! The functions that every cat file finds.
use super::ops::{as_relation, as_set, said, type_fault, Outcome};
use super::value::{Fault, Value};
use relation::{Relation, Set};
use std::collections::BTreeMap;

/// A function that is not written in cat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Prim {
    Domain,
    Range,
    /// `classes-loc`: a set of events, parted by location
    ClassesLoc,
    /// `classes`: the classes of an equivalence relation
    Classes,
    /// `linearisations (s, r)`: the total orders of `s` that extend `r`
    Linearisations,
    Fail,
    /// `as_transitive`: a hint of herd7's; the transitive closure
    AsTransitive,
    /// `tag2events 'a`: the events that bear the tag
    TagEvents,
    /// `tag2scope 'a`: the scope relation of the tag
    TagScope,
    /// Those that need more of events than the engine gives: values, labels, page tables.
    Missing(&'static str),
}

impl Prim {
    pub fn named(name: &str) -> Option<Prim> {
        Some(match name {
            "domain" => Prim::Domain,
            "range" => Prim::Range,
            "classes-loc" => Prim::ClassesLoc,
            "classes" => Prim::Classes,
            "linearisations" => Prim::Linearisations,
            "fail" => Prim::Fail,
            "as_transitive" => Prim::AsTransitive,
            "tag2events" => Prim::TagEvents,
            "tag2scope" | "tag2level" => Prim::TagScope,
            "at-least-one-writable" => Prim::Missing("at-least-one-writable"),
            "oa-changes" => Prim::Missing("oa-changes"),
            "same-oa" => Prim::Missing("same-oa"),
            "different-values" => Prim::Missing("different-values"),
            "fromto" => Prim::Missing("fromto"),
            "lift" => Prim::Missing("lift"),
            "delift" => Prim::Missing("delift"),
            "deliftinter" => Prim::Missing("deliftinter"),
            "bisimulation" => Prim::Missing("bisimulation"),
            "tag2fenced" => Prim::Missing("tag2fenced"),
            "loc2events" => Prim::Missing("loc2events"),
            _ => return None,
        })
    }
}

/// How many orders `linearisations` may give at once.
const MAX_ORDERS: usize = 200_000;

/// Applies a function to its argument. `locations` is each event's location.
pub fn apply(prim: Prim, argument: &Value, locations: &[Option<u32>]) -> Outcome {
    let n = locations.len();
    match prim {
        Prim::Domain | Prim::Range => match argument {
            Value::Nothing | Value::Universe => Ok(argument.clone()),
            Value::Relation(relation) if prim == Prim::Domain => Ok(Value::Set(relation.domain())),
            Value::Relation(relation) => Ok(Value::Set(relation.range())),
            _ => type_fault("a relation", argument),
        },
        Prim::ClassesLoc => {
            let set = as_set(argument, n)?;
            let classes = classes_by_location(&set, locations);
            sorted(classes.into_iter().map(Value::Set).collect())
        }
        Prim::Classes => {
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
        Prim::Linearisations => {
            let Value::Tuple(items) = argument else {
                return type_fault("a set and a relation", argument);
            };
            let [set, base] = &items[..] else {
                return type_fault("a set and a relation", argument);
            };
            linearisations(&as_set(set, n)?, &as_relation(base, n)?)
        }
        Prim::Fail => said("fail is called"),
        Prim::AsTransitive => Ok(Value::Relation(as_relation(argument, n)?.closure())),
        Prim::TagEvents | Prim::TagScope => said("the events of a tag are not known here"),
        Prim::Missing(name) => match argument {
            Value::Tuple(items)
                if gives_a_set(name) && items.first().is_some_and(Value::is_void) =>
            {
                Ok(Value::Set(Set::new(n)))
            }
            _ if !gives_a_set(name) && takes_nothing(name) && argument.is_void() => {
                Ok(argument.clone())
            }
            _ => said(&format!("the function {name} is not supported")),
        },
    }
}

/// Whether a function that is missing is known of nothing: without page tables and values no event
/// differs from another in them.
pub fn takes_nothing(name: &str) -> bool {
    gives_a_set(name) || matches!(name, "same-oa" | "different-values")
}

/// Whether such a function takes a set and what else it looks at, and gives those of the set; the
/// others take a relation and give of it.
pub fn gives_a_set(name: &str) -> bool {
    matches!(name, "oa-changes" | "at-least-one-writable")
}

fn sorted(mut items: Vec<Value>) -> Outcome {
    items.sort_by(super::value::compare);
    items.dedup_by(|a, b| super::value::compare(a, b).is_eq());
    Ok(Value::values(items))
}

/// The events of a set that have a location, parted by it.
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

fn linearisations(set: &Set, base: &Relation) -> Outcome {
    let mut orders = Vec::new();
    for order in base.linear_extensions(set) {
        if orders.len() >= MAX_ORDERS {
            return Err(Fault::Limit("linearisations of too many events"));
        }
        orders.push(Value::Relation(order));
    }
    sorted(orders)
}

/// Every way to order the events of each location, all extending `base`: what
/// `generate_orders` of herd7's cross.cat gives.
pub fn orders(set: &Set, base: &Relation, locations: &[Option<u32>]) -> Outcome {
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
