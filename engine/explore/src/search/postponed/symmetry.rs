//! Threads that behave alike: of the executions that differ only in which of them does what, one is
//! explored.
//!
//! Exchanging two such threads in an execution gives another execution of the program, consistent
//! with any model, which does not know the threads' numbers. The executions that are explored are
//! the leaves of a tree whose nodes are decisions: what a read reads from, where in coherence order a
//! write stands, which alternative is chosen. Of the executions that exchanges lead to, the one
//! whose sequence of decisions is the least in lexicographic order is found, with the decisions at a
//! node in the order of coherence, and a write that is added later as the last.
//!
//! A subtree is left out only where that shows it has no such execution. Let two threads be twins at
//! a node: what they have done is the same, and neither has a write in the graph, except at locations
//! that are exchanged with them ([`equivariance`]), as of elements of their own, in the same order as
//! the other and read by no third thread. Exchanging them gives the same node, so both the execution
//! and its exchanged form pass it, and the one whose first decision after it is less is less. At such
//! a node the thread with the smaller number decides first, so
//!
//! - where it has read from a write, its twin reads from none of the writes of that time that are
//!   before it in coherence order;
//! - where it waits for a later write, so does its twin;
//! - where its write was added, its twin's stands after it if a write of that time is between the
//!   two, and directly before it otherwise;
//! - its twin's alternative is none that comes before its own.
//!
//! At locations that are exchanged, the writes of that time correspond, and their numbers in coherence
//! order are compared.
//!
//! In which order they arrive at a barrier, where that order is fixed, does not distinguish them:
//! with the arrivals of two of them exchanged too, the order is the same as before.
//!
//! That threads that behave alike may be exchanged is from Emerson and Sistla, "Symmetry and model
//! checking", 1996; its combination with partial order reduction is the subject of Kokologiannakis,
//! Marmanis, Vafeiadis, "SPORE: Combining Symmetry and Partial Order Reduction", PLDI 2024. Their
//! search revisits, which makes what is a twin at a node a matter of proof; this one only adds.
//!
//! [`equivariance`]: crate::search::equivariance

use crate::search::postponed::execution::{EventPosition, LocalEvent, PartialExecution};
use crate::search::thread_states::ThreadStates;
use crate::source::{Action, Location, Source, ThreadId};

/// The round of a barrier that an event is an access of.
fn round_of(event: &LocalEvent) -> Option<Location> {
    let at = event.label.action.at();
    at.filter(|at| at.barrier().is_some())
}

/// What an event is when the threads of two events are exchanged.
fn exchanged(threads: [EventPosition; 2], event: EventPosition) -> EventPosition {
    let [one, other] = threads.map(|at| at.thread);
    let thread = match event.thread {
        thread if thread == one => other,
        thread if thread == other => one,
        thread => thread,
    };
    EventPosition { thread, ..event }
}

impl PartialExecution {
    /// The first of the threads that a new thread behaves like; itself if there is none. They are
    /// created one directly after the other.
    pub fn class<S: Source>(
        &self,
        states: &ThreadStates<S>,
        creator: EventPosition,
        thread: ThreadId,
    ) -> ThreadId {
        if let Some(class) = states.class(thread) {
            return class;
        }
        let before = |at: EventPosition| states.thread(self.event(at).node);
        let previous = creator.index.checked_sub(1);
        let previous = previous.map(|index| EventPosition { index, ..creator });
        let like = previous.and_then(|at| match self.event(at).label.action {
            Action::Create { thread: other } => states
                .source
                .are_symmetric((before(at), other), (before(creator), thread))
                .then_some(self.threads[other].class),
            _ => None,
        });
        like.unwrap_or(thread)
    }

