//! Threads that wait before a read: for a lock, or in a loop.
//!
//! A thread that reads in vain what it waits for would read again. So that read is not added: the
//! thread waits, and reads from one of the writes that are added later (Kokologiannakis, Marmanis,
//! Vafeiadis, "Unblocking dynamic partial order reduction", CAV 2023). A wait has a position in the
//! order of addition, but it is not an event of its thread and orders nothing.
//!
//! - A wait is added where the last write of the location lets the thread wait. The other writes that
//!   are there are alternatives, as for any read, if the thread does not wait after them. The writes
//!   that are not there yet are read after the wait. It follows from what was added before it, so a
//!   revisit may delete it.
//! - A read from the last write after which the thread does not wait is revisited by later writes.
//!   One that lets the thread wait is the *cause* of a wait in place of the read, if it comes last in
//!   coherence order. If it does not, the thread would wait until the end: a revisit changes a read
//!   only if it reads from what would be the last write without the revisit.
//! - For the same reason a read after this wait may read from those writes alone for which the cause
//!   is the last write, of those that were added before the wait or are in the causal prefix of the
//!   write that is read; or for which the last one is a write of which this holds
//!   ([`Graph::is_due_to`]). A read from another write results from a revisit of the read that was
//!   replaced, or from a wait with another cause.
//! - In the end, the threads that wait read the last write, in vain. An execution in which one may not
//!   read it, because of the cause of its wait, is left out.
//!
//! So each execution in which every thread ends is found, and once; also each in which the threads
//! that wait have read the last writes. Others show nothing: what a thread reads in vain orders nothing
//! for the others, and without these reads the execution is a part of executions that are found. What
//! such a read shows itself, a race or a use before an allocation, is the subject of
//! [`Source::waits_in_place`](crate::Source::waits_in_place) and of `Execution::waits_in_place`.

use crate::graph::execution_graph::{Event, EventId, Graph, NONE};
use crate::source::{Action, EventLabel, ThreadId};

impl Graph {
    /// Makes a thread wait until a write is added that its next read may read from.
    pub fn push_wait(&mut self, thread: ThreadId, label: &EventLabel) {
        let id = self.events.len() as EventId;
        let thread_events = &mut self.threads[thread];
        let (index, before) = (thread_events.count, thread_events.waits);
        let wait = EventLabel::new(Action::Wait, label.site);
        self.events
            .push(Event::new(thread, index, &wait, NONE, before));
        thread_events.waits = id;
        self.clocks.resize(self.events.len() * self.stride, 0);
    }

    /// Replaces a read, the last event of its thread, by a wait. The write it read from was added
    /// later, and causes the wait.
    pub fn wait_instead(&mut self, read: EventId) {
        let event = *self.event(read);
        let thread_events = &mut self.threads[event.thread];
        thread_events.count -= 1;
        thread_events.last = event.po_predecessor;
        let before = std::mem::replace(&mut thread_events.waits, read);
        self.locations[event.location as usize].users -= 1;
        *self.event_mut(read) = Event {
            action: Action::Wait,
            value: 0,
            location: NONE,
            po_predecessor: before,
            ..event
        };
    }

    pub fn has_waits(&self) -> bool {
        self.events.iter().any(|event| event.action == Action::Wait)
    }

    /// The wait with a cause before the event of this index of a thread.
    fn caused_wait(&self, thread: ThreadId, index: u32) -> Option<EventId> {
        let wait = |id: EventId| (id != NONE).then_some(id);
        let before = |id: &EventId| wait(self.event(*id).po_predecessor);
        let mut waits = std::iter::successors(wait(self.threads[thread].waits), before);
        waits.find(|id| self.event(*id).index == index && self.event(*id).source != NONE)
    }

    /// Whether the event of this index of a thread may read from a write, after the waits before it.
    pub fn may_follow_waits(&self, thread: ThreadId, index: u32, write: EventId) -> bool {
        let wait = self.caused_wait(thread, index);
        wait.is_none_or(|wait| self.is_due_to(wait, write))
    }

    /// Whether the read after a wait, which is the last one before it, may read from a write.
    pub fn ends_wait(&self, wait: EventId, write: EventId) -> bool {
        let Event { thread, index, .. } = *self.event(wait);
        write != NONE && write > wait && self.may_follow_waits(thread, index, write)
    }

    /// Whether a thread whose last event is a wait would read the last write of the location if it
    /// did not wait.
    pub fn waits_for_last(&self, thread: ThreadId, location: u32) -> bool {
        let wait = self.caused_wait(thread, self.threads[thread].count);
        wait.is_none_or(|wait| {
            let last = self.last_write(location);
            last == self.event(wait).source || self.is_due_to(wait, last)
        })
    }

    /// Whether a wait is what precedes a read from, or what the search adds before a revisit by,
    /// this write. The writes that were added before the wait precede its cause in coherence order.
    pub(super) fn is_due_to(&self, wait: EventId, mut write: EventId) -> bool {
        let cause = self.event(wait).source;
        let location = self.event(cause).location;
        loop {
            let previous = |other: &EventId| *other != write && self.precedes(*other, write);
            let last = self.writes(location).filter(previous).last();
            write = match last {
                Some(last) if last == cause => return true,
                Some(last) if last > wait => last,
                _ => return false,
            };
        }
    }

    /// The wait of a thread, if it waits: it may read from writes added later.
    pub fn waits_since(&self, thread: ThreadId) -> Option<EventId> {
        let thread_events = &self.threads[thread];
        let waits = thread_events.waits != NONE
            && self.event(thread_events.waits).index == thread_events.count;
        waits.then_some(thread_events.waits)
    }
}
