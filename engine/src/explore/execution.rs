//! An execution: its graph, and where each thread stands.
//!
//! A thread's states are kept as a chain, newest first, so that taking an event back and
//! restricting a graph are a matter of letting states go, and copies of an execution share them.

use std::sync::Arc;

use super::graph::{Graph, Slot, NONE};
use super::source::{Action, Fault, Initial, Kind, Location, Next, Source, ThreadId, Told};

/// A thread that has told what it does next, and has no answer yet.
struct Step<T> {
    thread: T,
    next: Next,
    /// How many events the thread has told before.
    index: u32,
    previous: Head<T>,
}

type Head<T> = Option<Arc<Step<T>>>;

impl<T> Drop for Step<T> {
    fn drop(&mut self) {
        // a long chain would take a long stack
        let mut previous = self.previous.take();
        while let Some(mut step) = previous.and_then(|step| Arc::try_unwrap(step).ok()) {
            previous = step.previous.take();
        }
    }
}

pub struct Execution<T> {
    pub graph: Graph,
    heads: Vec<Head<T>>,
}

impl<T: Clone> Execution<T> {
    pub fn new<S: Source<Thread = T>>(source: &S) -> Execution<T> {
        let mut main = source.main();
        let next = source.next(&mut main);
        Execution {
            graph: Graph::new(),
            heads: vec![Some(Arc::new(Step {
                thread: main,
                next,
                index: 0,
                previous: None,
            }))],
        }
    }

    /// Nothing, to be written over.
    pub fn empty() -> Execution<T> {
        Execution {
            graph: Graph::new(),
            heads: Vec::new(),
        }
    }

    pub fn copy_from(&mut self, other: &Execution<T>) {
        self.graph.copy_from(&other.graph);
        self.heads.clone_from(&other.heads);
    }

    /// What a thread does next; none for one that is not there.
    pub fn next(&self, thread: ThreadId) -> Option<&Next> {
        self.heads.get(thread)?.as_ref().map(|step| &step.next)
    }