    /// The events of other threads with smaller numbers that are in the graph, and that this event,
    /// which is not, could have had the part of: their threads were twins when they were added.
    fn taken_by_twins(&self, at: EventPosition) -> impl Iterator<Item = &LocalEvent> {
        let others = self.threads[self.threads[at.thread].class..at.thread].iter();
        let events = others.filter_map(move |other| other.events.get(at.index));
        events.filter(move |event| event.twins >> at.thread & 1 == 1)
    }

    /// The threads with greater numbers that are twins of the thread of an event, which is about to be
    /// added: a bit for each.
    pub fn twins_before(&self, at: EventPosition) -> u64 {
        let class = self.threads[at.thread].class;
        let others = at.thread + 1..self.threads.len();
        let others = others.filter(|other| self.threads[*other].class == class);
        let twins = others.filter(|other| self.may_take_part(at, *other));
        twins.fold(0, |all, twin| all | 1 << twin)
    }

    /// Whether the event at the same position of another thread, which is not in the graph, could be
    /// added instead of an event. Of the events that only one of the threads has reached so far nothing
    /// is decided.
    fn may_take_part(&self, at: EventPosition, other: ThreadId) -> bool {
        let (one, two) = (&self.threads[at.thread], &self.threads[other]);
        let undecided = |event: &LocalEvent| event.is_open() && event.waits_since.is_none();
        let corresponds = |index: usize| {
            let places = [at.thread, other].map(|thread| EventPosition { thread, index });
            match (one.events.get(index), two.events.get(index)) {
                (Some(_), Some(_)) => self.is_same(places[0], places[1]),
                (Some(event), None) | (None, Some(event)) => undecided(event),
                (None, None) => true,
            }
        };
        one.waits == two.waits && (0..one.events.len().max(two.events.len())).all(corresponds)
    }

    /// Whether two events of two threads are the same, whichever of them does what, as far as is
    /// decided: since what the threads did before is the same, only the answers may differ. Threads
    /// that may be exchanged although they get different arguments access different locations and
    /// read different values there, which correspond.
    fn is_same(&self, at: EventPosition, twin: EventPosition) -> bool {
        let (event, other) = (self.event(at), self.event(twin));
        let same_progress = (event.added == 0) == (other.added == 0)
            && (event.added != 0 || event.waits_since == other.waits_since);
        if round_of(event).is_some() {
            // in which order threads arrive at a barrier does not matter
            return same_progress;
        }
        let sources = event.source.map(|source| exchanged([at, twin], source)) == other.source;
        let changes = match event.label.action {
            Action::Write { .. } => !self.are_placed_alike(at, twin),
            Action::Create { .. } | Action::Allocate { .. } | Action::Free { .. } => true,
            action => action.is_decision() && event.value != other.value,
        };
        !changes && sources && same_progress
    }

    /// Whether an exchange of the threads of two writes exchanges what is written where these are, in
    /// coherence order.
    fn are_placed_alike(&self, at: EventPosition, twin: EventPosition) -> bool {
        let order = |location: usize| self.locations[location].order.iter().copied();
        let [one, other] = [at, twin].map(|at| self.event(at).location);
        let first = order(one).map(|write| exchanged([at, twin], write));
        first.eq(order(other))
    }

    /// How many of the writes that were in the graph at a time are, in coherence order, up to a write.
    fn rank(&self, location: usize, write: Option<EventPosition>, time: u32) -> usize {
        self.old_writes(location, self.position_after(location, write), time)
    }

    /// How many of the writes that were in the graph at a time are before a position.
    fn old_writes(&self, location: usize, position: usize, time: u32) -> usize {
        let before = self.locations[location].order[..position].iter();
        before
            .filter(|write| self.event(**write).added < time)
            .count()
    }

