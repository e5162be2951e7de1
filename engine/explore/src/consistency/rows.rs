//! The sets and relations of a graph that a model uses, as the rows of bits in which it reads them.

use crate::consistency::tag::{self, Tags};
use crate::consistency::view::{Index, View, ViewEvent};
use crate::graph::execution_graph::DependencyPairs;
use cat::Consistency;
use relation::by_stride;

/// The relation between the read and the write of a read-modify-write.
pub const RMW: &str = "rmw";

/// The pairs of events with an index, and of those with the same: of critical sections of SRCU.
pub const HAS_INDEX: &str = "has-index";
pub const SAME_INDEX: &str = "same-index";

/// The relations that a graph defines besides, where dependencies are tracked.
pub const DEPENDENCIES: [&str; 4] = ["addr", "data", "ctrl", "chosen"];

#[derive(Clone)]
pub struct Rows {
    sets: Vec<(usize, Tags)>,
    relations: Vec<(usize, &'static str)>,
    /// The events of each thread or location, and those that follow in it.
    scratch: Vec<u64>,
}

impl Rows {
    /// The model uses these sets, whose events have one of the tags, and these relations, by their
    /// indices in what was named to it.
    pub fn new(
        sets: impl Iterator<Item = (usize, Tags)>,
        relations: impl Iterator<Item = (usize, &'static str)>,
    ) -> Rows {
        Rows {
            sets: sets.collect(),
            relations: relations.collect(),
            scratch: Vec::new(),
        }
    }

    /// Hands over all that the view shows; dependencies are empty.
    pub fn fill(&mut self, consistency: &mut Consistency, view: &View) {
        consistency.begin(view.events.len());
        self.sets(consistency, view);
        let stride = consistency.stride();
        by_stride!(stride, self.relations(stride, consistency, view));
    }

    #[inline(always)]
    fn relations(&mut self, stride: usize, consistency: &mut Consistency, view: &View) {
        for at in 0..self.relations.len() {
            let (index, name) = self.relations[at];
            let out = consistency.relation_mut(index);
            match name {
                "po" => self.program_order(stride, out, view),
                "rf" => reads_from(stride, out, view),
                "co" | "mo" => self.coherence(stride, out, view),
                "int" => self.same(stride, out, view, |seen| seen.thread),
                "loc" => self.same(stride, out, view, |seen| {
                    seen.location.map(|at| at as usize)
                }),
                "ext" => self.external(stride, out, view),
                "sm" | "si" => memory(stride, out, view),
                RMW => halves(stride, out, view),
                HAS_INDEX => indexed(stride, out, view, |_, _| true),
                SAME_INDEX => indexed(stride, out, view, |one, other| one == other),
                // see `add_dependencies`
                name if DEPENDENCIES.contains(&name) => {}
                name => unreachable!("the model is asked for no relation {name}"),
            }
        }
    }

    /// Hands over the dependencies between the events that the view shows.
    pub fn add_dependencies(
        &self,
        consistency: &mut Consistency,
        view: &View,
        dependencies: &DependencyPairs,
    ) {
        for (index, name) in &self.relations {
            let pairs = match *name {
                "addr" => &dependencies.addr,
                "data" => &dependencies.data,
                "ctrl" => &dependencies.ctrl,
                "chosen" => &dependencies.chosen,
                _ => continue,
            };
            let stride = consistency.stride();
            let out = consistency.relation_mut(*index);
            view.pairs(pairs)
                .for_each(|pair| relate(stride, out, view, pair));
        }
    }

    fn sets(&self, consistency: &mut Consistency, view: &View) {
        for (word, events) in view.events.chunks(64).enumerate() {
            let mut tagged = [0u64; tag::COUNT];
            for (bit, seen) in events.iter().enumerate() {
                let mut tags = seen.tags;
                while tags != 0 {
                    tagged[tags.trailing_zeros() as usize] |= 1 << bit;
                    tags &= tags - 1;
                }
            }
            for (index, tags) in &self.sets {
                let mut tags = *tags;
                let mut all = 0;
                while tags != 0 {
                    all |= tagged[tags.trailing_zeros() as usize];
                    tags &= tags - 1;
                }
                consistency.set_mut(*index)[word] = all;
            }
        }
    }

    #[inline(always)]
    fn program_order(&mut self, stride: usize, out: &mut [u64], view: &View) {
        self.scratch.clear();
        for (event, seen) in view.events.iter().enumerate().rev() {
            let Some(thread) = seen.thread else { continue };
            let after = class(&mut self.scratch, stride, thread);
            out[event * stride..][..stride].copy_from_slice(after);
            // the parts of an access are not ordered
            if !seen.continues() {
                for part in view.access(event as Index) {
                    after[part as usize / 64] |= 1 << (part % 64);
                }
            }
        }
    }

    #[inline(always)]
    fn coherence(&mut self, stride: usize, out: &mut [u64], view: &View) {
        for order in view.starts.windows(2) {
            self.scratch.clear();
            self.scratch.resize(stride, 0);
            let writes = &view.orders[order[0] as usize..order[1] as usize];
            for write in writes.iter().rev() {
                let write = *write as usize;
                out[write * stride..][..stride].copy_from_slice(&self.scratch[..stride]);
                self.scratch[write / 64] |= 1 << (write % 64);
            }
        }
    }

    /// All pairs of events of the same class.
    #[inline(always)]
    fn same(
        &mut self,
        stride: usize,
        out: &mut [u64],
        view: &View,
        of: impl Fn(&ViewEvent) -> Option<usize>,
    ) {
        self.scratch.clear();
        for (event, seen) in view.events.iter().enumerate() {
            if let Some(number) = of(seen) {
                class(&mut self.scratch, stride, number)[event / 64] |= 1 << (event % 64);
            }
        }
        for (event, seen) in view.events.iter().enumerate() {
            if let Some(number) = of(seen) {
                let same = class(&mut self.scratch, stride, number);
                out[event * stride..][..stride].copy_from_slice(same);
            }
        }
    }

    /// Pairs of events of different threads; initial writes belong to none.
    #[inline(always)]
    fn external(&mut self, stride: usize, out: &mut [u64], view: &View) {
        let number = |seen: &ViewEvent| seen.thread.map_or(0, |thread| thread + 1);
        self.same(stride, out, view, |seen| Some(number(seen)));
        let n = view.events.len();
        for row in out.chunks_exact_mut(stride) {
            for (word, bits) in row.iter_mut().enumerate() {
                let all = match n.saturating_sub(word * 64) {
                    left if left >= 64 => u64::MAX,
                    left => (1 << left) - 1,
                };
                *bits = !*bits & all;
            }
        }
    }
}

#[inline(always)]
fn reads_from(stride: usize, out: &mut [u64], view: &View) {
    for (event, seen) in view.events.iter().enumerate() {
        if let Some(source) = seen.source {
            out[source as usize * stride + event / 64] |= 1 << (event % 64);
        }
    }
}

/// The read and the write of each read-modify-write.
#[inline(always)]
fn halves(stride: usize, out: &mut [u64], view: &View) {
    for (read, write) in &view.rmw {
        out[*read as usize * stride + *write as usize / 64] |= 1 << (write % 64);
    }
}

#[inline(always)]
fn indexed(stride: usize, out: &mut [u64], view: &View, holds: impl Fn(u64, u64) -> bool) {
    for (from, one) in &view.indices {
        for (to, _) in view.indices.iter().filter(|(_, other)| holds(*one, *other)) {
            out[*from as usize * stride + *to as usize / 64] |= 1 << (to % 64);
        }
    }
}

/// Relates two accesses, each with all its parts.
fn relate(stride: usize, out: &mut [u64], view: &View, (from, to): (Index, Index)) {
    for from in view.access(from) {
        for to in view.access(to) {
            out[from as usize * stride + to as usize / 64] |= 1 << (to % 64);
        }
    }
}

/// Each event that accesses memory, related to the parts of its access.
#[inline(always)]
fn memory(stride: usize, out: &mut [u64], view: &View) {
    for (event, seen) in view.events.iter().enumerate() {
        if seen.location.is_some() {
            for to in view.access(event as Index) {
                out[event * stride + to as usize / 64] |= 1 << (to % 64);
            }
        }
    }
}

/// The row of a class, added if it does not exist yet.
#[inline(always)]
fn class(rows: &mut Vec<u64>, stride: usize, number: usize) -> &mut [u64] {
    let start = number * stride;
    if rows.len() < start + stride {
        rows.resize(start + stride, 0);
    }
    &mut rows[start..][..stride]
}
