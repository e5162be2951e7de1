//! What a value that a thread finds in a run of its own ([`super::values`]) comes from.
//!
//! Of counters and locks, which are read and written at once, few values fit what a thread has done itself.
//! Let a value come from its location's earlier ones by read-modify-writes whose writes depend on their reads.
//! These writes are before it in coherence order, so a thread that reads it has performed its own ones among
//! them: in the run, too, since it depends on them. If they begin with the initial value, nothing
//! else is before it, and they contain each write to the location that the thread has performed. (In the
//! run, a thread may perform others, where their address depends on what it reads: these are not asked for.)

use crate::source::{Answer, Location, ThreadId};
use std::collections::BTreeSet;

/// A write: its thread, its location, and how many writes of its thread to this location precede it.
pub type Write = (ThreadId, Location, usize);

/// More ways in which a value comes from writes are not distinguished.
const MOST_WAYS: usize = 4;

/// The writes that a value comes from, and how many of them come one from another.
#[derive(Clone, Default, PartialEq)]
pub struct Origin {
    pub writes: BTreeSet<Write>,
    pub depth: usize,
    pub chain: Chain,
    /// Those of the writes that the value itself comes from, by data and addresses. Reads that return a value
    /// from nowhere have no others.
    pub data: BTreeSet<Write>,
    /// Whether it may come from a read that returns a value from nowhere, and whether the value itself may.
    pub from_nowhere: bool,
    pub data_from_nowhere: bool,
}

/// The writes of its location that a value comes from by read-modify-writes alone: each with its thread
/// and its value, ordered by these.
#[derive(Clone, Default, PartialEq)]
pub struct Chain {
    pub writes: Vec<(ThreadId, Answer)>,
    /// Whether the first of them read the initial value.
    pub whole: bool,
}

impl Chain {
    pub fn initial() -> Chain {
        Chain {
            writes: Vec::new(),
            whole: true,
        }
    }

    pub fn add(&mut self, thread: ThreadId, answer: Answer) {
        self.writes.push((thread, answer));
        let key = |(thread, answer): &(ThreadId, Answer)| (*thread, answer.value, answer.undefined);
        self.writes.sort_by_key(key);
    }

    /// Whether a thread may read the value after these writes of its own to the location; those that it
    /// performs in any case.
    pub fn fits(&self, thread: ThreadId, own: Vec<Answer>, surely: &[Answer]) -> bool {
        let mut missing = own;
        let mut of_thread = self.writes.iter().filter(|(by, _)| *by == thread);
        of_thread.all(|(_, answer)| take(&mut missing, answer)) && self.contains(thread, surely)
    }

    /// Whether these writes of a thread to the location may come before the value in coherence order.
    pub fn contains(&self, thread: ThreadId, own: &[Answer]) -> bool {
        let of_thread = self.writes.iter().filter(|(by, _)| *by == thread);
        let mut left: Vec<Answer> = of_thread.map(|(_, answer)| *answer).collect();
        !self.whole || own.iter().all(|answer| take(&mut left, answer))
    }

    /// What two chains share.
    pub fn meet(&mut self, other: &Chain) {
        self.whole &= self == other;
        let mut left = other.writes.clone();
        self.writes.retain(|write| take(&mut left, write));
    }

    /// Whether it fits wherever the other one does.
    pub fn is_part_of(&self, other: &Chain) -> bool {
        let mut left = other.writes.clone();
        self == other || !self.whole && self.writes.iter().all(|write| take(&mut left, write))
    }
}

/// Removes an item, if it is there.
fn take<T: PartialEq>(items: &mut Vec<T>, item: &T) -> bool {
    let found = items.iter().position(|other| other == item);
    found.map(|at| items.swap_remove(at)).is_some()
}

impl Origin {
    pub fn initial() -> Origin {
        Origin {
            chain: Chain::initial(),
            ..Origin::default()
        }
    }

    /// That of a value from nowhere. By data it comes from these writes; none: it may come from itself.
    pub fn nowhere(data: Option<&BTreeSet<Write>>) -> Origin {
        Origin {
            from_nowhere: true,
            data_from_nowhere: data.is_none(),
            data: data.cloned().unwrap_or_default(),
            ..Origin::default()
        }
    }

    pub fn add(&mut self, other: &Origin) {
        self.writes.extend(&other.writes);
        self.depth = self.depth.max(other.depth);
        self.from_nowhere |= other.from_nowhere;
    }

    /// As [`add`](Self::add), where values may be passed on too.
    pub fn add_all(&mut self, other: &Origin) {
        self.add(other);
        self.data_from_nowhere |= other.data_from_nowhere;
    }

    pub fn add_data(&mut self, other: &Origin) {
        self.add(other);
        self.data.extend(&other.data);
        self.data_from_nowhere |= other.data_from_nowhere;
    }

    /// What two ways share.
    pub fn meet(&mut self, other: &Origin) {
        self.writes.retain(|write| other.writes.contains(write));
        self.depth = self.depth.min(other.depth);
        self.chain.meet(&other.chain);
        self.data.retain(|write| other.data.contains(write));
        self.from_nowhere |= other.from_nowhere;
        self.data_from_nowhere |= other.data_from_nowhere;
    }

    /// Whether whatever comes from the other one may come from this one.
    pub fn is_part_of(&self, other: &Origin) -> bool {
        self.depth <= other.depth
            && self.from_nowhere >= other.from_nowhere
            && self.data_from_nowhere >= other.data_from_nowhere
            && self.data.is_subset(&other.data)
            && self.writes.is_subset(&other.writes)
            && self.chain.is_part_of(&other.chain)
    }
}

/// The values, each with the ways that are distinguished.
pub fn by_answer(all: impl Iterator<Item = (Answer, Origin)>) -> Vec<(Answer, Origin)> {
    let mut answers: Vec<(Answer, Vec<Origin>)> = Vec::new();
    for (answer, from) in all {
        match answers.iter_mut().find(|(known, _)| *known == answer) {
            Some((_, ways)) => ways.push(from),
            None => answers.push((answer, vec![from])),
        }
    }
    let ways = answers.into_iter().flat_map(|(answer, mut ways)| {
        limit_ways(&mut ways);
        ways.into_iter().map(move |from| (answer, from))
    });
    ways.collect()
}

/// Leaves out the ways of which another one is a part, and makes one of those that are too many.
pub fn limit_ways(ways: &mut Vec<Origin>) {
    let mut least: Vec<Origin> = Vec::new();
    for way in ways.drain(..) {
        if !least.iter().any(|known| known.is_part_of(&way)) {
            least.retain(|known| !way.is_part_of(known));
            least.push(way);
        }
    }
    if least.len() > MOST_WAYS {
        let shared = least.into_iter().reduce(|mut one, other| {
            one.meet(&other);
            one
        });
        least = shared.into_iter().collect();
    }
    *ways = least;
}
