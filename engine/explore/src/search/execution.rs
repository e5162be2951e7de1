//! An execution: its graph, and the state of each thread.
//!
//! The states follow from the graph, and are nodes of the worker's [`ThreadStates`]: removing
//! events and restricting the graph go back to earlier nodes.

use crate::graph::execution_graph::{EventId, Graph, NONE};
use crate::search::thread_states::{Node, ThreadStates, Transition, NO_STATE};
use crate::source::{Action, Answer, EventLabel, Location, Next, Source, ThreadId, Wait};

#[derive(Clone, Copy)]
struct ThreadPosition {
    node: Node,
    /// How many events the thread has performed; one more if it was stopped instead of performing
    /// one.
    index: u32,
}

const ABSENT: ThreadPosition = ThreadPosition {
    node: NO_STATE,
    index: 0,
};

#[derive(Clone, Default)]
pub struct Execution {
    pub graph: Graph,
    heads: Vec<ThreadPosition>,
    /// The generation of [`ThreadStates`] that the nodes belong to; 0: none.
    generation: u32,
}

/// An execution in which no thread can continue.
pub struct EndedExecution<'e, S: Source> {
    pub graph: &'e Graph,
    /// The state of each thread; `NO_STATE` for one that does not exist.
    ends: Vec<Node>,
    states: &'e ThreadStates<'e, S>,
    /// How many executions it stands for.
    pub orbit: u64,
}

impl Execution {
    /// The state of each thread.
    pub fn states(&self) -> Vec<Node> {
        self.heads.iter().map(|head| head.node).collect()
    }

    /// What a thread does next, if that is an event.
    fn label<S: Source>(&self, states: &ThreadStates<S>, thread: ThreadId) -> Option<EventLabel> {
        debug_assert_eq!(self.generation, states.generation, "states were cleared");
        let head = self.heads[thread];
        match (head.node != NO_STATE).then(|| states.next(head.node)) {
            Some(Next::Event(label)) => Some(*label),
            _ => None,
        }
    }

    /// Whether a thread may be between the read and the write of a read-modify-write.
    fn is_between(&self, thread: ThreadId, label: &EventLabel) -> bool {
        match label.action {
            Action::Write { rmw, .. } => rmw,
            action if action.is_decision() => {
                let last = self.graph.threads[thread].last;
                last != NONE && {
                    let event = self.graph.event(last);
                    event.is_read() && event.is_rmw() && event.pair == NONE
                }
            }
            _ => false,
        }
    }

    /// Whether some read-modify-write may still lack its write, so that its read cannot be checked
    /// yet.
    pub fn is_halfway<S: Source>(&self, states: &ThreadStates<S>) -> bool {
        let threads = 0..self.heads.len();
        threads
            .filter_map(|thread| Some((thread, self.label(states, thread)?)))
            .any(|(thread, label)| self.is_between(thread, &label))
    }

    /// The next thread to run, and its event: a thread between the halves of a read-modify-write
    /// first, as the algorithm requires; then one whose event is not a read, since a read added
    /// after the writes needs no revisit.
    pub fn schedule<S: Source>(&self, states: &ThreadStates<S>) -> Option<(ThreadId, EventLabel)> {
        let (mut found, mut reads) = (None, None);
        for thread in 0..self.heads.len() {
            let Some(label) = self.label(states, thread) else {
                continue;
            };
            if self.is_between(thread, &label) {
                return Some((thread, label));
            }
            match label.action {
                Action::Join { thread } if self.result(states, thread).is_none() => {}
                Action::Read { at, .. } if self.waits(thread, at) => {}
                Action::Read { .. } => reads = reads.or(Some((thread, label))),
                _ => found = found.or(Some((thread, label))),
            }
        }
        found.or(reads)
    }

    /// Whether no execution that extends this one is counted, because of its last event.
    pub fn is_redundant<S: Source>(&self, states: &ThreadStates<S>) -> bool {
        self.graph.events.last().is_some_and(|last| {
            let next = states.next(self.heads[last.thread].node);
            next.is_redundant_after(last.action, last.value)
        })
    }

    /// Whether the execution has as many events as the limit allows, and this thread at least its
    /// share of them. The others continue: what they do may be what this one waits for, which is
    /// not known before it is known which objects the two share.
    pub fn is_too_long(&self, thread: ThreadId, most: usize) -> bool {
        let share = most / self.heads.len().max(1);
        self.graph.len() >= most && self.graph.threads[thread].count as usize >= share
    }

    /// Whether a thread waits for a write to this location that was not added yet.
    fn waits(&self, thread: ThreadId, at: Location) -> bool {
        self.graph.waits_since(thread).is_some_and(|since| {
            let location = self.graph.location_number(at);
            !location.is_some_and(|at| {
                let mut writes = self.graph.writes(at);
                writes.any(|write| self.graph.ends_wait(since, write))
            })
        })
    }

