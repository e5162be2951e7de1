//! How often threads write each location, as far as executions have shown.
//!
//! Where reads may be postponed, a read may wait for a write that is added to the graph later
//! (`search/postponed`). If none comes, everything that was explored meanwhile is in vain. So the
//! search assumes that a thread writes a location no more often than it, or one that behaves like
//! it, has been seen to, and lets a read wait only where a thread that continues may still write. A
//! write that was not expected refutes the assumption, and exploration starts again; it goes on for as
//! long as it took, to learn of more such writes.
//!
//! A read-modify-write counts from its read on, whose write may take a place that the search has given
//! to another.
//!
//! Let E be an execution that is left out because a read r is not let wait, at a node whose graph is P. After
//! P, E adds writes that are not expected; let w be the first, and M what w needs, or its read if it is of a
//! read-modify-write. Nothing in M needs r, and no write of r's location is in M: otherwise r would have been
//! let wait. The graph of P and M is a part of E, so it is consistent. Let r be added to it, and read from the
//! last write of P that precedes in coherence order what r reads in E; it has not to wait for that.
//!
//! - If everything after r in its thread needs r, since r acquires or no thread continues past a read,
//!   nothing follows r, and r may read from the last write of all: the graph stays consistent, under a model
//!   that is extensible.
//! - Otherwise there may be later events of r's thread. Compared with E, one pair of rf is new, from an
//!   earlier write to a read that nothing needs. The model's text is asked whether that can matter
//!   (`cat::analysis::source_change`), and if it can, r is let wait.
//!
//! An execution with this graph passes the node, or one before where r began to wait, with another choice
//! for r, and its thread comes to w, which was not expected. So does one of the executions that are left out
//! for the same reason later on its path, if it is left out itself. A read of which a write of its own
//! thread, before it, is not in the graph yet is let wait.
use crate::source::{Location, ThreadId, Writes};
use borsh::{BorshDeserialize, BorshSerialize};
use rustc_hash::FxHashMap;

#[derive(Clone, Default, BorshSerialize, BorshDeserialize)]
pub struct LaterWrites {
    seen: FxHashMap<(ThreadId, Location), Writes>,
    /// What this exploration assumes: what was seen when it was first asked for.
    assumed: FxHashMap<(ThreadId, Location), Writes>,
}

impl LaterWrites {
    /// Discards what is assumed. What was seen remains: to expect too many writes leaves nothing out.
    pub fn restart(&mut self) {
        self.assumed.clear();
    }

    /// The writes that are expected of a thread. From then on the exploration assumes that there are no
    /// more.
    pub fn expected(&mut self, thread: ThreadId, at: Location) -> Writes {
        let seen = self.seen.get(&(thread, at)).copied().unwrap_or_default();
        *self.assumed.entry((thread, at)).or_insert(seen)
    }

    /// Records writes; returns whether they were expected, or nothing was assumed of them.
    pub fn record(&mut self, thread: ThreadId, at: Location, writes: Writes) -> bool {
        let seen = self.seen.entry((thread, at)).or_default();
        *seen = seen.and(writes);
        let assumed = self.assumed.get(&(thread, at));
        assumed.is_none_or(|assumed| assumed.include(writes))
    }

    /// Whether there were writes that were not expected.
    pub fn are_contradicted(&self) -> bool {
        let seen = |key| self.seen.get(key).copied().unwrap_or_default();
        let mut assumed = self.assumed.iter();
        assumed.any(|(key, assumed)| !assumed.include(seen(key)))
    }

    /// Adds what another exploration of the same tree assumes and has shown. Returns whether what one
    /// has shown contradicts what the other assumes.
    pub fn join(&mut self, other: LaterWrites) -> bool {
        for ((thread, at), writes) in other.seen {
            self.record(thread, at, writes);
        }
        for (key, assumed) in other.assumed {
            // both have started with the same, so one of them knew less
            let least = self.assumed.entry(key).or_insert(assumed);
            if least.include(assumed) {
                *least = assumed;
            }
        }
        self.are_contradicted()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Location = Location {
        address: 64,
        size: 4,
    };

    fn writes(count: u32, last: bool) -> Writes {
        Writes { count, last }
    }

    #[test]
    fn more_writes_than_expected_contradict() {
        let mut known = LaterWrites::default();
        assert!(known.record(1, AT, writes(1, true)));
        assert_eq!(known.expected(1, AT), writes(1, true));
        assert_eq!(known.expected(2, AT), Writes::default());
        assert!(known.record(1, AT, writes(1, true)) && !known.are_contradicted());
        assert!(!known.record(1, AT, writes(1, false)) && known.are_contradicted());
        assert!(!known.record(1, AT, writes(2, true)));
        assert!(!known.record(2, AT, writes(1, true)));
        assert_eq!(known.expected(1, AT), writes(1, true));
        known.restart();
        assert!(!known.are_contradicted());
        assert_eq!(known.expected(1, AT), writes(2, false));
    }

    #[test]
    fn writes_contradict_what_another_exploration_assumes() {
        let assumes = || {
            let mut known = LaterWrites::default();
            known.expected(1, AT);
            known
        };
        let writes_by = |thread| {
            let mut known = LaterWrites::default();
            known.record(thread, AT, writes(1, true));
            known
        };
        for (thread, contradicts) in [(1, true), (2, false)] {
            assert_eq!(assumes().join(writes_by(thread)), contradicts);
            assert_eq!(writes_by(thread).join(assumes()), contradicts);
        }
        let mut both = assumes();
        both.join(writes_by(2));
        assert!(!both.record(1, AT, writes(1, true)));
    }
}
