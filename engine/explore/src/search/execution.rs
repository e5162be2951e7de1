//! An execution: its graph, and where each thread stands.
//!
//! Where a thread stands follows from the graph, and is a node of the worker's tree: taking an
//! event back and restricting a graph are a matter of going back in the tree.

use crate::graph::execution_graph::{Graph, Slot, NONE};
use crate::search::thread_states::{Node, Tree, Way, NOWHERE};
use crate::source::{Action, Initial, Location, Next, Source, ThreadId, Told, Wait};

#[derive(Clone, Copy)]
struct Head {
    node: Node,
    /// How many events the thread has told before, one more where it stopped instead of one.
    index: u32,
}

const ABSENT: Head = Head {
    node: NOWHERE,
    index: 0,
};

pub struct Execution {
    pub graph: Graph,
    heads: Vec<Head>,
    /// Of the tree that the nodes are of; 0: of none that is there.
    generation: u32,
}

/// An execution none of whose threads can go on.
pub struct Ended<'e, T> {
    pub graph: &'e Graph,
    heads: &'e [Head],
    tree: &'e Tree<T>,
}

impl Execution {
    /// No event yet; also something to be written over.
    pub fn new() -> Execution {
        Execution {
            graph: Graph::new(),
            heads: Vec::new(),
            generation: 0,
        }
    }

    /// A copy for a worker with another tree.
    pub fn copy(&self) -> Execution {
        Execution {
            graph: self.graph.clone(),
            heads: Vec::new(),
            generation: 0,
        }
    }

    pub fn ended<'e, T: Clone>(&'e self, tree: &'e Tree<T>) -> Ended<'e, T> {
        Ended {
            graph: &self.graph,
            heads: &self.heads,
            tree,
        }
    }

