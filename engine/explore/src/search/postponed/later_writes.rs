//! Whether a read may wait for a write that is added later: whether a thread may still write to its
//! location without waiting for the read.

use crate::exploration::ExecutionEnd;
use crate::search::execution::EndedExecution;
use crate::search::postponed::execution::{acquires, releases, PartialExecution, Place, Slot};
use crate::search::postponed::worker::{PostponingWorker, ReadSource};
use crate::source::{Action, Next, Source, ThreadId};

impl<'s, S: Source, F> PostponingWorker<'s, S, F>
where
    F: Fn(&EndedExecution<S::Thread>, ExecutionEnd) + Sync,
{
    /// Whether a write that the read may read from may still be added.
    pub(super) fn may_be_written(&mut self, execution: &PartialExecution, read: Place) -> bool {
        let location = execution.slot(read).location;
        let creates = |at: Place| {
            let slot = execution.slot(at);
            let after = at.thread == read.thread && at.index > read.index;
            slot.is_open() && !after && matches!(slot.label.action, Action::Create { .. })
        };
        if execution.places().any(creates) {
            return true;
        }
        let own = |thread: ThreadId| thread == read.thread && self.checker.coherent;
        let pending = (0..execution.threads.len()).any(|thread| {
            let slots = &execution.threads[thread].slots;
            let slots = match own(thread) {
                true => &slots[..read.index],
                false => &slots[..],
            };
            slots.iter().any(|slot| awaits(slot, location))
        });
        pending || self.others_continue(execution, read)
    }

    /// Whether a thread may have events that are not known yet while this read waits.
    fn others_continue(&mut self, execution: &PartialExecution, read: Place) -> bool {
        let mut continuing = vec![false; execution.threads.len()];
        loop {
            let mut more = false;
            for thread in 0..continuing.len() {
                if continuing[thread]
                    || !execution.may_continue(&self.states, thread)
                    || !self.continues(execution, thread, read, &continuing)
                {
                    continue;
                }
                if thread != read.thread || !self.checker.coherent {
                    return true;
                }
                continuing[thread] = true;
                more = true;
            }
            if !more {
                return false;
            }
        }
    }

    /// Whether a thread may continue while this read waits, if these threads do.
    fn continues(
        &mut self,
        execution: &PartialExecution,
        thread: ThreadId,
        read: Place,
        continuing: &[bool],
    ) -> bool {
        let needed = match execution.next(&self.states, thread) {
            Some(Next::Event(label)) => {
                return match label.action {
                    Action::Join { thread } => {
                        let started = thread < continuing.len();
                        let runs = started && execution.may_continue(&self.states, thread);
                        thread != read.thread && (!runs || continuing[thread])
                    }
                    Action::Fence { .. } => thread != read.thread,
                    _ => true,
                }
            }
            Some(Next::Needs(set)) => self.sets.reads(self.queue.source, *set).to_vec(),
            _ => vec![execution.threads[thread].slots.len() as u32 - 1],
        };
        let mut needed = needed.into_iter().map(|index| Place {
            thread,
            index: index as usize,
        });
        needed.all(|at| at != read && self.may_get_source(execution, at, read, continuing))
    }

    /// Whether a read may get its source while another waits, if these threads continue.
    fn may_get_source(
        &mut self,
        execution: &PartialExecution,
        at: Place,
        read: Place,
        continuing: &[bool],
    ) -> bool {
        let slot = execution.slot(at);
        let location = slot.location;
        if continuing.iter().any(|runs| *runs) && !self.takes_lock(slot) {
            return true;
        }
        // a release store follows the reads before it
        let follows = |place: Place| {
            let after = place.thread == read.thread && place.index > read.index;
            let action = execution.slot(place).label.action;
            let last = self.checker.releases_last;
            after && last && matches!(action, Action::Write { order, .. } if releases(order))
        };
        let comes = |place: Place| awaits(execution.slot(place), location) && !follows(place);
        if execution.places().any(comes) {
            return true;
        }
        if !self.takes_lock(slot) {
            return slot.waits_since.is_none() || !self.sources(execution, at).is_empty();
        }
        // what takes the lock comes between its read and another write, and frees it for none
        let free = |source: &ReadSource| {
            let write = match source {
                ReadSource::Write(write) => Some(*write),
                ReadSource::Initial | ReadSource::Later => None,
            };
            let position = execution.position_after(location, write);
            let taken = execution.is_taken(location, position);
            !taken && !write.is_some_and(|write| execution.slot(write).is_rmw())
        };
        self.sources(execution, at).iter().any(free)
    }

    /// Whether a read takes a lock, for which it waits until a release store frees it.
    fn takes_lock(&self, slot: &Slot) -> bool {
        let action = slot.label.action;
        let acquires = matches!(action, Action::Read { order, rmw: true, .. } if acquires(order));
        acquires
            && self.checker.releases_last
            && self.queue.source.takes_lock(self.states.thread(slot.node))
    }
}

/// Whether this is a write to a location that is still to be added to the graph.
fn awaits(slot: &Slot, location: usize) -> bool {
    slot.is_open() && slot.is_write() && slot.location == location
}
