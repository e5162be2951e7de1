//! Whether all events of a partial execution can still be added to the graph.
//!
//! A read that waits for a later write may wait for one that itself needs the read. No extension of
//! such an execution is complete, and the sooner that is seen, the fewer choices of other reads are
//! tried. What can be added is taken to be the least set that contains what needs only events of the
//! set, where a read needs a write of its location. A thread that may continue may write anything.
//!
//! A later event of the read's thread, of the same location, may have a place in coherence order that
//! leaves none to a write that the read could read from. An execution in which the thread stops before that
//! event is found all the same: on a way to it, each read that it does not contain waits, or reads the last
//! write of the location, and neither leaves the read without a place.

use crate::search::postponed::execution::{EventPosition, PartialExecution};
use crate::search::postponed::progress::Progress;
use crate::search::postponed::worker::PostponingWorker;
use crate::source::{Action, Next, Source, ThreadId};

impl<S: Source> PostponingWorker<'_, S> {
    /// Whether some event cannot be added to the graph, and its thread does not wait because of it, or
    /// of a read before it; only a read that was left out lets a thread wait.
    pub(super) fn is_stuck(
        &mut self,
        execution: &PartialExecution,
        ready: &[EventPosition],
    ) -> bool {
        let decided = execution.threads.iter().all(|run| run.waits.is_none());
        if decided && execution.open_reads().count() == ready.len() {
            return false;
        }
        let progress = self.progress(execution, ready, None);
        // where the thread waits, it does not come to the event
        let after_left_out = |at: EventPosition| {
            let before = &execution.threads[at.thread].events[..at.index];
            before.iter().any(|event| event.is_open() && event.left_out)
        };
        let stuck = execution.positions().any(|at| {
            // a thread that is taken to wait does so because of what it reads in the end
            let decides =
                execution.threads[at.thread].waits.is_some() && execution.event(at).left_out;
            let may_wait = || match execution.next(&self.states, at.thread) {
                _ if decides => true,
                // the thread comes to it, whatever other reads read
                _ if !execution.event(at).left_out
                    && execution.is_added_up_to(at.thread, at.index) =>
                {
                    false
                }
                // before its last event, which is a read
                None | Some(Next::Needs(_)) => true,
                Some(_) => execution.is_undecided(&self.states, at.thread),
            };
            !(progress.has(at) || execution.event(at).is_read() && may_wait() || after_left_out(at))
        });
        self.own.progress = progress;
        stuck
    }

    /// Whether a write that the read may read from may still be added while the read is not in the
    /// graph. `all`: where everything can be added ([`everything`](Self::everything)).
    pub(super) fn may_be_written(
        &mut self,
        execution: &PartialExecution,
        read: EventPosition,
        (ready, all): (&[EventPosition], &Progress),
    ) -> bool {
        if !self.may_get_source(execution, read, all) {
            return false;
        }
        let progress = self.progress(execution, ready, Some(read));
        let may = self.may_get_source(execution, read, &progress);
        self.own.progress = progress;
        may
    }

    /// As if all events could be added, and all threads continued that may.
    pub(super) fn everything(&self, execution: &PartialExecution) -> Progress {
        let threads = 0..execution.threads.len();
        let continues = |thread| execution.may_continue(&self.states, thread);
        let runs = execution.threads.iter();
        Progress {
            events: runs.map(|run| vec![true; run.events.len()]).collect(),
            continuing: threads.map(continues).collect(),
            changed: false,
        }
    }

    /// What can be added before this read. `ready`: the reads that have a write to read from.
    fn progress(
        &mut self,
        execution: &PartialExecution,
        ready: &[EventPosition],
        before: Option<EventPosition>,
    ) -> Progress {
        let mut progress = std::mem::take(&mut self.own.progress);
        progress.start(execution);
        let others = ready.iter().filter(|read| Some(**read) != before);
        others.for_each(|read| progress.add(*read));
        progress.changed = true;
        while std::mem::take(&mut progress.changed) {
            self.spread(execution, &mut progress, before);
        }
        progress
    }

    fn spread(
        &mut self,
        execution: &PartialExecution,
        progress: &mut Progress,
        before: Option<EventPosition>,
    ) {
        for at in execution.positions() {
            if Some(at) != before && !progress.has(at) && self.can_be_added(execution, at, progress)
            {
                progress.add(at);
            }
        }
        for thread in 0..execution.threads.len() {
            if !progress.continuing[thread] && self.continues(execution, thread, progress) {
                progress.continuing[thread] = true;
                progress.changed = true;
            }
        }
    }

    fn can_be_added(
        &mut self,
        execution: &PartialExecution,
        at: EventPosition,
        progress: &Progress,
    ) -> bool {
        let events = &execution.threads[at.thread].events;
        let event = &events[at.index];
        match event.label.action {
            Action::Read { .. } => self.may_get_source(execution, at, progress),
            Action::Write { .. } => {
                let needed = |read: EventPosition| progress.has(read);
                let data = self
                    .own
                    .sets
                    .reads(self.queue.source, event.label.dependencies.data);
                let mut data = data.iter().map(|index| EventPosition {
                    index: *index as usize,
                    ..at
                });
                data.all(needed)
                    && (!event.is_rmw() || execution.read_of(at).is_some_and(needed))
                    && (!self.follows_all(event) || progress.has_all_before(at))
            }
            _ => progress.has_all_before(at),
        }
    }

    /// Whether a read has a write to read from, among those that can be added.
    fn may_get_source(
        &mut self,
        execution: &PartialExecution,
        read: EventPosition,
        progress: &Progress,
    ) -> bool {
        if self.checker.coherent && !execution.may_read_later_write(read) {
            return false;
        }
        let location = execution.event(read).location;
        (0..execution.threads.len()).any(|thread| {
            let events = &execution.threads[thread].events;
            let own = thread == read.thread && self.checker.coherent;
            let before = if own { read.index } else { events.len() };
            let continues = !own && progress.continuing[thread];
            let all = progress.events[thread].iter().all(|can| *can);
            continues && self.may_write(execution, (thread, all), read)
                || events[..before].iter().enumerate().any(|(index, event)| {
                    let can = event.is_open() && progress.has(EventPosition { thread, index });
                    let writes = event.is_write() && event.location == location;
                    can && (writes || matches!(event.label.action, Action::Create { .. }))
                })
        })
    }

    fn continues(
        &mut self,
        execution: &PartialExecution,
        thread: ThreadId,
        progress: &Progress,
    ) -> bool {
        if !execution.may_continue(&self.states, thread) {
            return false;
        }
        let index = execution.threads[thread].events.len();
        let end = EventPosition { thread, index };
        match execution.next(&self.states, thread) {
            // before its last event
            None => progress.events[thread].last().is_some_and(|can| *can),
            Some(Next::Needs(reads)) => {
                let reads = self.own.sets.reads(self.queue.source, *reads);
                reads
                    .iter()
                    .all(|read| progress.events[thread][*read as usize])
            }
            Some(Next::Event(label)) => match label.action {
                Action::Fence { .. } => progress.has_all_before(end),
                // it is still to be created, and may do anything then
                Action::Join { thread: joined } if joined >= execution.threads.len() => true,
                Action::Join { thread: joined } => {
                    let ends = matches!(execution.next(&self.states, joined), Some(Next::Done(_)));
                    let all = progress.events[joined].iter().all(|can| *can);
                    all && (ends || progress.continuing[joined])
                }
                _ => true,
            },
            Some(_) => false,
        }
    }
}
