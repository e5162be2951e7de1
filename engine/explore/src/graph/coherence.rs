//! The coherence order of a location's writes: a list from the initial write on.

use super::execution_graph::{Event, EventId, Graph, NONE};

impl Graph {
    /// The writes of a location in coherence order, without the initial one.
    pub fn writes(&self, location: u32) -> impl Iterator<Item = EventId> + '_ {
        self.writes_after(location, NONE)
    }

    /// The writes after this one in coherence order; `NONE`: after the initial write.
    pub fn writes_after(
        &self,
        location: u32,
        write: EventId,
    ) -> impl Iterator<Item = EventId> + '_ {
        let mut at = self.following(location, write);
        std::iter::from_fn(move || {
            let id = at;
            if id == NONE {
                return None;
            }
            at = self.event(id).co_successor;
            Some(id)
        })
    }

    /// The write after this one in a location's coherence order.
    pub fn following(&self, location: u32, write: EventId) -> EventId {
        match write {
            NONE => self.locations[location as usize].first,
            write => self.event(write).co_successor,
        }
    }

    /// The last write of a location; `NONE` for the initial one.
    pub fn last_write(&self, location: u32) -> EventId {
        self.writes(location).last().unwrap_or(NONE)
    }

    /// The write that coherence puts before, or makes the source of, every later access of the
    /// thread: what the thread's last access of the location before `id` writes or reads from.
    pub fn observed_write(&self, id: EventId) -> EventId {
        let Event {
            location,
            po_predecessor,
            ..
        } = *self.event(id);
        let mut earlier = self.po_predecessors(po_predecessor);
        let last = earlier.find(|earlier| self.event(*earlier).location == location);
        last.map_or(NONE, |last| match self.event(last) {
            write if write.is_write() => last,
            read => read.source,
        })
    }

    /// Whether a write comes after another in coherence order.
    pub fn is_later(&self, location: u32, write: EventId, than: EventId) -> bool {
        self.writes_after(location, than)
            .any(|later| later == write)
    }

    /// Inserts a write that has no place yet last into coherence order. Returns whether it may be there:
    /// that of a read-modify-write directly follows what its read reads from.
    pub fn insert_last(&mut self, write: EventId) -> bool {
        let event = *self.event(write);
        let last = self.last_write(event.location);
        let may = event.pair == NONE || self.event(event.pair).source == last;
        if may {
            self.order_after(write, last);
        }
        may
    }

    /// Whether a read-modify-write reads from this write.
    pub fn is_taken(&self, location: u32, write: EventId) -> bool {
        let next = self.following(location, write);
        next != NONE && {
            let pair = self.event(next).pair;
            pair != NONE && self.event(pair).source == write
        }
    }

    /// For the write of a read-modify-write that is not in coherence order yet: the write of
    /// another that reads from the same write.
    pub fn taken_by(&self, write: EventId) -> Option<EventId> {
        let event = self.event(write);
        if event.pair == NONE {
            return None;
        }
        let source = self.event(event.pair).source;
        let is_taken = self.is_taken(event.location, source);
        is_taken.then(|| self.following(event.location, source))
    }

    /// Inserts a write into coherence order, directly after another.
    pub fn order_after(&mut self, write: EventId, previous: EventId) {
        let location = self.event(write).location;
        let next = self.following(location, previous);
        self.event_mut(write).co_successor = next;
        self.link(location, previous, write);
    }

    /// Removes a write from coherence order, where it follows `previous`.
    pub fn unorder(&mut self, write: EventId, previous: EventId) {
        let location = self.event(write).location;
        let next = self.event(write).co_successor;
        self.link(location, previous, next);
    }

    pub(super) fn link(&mut self, location: u32, previous: EventId, next: EventId) {
        match previous {
            NONE => self.locations[location as usize].first = next,
            previous => self.event_mut(previous).co_successor = next,
        }
    }

    /// The write before this one in coherence order; none if this one has no place in it yet.
    pub fn preceding(&self, write: EventId) -> Option<EventId> {
        let mut previous = NONE;
        for next in self.writes(self.event(write).location) {
            if next == write {
                return Some(previous);
            }
            previous = next;
        }
        None
    }
}
