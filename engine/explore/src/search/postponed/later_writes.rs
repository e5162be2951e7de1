//! Which writes a thread may still perform, as far as is known
//! ([`later_writes`](crate::threads::later_writes) has the argument).

use crate::search::postponed::execution::{EventPosition, PartialExecution};
use crate::search::postponed::worker::PostponingWorker;
use crate::source::{Action, Source, ThreadId, Writes};

impl<S: Source> PostponingWorker<'_, S> {
    /// Records that a thread has come to a write, or the read of a read-modify-write. Those that behave
    /// like it may do so, wherever exchanges of threads lead to.
    pub(super) fn foresee(&mut self, execution: &PartialExecution, at: EventPosition) {
        let event = execution.event(at);
        if !event.attempts() {
            return;
        }
        let place = execution.locations[event.location].at;
        let thread = execution.threads[at.thread].class;
        let writes = Writes {
            count: execution.attempts(at.thread, event.location),
            last: self.follows_all(event),
        };
        for place in self.queue.exchanges.orbit(place) {
            let recorded = self.own.writes.recorded.entry((thread, place)).or_default();
            if !recorded.include(writes) {
                *recorded = recorded.and(writes);
                if !self.queue.source.wrote(thread, place, writes) {
                    // it may take as long again to learn of more
                    self.own.writes.end.get_or_insert(2 * self.steps);
                }
            }
        }
    }

    /// Whether a thread that continues may still write the location of a read, before that is in the
    /// graph. `all`: whether all events of the thread can be added.
    pub(super) fn may_write(
        &mut self,
        execution: &PartialExecution,
        (thread, all): (ThreadId, bool),
        read: EventPosition,
    ) -> bool {
        if !self.may_be_given_up(execution, read) {
            return true;
        }
        let location = execution.event(read).location;
        let key = (
            execution.threads[thread].class,
            execution.locations[location].at,
        );
        let source = self.queue.source;
        let expected = self.own.writes.expected.entry(key);
        let expected = *expected.or_insert_with(|| source.expected_writes(key.0, key.1));
        expected.is_none_or(|writes| {
            (all || !writes.last) && writes.count > execution.attempted(thread, location)
        })
    }

    /// Whether the argument holds for a read.
    fn may_be_given_up(&self, execution: &PartialExecution, read: EventPosition) -> bool {
        let acquires = match execution.event(read).label.action {
            Action::Read { order, .. } => order.acquires(),
            _ => true,
        };
        let own = execution.own_write(read);
        let [no_own_write, any] = self.checker.allows_earlier_source;
        let allows = match own {
            // what follows in its thread needs it
            _ if acquires || !self.queue.source.tracks_dependencies() => {
                execution.ends_thread(read)
            }
            None => no_own_write,
            Some(_) => any,
        };
        let pending = |own: EventPosition| execution.event(own).is_open();
        self.checker.extensible && allows && !own.is_some_and(pending)
    }
}