    /// Whether a thread that has just performed a read waits before it instead: it has read that a
    /// lock is taken, that it is another's turn, or what ends another round of a loop in vain. Of an
    /// object that another thread has allocated meanwhile, such a read may be what shows that the
    /// allocation is not ordered with it.
    pub fn waits_in_place<S: Source>(&self, states: &ThreadStates<S>, thread: ThreadId) -> bool {
        let node = self.heads[thread].node;
        let last = self.graph.threads[thread].last;
        match (states.next(node), self.graph.event(last).action) {
            (next, _) if next.is_handover() => true,
            (
                // the read is in the round
                Next::Blocked {
                    wait: Wait::Spin { reads: 1.. },
                    ..
                },
                Action::Read { at, .. },
            ) => states.source.waits_in_place() && !self.graph.is_allocated_beside(thread, at),
            _ => false,
        }
    }

    /// Replaces a read, the last event of its thread, by a wait.
    pub fn wait_instead<S: Source>(&mut self, states: &ThreadStates<S>, read: EventId) {
        let thread = self.graph.event(read).thread;
        self.graph.wait_instead(read);
        let count = self.graph.threads[thread].count;
        rewind(&mut self.heads[thread], states, count);
    }

    /// Sets `out` to this execution without waits: the waiting threads have read the last write.
    /// Returns whether they would have.
    pub fn resolve_waits<S: Source>(
        &self,
        states: &mut ThreadStates<S>,
        renumbered: &mut Vec<EventId>,
        out: &mut Execution,
    ) -> bool {
        let is_shown = |id| self.graph.event(id).action != Action::Wait;
        self.graph.restricted(is_shown, renumbered, &mut out.graph);
        out.heads.clone_from(&self.heads);
        out.generation = self.generation;
        for thread in 0..self.heads.len() {
            let Some(label) = self.label(states, thread) else {
                continue;
            };
            let Action::Read { at, .. } = label.action else {
                continue;
            };
            let waits_for = self.graph.location_number(at);
            if waits_for.is_some_and(|location| !self.graph.waits_for_last(thread, location)) {
                return false;
            }
            if let Some(location) = out.locate(states, at) {
                let last = out.graph.last_write(location);
                let read = out.graph.push(thread, &label, location);
                out.read_from(states, read, last);
            }
        }
        true
    }

    /// The result of a thread that has ended.
    pub fn result<S: Source>(&self, states: &ThreadStates<S>, thread: ThreadId) -> Option<u64> {
        let head = self.heads.get(thread).filter(|h| h.node != NO_STATE)?;
        match states.next(head.node) {
            Next::Done(result) => Some(*result),
            _ => None,
        }
    }

    /// The index of a location, which is added to the graph if necessary; none if it is in no
    /// object.
    pub fn locate<S: Source>(&mut self, states: &mut ThreadStates<S>, at: Location) -> Option<u32> {
        if let Some(number) = self.graph.location_number(at) {
            return Some(number);
        }
        let actions = self.graph.events.iter().map(|event| event.action);
        let initial = states.contents(at, actions)?;
        Some(self.graph.add_location(at, initial))
    }

    /// Lets a read, the last event of its thread, read from a write.
    pub fn read_from<S: Source>(
        &mut self,
        states: &mut ThreadStates<S>,
        read: EventId,
        write: EventId,
    ) {
        let location = self.graph.event(read).location;
        let value = self.graph.value_of(location, write);
        self.graph.set_source(read, write, value);
        self.advance(states, read);
    }

    /// Advances the thread of the last event, or of a read with a new source, to its next event.
    pub fn advance<S: Source>(&mut self, states: &mut ThreadStates<S>, id: EventId) {
        match self.generation == states.generation {
            true => self.follow(states, id),
            false => self.refresh_states(states),
        }
    }

    /// Recomputes the states of all threads, if the worker's cache was cleared since.
    pub fn refresh_states<S: Source>(&mut self, states: &mut ThreadStates<S>) {
        if self.generation == states.generation {
            return;
        }
        self.generation = states.generation;
        self.heads.clear();
        self.heads.push(ThreadPosition {
            node: states.main(),
            index: 0,
        });
        for id in 0..self.graph.len() as EventId {
            self.follow(states, id);
        }
    }