    /// The threads that are there.
    pub fn threads(&self) -> impl Iterator<Item = (ThreadId, &Next)> + '_ {
        let heads = self.heads.iter().enumerate();
        heads.filter_map(|(thread, head)| Some((thread, &head.as_ref()?.next)))
    }

    /// A thread as it stands, before its next event.
    pub fn thread(&self, thread: ThreadId) -> Option<&T> {
        self.heads.get(thread)?.as_ref().map(|step| &step.thread)
    }

    fn told(&self, thread: ThreadId) -> Option<Told> {
        match self.next(thread) {
            Some(Next::Event(told)) => Some(*told),
            _ => None,
        }
    }

    /// Whether a thread is between the halves of a read-modify-write, as far as one knows.
    fn is_between(&self, thread: ThreadId, told: &Told) -> bool {
        match told.action {
            Action::Write { exclusive, .. } => exclusive,
            Action::Choose { .. } => {
                let last = self.graph.threads[thread].last;
                last != NONE && {
                    let event = self.graph.event(last);
                    event.is_read() && event.is_exclusive() && event.pair == NONE
                }
            }
            _ => false,
        }
    }

    /// Whether some read-modify-write may still lack its write, so that its read cannot be
    /// judged yet.
    pub fn is_halfway(&self) -> bool {
        let threads = 0..self.heads.len();
        threads
            .filter_map(|thread| Some((thread, self.told(thread)?)))
            .any(|(thread, told)| self.is_between(thread, &told))
    }

    /// The thread that goes on, and with what: first one that is halfway through a
    /// read-modify-write, which the algorithm asks for; then one that does not read, since a
    /// read that comes after the writes needs no revisit.
    pub fn schedule(&self) -> Option<(ThreadId, Told)> {
        let mut found = None;
        let mut reads = None;
        for thread in 0..self.heads.len() {
            let Some(told) = self.told(thread) else {
                continue;
            };
            if self.is_between(thread, &told) {
                return Some((thread, told));
            }
            match told.action {
                Action::Join { thread } if !self.has_ended(thread) => {}
                Action::Read { .. } => reads = reads.or(Some((thread, told))),
                _ => found = found.or(Some((thread, told))),
            }
        }
        found.or(reads)
    }

    pub fn has_ended(&self, thread: ThreadId) -> bool {
        matches!(self.next(thread), Some(Next::Done(_)))
    }

    /// The number of the location in the graph, made known where it is not; an error where no
    /// object is.
    pub fn locate<S: Source<Thread = T>>(
        &mut self,
        source: &S,
        told: &Told,
        at: Location,
    ) -> Result<u32, Fault> {
        if let Some(number) = self.graph.place(at) {
            return Ok(number);
        }
        let initial = match source.initial(at) {
            Initial::Outside => self.allocated(at),
            known => known,
        };
        match initial {
            Initial::Outside => Err(Fault {
                kind: Kind::Memory,
                message: "access outside every object".to_owned(),
                site: Some(told.site),
            }),
            known => Ok(self.graph.add_place(at, known)),
        }
    }

    /// What an object made by the program holds at first.
    fn allocated(&self, at: Location) -> Initial {
        for event in &self.graph.events {
            if let Action::Allocate { base, size, zeroed } = event.action {
                let end = at.address.saturating_add(u64::from(at.size));
                if base <= at.address && end <= base.saturating_add(size) {
                    return match zeroed {
                        true => Initial::Value(0),
                        false => Initial::Unknown,
                    };
                }
            }
        }
        Initial::Outside
    }

    /// Adds a thread's next event to the graph; the thread waits for [`Execution::go_on`].
    pub fn push(&mut self, thread: ThreadId, told: &Told, location: u32) -> Slot {
        self.graph.push(thread, told, location)
    }

    /// The thread of the event that was added last, or whose read has a new source, goes on to
    /// its next event.
    pub fn go_on<S: Source<Thread = T>>(&mut self, source: &S, slot: Slot) {
        let event = *self.graph.event(slot);
        let Some(step) = self.heads[event.thread].take() else {
            return;
        };
        let mut thread = step.thread.clone();
        if let Action::Create { thread: child } = event.action {
            let mut created = source.created(&thread, child);
            let next = source.next(&mut created);
            if child >= self.heads.len() {
                self.heads.resize_with(child + 1, || None);
            }
            self.heads[child] = Some(Arc::new(Step {
                thread: created,
                next,
                index: 0,
                previous: None,
            }));
        }
        let next = match event.action {
            Action::Read { .. } if self.reads_unknown(slot) => Next::Fault(Fault {
                kind: Kind::Uninitialised,
                message: "read of memory that nothing has written".to_owned(),
                site: Some(event.site),
            }),
            Action::Read { .. } | Action::Join { .. } | Action::Choose { .. } => {
                source.answer(&mut thread, event.value);
                source.next(&mut thread)
            }
            _ => source.next(&mut thread),
        };
        let index = step.index + 1;
        self.heads[event.thread] = Some(Arc::new(Step {
            thread,
            next,
            index,
            previous: Some(step),
        }));
    }

    /// The thread stops instead of its next event.
    pub fn stop(&mut self, thread: ThreadId, next: Next) {
        if let Some(step) = self.heads[thread].take() {
            self.heads[thread] = Some(Arc::new(Step {
                thread: step.thread.clone(),
                next,
                index: step.index + 1,
                previous: Some(step),
            }));
        }
    }

    fn reads_unknown(&self, read: Slot) -> bool {
        let event = self.graph.event(read);
        let place = self.graph.places[event.location as usize];
        let lax = matches!(event.action, Action::Read { lax: true, .. });
        event.source == NONE && place.initial == Initial::Unknown && !lax
    }

    /// What a read of the location from this write reads.
    pub fn value_of(&self, location: u32, write: Slot) -> u64 {
        match write {
            NONE => match self.graph.places[location as usize].initial {
                Initial::Value(value) => value,
                _ => 0,
            },
            write => match self.graph.event(write).action {
                Action::Write { value, .. } => value,
                _ => 0,
            },
        }
    }

    /// Takes events back until so many are left.
    pub fn truncate(&mut self, len: usize) {
        while self.graph.len() > len {
            let event = self.graph.events[self.graph.len() - 1];
            if let Action::Create { thread } = event.action {
                self.heads[thread] = None;
            }
            self.graph.pop();
        }
        for thread in 0..self.heads.len() {
            self.rewind(thread);
        }
    }

    /// Lets a thread stand where the graph has it.
    fn rewind(&mut self, thread: ThreadId) {
        let count = self.graph.threads[thread].count;
        if let Some(head) = &mut self.heads[thread] {
            while head.index > count {
                let Some(previous) = head.previous.clone() else {
                    break;
                };
                *head = previous;
            }
        }
    }

    /// Writes over `out` what a revisit of `read` by `write` leaves. The read's thread stands
    /// before it, and the write has no place in coherence order yet.
    pub fn restrict(
        &self,
        read: Slot,
        write: Slot,
        moved: &mut Vec<Slot>,
        out: &mut Execution<T>,
    ) -> (Slot, Slot) {
        let found = self.graph.restrict(read, write, moved, &mut out.graph);
        let (new, _) = found;
        out.heads.clone_from(&self.heads);
        let reader = self.graph.event(read).thread;
        for thread in 0..out.heads.len() {
            let line = out.graph.threads[thread];
            if thread != 0 && line.creator == NONE {
                out.heads[thread] = None;
                continue;
            }
            out.rewind(thread);
        }
        let index = out.graph.event(new).index;
        if let Some(head) = &mut out.heads[reader] {
            while head.index > index {
                let Some(previous) = head.previous.clone() else {
                    break;
                };
                *head = previous;
            }
        }
        found
    }

    /// How the thread that has told `next` came to stand: its last events that are reads,
    /// newest first.
    pub fn last_reads(&self, thread: ThreadId, count: usize) -> Vec<Slot> {
        let mut reads = Vec::new();
        let mut slot = self.graph.threads[thread].last;
        while slot != NONE && reads.len() < count {
            if self.graph.event(slot).is_read() {
                reads.push(slot);
            }
            slot = self.graph.event(slot).before;
        }
        reads
    }
}
