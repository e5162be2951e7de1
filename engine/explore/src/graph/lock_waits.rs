//! Threads that wait for a lock.
//!
//! A wait has a position in the order of addition, but it is not an event of its thread and orders
//! nothing. The thread's next read reads from one of the writes added after the wait.

use crate::graph::execution_graph::{Event, EventId, Graph, NONE};
use crate::source::{Action, EventLabel, ThreadId};

impl Graph {
    /// Makes a thread wait until a write is added that its next read may read from.
    pub fn push_wait(&mut self, thread: ThreadId, label: &EventLabel) {
        let id = self.events.len() as EventId;
        let thread_events = &mut self.threads[thread];
        self.events.push(Event {
            thread,
            index: thread_events.count,
            action: Action::Wait,
            site: label.site,
            value: 0,
            location: NONE,
            source: NONE,
            pair: NONE,
            after: NONE,
            before: thread_events.waits,
            revisited: false,
        });
        thread_events.waits = id;
        self.clocks.resize(self.events.len() * self.stride, 0);
    }

    /// Replaces a read, the last event of its thread, by a wait. The write it read from was added
    /// later, and causes the wait.
    pub fn wait_instead(&mut self, read: EventId) {
        let event = *self.event(read);
        let thread_events = &mut self.threads[event.thread];
        thread_events.count -= 1;
        thread_events.last = event.before;
        let before = std::mem::replace(&mut thread_events.waits, read);
        self.locations[event.location as usize].users -= 1;
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

    /// The wait of a thread, if it waits: it may read from writes added later.
    pub fn waits_since(&self, thread: ThreadId) -> Option<EventId> {
        let thread_events = &self.threads[thread];
        let waits = thread_events.waits != NONE
            && self.event(thread_events.waits).index == thread_events.count;
        waits.then_some(thread_events.waits)
    }
}
