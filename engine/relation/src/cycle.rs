//! A shortest cycle of several relations, and letters for the events that it is shown with.
use super::Relation;
use std::collections::{BTreeMap, VecDeque};

/// A pair of events, and the name of the relation by which the first comes before the second.
pub type Edge = (usize, usize, &'static str);

/// A shortest cycle, by the first relation that has each pair.
pub fn cycle(relations: &[(&'static str, &Relation)], n: usize) -> Vec<Edge> {
    let mut all = Relation::new(n);
    relations.iter().for_each(|(_, r)| all.union_with(r));
    let shortest = (0..n)
        .filter_map(|start| round(&all, start))
        .min_by_key(Vec::len);
    let Some(path) = shortest else {
        return Vec::new();
    };
    let kind = |a: usize, b: usize| {
        let found = relations.iter().find(|(_, r)| r.contains(a, b));
        found.map_or("po", |(kind, _)| *kind)
    };
    let after = path.iter().cycle().skip(1);
    path.iter()
        .zip(after)
        .map(|(a, b)| (*a, *b, kind(*a, *b)))
        .collect()
}

/// The shortest way from an event back to itself.
fn round(all: &Relation, start: usize) -> Option<Vec<usize>> {
    let mut from: BTreeMap<usize, usize> = BTreeMap::new();
    let mut waiting = VecDeque::from([start]);
    while let Some(at) = waiting.pop_front() {
        for next in all.successors(at) {
            if next == start {
                let mut path = vec![at];
                while let Some(before) = from.get(&path[path.len() - 1]) {
                    path.push(*before);
                }
                path.reverse();
                return Some(path);
            }
            from.entry(next).or_insert_with(|| {
                waiting.push_back(next);
                at
            });
        }
    }
    None
}

/// `a` … `z`, `aa`, …
pub fn label(mut number: usize) -> String {
    let mut letters = Vec::new();
    loop {
        letters.push(char::from(b'a' + (number % 26) as u8));
        if number < 26 {
            return letters.into_iter().rev().collect();
        }
        number = number / 26 - 1;
    }
}
