//! Register values and the reads that they depend on.
use bit_set::BitSet;
use rustc_hash::FxHashMap;

/// A set of a thread's events, in a `Deps` table; 0 is the empty set.
pub type Dep = u32;

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

/// The bytes that the lowest `bits` are in.
pub fn bytes_of(bits: u32) -> u8 {
    match bits {
        0..=56 => ((1u32 << bits.div_ceil(8)) - 1) as u8,
        _ => u8::MAX,
    }
}

/// Interned sets of event numbers: a set is a number, and a union is usually a table look-up.
#[derive(Debug)]
pub struct Deps {
    sets: Vec<BitSet>,
    ids: FxHashMap<BitSet, Dep>,
    unions: FxHashMap<(Dep, Dep), Dep>,
    singles: Vec<Dep>,
}

impl Default for Deps {
    fn default() -> Deps {
        let mut ids = FxHashMap::default();
        ids.insert(BitSet::new(), 0);
        Deps {
            sets: vec![BitSet::new()],
            ids,
            unions: FxHashMap::default(),
            singles: Vec::new(),
        }
    }
}

impl Deps {
    fn intern(&mut self, set: BitSet) -> Dep {
        if let Some(id) = self.ids.get(&set) {
            return *id;
        }
        let id = self.sets.len() as Dep;
        self.sets.push(set.clone());
        self.ids.insert(set, id);
        id
    }

    pub fn single(&mut self, event: u32) -> Dep {
        while self.singles.len() <= event as usize {
            let mut set = BitSet::new();
            set.insert(self.singles.len());
            let id = self.intern(set);
            self.singles.push(id);
        }
        self.singles[event as usize]
    }

    pub fn union(&mut self, a: Dep, b: Dep) -> Dep {
        if a == b || b == 0 {
            return a;
        }
        if a == 0 {
            return b;
        }
        let key = (a.min(b), a.max(b));
        if let Some(known) = self.unions.get(&key) {
            return *known;
        }
        let mut set = self.sets[a as usize].clone();
        set.union_with(&self.sets[b as usize]);
        let id = self.intern(set);
        self.unions.insert(key, id);
        id
    }

    pub fn get(&self, dep: Dep) -> &BitSet {
        &self.sets[dep as usize]
    }

    /// The number of sets, a measure of the memory they take.
    pub fn count(&self) -> usize {
        self.sets.len()
    }
}
