//! Threads that wait: for a lock, in a loop, in a library function.
//!
//! Such a thread has read that something has not happened. The search leaves that read out, and the
//! thread waits for a write that it may read instead; if none comes, it reads the last one, as it
//! would forever. Reads that the thread postponed, and does not wait for, get their sources like any
//! others. But the read that is left out may take part in a race that what is read later does not
//! show: under a model that flags races, only reads of locks are left out, whose accesses race with
//! none, and those of loops for which that is known ([`left_out_accesses`]).
//!
//! Whether a thread waits may depend on reads that were postponed: at the header of a loop its state
//! may or may not be that of the round before. Such a thread continues when nothing else can: where
//! these reads have no write to read from yet, either it is taken to wait there, or not to. If a read
//! shows that it was not so, the execution is found in the other branch.
//!
//! Of twins that come to such a header, those with the smaller numbers wait.
//!
//! [`left_out_accesses`]: crate::threads::left_out_accesses

use crate::exploration::Truncation;
use crate::search::halt::Halt;
use crate::search::postponed::execution::{EventPosition, LocalEvent, PartialExecution};
use crate::search::postponed::worker::PostponingWorker;
use crate::search::thread_states::{ThreadStates, Transition};
use crate::source::{Initial, Next, Source, ThreadId, Wait};

const MISSING: &str =
    "executions are not explored in which the thread does not come to this access, \
                       because of a read that it need not perform first";

/// Whose last reads are left out.
#[derive(Clone, Copy)]
pub enum LeftOut {
    /// Threads that wait for a lock, or for the turn at a barrier.
    Handovers,
    /// Those in loops, too.
    Loops,
    /// And those in library functions.
    All,
}

impl LeftOut {
    fn has(self, wait: &Wait) -> bool {
        match wait {
            Wait::Handover { .. } => true,
            Wait::Spin { .. } => !matches!(self, LeftOut::Handovers),
            _ => matches!(self, LeftOut::All),
        }
    }
}

impl PartialExecution {
    /// Whether a thread waits, whatever its reads that are not in the graph read.
    pub fn is_waiting<S: Source>(&self, states: &ThreadStates<S>, thread: ThreadId) -> bool {
        matches!(self.next(states, thread), Some(Next::Blocked { .. }))
    }

    /// Whether postponed reads decide if a thread waits before its next event.
    pub fn is_undecided<S: Source>(&self, states: &ThreadStates<S>, thread: ThreadId) -> bool {
        let run = &self.threads[thread];
        matches!(self.next(states, thread), Some(Next::Event(_)))
            && states.source.is_undecided(states.thread(run.node))
            && run.continues != Some(run.events.len())
    }

    /// Lets a thread wait before its next event.
    pub fn wait<S: Source>(&mut self, states: &mut ThreadStates<S>, thread: ThreadId) {
        self.threads[thread].waits = Some(self.time);
        self.stop(states, thread, Transition::Waits);
    }

    /// Lets threads not wait before their next events.
    pub fn go_on(&mut self, threads: &[ThreadId]) {
        for thread in threads {
            let run = &mut self.threads[*thread];
            run.continues = Some(run.events.len());
        }
    }

    /// Whether a thread waits because of what this read has read, which is left out.
    pub fn waits<S: Source>(
        &self,
        states: &ThreadStates<S>,
        read: EventPosition,
        left_out: LeftOut,
    ) -> bool {
        let count = self.threads[read.thread].events.len();
        let next = self.next(states, read.thread);
        next.is_some_and(|next| self.waits_for(next, (read, count), left_out))
    }

    /// The same, of a thread that does this next, after so many of its events.
    fn waits_for(
        &self,
        next: &Next,
        (read, count): (EventPosition, usize),
        left_out: LeftOut,
    ) -> bool {
        let Next::Blocked { wait, .. } = next else {
            return false;
        };
        if !left_out.has(wait) {
            return false;
        }
        let events = &self.threads[read.thread].events[read.index..count];
        if events.iter().any(LocalEvent::is_write) {
            // of what the round writes, others may read
            return false;
        }
        let since = events.iter().filter(|event| event.matters()).count();
        let (_, reads) = wait.awaited().unwrap_or_default();
        self.event(read).matters() && since <= reads
    }