    fn follow<S: Source>(&mut self, states: &mut ThreadStates<S>, id: EventId) {
        let event = self.graph.event(id);
        if event.action == Action::Wait {
            return;
        }
        let head = self.heads[event.thread];
        if let Action::Create { thread } = event.action {
            if thread >= self.heads.len() {
                self.heads.resize(thread + 1, ABSENT);
            }
            self.heads[thread] = ThreadPosition {
                node: states.follow(head.node, Transition::Created(thread)),
                index: 0,
            };
        }
        let answer = Answer {
            before_calls: event.is_read()
                && states.source.compares_calls()
                && !self.graph.follows_calls(id),
            ..self.graph.answer(id, states.source.tracks_dependencies())
        };
        let transition = Transition::past(event.action, answer);
        self.heads[event.thread] = ThreadPosition {
            node: states.follow(head.node, transition),
            index: head.index + 1,
        };
    }

    /// Stops a thread instead of its next event.
    pub fn stop<S: Source>(
        &mut self,
        states: &mut ThreadStates<S>,
        thread: ThreadId,
        why: Transition,
    ) {
        let head = self.heads[thread];
        self.heads[thread] = ThreadPosition {
            node: states.follow(head.node, why),
            index: head.index + 1,
        };
    }

    /// Removes events until `len` are left.
    pub fn truncate<S: Source>(&mut self, states: &mut ThreadStates<S>, len: usize) {
        while self.graph.len() > len {
            let event = self.graph.events[self.graph.len() - 1];
            if let Action::Create { thread } = event.action {
                if let Some(head) = self.heads.get_mut(thread) {
                    *head = ABSENT;
                }
            }
            self.graph.pop();
        }
        if self.generation != states.generation {
            return self.refresh_states(states);
        }
        for thread in 0..self.heads.len() {
            let count = self.graph.threads[thread].count;
            rewind(&mut self.heads[thread], states, count);
        }
    }

    /// Sets `out` to the execution after `write` revisits `read`. The thread is before its read,
    /// and the write has no place in coherence order yet.
    pub fn restrict<S: Source>(
        &self,
        states: &ThreadStates<S>,
        (read, write): (EventId, EventId),
        renumbered: &mut Vec<EventId>,
        out: &mut Execution,
    ) -> (EventId, EventId) {
        let found = self.graph.restrict(read, write, renumbered, &mut out.graph);
        out.generation = self.generation;
        if self.generation != states.generation {
            return found;
        }
        out.heads.clone_from(&self.heads);
        let reader = self.graph.event(read).thread;
        for (thread, head) in out.heads.iter_mut().enumerate() {
            let thread_events = out.graph.threads[thread];
            if thread != 0 && thread_events.creator == NONE {
                *head = ABSENT;
                continue;
            }
            let before = u32::from(thread == reader);
            rewind(head, states, thread_events.count - before);
        }
        found
    }
}

/// Moves a thread back to where it has performed `count` events.
fn rewind<S: Source>(head: &mut ThreadPosition, states: &ThreadStates<S>, count: u32) {
    while head.index > count {
        head.node = states.previous(head.node);
        head.index -= 1;
    }
}

impl<'e, S: Source> EndedExecution<'e, S> {
    pub fn new(
        graph: &'e Graph,
        ends: Vec<Node>,
        states: &'e ThreadStates<'e, S>,
        orbit: u64,
    ) -> Self {
        EndedExecution {
            graph,
            ends,
            states,
            orbit,
        }
    }

    pub fn source(&self) -> &'e S {
        self.states.source
    }

    fn end(&self, thread: ThreadId) -> Option<Node> {
        let end = self.ends.get(thread).copied();
        end.filter(|end| *end != NO_STATE)
    }

    /// What a thread does next; none if it does not exist.
    pub fn next(&self, thread: ThreadId) -> Option<&'e Next> {
        Some(self.states.next(self.end(thread)?))
    }

    /// The threads that exist.
    pub fn threads(&self) -> impl Iterator<Item = (ThreadId, &'e Next)> + '_ {
        let threads = 0..self.ends.len();
        threads.filter_map(|thread| Some((thread, self.next(thread)?)))
    }

    /// The state of a thread.
    pub fn thread(&self, thread: ThreadId) -> Option<&'e S::Thread> {
        Some(self.states.thread(self.end(thread)?))
    }

    /// The last events of a thread with their answers, and its state before each; the last one first,
    /// back to a read that was postponed.
    pub fn events(
        &self,
        thread: ThreadId,
    ) -> impl Iterator<Item = (&'e S::Thread, EventLabel, Answer)> {
        let states = self.states;
        let mut origin = self.end(thread).and_then(|end| states.origin(end));
        if let Some((before, Transition::TooLong(_))) = origin {
            origin = states.origin(before);
        }
        std::iter::from_fn(move || {
            let (before, Transition::Answered(answer)) = origin? else {
                return None;
            };
            origin = states.origin(before);
            match states.next(before) {
                Next::Event(label) => Some((states.thread(before), *label, answer)),
                _ => None,
            }
        })
    }
}
