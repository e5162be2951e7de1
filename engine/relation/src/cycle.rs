//! A shortest cycle of several relations, and the letters that name its events.
use super::Relation;

/// A pair of events, and the name of a relation that contains it.
pub type Edge = (usize, usize, &'static str);

/// A shortest cycle of the union of relations; each edge has the name of the first relation that
/// contains it.
pub fn cycle(relations: &[(&'static str, &Relation)], n: usize) -> Vec<Edge> {
    let mut all = Relation::new(n);
    relations.iter().for_each(|(_, r)| all.union_with(r));
    let Some(path) = all.cycle() else {
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
