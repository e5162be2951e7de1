//! The coherence order of the writes that are in the graph, and which places in it are left for others.

use crate::search::postponed::execution::{
    after_read, EventPosition, LocalEvent, PartialExecution,
};
use crate::search::thread_states::ThreadStates;
use crate::source::{Action, Answer, Next, Source};
use std::ops::Range;

/// Positions in coherence order, as numbers of writes before, that events of a thread have: the last of
/// those before an event, the first of the writes and of the reads after it (if there is none, the end).
struct Bounds {
    earlier: usize,
    /// As `earlier`, after writes before the event that are not in the graph yet, too.
    low: usize,
    later_writes: usize,
    later_reads: usize,
}

impl PartialExecution {
    /// The answer to a read of a location from this write; none: from the initial one.
    pub fn written(&self, location: usize, write: Option<EventPosition>) -> Answer {
        match write {
            None => self.locations[location].initial.answer(),
            Some(write) => self.event(write).label.action.written(),
        }
    }

    /// The read of a read-modify-write's write.
    pub fn read_of(&self, write: EventPosition) -> Option<EventPosition> {
        let events = &self.threads[write.thread].events[..write.index];
        let location = self.event(write).location;
        let reads = |event: &LocalEvent| event.is_read() && event.location == location;
        let index = events.iter().rposition(reads)?;
        Some(EventPosition { index, ..write })
    }

    /// The last write of its thread, before a read, to the read's location.
    pub fn own_write(&self, read: EventPosition) -> Option<EventPosition> {
        let events = &self.threads[read.thread].events[..read.index];
        let location = self.event(read).location;
        let index = events
            .iter()
            .rposition(|event| event.is_write() && event.location == location)?;
        Some(EventPosition { index, ..read })
    }

    /// Whether an event is in the graph, and if it is a read, the write that it reads from.
    pub fn is_shown(&self, event: &LocalEvent) -> bool {
        event.added != 0
            && event
                .source
                .is_none_or(|write| self.event(write).added != 0)
    }

    /// Whether no event of its thread in the graph follows an event, and no write of its location
    /// follows it, or what it reads from, in coherence order.
    pub fn is_maximal(&self, at: EventPosition) -> bool {
        let event = self.event(at);
        let order = &self.locations[event.location].order;
        let write = match event.is_write() {
            true => Some(at),
            false => event.source,
        };
        write.as_ref() == order.last() && self.ends_thread(at)
    }

    /// Whether a read reads from the last write of its location.
    pub fn reads_last(&self, read: EventPosition) -> bool {
        let event = self.event(read);
        event.is_read() && event.source.as_ref() == self.locations[event.location].order.last()
    }

    /// The position in coherence order after a write; 0 after the initial one.
    pub fn position_after(&self, location: usize, write: Option<EventPosition>) -> usize {
        let Some(write) = write else { return 0 };
        let mut order = self.locations[location].order.iter();
        order
            .position(|other| *other == write)
            .map_or(0, |at| at + 1)
    }

    /// Whether the write at a position of the coherence order is a read-modify-write's, which
    /// directly follows the one before.
    pub fn is_taken(&self, location: usize, position: usize) -> bool {
        let next = self.locations[location].order.get(position);
        next.is_some_and(|next| self.event(*next).is_rmw())
    }

    /// The positions in coherence order that coherence leaves to an event, as the number of writes
    /// before it; a read reads from the last of these.
    pub fn coherent_positions(&self, at: EventPosition) -> Range<usize> {
        let bounds = self.bounds(at);
        let reads = match self.event(at).is_write() {
            true => bounds.later_reads,
            false => bounds.later_reads + 1,
        };
        bounds.low..bounds.later_writes.min(reads)
    }

    /// Whether coherence leaves a place to a write that is added later and that this read reads from.
    pub fn may_read_later_write(&self, read: EventPosition) -> bool {
        let bounds = self.bounds(read);
        let location = self.event(read).location;
        let end = bounds.later_writes.min(bounds.later_reads);
        (bounds.earlier..end).any(|position| !self.is_taken(location, position))
    }

    /// What the other events of its thread that access its location leave to an event.
    fn bounds(&self, at: EventPosition) -> Bounds {
        let event = self.event(at);
        let location = event.location;
        let end = self.locations[location].order.len() + 1;
        let mut bounds = Bounds {
            earlier: 0,
            low: 0,
            later_writes: end,
            later_reads: end,
        };
        for (index, other) in self.threads[at.thread].events.iter().enumerate() {
            let accesses = other.is_read() || other.is_write();
            if index == at.index || !accesses || other.location != location {
                continue;
            }
            let place = EventPosition { index, ..at };
            if !self.is_shown(other) {
                if index < at.index && other.is_open() && other.is_write() {
                    let first = self.first_free(location, bounds.low);
                    let own = if event.is_read() { first + 1 } else { first };
                    bounds.low = bounds.low.max(own);
                }
                continue;
            }
            let own = match other.is_write() {
                true => self.position_after(location, Some(place)),
                false => self.position_after(location, other.source),
            };
            if index < at.index {
                bounds.earlier = bounds.earlier.max(own);
                bounds.low = bounds.low.max(own);
            } else if other.is_write() {
                bounds.later_writes = bounds.later_writes.min(own);
            } else {
                bounds.later_reads = bounds.later_reads.min(own);
            }
        }
        bounds
    }

    /// The first position from this one on at which a write may be added.
    fn first_free(&self, location: usize, from: usize) -> usize {
        let count = self.locations[location].order.len();
        let free = |position: &usize| !self.is_taken(location, *position);
        (from..count).find(free).unwrap_or(count)
    }

    /// Whether a read that is in the graph is that of a read-modify-write whose write, which follows
    /// it, has no place: another one follows what it reads from.
    pub fn loses_update<S: Source>(&self, states: &ThreadStates<S>, read: EventPosition) -> bool {
        let event = self.event(read);
        let reads = event.is_read() && event.is_rmw();
        reads && self.is_shown(event) && self.is_updating(states, read) && {
            let position = self.position_after(event.location, event.source);
            self.is_taken(event.location, position)
        }
    }

    /// Whether the write of a read-modify-write follows its read.
    fn is_updating<S: Source>(&self, states: &ThreadStates<S>, read: EventPosition) -> bool {
        let action = match after_read(&self.threads[read.thread].events, read.index) {
            Some(event) => event.label.action,
            None => match self.next(states, read.thread) {
                Some(Next::Event(label)) => label.action,
                _ => return false,
            },
        };
        matches!(action, Action::Write { rmw: true, .. })
    }
}
