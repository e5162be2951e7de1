//! Threads that wait for a lock, in a graph.
//!
//! A wait has a place in the order of addition and no other: it is no event of its thread, and
//! orders nothing. What the thread reads then is one of the writes that were added after it.

use crate::graph::execution_graph::{Event, Graph, Slot, NONE};
use crate::source::{Action, ThreadId, Told};

impl Graph {
    /// Has a thread wait, until something is added that its next read may read from.
    pub fn push_wait(&mut self, thread: ThreadId, told: &Told) {
        let slot = self.events.len() as Slot;
        let line = &mut self.threads[thread];
        self.events.push(Event {
            thread,
            index: line.count,
            action: Action::Wait,
            site: told.site,
            value: 0,
            location: NONE,
            source: NONE,
            pair: NONE,
            after: NONE,
            before: line.waits,
            revisited: false,
        });
        line.waits = slot;
        self.clocks.resize(self.events.len() * self.stride, 0);
    }

    /// Has a thread wait instead of reading, which is its last event, from a write that was added
    /// later: what is there because of it.
    pub fn wait_instead(&mut self, read: Slot) {
        let event = *self.event(read);
        let line = &mut self.threads[event.thread];
        line.count -= 1;
        line.last = event.before;
        let before = std::mem::replace(&mut line.waits, read);
        self.places[event.location as usize].users -= 1;
        *self.event_mut(read) = Event {
            action: Action::Wait,
            value: 0,
            location: NONE,
            before,
            ..event
        };
    }

    pub fn has_waits(&self) -> bool {
        self.events.iter().any(|event| event.action == Action::Wait)
    }

    /// After what a thread waits for something to read from, if it waits.
    pub fn waits_since(&self, thread: ThreadId) -> Option<Slot> {
        let line = &self.threads[thread];
        let waits = line.waits != NONE && self.event(line.waits).index == line.count;
        waits.then_some(line.waits)
    }
}
