//! The coherence orders that satisfy the coherence axioms, counted instead of listed.
//! [`crate::analysis::coherence_axioms`] has the proofs.
use super::graph_values::GraphValues;
use crate::analysis::coherence_axioms::{AxiomShape, CoherenceAxioms};
use crate::plan::operation::OpId;
use crate::types::typed::TypedPlan;
use crate::types::value_type::Type;
use relation::{rows, Set};
use smallvec::{smallvec, SmallVec};

/// What the coherence axioms imply for a candidate, as far as it is built.
pub enum OrderConstraints {
    /// No order satisfies them.
    Impossible,
    /// The allowed orders are not the linear extensions of partial orders.
    Unknown,
    /// For each class of writes, the partial order whose linear extensions are allowed.
    Orders(Vec<Blocks>),
}

/// The writes of a class, partially ordered: blocks of writes that must be adjacent.
#[derive(Debug)]
pub struct Blocks {
    /// The last write of each block.
    pub last: SmallVec<[usize; 4]>,
    /// For each block, the blocks before it, as bits.
    before: SmallVec<[u64; 4]>,
}

const NONE: u8 = u8::MAX;
/// The rows of a relation over at most 64 events.
type Matrix = [u64; 64];

/// The numbers of the bits that are set.
fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros() as usize)?;
        word &= word - 1;
        Some(bit)
    })
}

/// The positions that a candidate's events have in coherence order.
struct Positions<'a> {
    n: usize,
    classes: &'a [u64],
    /// For each event that has a position, the write at that position.
    write: [u8; 64],
    /// For each write, its class.
    class: [u8; 64],
    /// For each rmw, the write it reads from.
    source: [u8; 64],
    /// The known part of the order: the base, transitively closed.
    base: Matrix,
    /// `fr` as far as the base determines it.
    early: Matrix,
    /// The classes that the base does not order completely, as bits.
    open: u64,
    order: Matrix,
    /// Pairs that other axioms require in the order.
    needed: Vec<(usize, usize)>,
    /// The rmws known to be tight, as bits.
    tight: u64,
}

impl CoherenceAxioms {
    /// What the axioms imply for the orders of `classes` that extend `base`, given the known part
    /// of `rf`.
    pub fn constraints(
        &self,
        typed: &TypedPlan,
        values: &GraphValues,
        rf: &[u64],
        base: &[u64],
        classes: &[Set],
    ) -> OrderConstraints {
        let n = values.rows.n;
        if values.rows.stride != 1 || classes.len() > 64 {
            return OrderConstraints::Unknown;
        }
        let classes: SmallVec<[u64; 4]> = classes
            .iter()
            .map(|class| {
                let mut row = [0];
                class.write(&mut row);
                row[0]
            })
            .collect();
        let Some(mut positions) = Positions::new(n, &classes, rf, base) else {
            return OrderConstraints::Unknown;
        };
        for shape in &self.shapes {
            let constraints = match shape {
                AxiomShape::Whole(parts) => positions.whole(typed, values, parts),
                AxiomShape::Partly(parts) => positions.partly(typed, values, parts),
                AxiomShape::Before(before) => positions.before(&matrix(typed, values, *before)),
                AxiomShape::Tight(set) => {
                    positions.tight |= values.rows.word(typed.slot(*set));
                    None
                }
                AxiomShape::TightPairs(pairs) => {
                    let pairs = matrix(typed, values, *pairs);
                    let tight = diagonal(&pairs, n);
                    positions.tight |= tight.unwrap_or(0);
                    tight.is_none().then_some(OrderConstraints::Unknown)
                }
                AxiomShape::Between(_) => None,
            };
            if let Some(constraints) = constraints {
                return constraints;
            }
        }
        let modified = bits(classes.iter().fold(0, |all, class| all | class));
        let modified = modified.filter(|write| positions.source[*write] != NONE);
        let modified = modified.fold(0, |all, write| all | 1 << write);
        let between = self.shapes.iter().all(|shape| match shape {
            // An rmw that reads from another location is checked once its source is known.
            AxiomShape::Between(pairs) => diagonal(&matrix(typed, values, *pairs), n).is_some(),
            _ => true,
        });
        if modified & !positions.tight != 0 || !between {
            return OrderConstraints::Unknown;
        }
        positions.conclude()
    }
}

/// The rows of an operation's value.
fn matrix(typed: &TypedPlan, values: &GraphValues, id: OpId) -> Matrix {
    let mut matrix = [0; 64];
    if typed.type_of(id) == Type::Relation && !values.rows.has_no_pairs(typed.slot(id)) {
        let rows = values.rows.relation(typed.slot(id));
        matrix[..rows.len()].copy_from_slice(rows);
    }
    matrix
}