    /// What a thread does next, if that is an event.
    fn told<T: Clone>(&self, tree: &Tree<T>, thread: ThreadId) -> Option<Told> {
        let head = self.heads[thread];
        match (head.node != NOWHERE).then(|| tree.next(head.node)) {
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
    pub fn is_halfway<T: Clone>(&self, tree: &Tree<T>) -> bool {
        let threads = 0..self.heads.len();
        threads
            .filter_map(|thread| Some((thread, self.told(tree, thread)?)))
            .any(|(thread, told)| self.is_between(thread, &told))
    }

    /// The thread that goes on, and with what: first one that is halfway through a
    /// read-modify-write, which the algorithm asks for; then one that does not read, since a
    /// read that comes after the writes needs no revisit.
    pub fn schedule<T: Clone>(&self, tree: &Tree<T>) -> Option<(ThreadId, Told)> {
        let (mut found, mut reads) = (None, None);
        for thread in 0..self.heads.len() {
            let Some(told) = self.told(tree, thread) else {
                continue;
            };
            if self.is_between(thread, &told) {
                return Some((thread, told));
            }
            match told.action {
                Action::Join { thread } if self.result(tree, thread).is_none() => {}
                Action::Read { at, .. } if self.waits(thread, at) => {}
                Action::Read { .. } => reads = reads.or(Some((thread, told))),
                _ => found = found.or(Some((thread, told))),
            }
        }
        found.or(reads)
    }

    /// Whether a thread waits for a write of this location that has not come.
    fn waits(&self, thread: ThreadId, at: Location) -> bool {
        self.graph.waits_since(thread).is_some_and(|since| {
            let location = self.graph.place(at);
            !location.is_some_and(|at| self.graph.writes(at).any(|write| write > since))
        })
    }

    /// Whether what the thread has just read is a lock that is taken.
    pub fn is_locked_out<T: Clone>(&self, tree: &Tree<T>, thread: ThreadId) -> bool {
        let next = tree.next(self.heads[thread].node);
        matches!(next, Next::Blocked { wait, .. } if *wait == Wait::Lock)
    }

    /// Has a thread wait instead of reading, which is the last that it did.
    pub fn wait_instead<T: Clone>(&mut self, tree: &Tree<T>, read: Slot) {
        let thread = self.graph.event(read).thread;
        self.graph.wait_instead(read);
        let count = self.graph.threads[thread].count;
        rewind(&mut self.heads[thread], tree, count);
    }

    /// Writes over `out` the execution as a source tells it: those who wait have read the last
    /// write.
    pub fn told_whole<S: Source>(
        &self,
        source: &S,
        tree: &mut Tree<S::Thread>,
        moved: &mut Vec<Slot>,
        out: &mut Execution,
    ) {
        let is_told = |slot| self.graph.event(slot).action != Action::Wait;
        self.graph.part(is_told, moved, &mut out.graph);
        out.heads.clone_from(&self.heads);
        out.generation = self.generation;
        for thread in 0..self.heads.len() {
            let Some(told) = self.told(tree, thread) else {
                continue;
            };
            let Action::Read { at, .. } = told.action else {
                continue;
            };
            if let Some(location) = out.locate(source, tree, at) {
                let last = out.graph.last_write(location);
                let read = out.push(thread, &told, location);
                let value = out.graph.value_of(location, last);
                out.graph.set_source(read, last, value);
                out.go_on(source, tree, read);
            }
        }
    }

    /// What a thread that has ended gives.
    pub fn result<T: Clone>(&self, tree: &Tree<T>, thread: ThreadId) -> Option<u64> {
        let head = self.heads.get(thread).filter(|h| h.node != NOWHERE)?;
        match tree.next(head.node) {
            Next::Done(result) => Some(*result),
            _ => None,
        }
    }

    /// The number of the location in the graph, made known where it is not; none where no object
    /// is.
    pub fn locate<S: Source>(
        &mut self,
        source: &S,
        tree: &mut Tree<S::Thread>,
        at: Location,
    ) -> Option<u32> {
        if let Some(number) = self.graph.place(at) {
            return Some(number);
        }
        let initial = match tree.initial(source, at) {
            Initial::Outside => self.graph.allocated(at),
            known => known,
        };
        (initial != Initial::Outside).then(|| self.graph.add_place(at, initial))
    }

    /// Adds a thread's next event to the graph; the thread waits for [`Execution::go_on`].
    pub fn push(&mut self, thread: ThreadId, told: &Told, location: u32) -> Slot {
        self.graph.push(thread, told, location)
    }

    /// The thread of the event that was added last, or whose read has a new source, goes on to
    /// its next event.
    pub fn go_on<S: Source>(&mut self, source: &S, tree: &mut Tree<S::Thread>, slot: Slot) {
        match self.generation == tree.generation {
            true => self.follow(source, tree, slot),
            false => self.stand(source, tree),
        }
    }

    /// Finds where the threads stand after all events, where the tree does not know it any more.
    pub fn stand<S: Source>(&mut self, source: &S, tree: &mut Tree<S::Thread>) {
        if self.generation == tree.generation {
            return;
        }
        self.generation = tree.generation;
        self.heads.clear();
        self.heads.push(Head {
            node: tree.main(source),
            index: 0,
        });
        for slot in 0..self.graph.len() as Slot {
            self.follow(source, tree, slot);
        }
    }

    fn follow<S: Source>(&mut self, source: &S, tree: &mut Tree<S::Thread>, slot: Slot) {
        let event = self.graph.event(slot);
        if event.action == Action::Wait {
            return;
        }
        let head = self.heads[event.thread];
        if let Action::Create { thread } = event.action {
            if thread >= self.heads.len() {
                self.heads.resize(thread + 1, ABSENT);
            }
            self.heads[thread] = Head {
                node: tree.follow(source, head.node, Way::Created(thread)),
                index: 0,
            };
        }
        let way = match event.action.has_answer() {
            true if self.graph.reads_unknown(slot) => Way::Unwritten,
            true => Way::Answered(event.value),
            false => Way::Answered(0),
        };
        self.heads[event.thread] = Head {
            node: tree.follow(source, head.node, way),
            index: head.index + 1,
        };
    }

    /// The thread stops instead of its next event.
    pub fn stop<S: Source>(
        &mut self,
        source: &S,
        tree: &mut Tree<S::Thread>,
        thread: ThreadId,
        why: Way,
    ) {
        let head = self.heads[thread];
        self.heads[thread] = Head {
            node: tree.follow(source, head.node, why),
            index: head.index + 1,
        };
    }

    /// Takes events back until so many are left; the threads stand after them.
    pub fn truncate<S: Source>(&mut self, source: &S, tree: &mut Tree<S::Thread>, len: usize) {
        while self.graph.len() > len {
            let event = self.graph.events[self.graph.len() - 1];
            if let Action::Create { thread } = event.action {
                if let Some(head) = self.heads.get_mut(thread) {
                    *head = ABSENT;
                }
            }
            self.graph.pop();
        }
        if self.generation != tree.generation {
            return self.stand(source, tree);
        }
        for thread in 0..self.heads.len() {
            let count = self.graph.threads[thread].count;
            rewind(&mut self.heads[thread], tree, count);
        }
    }

    /// Writes over `out` what a revisit of `read` by `write` leaves. The read's thread stands
    /// before it, and the write has no place in coherence order yet.
    pub fn restrict<T: Clone>(
        &self,
        tree: &Tree<T>,
        (read, write): (Slot, Slot),
        moved: &mut Vec<Slot>,
        out: &mut Execution,
    ) -> (Slot, Slot) {
        let found = self.graph.restrict(read, write, moved, &mut out.graph);
        out.generation = self.generation;
        if self.generation != tree.generation {
            return found;
        }
        out.heads.clone_from(&self.heads);
        let reader = self.graph.event(read).thread;
        for (thread, head) in out.heads.iter_mut().enumerate() {
            let line = out.graph.threads[thread];
            if thread != 0 && line.creator == NONE {
                *head = ABSENT;
                continue;
            }
            let before = u32::from(thread == reader);
            rewind(head, tree, line.count - before);
        }
        found
    }
}

/// Lets a thread stand after so many events.
fn rewind<T: Clone>(head: &mut Head, tree: &Tree<T>, count: u32) {
    while head.index > count {
        head.node = tree.previous(head.node);
        head.index -= 1;
    }
}

impl<'e, T: Clone> Ended<'e, T> {
    /// What a thread does next; none for one that is not there.
    pub fn next(&self, thread: ThreadId) -> Option<&'e Next> {
        let head = self.heads.get(thread)?;
        (head.node != NOWHERE).then(|| self.tree.next(head.node))
    }

    /// The threads that are there.
    pub fn threads(&self) -> impl Iterator<Item = (ThreadId, &'e Next)> + '_ {
        let threads = 0..self.heads.len();
        threads.filter_map(|thread| Some((thread, self.next(thread)?)))
    }

    /// A thread as it stands.
    pub fn thread(&self, thread: ThreadId) -> Option<&'e T> {
        let head = self.heads.get(thread)?;
        (head.node != NOWHERE).then(|| self.tree.thread(head.node))
    }
}
