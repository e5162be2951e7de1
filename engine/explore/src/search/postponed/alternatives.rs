//! What a partial execution may be extended by: events that can be added to the graph, what reads may
//! read from, positions in coherence order.

use std::ops::Range;

use crate::graph::execution_graph::NONE;
use crate::search::halt::Halt;
use crate::search::postponed::execution::{
    after_read, EventPosition, LocalEvent, PartialExecution,
};
use crate::search::postponed::worker::{PostponingWorker, ReadSource};
use crate::source::{Action, Next, Source, ThreadId};

impl<S: Source> PostponingWorker<'_, S> {
    /// A write, or the creation of a thread, that is not in the graph although all that it needs is.
    pub(super) fn ready(&mut self, execution: &PartialExecution) -> Option<EventPosition> {
        // twins add their events one after the other
        let ready = |at: &EventPosition| {
            let event = execution.event(*at);
            match event.label.action {
                _ if !event.is_open() => false,
                Action::Create { .. } => execution.is_added_up_to(at.thread, at.index),
                Action::Write { .. } => {
                    if self.follows_all(event) && !execution.is_added_up_to(at.thread, at.index) {
                        return false;
                    }
                    let read = execution.read_of(*at);
                    let read = read.is_some_and(|read| execution.is_shown(execution.event(read)));
                    (!event.is_rmw() || read && self.is_decided(execution, *at))
                        && self.valued(execution, *at).is_some()
                }
                _ => false,
            }
        };
        execution
            .positions()
            .filter(ready)
            .min_by_key(|at| (at.index, at.thread))
    }

    /// Whether a write is added to the graph after all events before it.
    pub(super) fn follows_all(&self, write: &LocalEvent) -> bool {
        match write.label.action {
            Action::Write { order, .. } => self.checker.releases_last && order.releases(),
            _ => false,
        }
    }

    /// Whether the reads are in the graph that decide whether there is a write.
    fn is_decided(&mut self, execution: &PartialExecution, write: EventPosition) -> bool {
        let events = &execution.threads[write.thread].events;
        let ctrl = events[write.index].label.dependencies.ctrl;
        let reads = self.own.sets.reads(self.queue.source, ctrl);
        reads.iter().all(|read| events[*read as usize].added != 0)
    }

    /// Since when the value of a write is known; none: it is not.
    pub(super) fn valued(
        &mut self,
        execution: &PartialExecution,
        write: EventPosition,
    ) -> Option<u32> {
        let events = &execution.threads[write.thread].events;
        let data = events[write.index].label.dependencies.data;
        let reads = self.own.sets.reads(self.queue.source, data);
        let mut added = reads.iter().map(|read| events[*read as usize].added);
        added.try_fold(0, |since, added| (added != 0).then_some(since.max(added)))
    }

    /// Whether a thread waits until its twins have decided what they read where it has.
    pub(super) fn lets_twins_decide(
        &mut self,
        execution: &PartialExecution,
        thread: ThreadId,
    ) -> bool {
        let undecided: Vec<EventPosition> = execution.undecided_twins(thread).collect();
        let may_decide = |read: &EventPosition| !self.sources(execution, *read).is_empty();
        undecided.iter().any(may_decide)
    }

    /// The positions in coherence order that an event may have, as the number of writes before it.
    pub(super) fn positions(
        &self,
        execution: &PartialExecution,
        at: EventPosition,
    ) -> Range<usize> {
        match self.checker.coherent {
            true => execution.coherent_positions(at),
            false => {
                0..execution.locations[execution.event(at).location]
                    .order
                    .len()
                    + 1
            }
        }
    }

    /// What a read may read from: the writes in the graph, and a write of its own thread whose value is
    /// known, but that is added only after others: that of a read-modify-write, after its read, and one
    /// that releases, where it follows all events before it.
    pub(super) fn sources(
        &mut self,
        execution: &PartialExecution,
        read: EventPosition,
    ) -> Vec<ReadSource> {
        let event = execution.event(read);
        let order = &execution.locations[event.location].order;
        let later = |time: u32| event.waits_since.is_none_or(|since| time > since);
        let mut found = Vec::new();
        let own = execution.own_write(read);
        let forwards = |own: &LocalEvent| own.is_rmw() || self.follows_all(own);
        let own = own.filter(|own| forwards(execution.event(*own)));
        let valued = own.and_then(|own| self.valued(execution, own));
        let mut positions = self.positions(execution, read);
        if execution.locations[event.location].at.barrier().is_some() {
            // only the last write lets a thread continue
            positions.start = positions.end - 1;
        }
        for position in positions {
            match position.checked_sub(1).map(|at| order[at]) {
                None if event.waits_since.is_none() => found.push(ReadSource::Initial),
                None => {}
                Some(write) => {
                    let added = match Some(write) == own {
                        true => valued.unwrap_or(0),
                        false => execution.event(write).added,
                    };
                    if later(added) {
                        found.push(ReadSource::Write(write));
                    }
                }
            }
        }
        let pending = own.filter(|own| execution.event(*own).is_open());
        if let (Some(own), Some(since)) = (pending, valued) {
            if event.waits_since.is_none() || since > 0 && later(since) {
                found.push(ReadSource::Write(own));
            }
        }
        found
    }

    /// Drops the sources of a read that are overwritten by a write that it is known to follow
    /// ([`stale_access`](crate::consistency::stale_access)).
    pub(super) fn drop_stale(
        &mut self,
        execution: &mut PartialExecution,
        read: EventPosition,
        sources: &mut Vec<ReadSource>,
    ) -> Result<(), Halt> {
        // whether the read of a read-modify-write gets a write is not known yet
        if sources.len() < 2 || execution.event(read).is_rmw() || self.checker.is_kernel() {
            return Ok(());
        }
        // shown without a source, for the events before it
        execution.event_mut(read).added = execution.time.max(1);
        let ids = execution.graph(self.queue.source, &mut self.own.sets, &mut self.own.graph);
        execution.event_mut(read).added = 0;
        let id = |at: EventPosition| ids[at.thread][at.index];
        for index in (0..sources.len()).rev() {
            let source = match sources[index] {
                ReadSource::Initial => NONE,
                ReadSource::Write(write) if id(write) != NONE => id(write),
                ReadSource::Write(_) | ReadSource::Later => continue,
            };
            let Some(by) = self.own.graph.ordered_write(id(read), source) else {
                continue;
            };
            if self
                .checker
                .forbids_source(&self.own.graph, id(read), source, by)?
            {
                sources.remove(index);
            }
        }
        Ok(())
    }

    /// The reads that are not in the graph and that have a write to read from.
    pub(super) fn ready_reads(&mut self, execution: &PartialExecution) -> Vec<EventPosition> {
        let mut reads: Vec<EventPosition> = execution.open_reads().collect();
        reads.retain(|at| !self.sources(execution, *at).is_empty());
        reads.sort_by_key(|at| (at.index, at.thread));
        reads
    }

    /// Which of the reads that are ready gets its source next, if there is one: one that no later
    /// write can change before others, and twins one after the other. And whether it may wait for
    /// such a write.
    pub(super) fn next_read(
        &mut self,
        execution: &PartialExecution,
        ready: &[EventPosition],
    ) -> Option<(EventPosition, bool)> {
        let all = self.everything(execution);
        let settled = |at: &&EventPosition| !self.may_be_written(execution, **at, (ready, &all));
        match ready.iter().find(settled) {
            Some(settled) => Some((*settled, false)),
            None => ready.first().map(|first| (*first, true)),
        }
    }

    /// Whether the next event of some thread may be the write of a read-modify-write whose read is
    /// in the graph.
    pub(super) fn is_between(&self, execution: &PartialExecution) -> bool {
        (0..execution.threads.len()).any(|thread| {
            let events = &execution.threads[thread].events;
            let write = |event: &LocalEvent| event.is_rmw() && event.is_write();
            let next = || match execution.next(&self.states, thread) {
                Some(Next::Event(label)) => {
                    let writes = matches!(label.action, Action::Write { rmw: true, .. });
                    writes || label.continues || label.action.is_decision()
                }
                _ => false,
            };
            events.iter().enumerate().any(|(index, event)| {
                let read = event.added != 0 && event.is_rmw() && event.is_read();
                let parts = events[index + 1..].iter();
                let mut parts = parts.take_while(|part| part.is_read() && part.label.continues);
                read && match after_read(events, index) {
                    None => parts.any(LocalEvent::is_open) || next(),
                    Some(event) => write(event) && event.is_open(),
                }
            })
        })
    }
}
