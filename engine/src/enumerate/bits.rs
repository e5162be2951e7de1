//! Relations over the events of one path, registers included.

/// A square bit matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bits {
    n: usize,
    words: usize,
    rows: Vec<u64>,
}

impl Bits {
    pub fn new(n: usize) -> Bits {
        let words = n.div_ceil(64).max(1);
        Bits {
            n,
            words,
            rows: vec![0; n * words],
        }
    }

    pub fn from_pairs(n: usize, pairs: &[(usize, usize)]) -> Bits {
        let mut bits = Bits::new(n);
        for (a, b) in pairs {
            bits.add(*a, *b);
        }
        bits
    }

    pub fn add(&mut self, a: usize, b: usize) {
        self.rows[a * self.words + b / 64] |= 1 << (b % 64);
    }

    pub fn has(&self, a: usize, b: usize) -> bool {
        self.rows[a * self.words + b / 64] >> (b % 64) & 1 == 1
    }

    fn row(&self, a: usize) -> &[u64] {
        &self.rows[a * self.words..(a + 1) * self.words]
    }

    pub fn union(mut self, other: &Bits) -> Bits {
        for (a, b) in self.rows.iter_mut().zip(&other.rows) {
            *a |= b;
        }
        self
    }

    /// The pairs whose ends satisfy the predicates.
    pub fn restrict(&self, from: impl Fn(usize) -> bool, to: impl Fn(usize) -> bool) -> Bits {
        let mut out = Bits::new(self.n);
        for (a, b) in self.pairs() {
            if from(a) && to(b) {
                out.add(a, b);
            }
        }
        out
    }

    /// `self; other`
    pub fn then(&self, other: &Bits) -> Bits {
        let mut out = Bits::new(self.n);
        for (a, b) in self.pairs() {
            for w in 0..self.words {
                out.rows[a * self.words + w] |= other.rows[b * self.words + w];
            }
        }
        out
    }

    pub fn closure(mut self) -> Bits {
        for k in 0..self.n {
            let through = self.row(k).to_vec();
            for a in 0..self.n {
                if self.has(a, k) {
                    for (w, bits) in through.iter().enumerate() {
                        self.rows[a * self.words + w] |= bits;
                    }
                }
            }
        }
        self
    }

    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.n).flat_map(move |a| {
            self.row(a).iter().enumerate().flat_map(move |(w, bits)| {
                let mut rest = *bits;
                std::iter::from_fn(move || {
                    if rest == 0 {
                        return None;
                    }
                    let b = rest.trailing_zeros() as usize;
                    rest &= rest - 1;
                    Some((a, w * 64 + b))
                })
            })
        })
    }
}
