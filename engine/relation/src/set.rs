//! A set of events.
use std::fmt;

/// A set of events out of `0..len`, one bit per event.
///
/// The first 64 events are in an inline word, so that a set of a small graph needs no
/// allocation. The operands of an operation must have the same `len`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Set {
    len: usize,
    first: u64,
    rest: Vec<u64>,
}

/// The number of words for `len` bits.
pub(super) fn words(len: usize) -> usize {
    len.div_ceil(64)
}

/// The bits of word `index` that stand for events out of `0..len`.
pub(super) fn mask(len: usize, index: usize) -> u64 {
    match len.saturating_sub(index * 64) {
        0 => 0,
        bits if bits >= 64 => u64::MAX,
        bits => (1 << bits) - 1,
    }
}

impl Set {
    /// The empty set over `len` events.
    pub fn new(len: usize) -> Self {
        let rest = vec![0; words(len).saturating_sub(1)];
        Set {
            len,
            first: 0,
            rest,
        }
    }

    /// All `len` events.
    pub fn full(len: usize) -> Self {
        let mut set = Set::new(len);
        for index in 0..words(len) {
            *set.word_mut(index) = mask(len, index);
        }
        set
    }

    /// The set of the events of `items`, each below `len`.
    pub fn of(len: usize, items: impl IntoIterator<Item = usize>) -> Self {
        let mut set = Set::new(len);
        for item in items {
            set.insert(item);
        }
        set
    }

    /// The set of these bits; see [`super::rows`].
    pub fn from_words(len: usize, bits: &[u64]) -> Self {
        let mut set = Set::new(len);
        for (index, word) in bits.iter().enumerate().take(words(len)) {
            *set.word_mut(index) = *word;
        }
        set
    }

    /// Overwrites a row with the set's bits; see [`super::rows`].
    pub fn write(&self, row: &mut [u64]) {
        for (index, word) in row.iter_mut().enumerate().take(words(self.len)) {
            *word = self.word(index);
        }
    }

    /// Adds the set's bits to a row.
    pub fn add_to(&self, row: &mut [u64]) {
        for (index, word) in row.iter_mut().enumerate().take(words(self.len)) {
            *word |= self.word(index);
        }
    }

    /// Removes the set's bits from a row.
    pub fn take_from(&self, row: &mut [u64]) {
        for (index, word) in row.iter_mut().enumerate().take(words(self.len)) {
            *word &= !self.word(index);
        }
    }

    /// The number of events that the set may contain.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no event is in the set.
    pub fn is_empty(&self) -> bool {
        self.first == 0 && self.rest.iter().all(|word| *word == 0)
    }

    /// The number of events in the set.
    pub fn count(&self) -> usize {
        let rest: u32 = self.rest.iter().map(|word| word.count_ones()).sum();
        (self.first.count_ones() + rest) as usize
    }

    /// Whether `item` is in the set.
    pub fn contains(&self, item: usize) -> bool {
        item < self.len && self.word(item / 64) >> (item % 64) & 1 == 1
    }

    /// Adds `item`, which must be below `len`.
    pub fn insert(&mut self, item: usize) {
        assert!(item < self.len, "event {item} of {}", self.len);
        *self.word_mut(item / 64) |= 1 << (item % 64);
    }

    /// Removes `item`.
    pub fn remove(&mut self, item: usize) {
        if item < self.len {
            *self.word_mut(item / 64) &= !(1 << (item % 64));
        }
    }

    /// The events of the set, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..words(self.len))
            .flat_map(|index| Bits(self.word(index)).map(move |bit| index * 64 + bit))
    }

    /// The least event of the set.
    pub fn least(&self) -> Option<usize> {
        self.iter().next()
    }

    /// The events of either set.
    pub fn union(&self, other: &Set) -> Set {
        self.zip(other, |a, b| a | b)
    }

    /// Adds the events of the other set.
    pub fn union_with(&mut self, other: &Set) {
        assert_eq!(self.len, other.len, "sets of different graphs");
        self.first |= other.first;
        for (word, more) in self.rest.iter_mut().zip(&other.rest) {
            *word |= more;
        }
    }

    /// The events of both sets.
    pub fn intersection(&self, other: &Set) -> Set {
        self.zip(other, |a, b| a & b)
    }

    /// The events of this set that are not in the other.
    pub fn difference(&self, other: &Set) -> Set {
        self.zip(other, |a, b| a & !b)
    }

    /// The events not in the set.
    pub fn complement(&self) -> Set {
        Set::full(self.len).difference(self)
    }

    /// Whether every event of this set is in the other.
    pub fn is_subset(&self, other: &Set) -> bool {
        (0..words(self.len)).all(|index| self.word(index) & !other.word(index) == 0)
    }

    /// Whether the sets have an event in common.
    pub fn meets(&self, other: &Set) -> bool {
        (0..words(self.len)).any(|index| self.word(index) & other.word(index) != 0)
    }

    pub(super) fn word(&self, index: usize) -> u64 {
        if index == 0 {
            self.first
        } else {
            self.rest[index - 1]
        }
    }

    pub(super) fn word_mut(&mut self, index: usize) -> &mut u64 {
        if index == 0 {
            &mut self.first
        } else {
            &mut self.rest[index - 1]
        }
    }

    fn zip(&self, other: &Set, op: impl Fn(u64, u64) -> u64) -> Set {
        assert_eq!(self.len, other.len, "sets of different graphs");
        let rest = self.rest.iter().zip(&other.rest);
        Set {
            len: self.len,
            first: op(self.first, other.first),
            rest: rest.map(|(a, b)| op(*a, *b)).collect(),
        }
    }
}

impl fmt::Debug for Set {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.debug_set().entries(self.iter()).finish()
    }
}

/// The positions of the bits of a word, in ascending order.
pub(super) struct Bits(pub u64);

impl Iterator for Bits {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let bit = self.0.trailing_zeros() as usize;
        self.0 &= self.0 - 1;
        Some(bit)
    }
}