    /// The reads that are not in the graph of threads that were twins of a thread until it read
    /// there.
    pub fn undecided_twins(&self, thread: ThreadId) -> impl Iterator<Item = EventPosition> + '_ {
        let run = &self.threads[thread];
        let others = self.threads.iter().enumerate().skip(run.class);
        let others = others.filter(move |(_, other)| other.class == run.class);
        others.filter_map(move |(other, its)| {
            let mut events = its.events.iter();
            let index = events.position(LocalEvent::is_open)?;
            let read = run.events.get(index)?.added != 0;
            read.then_some(EventPosition {
                thread: other,
                index,
            })
        })
    }

    /// Whether a twin leaves a source to a read; none: the initial write.
    pub fn leaves_source(&self, read: EventPosition, write: Option<EventPosition>) -> bool {
        let location = self.event(read).location;
        let position = self.position_after(location, write);
        let added = write.map_or(0, |write| self.event(write).added);
        let denies = |twin: &LocalEvent| {
            added < twin.added
                && match twin.location == location {
                    true => position < self.position_after(location, twin.source),
                    false => {
                        self.rank(location, write, twin.added)
                            < self.rank(twin.location, twin.source, twin.added)
                    }
                }
        };
        !self.taken_by_twins(read).any(denies)
    }

    /// Whether a twin leaves a position in coherence order, as the number of writes before it, to a
    /// write.
    pub fn leaves_position(&self, write: EventPosition, position: usize) -> bool {
        let location = self.event(write).location;
        let denies = |twin: &LocalEvent| {
            let order = &self.locations[twin.location].order;
            let mut writes = order.iter();
            let place = writes.position(|at| self.event(*at).added == twin.added);
            let Some(place) = place else { return false };
            if twin.location != location {
                let place = self.old_writes(twin.location, place, twin.added);
                return self.old_writes(location, position, twin.added) < place;
            }
            let old = |at: &EventPosition| self.event(*at).added < twin.added;
            match position > place {
                // some write of that time has to be between
                true => !order[place + 1..position].iter().any(old),
                false => order[position..place].iter().any(old),
            }
        };
        !self.taken_by_twins(write).any(denies)
    }

    /// The first alternative that twins leave to a choice.
    pub fn first_choice(&self, at: EventPosition) -> u64 {
        let chosen = self.taken_by_twins(at).map(|twin| twin.value);
        chosen.max().unwrap_or(0)
    }

    /// Lets a thread, and its twins, wait for a later write that this read reads from. `left_out`: see
    /// [`LocalEvent`].
    pub fn wait_with_twins(&mut self, read: EventPosition, left_out: bool) {
        let now = self.time;
        for thread in self.twins(read.thread) {
            let event = self.event_mut(EventPosition { thread, ..read });
            event.waits_since = Some(now);
            event.left_out = left_out;
        }
    }

    /// A thread, and those with greater numbers that are its twins.
    pub fn twins(&self, thread: ThreadId) -> Vec<ThreadId> {
        let run = &self.threads[thread];
        let is_twin = |other: &ThreadId| {
            let twin = &self.threads[*other];
            (twin.class, twin.waits) == (run.class, run.waits) && self.are_same(thread, *other)
        };
        let others = (thread + 1..self.threads.len()).filter(is_twin);
        [thread].into_iter().chain(others).collect()
    }

    /// How many executions exchanges of threads that behave alike lead to, this one included.
    pub fn orbit(&self) -> u64 {
        let mut count: u64 = 1;
        for class in 0..self.threads.len() {
            let of = |thread: &ThreadId| self.threads[*thread].class == class;
            let mut different: Vec<(ThreadId, u64)> = Vec::new();
            for (number, thread) in (0..self.threads.len()).filter(of).enumerate() {
                let same = different
                    .iter_mut()
                    .find(|(other, _)| self.are_same(*other, thread));
                let among = match same {
                    Some((_, many)) => {
                        *many += 1;
                        *many
                    }
                    None => {
                        different.push((thread, 1));
                        1
                    }
                };
                // n! / (a! · b! · …), an integer at each step
                count = count.saturating_mul(number as u64 + 1) / among;
            }
        }
        count
    }

    /// Whether the events of two threads are the same.
    fn are_same(&self, one: ThreadId, other: ThreadId) -> bool {
        let [count, others] = [one, other].map(|thread| self.threads[thread].events.len());
        let same = |index| {
            let [one, other] = [one, other].map(|thread| EventPosition { thread, index });
            self.is_same(one, other)
        };
        count == others && (0..count).all(same)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::postponed::execution::{ThreadRun, WrittenLocation};
    use crate::source::{EventLabel, Initial};
    use program::ir::Order::Rlx;

    const ONE: ThreadId = 1;
    const OTHER: ThreadId = 2;
    const THIRD: ThreadId = 3;

    /// Two threads that behave alike and a third, without events, and two locations.
    fn threads() -> PartialExecution {
        let mut execution = PartialExecution::new();
        execution.threads = (0..4).map(ThreadRun::new).collect();
        execution.threads[OTHER].class = ONE;
        execution.locations = [64, 72].map(location).into();
        execution
    }

    fn location(address: u64) -> WrittenLocation {
        WrittenLocation {
            at: Location { address, size: 4 },
            initial: Initial::Value(0),
            order: Vec::new(),
        }
    }

    fn push(
        execution: &mut PartialExecution,
        thread: ThreadId,
        location: usize,
        writes: bool,
    ) -> EventPosition {
        let at = execution.locations[location].at;
        let action = match writes {
            true => Action::write(at, Rlx, 1, false),
            false => Action::read(at, Rlx, false),
        };
        let label = EventLabel::new(action, 0);
        execution.push(thread, &label, location)
    }

    /// Adds a write of the third thread at a position in coherence order.
    fn write(execution: &mut PartialExecution, location: usize, position: usize) -> EventPosition {
        let write = push(execution, THIRD, location, true);
        execution.add(write, 1);
        execution.locations[location].order.insert(position, write);
        write
    }

    /// Whether the other thread is a twin of the one at its first read, both having pushed one, after a
    /// change.
    fn are_twins(change: impl Fn(&mut PartialExecution, EventPosition)) -> bool {
        let mut execution = threads();
        let [read, other] = [ONE, OTHER].map(|thread| push(&mut execution, thread, 0, false));
        change(&mut execution, other);
        execution.twins_before(read) == 1 << OTHER
    }

    #[test]
    fn twins_have_decided_the_same() {
        let later = |execution: &mut PartialExecution| push(execution, OTHER, 1, false);
        assert!(are_twins(|_, _| {}));
        assert!(are_twins(|execution, _| {
            later(execution);
        }));
        assert!(!are_twins(|execution, _| {
            let read = later(execution);
            execution.add_read(read, None);
        }));
        assert!(!are_twins(|execution, _| {
            let read = later(execution);
            execution.event_mut(read).waits_since = Some(0);
        }));
        assert!(!are_twins(|execution, other| {
            execution.event_mut(other).waits_since = Some(0);
        }));
        assert!(!are_twins(|execution, _| {
            execution.threads[OTHER].waits = Some(0);
        }));
    }

    #[test]
    fn a_thread_that_waits_is_no_twin_of_one_that_does_not() {
        let mut execution = threads();
        assert_eq!(execution.twins(ONE), [ONE, OTHER]);
        execution.threads[ONE].waits = Some(0);
        assert_eq!(execution.twins(ONE), [ONE]);
    }

    #[test]
    fn a_twin_denies_the_writes_before_its_own_source_that_were_there() {
        let mut execution = threads();
        let sources = [0, 1].map(|location| write(&mut execution, location, 0));
        let [read, other] = [(ONE, 0), (OTHER, 1)]
            .map(|(thread, location)| push(&mut execution, thread, location, false));
        execution.add_read(read, Some(sources[0]));
        assert!(execution.leaves_source(other, Some(sources[1])));
        assert!(!execution.leaves_source(other, None));
        write(&mut execution, 0, 0);
        assert!(execution.leaves_source(other, Some(sources[1])));
    }
}
