//! Sets of small numbers.

#[derive(Debug, Clone, Default, Eq)]
pub struct BitSet {
    words: Vec<u64>,
}

impl PartialEq for BitSet {
    fn eq(&self, other: &BitSet) -> bool {
        let n = self.words.len().max(other.words.len());
        let at = |s: &BitSet, k: usize| s.words.get(k).copied().unwrap_or(0);
        (0..n).all(|k| at(self, k) == at(other, k))
    }
}

impl std::hash::Hash for BitSet {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        // trailing zeros make no difference
        let used = self
            .words
            .iter()
            .rposition(|w| *w != 0)
            .map_or(0, |k| k + 1);
        self.words[..used].hash(state);
    }
}

impl BitSet {
    /// Inserts a number; whether it is new.
    pub fn insert(&mut self, item: u32) -> bool {
        let (word, bit) = (item as usize / 64, 1u64 << (item % 64));
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        let new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        new
    }

    pub fn remove(&mut self, item: u32) {
        if let Some(word) = self.words.get_mut(item as usize / 64) {
            *word &= !(1 << (item % 64));
        }
    }

    pub fn contains(&self, item: u32) -> bool {
        self.words
            .get(item as usize / 64)
            .is_some_and(|w| w >> (item % 64) & 1 == 1)
    }

    pub fn union(&mut self, other: &BitSet) {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        for (a, b) in self.words.iter_mut().zip(&other.words) {
            *a |= b;
        }
    }

    pub fn subtract(&mut self, other: &BitSet) {
        for (a, b) in self.words.iter_mut().zip(&other.words) {
            *a &= !b;
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().enumerate().flat_map(|(k, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                if rest == 0 {
                    return None;
                }
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                Some(k as u32 * 64 + bit)
            })
        })
    }
}
