//! Register values and the reads that they depend on.
use bit_set::BitSet;
use rustc_hash::FxHashMap;

/// A set of a thread's events, by their numbers. A set of numbers below 31 is the bits of a `Dep`;
/// any other is numbered in a [`Deps`] table, and has the topmost bit. 0 is the empty set.
pub type Dep = u32;

const NUMBERED: Dep = 1 << 31;
/// What a set costs in the tables, besides its own words.
const WORDS_OF_ENTRIES: usize = 32;
/// Numbers from this on are not bits of a `Dep`.
const BITS: usize = 31;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Val {
    pub bits: u64,
    /// The reads of its own thread that the value is computed from.
    pub dep: Dep,
    /// The bytes that are indeterminate: a bit for each, the lowest first.
    pub undefined: u8,
}

impl Val {
    pub fn new(bits: u64, dep: Dep) -> Val {
        Val {
            bits,
            dep,
            undefined: 0,
        }
    }

    pub fn constant(bits: u64) -> Val {
        Val::new(bits, 0)
    }

    /// The value of a variable that was not initialised.
    pub fn undefined() -> Val {
        Val {
            undefined: u8::MAX,
            ..Val::default()
        }
    }

    /// Whether some of the lowest `bits` are indeterminate.
    pub fn is_undefined(self, bits: u32) -> bool {
        self.undefined & bytes_of(bits) != 0
    }
}

/// A byte in memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Byte {
    pub value: u8,
    /// As those of a [`Val`].
    pub dep: Dep,
    /// It is indeterminate.
    pub undefined: bool,
}

/// Whether all bytes of a value of so many bits are among these.
pub fn is_wholly(bytes: u8, bits: u32) -> bool {
    let all = bytes_of(bits);
    bytes & all == all
}

/// The bytes that the lowest `bits` are in.
pub fn bytes_of(bits: u32) -> u8 {
    match bits {
        0..=56 => ((1u32 << bits.div_ceil(8)) - 1) as u8,
        _ => u8::MAX,
    }
}

/// The union of two sets, if it is found without a table.
pub fn direct_union(a: Dep, b: Dep) -> Option<Dep> {
    if (a | b) & NUMBERED == 0 {
        return Some(a | b);
    }
    match (a, b) {
        (_, 0) => Some(a),
        (0, _) => Some(b),
        _ => (a == b).then_some(a),
    }
}

/// The intersection of two sets, if it is found without a table.
pub fn direct_intersection(a: Dep, b: Dep) -> Option<Dep> {
    if (a | b) & NUMBERED == 0 {
        return Some(a & b);
    }
    match (a, b) {
        (_, 0) | (0, _) => Some(0),
        _ => (a == b).then_some(a),
    }
}

/// The set of one event, if it is found without a table.
pub fn direct_single(event: u32) -> Option<Dep> {
    ((event as usize) < BITS).then(|| 1 << event)
}

/// Interned sets of event numbers: a set is a number, and a union is usually a table look-up.
#[derive(Debug, Default)]
pub struct Deps {
    sets: Vec<BitSet>,
    ids: FxHashMap<BitSet, Dep>,
    unions: FxHashMap<(Dep, Dep), Dep>,
    singles: FxHashMap<u32, Dep>,
    words: usize,
}

impl Deps {
    fn intern(&mut self, set: BitSet) -> Dep {
        if set.iter().all(|number| number < BITS) {
            return set.iter().fold(0, |bits, number| bits | 1 << number);
        }
        if let Some(id) = self.ids.get(&set) {
            return *id;
        }
        let id = NUMBERED | self.sets.len() as Dep;
        self.words += WORDS_OF_ENTRIES + set.get_ref().storage().len();
        self.sets.push(set.clone());
        self.ids.insert(set, id);
        id
    }

    /// The set of one event, if it has been formed before.
    pub fn known_single(&self, event: u32) -> Option<Dep> {
        direct_single(event).or_else(|| self.singles.get(&event).copied())
    }

    pub fn single(&mut self, event: u32) -> Dep {
        if let Some(known) = self.known_single(event) {
            return known;
        }
        let id = self.intern([event as usize].into_iter().collect());
        self.singles.insert(event, id);
        id
    }

    /// The union of two sets, if it has been formed before.
    pub fn known_union(&self, a: Dep, b: Dep) -> Option<Dep> {
        let known = || self.unions.get(&(a.min(b), a.max(b))).copied();
        direct_union(a, b).or_else(known)
    }

    pub fn union(&mut self, a: Dep, b: Dep) -> Dep {
        if let Some(known) = self.known_union(a, b) {
            return known;
        }
        let mut set = self.get(a);
        set.union_with(&self.get(b));
        let id = self.intern(set);
        self.unions.insert((a.min(b), a.max(b)), id);
        id
    }

    pub fn intersection(&mut self, a: Dep, b: Dep) -> Dep {
        direct_intersection(a, b).unwrap_or_else(|| {
            let mut set = self.get(a);
            set.intersect_with(&self.get(b));
            self.intern(set)
        })
    }

    pub fn are_disjoint(&self, a: Dep, b: Dep) -> bool {
        if let Some(both) = direct_intersection(a, b) {
            return both == 0;
        }
        let table = |dep: Dep| &self.sets[(dep & !NUMBERED) as usize];
        let (low, high) = (a.min(b), a.max(b));
        match low & NUMBERED == 0 {
            true => !table(high).iter().any(|n| n < BITS && low >> n & 1 == 1),
            false => table(low).is_disjoint(table(high)),
        }
    }

    pub fn get(&self, dep: Dep) -> BitSet {
        if dep & NUMBERED == 0 {
            return (0..BITS).filter(|number| dep >> number & 1 == 1).collect();
        }
        self.sets[(dep & !NUMBERED) as usize].clone()
    }

    /// The 32-bit words of the table, roughly.
    pub fn words(&self) -> usize {
        self.words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(deps: &mut Deps, numbers: &[u32]) -> Dep {
        numbers.iter().fold(0, |set, number| {
            let single = deps.single(*number);
            deps.union(set, single)
        })
    }

    #[test]
    fn a_set_has_one_name_however_it_is_formed() {
        let mut deps = Deps::default();
        let (a, b) = (set(&mut deps, &[1, 40, 7]), set(&mut deps, &[40, 7]));
        assert_eq!(a, set(&mut deps, &[7, 1, 40]));
        let one = deps.single(1);
        assert_eq!(deps.union(b, one), a);
        assert_eq!(deps.intersection(a, b), b);
        assert_eq!(deps.get(a).iter().collect::<Vec<_>>(), [1, 7, 40]);
    }

    #[test]
    fn a_set_of_small_numbers_needs_no_table() {
        let mut deps = Deps::default();
        let (small, large) = (set(&mut deps, &[0, 30]), set(&mut deps, &[0, 31]));
        assert_eq!(small, 1 | 1 << 30);
        assert_eq!(deps.intersection(small, large), 1);
        assert!(!deps.are_disjoint(small, large) && deps.are_disjoint(1 << 30, large));
    }
}
