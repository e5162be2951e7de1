//! What an access cannot come before, since the start or the end of a thread orders it.
//!
//! Main joins its threads and then reads what they wrote: all but the last of it is too old,
//! whatever else there is. Four events show that (a write, the thread's end, the join, the access)
//! and what the access reads from. A model is asked about these once; where they fail an axiom
//! whose value only grows when events are added anywhere, every graph with them fails it.

use super::graph::{Graph, Slot, NONE};
use super::source::Action;
use super::view::{tag, Seen, View};

/// A write that is ordered before an access to its location that comes before it in coherence
/// order, or reads from what does. The tags of the events, in a view.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stale {
    pub write: u32,
    pub access: u32,
    /// Of a read, the write that it reads from; none for the initial one.
    pub source: Option<u32>,
}

impl Stale {
    /// A read that is to read from `source` is ordered after `write`.
    pub fn read(graph: &Graph, read: Slot, source: Slot, write: Slot) -> Stale {
        Stale {
            source: (source != NONE).then(|| View::tags(graph, source)),
            ..Stale::write(graph, read, write)
        }
    }

    /// An access is ordered after `write`.
    pub fn write(graph: &Graph, access: Slot, write: Slot) -> Stale {
        Stale {
            write: View::tags(graph, write),
            access: View::tags(graph, access),
            source: None,
        }
    }

    /// The events that show it.
    pub fn show(&self, view: &mut View) {
        const X: u32 = 0;
        const HIDDEN: u32 = 1;
        let seen = |thread, location, tags, source| Seen {
            thread,
            location: Some(location),
            tags,
            source,
        };
        let reads = self.access & tag::WRITE == 0;
        let initial = tag::WRITE | tag::INITIAL | tag::PLAIN;
        view.events.clear();
        view.events.extend([
            seen(None, X, initial, None),
            seen(Some(1), X, self.write, None),
            seen(Some(1), HIDDEN, tag::WRITE | tag::REL | tag::ATOMIC, None),
            seen(Some(0), HIDDEN, tag::READ | tag::ACQ | tag::ATOMIC, Some(2)),
            seen(Some(0), X, self.access, reads.then_some(0)),
        ]);
        view.orders.clear();
        match (self.source, reads) {
            (Some(source), true) => {
                view.events.push(seen(Some(2), X, source, None));
                view.events[4].source = Some(5);
                view.orders.extend([0, 5, 1]);
            }
            (_, true) => view.orders.extend([0, 1]),
            (_, false) => view.orders.extend([0, 4, 1]),
        }
        view.starts.clear();
        view.starts.extend([0, view.orders.len() as u32]);
    }
}

impl Graph {
    /// The last write of the event's location that the start of its thread, or the join of
    /// another, orders before it, if that comes after `known` in coherence order.
    pub fn ordered_write(&self, slot: Slot, known: Slot) -> Option<Slot> {
        let event = self.event(slot);
        let mut joined = 0u64;
        let mut before = event.before;
        while before != NONE {
            let earlier = self.event(before);
            if let Action::Join { thread } = earlier.action {
                // threads beyond those that fit are taken not to be joined
                joined |= 1u64.checked_shl(thread as u32).unwrap_or(0);
            }
            before = earlier.before;
        }
        let creator = self.threads[event.thread].creator;
        if joined == 0 && creator == NONE {
            return None;
        }
        let ordered = |write: &Slot| {
            let write = self.event(*write);
            let before_start = || {
                let create = self.event(creator);
                write.thread == create.thread && write.index < create.index
            };
            let is_joined = joined.checked_shr(write.thread as u32).unwrap_or(0) & 1 == 1;
            is_joined || creator != NONE && before_start()
        };
        self.writes_after(event.location, known)
            .filter(ordered)
            .last()
    }
}