    /// Whether a thread would wait if this read, which is not in the graph, read from the last write.
    pub fn would_wait<S: Source>(
        &self,
        states: &mut ThreadStates<S>,
        read: EventPosition,
        left_out: LeftOut,
    ) -> bool {
        let last = self.locations[self.event(read).location].order.last();
        self.next_if_read(states, read, last.copied())
            .is_some_and(|(next, count)| self.waits_for(next, (read, count), left_out))
    }

    /// Whether a read that is not in the graph could have read from the last write, and did not.
    pub fn has_waited_for_last(&self, read: EventPosition) -> bool {
        let event = self.event(read);
        let last = self.locations[event.location].order.last();
        let added = last.map_or(0, |last| self.event(*last).added);
        event.waits_since.is_some_and(|since| added <= since)
    }

    /// Whether an access is to an object that the program allocates: one that a waiting thread reads
    /// may be freed meanwhile.
    pub fn may_be_freed<S: Source>(
        &self,
        states: &mut ThreadStates<S>,
        access: EventPosition,
    ) -> bool {
        let at = self.locations[self.event(access).location].at;
        states.initial(at) == Initial::Outside
    }

    /// Lets the reads that wait for a write read the last one. Returns how many these are; none if
    /// some thread does not wait then, or another event is not in the graph.
    pub fn resolve_waits<S: Source>(
        &mut self,
        states: &mut ThreadStates<S>,
        left_out: LeftOut,
    ) -> Option<usize> {
        let mut count = 0;
        loop {
            let mut places = self.positions();
            let Some(at) = places.find(|at| self.event(*at).is_open()) else {
                return Some(count);
            };
            drop(places);
            let event = self.event(at);
            let last = self.locations[event.location].order.last().copied();
            if !event.left_out {
                return None;
            }
            self.add_read(at, last);
            if !self.proceed(states, at) || !self.waits(states, at, left_out) {
                return None;
            }
            count += 1;
        }
    }
}

impl<S: Source> PostponingWorker<'_, S> {
    /// Whose last reads are left out under this model.
    pub(super) fn left_out(&self) -> LeftOut {
        match () {
            () if !self.checker.may_flag() => LeftOut::All,
            () if self.queue.source.waits_in_place() => LeftOut::Loops,
            () => LeftOut::Handovers,
        }
    }

    /// Lets a thread go on of which postponed reads decide whether it waits, and its twins, and
    /// explores what follows if it waits. Returns whether there is one.
    pub(super) fn decide(&mut self, execution: &mut PartialExecution) -> Result<bool, Halt> {
        let mut threads = 0..execution.threads.len();
        let undecided = |thread: &ThreadId| execution.is_undecided(&self.states, *thread);
        let Some(thread) = threads.find(undecided) else {
            return Ok(false);
        };
        let twins = execution.twins(thread);
        for waiting in 1..=twins.len() {
            let mut other = execution.clone();
            other.refresh_states(&mut self.states)?;
            other.go_on(&twins[waiting..]);
            for twin in &twins[..waiting] {
                other.wait(&mut self.states, *twin);
            }
            self.branch(other)?;
        }
        execution.refresh_states(&mut self.states)?;
        execution.go_on(&twins);
        Ok(true)
    }

    /// Records that executions are missing, if a thread does not come to an event that is in the
    /// graph, because of a read that was postponed. The exploration is not complete then.
    pub(super) fn record_missing(&mut self, execution: &PartialExecution) {
        if let Some(site) = execution.missed {
            self.found.truncate(Truncation {
                message: MISSING.to_owned(),
                site: Some(site),
                limit: "model".to_owned(),
                because: String::new(),
            });
        }
    }
}