/// The events of a subset of the identity; none if the relation is no such subset.
fn diagonal(pairs: &Matrix, n: usize) -> Option<u64> {
    let mut events = 0;
    for (event, row) in pairs.iter().enumerate().take(n) {
        if row & !(1 << event) != 0 {
            return None;
        }
        events |= row;
    }
    Some(events)
}

impl<'a> Positions<'a> {
    fn new(n: usize, classes: &'a [u64], rf: &[u64], base: &[u64]) -> Option<Positions<'a>> {
        let mut positions = Positions {
            n,
            classes,
            write: [NONE; 64],
            class: [NONE; 64],
            source: [NONE; 64],
            base: [0; 64],
            early: [0; 64],
            open: 0,
            order: [0; 64],
            needed: Vec::new(),
            tight: 0,
        };
        for (number, class) in classes.iter().enumerate() {
            for write in bits(*class) {
                positions.write[write] = write as u8;
                positions.class[write] = number as u8;
                positions.base[write] = base[write] & class;
            }
        }
        rows::close(1, &mut positions.base[..n]);
        for (number, class) in classes.iter().enumerate() {
            let ordered: u32 = bits(*class).map(|w| positions.base[w].count_ones()).sum();
            let size = class.count_ones();
            positions.open |= u64::from(ordered < size * size.saturating_sub(1) / 2) << number;
        }
        for (from, row) in rf.iter().enumerate() {
            if *row != 0 && positions.class[from] == NONE {
                return None;
            }
            for read in bits(*row) {
                positions.early[read] = positions.base[from] & !(1 << read);
                if positions.class[read] == NONE {
                    positions.write[read] = from as u8;
                } else if positions.class[read] == positions.class[from] {
                    positions.source[read] = from as u8;
                } else {
                    return None;
                }
            }
        }
        positions.order = positions.base;
        Some(positions)
    }

    /// The transitive closure of `parts` and the known part of `co` and `fr`.
    fn closed(&self, typed: &TypedPlan, values: &GraphValues, parts: &[OpId]) -> Matrix {
        let mut all = self.base;
        rows::unite(&self.early, &mut all);
        for part in parts {
            rows::unite(&matrix(typed, values, *part), &mut all);
        }
        rows::close(1, &mut all[..self.n]);
        all
    }

    fn has_cycle(&self, closed: &Matrix) -> bool {
        let mut rows = closed.iter().enumerate().take(self.n);
        rows.any(|(event, row)| row >> event & 1 == 1)
    }

    /// Calls `each` with the two writes at whose positions a pair within a class starts and ends,
    /// if they differ. False if pairs lead from an open class through others back to it.
    fn steps(&self, pairs: &Matrix, each: &mut dyn FnMut(usize, usize)) -> bool {
        let mut across = [0u64; 64];
        for (from, row) in pairs.iter().enumerate().take(self.n) {
            let Some(from) = self.write.get(from).filter(|write| **write != NONE) else {
                continue;
            };
            for to in bits(*row) {
                let to = self.write[to];
                if to == NONE || to == *from {
                    continue;
                }
                let (a, b) = (self.class[*from as usize], self.class[to as usize]);
                if a == b {
                    each(*from as usize, to as usize);
                } else if self.open >> a & self.open >> b & 1 == 1 {
                    across[a as usize] |= 1 << b;
                }
            }
        }
        rows::is_acyclic(1, &across[..self.classes.len()])
    }

    fn whole(
        &mut self,
        typed: &TypedPlan,
        values: &GraphValues,
        parts: &[OpId],
    ) -> Option<OrderConstraints> {
        let closed = self.closed(typed, values, parts);
        if self.has_cycle(&closed) {
            return Some(OrderConstraints::Impossible);
        }
        self.tight = u64::MAX;
        let mut order = self.order;
        let apart = self.steps(&closed, &mut |from, to| order[from] |= 1 << to);
        self.order = order;
        (!apart).then_some(OrderConstraints::Unknown)
    }

    fn partly(
        &mut self,
        typed: &TypedPlan,
        values: &GraphValues,
        parts: &[OpId],
    ) -> Option<OrderConstraints> {
        let closed = self.closed(typed, values, parts);
        let mut needed = std::mem::take(&mut self.needed);
        let apart = self.steps(&closed, &mut |from, to| needed.push((from, to)));
        self.needed = needed;
        // The known part of co and fr may exceed what the axiom refers to.
        (self.has_cycle(&closed) || !apart).then_some(OrderConstraints::Unknown)
    }

    fn before(&mut self, before: &Matrix) -> Option<OrderConstraints> {
        let mut order = self.order;
        for (from, row) in before.iter().enumerate().take(self.n) {
            if row >> from & 1 == 1 {
                return Some(OrderConstraints::Impossible);
            }
            let own = self.write[from];
            if own == NONE {
                continue;
            }
            // The pair leads from a read to the write it reads from.
            if usize::from(own) != from && row >> own & 1 == 1 {
                return Some(OrderConstraints::Impossible);
            }
            for to in bits(*row) {
                let to = self.write[to];
                let same = |a: u8, b: u8| self.class[a as usize] == self.class[b as usize];
                if to != NONE && to != own && same(own, to) {
                    order[own as usize] |= 1 << to;
                }
            }
        }
        self.order = order;
        None
    }

    /// Closes the order under transitivity and under the adjacency of rmws and their sources.
    fn conclude(mut self) -> OrderConstraints {
        let n = self.n;
        loop {
            rows::close(1, &mut self.order[..n]);
            let before = self.order;
            for write in 0..n {
                let source = self.source[write];
                if source == NONE {
                    continue;
                }
                let (source, both) = (usize::from(source), 1u64 << write | 1 << source);
                self.order[source] |= 1 << write;
                self.order[write] |= self.order[source] & !both;
                for other in 0..n {
                    if both >> other & 1 == 0 && self.order[other] >> write & 1 == 1 {
                        self.order[other] |= 1 << source;
                    }
                }
            }
            if self.has_cycle(&self.order) {
                return OrderConstraints::Impossible;
            }
            if self.order == before {
                break;
            }
        }
        let ordered = |(from, to): &(usize, usize)| self.order[*from] >> to & 1 == 1;
        if !self.needed.iter().all(ordered) {
            return OrderConstraints::Unknown;
        }
        OrderConstraints::Orders(
            self.classes
                .iter()
                .map(|class| self.blocks(*class))
                .collect(),
        )
    }

    fn blocks(&self, class: u64) -> Blocks {
        let mut next = [NONE; 64];
        for write in bits(class).filter(|write| self.source[*write] != NONE) {
            next[usize::from(self.source[write])] = write as u8;
        }
        let mut blocks = SmallVec::<[_; 4]>::new();
        for first in bits(class).filter(|write| self.source[*write] == NONE) {
            let (mut last, mut all) = (first, 1u64 << first);
            while next[last] != NONE {
                last = usize::from(next[last]);
                all |= 1 << last;
            }
            blocks.push((first, last, all));
        }
        // What precedes a block precedes its first write.
        let before = |first: usize| {
            let earlier = |(_, last, _): &(usize, usize, u64)| self.order[*last] >> first & 1 == 1;
            let positions = blocks.iter().enumerate();
            positions
                .filter(|(_, block)| earlier(block))
                .fold(0, |all, (number, _)| all | 1 << number)
        };
        Blocks {
            before: blocks.iter().map(|block| before(block.0)).collect(),
            last: blocks.iter().map(|block| block.1).collect(),
        }
    }
}

/// The number of orders overflows.
pub struct TooMany;

impl Blocks {
    /// For each block, the number of orders in which it is last. `step` is called before each step
    /// of the computation and may end it with an error.
    ///
    /// Dynamic programming over the sets of blocks that contain every predecessor of their members:
    /// the orders of such a set are those of the set without one of its maximal blocks, followed by
    /// that block.
    pub fn ends<E: From<TooMany>>(
        &self,
        step: &mut dyn FnMut() -> Result<(), E>,
    ) -> Result<SmallVec<[u64; 4]>, E> {
        let size = self.last.len();
        match *self.before {
            [] => return Ok(SmallVec::new()),
            [only] => return Ok(smallvec![u64::from(only & 1 == 0)]),
            [first, second] => {
                // Either block is last unless it must precede the other, or itself.
                let any = first & 1 == 0 && second & 2 == 0;
                let ends = [second & 1 == 0, first & 2 == 0];
                return Ok(ends.into_iter().map(|end| u64::from(any && end)).collect());
            }
            _ => {}
        }
        let all = u64::MAX >> (64 - size);
        let mut counts = rustc_hash::FxHashMap::default();
        counts.insert(0u64, 1u64);
        let mut ends = smallvec![0; size];
        for _ in 0..size {
            let mut longer = rustc_hash::FxHashMap::default();
            for (set, count) in counts {
                step()?;
                for block in bits(all & !set) {
                    if self.before[block] & !set == 0 {
                        let with = set | 1 << block;
                        if with == all {
                            ends[block] = count;
                        }
                        let sum: &mut u64 = longer.entry(with).or_insert(0);
                        *sum = sum.checked_add(count).ok_or(TooMany)?;
                    }
                }
            }
            counts = longer;
        }
        Ok(ends)
    }
}
