//! Backward revisits (TruSt, POPL 2022, section 4): which events of a graph one preserves, and from
//! which graph it is allowed.

use crate::graph::execution_graph::{Event, EventId, Graph, ABSENT, NONE};
use crate::source::Action;

impl Graph {
    /// Whether an event is preserved when `write` revisits `read`.
    pub fn survives(&self, id: EventId, read: EventId, write: EventId) -> bool {
        id <= read || self.precedes(id, write)
    }

    /// The paper's IsMaximallyAdded (section 4.2): whether the event is what the search would have
    /// added if `write` did not exist.
    pub fn is_maximal(&self, id: EventId, write: EventId) -> bool {
        let event = self.event(id);
        let previous =
            |other: EventId| other <= id || (other != write && self.precedes(other, write));
        match event.action {
            Action::Choose { .. } => event.value == 0,
            Action::Read { .. } => {
                let source = event.source;
                (source == NONE || previous(source))
                    && !self.writes_after(event.location, source).any(previous)
            }
            Action::Write { .. } => {
                if self.writes_after(event.location, id).any(previous) {
                    return false;
                }
                let read_before = |other: &Event| other.source == id;
                !(event.revisited && self.events[..id as usize].iter().any(read_before))
            }
            Action::Wait => event.source == NONE || self.is_due_to(id, write),
            _ => true,
        }
    }

    /// Sets `out` to the graph after `write` revisits `read`, and returns the two events in it.
    /// There the read has no source, and the write no place in coherence order.
    pub fn restrict(
        &self,
        read: EventId,
        write: EventId,
        renumbered: &mut Vec<EventId>,
        out: &mut Graph,
    ) -> (EventId, EventId) {
        let survives = |id| id == write || self.survives(id, read, write);
        self.restricted(survives, renumbered, out);
        let (read, write) = (renumbered[read as usize], renumbered[write as usize]);
        out.unset_source(read);
        (read, write)
    }

    /// Sets `out` to the graph restricted to these events, a set closed under causal prefixes, and
    /// `renumbered` to the new id of each. A write without a place in coherence order has none in `out`.
    pub fn restricted(
        &self,
        survives: impl Fn(EventId) -> bool,
        renumbered: &mut Vec<EventId>,
        out: &mut Graph,
    ) {
        renumbered.clear();
        let mut count = 0;
        for id in 0..self.events.len() as EventId {
            let survives = survives(id);
            renumbered.push(if survives { count } else { NONE });
            count += EventId::from(survives);
        }
        let to = |id: EventId| match id {
            NONE => NONE,
            id => renumbered[id as usize],
        };
        out.events.clear();
        out.clocks.clear();
        out.stride = self.stride;
        out.locations.clear();
        out.threads.clear();
        out.threads.resize(self.threads.len(), ABSENT);
        for (id, event) in self.events.iter().enumerate() {
            if renumbered[id] == NONE {
                continue;
            }
            let new = out.events.len() as EventId;
            let mut event = *event;
            if event.action == Action::Wait {
                let waits = &mut out.threads[event.thread].waits;
                event.po_predecessor = std::mem::replace(waits, new);
                event.source = to(event.source);
                out.events.push(event);
                out.clocks.extend_from_slice(self.clock(id as EventId));
                continue;
            }
            if event.location != NONE {
                let place = &self.locations[event.location as usize];
                event.location = out.locate(place.at, place.initial);
                out.locations[event.location as usize].users += 1;
            }
            event.source = to(event.source);
            event.pair = to(event.pair);
            event.po_predecessor = to(event.po_predecessor);
            event.co_successor = NONE;
            if let Action::Create { thread } = event.action {
                out.threads[thread].creator = new;
            }
            let thread_events = &mut out.threads[event.thread];
            thread_events.count += 1;
            thread_events.last = new;
            out.events.push(event);
            out.clocks.extend_from_slice(self.clock(id as EventId));
        }
        for (place, location) in self.locations.iter().zip(0..) {
            let Some(number) = out.location_number(place.at) else {
                continue;
            };
            let mut previous = NONE;
            for write in self.writes(location) {
                let new = renumbered[write as usize];
                if new != NONE {
                    out.link(number, previous, new);
                    previous = new;
                }
            }
        }
    }
}
