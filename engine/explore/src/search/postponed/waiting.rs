//! Threads that wait: for a lock, in a loop, in a library function.
//!
//! Such a thread has read that something has not happened. The search leaves that read out, and the
//! thread waits for a write that it may read instead; if none comes, it reads the last one, as it
//! would forever. Reads that the thread postponed, and does not wait for, get their sources like any
//! others. But the read that is left out may take part in a race that what is read later does not
//! show: under a model that flags races, only reads of locks are left out, whose accesses race with
//! none.
//!
//! Whether a thread waits may depend on a read that was postponed. Reads that follow the header of the
//! loop may get their sources before that is known, if no later write can change these; then the thread
//! cannot have waited. Such an execution is given up, and the exploration is not complete.

use crate::exploration::{ExecutionEnd, Truncation};
use crate::search::execution::EndedExecution;
use crate::search::postponed::execution::{PartialExecution, Place};
use crate::search::postponed::worker::PostponingWorker;
use crate::search::thread_states::ThreadStates;
use crate::source::{Initial, Next, Source, ThreadId, Wait};

const MISSING: &str = "executions are not explored in which the thread waits before this access, \
                       because of a read that it need not perform first";

impl PartialExecution {
    /// Whether a thread waits, whatever its reads that are not in the graph read.
    pub fn is_waiting<T: Clone>(&self, states: &ThreadStates<T>, thread: ThreadId) -> bool {
        matches!(self.next(states, thread), Some(Next::Blocked { .. }))
    }

    /// Whether a thread waits because of what this read has read, for a lock or at a barrier if
    /// `locks`.
    pub fn waits<T: Clone>(&self, states: &ThreadStates<T>, read: Place, locks: bool) -> bool {
        let Some(Next::Blocked { wait, .. }) = self.next(states, read.thread) else {
            return false;
        };
        if locks && !matches!(wait, Wait::Handover { .. }) {
            return false;
        }
        let slots = &self.threads[read.thread].slots[read.index..];
        let since = slots.iter().filter(|slot| slot.matters()).count();
        let (_, reads) = wait.awaited().unwrap_or_default();
        self.slot(read).matters() && since <= reads
    }

    /// Whether an access is to an object that the program allocates: one that a waiting thread reads
    /// may be freed meanwhile.
    pub fn may_be_freed<S: Source>(
        &self,
        source: &S,
        states: &mut ThreadStates<S::Thread>,
        access: Place,
    ) -> bool {
        let at = self.locations[self.slot(access).location].at;
        states.initial(source, at) == Initial::Outside
    }

    /// Lets the reads that wait for a write read the last one. Returns how many these are; none if
    /// some thread does not wait then, for a lock if `locks`, or another event is not in the graph.
    pub fn resolve_waits<S: Source>(
        &mut self,
        source: &S,
        states: &mut ThreadStates<S::Thread>,
        locks: bool,
    ) -> Option<usize> {
        let mut count = 0;
        loop {
            let mut places = self.places();
            let Some(at) = places.find(|at| self.slot(*at).is_open()) else {
                return Some(count);
            };
            drop(places);
            if !self.slot(at).is_read() {
                return None;
            }
            let location = self.slot(at).location;
            let last = self.locations[location].order.last().copied();
            if self.is_waiting(states, at.thread) {
                return None;
            }
            self.add_read(at, last);
            if !self.proceed(source, states, at) || !self.waits(states, at, locks) {
                return None;
            }
            count += 1;
        }
    }
}

impl<'s, S: Source, F> PostponingWorker<'s, S, F>
where
    F: Fn(&EndedExecution<S::Thread>, ExecutionEnd) + Sync,
{
    /// Records that executions are missing, if a thread waits before an event that is in the graph,
    /// because of a read that was postponed: whether the thread comes to that event was taken to be
    /// decided. The exploration is not complete then.
    pub(super) fn record_missing(&mut self, execution: &PartialExecution) {
        if let Some(site) = execution.waits_before {
            self.found.truncate(Truncation {
                message: MISSING.to_owned(),
                site: Some(site),
                limit: "model".to_owned(),
                because: String::new(),
            });
        }
    }
}
