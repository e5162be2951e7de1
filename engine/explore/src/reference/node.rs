//! A graph that is extended, and what can be added to it.

use super::semantics::ReferenceThread;
use crate::graph::execution_graph::{EventId, Graph, NONE};
use crate::source::{Action, Answer, EventLabel, Fault, FaultKind, Location, Next, ThreadId};
use program::ir::SiteId;
use std::sync::Arc;

/// An event: its thread, and its position in it.
pub type Position = (ThreadId, u32);

/// A consistent graph, and what each thread does next; none of those that were not created.
#[derive(Clone)]
pub struct Node {
    pub graph: Graph,
    pub threads: Vec<Option<Arc<ReferenceThread>>>,
    /// The reads whose writes are not in the graph yet, with what they have read.
    pub promised: Vec<(EventId, Answer)>,
    /// The threads that wait for ever at the header of a loop.
    pub staying: Vec<ThreadId>,
}

impl Node {
    pub fn existing(&self) -> impl Iterator<Item = (ThreadId, &ReferenceThread)> {
        let threads = self.threads.iter().enumerate();
        threads.filter_map(|(id, thread)| Some((id, &**thread.as_ref()?)))
    }

    /// The result of a thread that has ended.
    pub fn result(&self, thread: ThreadId) -> Option<u64> {
        match self.threads.get(thread)?.as_ref()?.next {
            Next::Done(result) => Some(result),
            _ => None,
        }
    }

    /// Whether a thread has joined all others, of which there are some.
    pub fn has_joined_all(&self, thread: ThreadId) -> bool {
        let events = self.graph.po_predecessors(self.graph.threads[thread].last);
        let joined: Vec<ThreadId> = events
            .filter_map(|id| match self.graph.event(id).action {
                Action::Join { thread } => Some(thread),
                _ => None,
            })
            .collect();
        let mut others = self.existing().filter(|(id, _)| *id != thread);
        !joined.is_empty() && others.all(|(id, _)| joined.contains(&id))
    }

    /// Whether a read-modify-write of the thread may still lack its write.
    pub fn is_halfway(&self, thread: ThreadId) -> bool {
        let last = self.graph.threads[thread].last;
        let after_read = last != NONE && {
            let event = self.graph.event(last);
            event.is_read() && event.is_rmw()
        };
        let state = self.threads[thread].as_ref();
        state.is_some_and(|state| state.is_halfway(after_read))
    }

    /// An event that each extension of the graph contains, in each of which it may come next.
    pub fn certain(&self, exists: impl Fn(&EventLabel) -> bool) -> Option<(ThreadId, EventLabel)> {
        let mut certain = None;
        for (id, thread) in self.existing() {
            let Next::Event(label) = thread.next else {
                continue;
            };
            if self.is_halfway(id) {
                return Some((id, label));
            }
            let is_certain = match label.action {
                Action::Read { .. } => false,
                Action::Join { thread } => self.result(thread).is_some(),
                _ => true,
            };
            if is_certain && thread.round.is_none() && certain.is_none() && exists(&label) {
                certain = Some((id, label));
            }
        }
        certain
    }

    /// The next events of threads, where none is certain.
    pub fn choices(&self) -> impl Iterator<Item = (ThreadId, EventLabel)> + '_ {
        self.existing()
            .filter_map(|(id, thread)| match thread.next {
                Next::Event(label) => match label.action {
                    Action::Join { thread } if self.result(thread).is_none() => None,
                    _ if self.staying.contains(&id) => None,
                    _ => Some((id, label)),
                },
                _ => None,
            })
    }

    /// The thread ends with an error at its next event.
    pub fn fail(&mut self, thread: ThreadId, kind: FaultKind, message: &str, site: SiteId) {
        if let Some(thread) = &mut self.threads[thread] {
            Arc::make_mut(thread).next = Next::Fault(Fault::new(kind, message, site));
        }
    }

    /// The next event of the thread whose turn it is: of the first of those preferred, or of all. One
    /// that accesses what is not allocated yet waits until the others have none.
    pub fn in_turn(
        &self,
        exists: impl Fn(&EventLabel) -> bool,
        preferred: &[ThreadId],
    ) -> Option<(ThreadId, EventLabel)> {
        let turn = |(thread, label): &(ThreadId, EventLabel)| {
            (!exists(label), !preferred.contains(thread), *thread)
        };
        self.choices().min_by_key(turn)
    }

    /// Whether a thread may come to its event at this position.
    pub fn may_come_to(&self, (thread, index): Position) -> bool {
        let events = self.graph.threads.get(thread);
        let state = self.threads.get(thread).and_then(Option::as_ref);
        let continues = state.is_none_or(|state| matches!(state.next, Next::Event(_)));
        let passed = events.is_some_and(|events| events.count > index);
        continues && !passed && !self.staying.contains(&thread)
    }

    /// What a thread has written to a location, up to this event of its own.
    pub fn written(&self, last: EventId, at: Location) -> Vec<Answer> {
        let events = self.graph.po_predecessors(last);
        let writes = events.map(|id| self.graph.event(id).action);
        let writes = writes.filter(|action| action.is_write() && action.at() == Some(at));
        writes.map(Action::written).collect()
    }

    /// The graph to which a write was added, as the source of some of the reads that were promised its
    /// value. That of a read-modify-write reads from the write before its own.
    pub fn fulfilments(self, write: EventId) -> Vec<Node> {
        let event = *self.graph.event(write);
        let answer = event.action.written();
        let next = self.graph.following(event.location, write);
        let promised = self.promised.clone();
        let mut all = vec![self];
        for (read, value) in promised {
            let known = all[0].graph.event(read);
            let reads = known.location == event.location && value == answer;
            if !reads || known.pair != NONE && known.pair != next {
                continue;
            }
            let mut with = all.clone();
            for node in &mut with {
                node.graph.set_source(read, write, value.value);
                node.promised.retain(|(promised, _)| *promised != read);
            }
            all.extend(with);
        }
        all
    }

    /// The answer to an event.
    pub fn answer(&self, id: EventId) -> Answer {
        let promised = self.promised.iter().find(|(read, _)| *read == id);
        promised.map_or_else(|| self.graph.answer(id, false), |(_, answer)| *answer)
    }
}

/// A graph in a form that does not depend on the order in which its events were added: of each thread
/// the sources of its reads and its choices, from which all else that it does follows, and the
/// coherence orders.
pub fn canonical(graph: &Graph) -> Vec<u32> {
    let name = |id: EventId| match id {
        NONE => 0,
        id => {
            let event = graph.event(id);
            (event.thread as u32 + 1) << 16 | event.index
        }
    };
    let mut form = Vec::with_capacity(graph.len() + 8);
    for thread in &graph.threads {
        let first = form.len();
        for id in graph.po_predecessors(thread.last) {
            let event = graph.event(id);
            match event.action {
                Action::Read { .. } => form.push(name(event.source)),
                Action::Choose { .. } => form.push(event.value as u32),
                _ => {}
            }
        }
        form[first..].reverse();
        form.push(u32::MAX);
        form.push(thread.count);
    }
    let mut locations: Vec<_> = graph.locations.iter().zip(0..).collect();
    locations.sort_by_key(|(location, _)| location.at);
    for (_, number) in locations {
        form.extend(graph.writes(number).map(name));
        form.push(u32::MAX);
    }
    form
}
