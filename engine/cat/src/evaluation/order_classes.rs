//! The sets that a choice of orders is a product over: one per location, or one in all.
use crate::values::builtins::classes_by_location;
use relation::{Relation, Set};

/// The sets that are ordered independently of one another.
#[derive(Clone, Debug)]
pub struct Classes(pub Vec<Set>);

impl Classes {
    pub fn new(by_location: bool, set: &Set, locations: &[Option<u32>]) -> Classes {
        Classes(match by_location {
            true => classes_by_location(set, locations),
            false => vec![set.clone()],
        })
    }

    /// The unique order that extends `base`, `Some(None)` if there is no order, `None` if there are
    /// several.
    pub fn only_order(&self, base: &Relation) -> Option<Option<Relation>> {
        let mut order = Relation::new(base.len());
        for class in &self.0 {
            let mut several = false;
            let mut left = class.clone();
            while !left.is_empty() {
                let is_free = |item: &usize| !left.iter().any(|other| base.contains(other, *item));
                let mut free = left.iter().filter(is_free);
                let Some(one) = free.next() else {
                    return Some(None);
                };
                several |= free.next().is_some();
                drop(free);
                left.remove(one);
                order.insert_all(one, &left);
            }
            if several {
                return None;
            }
        }
        Some(Some(order))
    }
}
