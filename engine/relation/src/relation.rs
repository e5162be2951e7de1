//! A relation over events.
use super::set::{mask, words, Bits};
use super::{rows, Set};
use std::fmt;

/// A relation over the events `0..len`: for each event, the bits of those it leads to.
///
/// `stride` words make a row; it is 1 up to 64 events, where each operation is a plain
/// loop over words.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Relation {
    pub(super) len: usize,
    pub(super) stride: usize,
    pub(super) rows: Vec<u64>,
}

impl Relation {
    /// The empty relation over `len` events.
    pub fn new(len: usize) -> Self {
        let stride = words(len).max(1);
        Relation {
            len,
            stride,
            rows: vec![0; len * stride],
        }
    }

    /// Every pair of `len` events.
    pub fn full(len: usize) -> Self {
        Relation::product(&Set::full(len), &Set::full(len))
    }

    /// The pairs of each event of the set with itself.
    pub fn identity(set: &Set) -> Self {
        let mut relation = Relation::new(set.len());
        for item in set.iter() {
            relation.insert(item, item);
        }
        relation
    }

    /// Every pair of an event of `from` and one of `to`.
    pub fn product(from: &Set, to: &Set) -> Self {
        let mut relation = Relation::new(from.len());
        for item in from.iter() {
            for index in 0..words(to.len()) {
                relation.rows[item * relation.stride + index] = to.word(index);
            }
        }
        relation
    }

    /// The relation of these pairs of events, each below `len`.
    pub fn of(len: usize, items: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut relation = Relation::new(len);
        for (from, to) in items {
            relation.insert(from, to);
        }
        relation
    }

    /// The relation of these rows; see [`super::rows`].
    pub fn from_rows(len: usize, bits: &[u64]) -> Self {
        Relation {
            len,
            stride: rows::stride(len),
            rows: bits.to_vec(),
        }
    }

    /// The relation's rows; see [`super::rows`].
    pub fn rows(&self) -> &[u64] {
        &self.rows
    }

    /// Overwrites this with the empty relation over `len` events.
    pub fn clear(&mut self, len: usize) {
        self.len = len;
        self.stride = words(len).max(1);
        self.rows.clear();
        self.rows.resize(len * self.stride, 0);
    }

    /// Overwrites this with the relation of these rows, without allocation; see [`super::rows`].
    pub fn copy_rows(&mut self, len: usize, bits: &[u64]) {
        self.len = len;
        self.stride = rows::stride(len);
        self.rows.clear();
        self.rows.extend_from_slice(bits);
    }

    /// Overwrites this with the other, without allocation.
    pub fn copy_from(&mut self, other: &Relation) {
        self.copy_rows(other.len, &other.rows);
    }

    /// The number of events.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no pair is in the relation.
    pub fn is_empty(&self) -> bool {
        self.rows.iter().all(|word| *word == 0)
    }

    /// The number of pairs.
    pub fn count(&self) -> usize {
        self.rows
            .iter()
            .map(|word| word.count_ones() as usize)
            .sum()
    }

    /// Whether the pair is in the relation.
    pub fn contains(&self, from: usize, to: usize) -> bool {
        from < self.len
            && to < self.len
            && self.rows[from * self.stride + to / 64] >> (to % 64) & 1 == 1
    }

    /// Adds the pair; both events must be below `len`.
    pub fn insert(&mut self, from: usize, to: usize) {
        assert!(
            from < self.len && to < self.len,
            "pair {from}, {to} of {}",
            self.len
        );
        self.rows[from * self.stride + to / 64] |= 1 << (to % 64);
    }

    /// Removes the pair.
    pub fn remove(&mut self, from: usize, to: usize) {
        if from < self.len && to < self.len {
            self.rows[from * self.stride + to / 64] &= !(1 << (to % 64));
        }
    }

    /// Adds the pairs from `from` to every event of `to`.
    pub fn insert_all(&mut self, from: usize, to: &Set) {
        for index in 0..words(self.len) {
            self.rows[from * self.stride + index] |= to.word(index);
        }
    }

    /// Removes the pairs from `from` to every event of `to`.
    pub fn remove_all(&mut self, from: usize, to: &Set) {
        for index in 0..words(self.len) {
            self.rows[from * self.stride + index] &= !to.word(index);
        }
    }

    /// The pairs, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.len).flat_map(move |from| self.successors(from).map(move |to| (from, to)))
    }

    /// The events that `from` leads to, in ascending order.
    pub fn successors(&self, from: usize) -> impl Iterator<Item = usize> + '_ {
        let row = self.row(from).iter().enumerate();
        row.flat_map(|(index, word)| Bits(*word).map(move |bit| index * 64 + bit))
    }

    /// The events that `from` leads to, as a set.
    pub fn image(&self, from: usize) -> Set {
        let mut set = Set::new(self.len);
        for index in 0..words(self.len) {
            *set.word_mut(index) = self.rows[from * self.stride + index];
        }
        set
    }

    pub(super) fn row(&self, from: usize) -> &[u64] {
        &self.rows[from * self.stride..][..self.stride]
    }

    /// The pairs of either relation.
    pub fn union(&self, other: &Relation) -> Relation {
        self.zip(other, |a, b| a | b)
    }

    /// Adds the pairs of the other relation.
    pub fn union_with(&mut self, other: &Relation) {
        assert_eq!(self.len, other.len, "relations of different graphs");
        for (word, more) in self.rows.iter_mut().zip(&other.rows) {
            *word |= more;
        }
    }

    /// The pairs of both relations.
    pub fn intersection(&self, other: &Relation) -> Relation {
        self.zip(other, |a, b| a & b)
    }

    /// The pairs of this relation that are not in the other.
    pub fn difference(&self, other: &Relation) -> Relation {
        self.zip(other, |a, b| a & !b)
    }

    /// The pairs not in the relation.
    pub fn complement(&self) -> Relation {
        let mut relation = self.clone();
        for from in 0..self.len {
            for index in 0..words(self.len) {
                let word = &mut relation.rows[from * self.stride + index];
                *word = !*word & mask(self.len, index);
            }
        }
        relation
    }

    /// The pairs in reverse.
    pub fn inverse(&self) -> Relation {
        let mut relation = Relation::new(self.len);
        rows::inverse(self.stride, &self.rows, &mut relation.rows);
        relation
    }

    /// The pairs a, c such that for some b the pair a, b is in this relation and b, c in
    /// the other.
    pub fn sequence(&self, other: &Relation) -> Relation {
        assert_eq!(self.len, other.len, "relations of different graphs");
        let mut relation = Relation::new(self.len);
        rows::sequence(self.stride, &self.rows, &other.rows, &mut relation.rows);
        relation
    }

    /// The pairs whose first event is in `from`.
    pub fn restrict_domain(&self, from: &Set) -> Relation {
        self.restrict(Some(from), None)
    }

    /// The pairs whose second event is in `to`.
    pub fn restrict_range(&self, to: &Set) -> Relation {
        self.restrict(None, Some(to))
    }

    /// The pairs whose first event is in `from` and whose second is in `to`; an absent set
    /// restricts nothing.
    pub fn restrict(&self, from: Option<&Set>, to: Option<&Set>) -> Relation {
        let mut out = self.clone();
        if let Some(to) = to {
            for row in out.rows.chunks_exact_mut(self.stride) {
                for (index, word) in row.iter_mut().enumerate() {
                    *word &= to.word(index);
                }
            }
        }
        if let Some(from) = from {
            for item in 0..self.len {
                let keep = 0u64.wrapping_sub(from.word(item / 64) >> (item % 64) & 1);
                for word in &mut out.rows[item * self.stride..][..self.stride] {
                    *word &= keep;
                }
            }
        }
        out
    }

    /// The pairs for which `keep` holds.
    pub fn filter(&self, mut keep: impl FnMut(usize, usize) -> bool) -> Relation {
        Relation::of(self.len, self.iter().filter(|(from, to)| keep(*from, *to)))
    }

    /// Adds the pair of each event with itself.
    pub fn add_identity(&mut self) {
        for item in 0..self.len {
            self.insert(item, item);
        }
    }

    /// The events that lead to some event.
    pub fn domain(&self) -> Set {
        let from = |item: &usize| self.row(*item).iter().any(|word| *word != 0);
        Set::of(self.len, (0..self.len).filter(from))
    }

    /// The events that some event leads to.
    pub fn range(&self) -> Set {
        let mut set = Set::new(self.len);
        for row in self.rows.chunks_exact(self.stride) {
            for (index, word) in row.iter().enumerate() {
                *set.word_mut(index) |= word;
            }
        }
        set
    }

    /// Whether every pair of this relation is in the other.
    pub fn is_subset(&self, other: &Relation) -> bool {
        let mut words = self.rows.iter().zip(&other.rows);
        words.all(|(a, b)| a & !b == 0)
    }

    fn zip(&self, other: &Relation, op: impl Fn(u64, u64) -> u64) -> Relation {
        assert_eq!(self.len, other.len, "relations of different graphs");
        let words = self.rows.iter().zip(&other.rows);
        Relation {
            len: self.len,
            stride: self.stride,
            rows: words.map(|(a, b)| op(*a, *b)).collect(),
        }
    }
}

impl fmt::Debug for Relation {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.debug_set().entries(self.iter()).finish()
    }
}
