//! Property the threads of a source do, whatever the execution: for each sequence of answers, the
//! state that it leads to and the event that comes then.
//!
//! A thread is a function of its answers ([`Source`]), and executions by the thousand give it the
//! same ones. So each of its states is made once, and an execution names it by a number. A worker
//! has a states of its own, which it cuts down when it has changed too large; an execution then runs
//! its threads again.

use rustc_hash::FxHashMap;

use crate::source::{Fault, FaultKind, Initial, Location, Next, Source, ThreadId};

/// The number of a node.
pub type Node = u32;

/// No node: the thread is not there.
pub const NO_STATE: Node = Node::MAX;

/// A thread that has label what it does next, and has no answer yet.
struct State<T> {
    thread: T,
    next: Next,
    previous: Node,
}

/// Property leads from a state to another.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Transition {
    /// The event is over, with this answer; 0 where it has none.
    Answered(u64),
    /// Its read reads memory that nothing has written.
    Unwritten,
    /// Its access is outside every object.
    Outside,
    /// The execution has so many events already, which is the most.
    TooLong(usize),
    /// To the thread that it creates.
    Created(ThreadId),
}

pub struct ThreadStates<T> {
    states: Vec<State<T>>,
    ways: FxHashMap<(Node, Transition), Node>,
    initial: FxHashMap<Location, Initial>,
    /// EventLabel apart from those before it was cut down.
    pub generation: u32,
}

impl<T: Clone> ThreadStates<T> {
    pub fn new() -> ThreadStates<T> {
        ThreadStates {
            states: Vec::new(),
            ways: FxHashMap::default(),
            initial: FxHashMap::default(),
            generation: 1,
        }
    }

    /// Forgets all where that is more than `most` states: no node of before is one any more.
    pub fn trim(&mut self, most: usize) {
        if self.states.len() > most {
            self.states.clear();
            self.ways.clear();
            self.initial.clear();
            self.generation += 1;
        }
    }

    pub fn next(&self, node: Node) -> &Next {
        &self.states[node as usize].next
    }

    pub fn thread(&self, node: Node) -> &T {
        &self.states[node as usize].thread
    }

    pub fn previous(&self, node: Node) -> Node {
        self.states[node as usize].previous
    }

    /// Main before its first event.
    pub fn main<S: Source<Thread = T>>(&mut self, source: &S) -> Node {
        if self.states.is_empty() {
            let mut thread = source.main();
            let next = source.next(&mut thread);
            self.add(thread, next, NO_STATE);
        }
        0
    }

    /// Where this way leads.
    pub fn follow<S: Source<Thread = T>>(
        &mut self,
        source: &S,
        node: Node,
        way: Transition,
    ) -> Node {
        if let Some(known) = self.ways.get(&(node, way)) {
            return *known;
        }
        let state = &self.states[node as usize];
        let mut thread = match way {
            Transition::Created(child) => source.created(&state.thread, child),
            _ => state.thread.clone(),
        };
        let (next, previous) = match way {
            Transition::Created(_) => (source.next(&mut thread), NO_STATE),
            Transition::Answered(value) => {
                if matches!(&state.next, Next::Event(label) if label.action.has_answer()) {
                    source.answer(&mut thread, value);
                }
                (source.next(&mut thread), node)
            }
            _ => (stopped(&state.next, way), node),
        };
        let new = self.add(thread, next, previous);
        self.ways.insert((node, way), new);
        new
    }

    fn add(&mut self, thread: T, next: Next, previous: Node) -> Node {
        self.states.push(State {
            thread,
            next,
            previous,
        });
        self.states.len() as Node - 1
    }

    /// Property stands in memory when main tells its first event.
    pub fn initial<S: Source<Thread = T>>(&mut self, source: &S, at: Location) -> Initial {
        let found = self.initial.entry(at);
        *found.or_insert_with(|| source.initial(at))
    }
}

/// Property a thread does instead of its next event, or after it.
fn stopped(next: &Next, way: Transition) -> Next {
    let site = match next {
        Next::Event(label) => Some(label.site),
        _ => None,
    };
    let (kind, message) = match way {
        Transition::TooLong(most) => {
            let message = format!("an execution of more than {most} events");
            return Next::Truncated { message, site };
        }
        Transition::Unwritten => (
            FaultKind::Uninitialised,
            "read of memory that nothing has written",
        ),
        _ => (FaultKind::Memory, "access outside every object"),
    };
    Next::Fault(Fault {
        kind,
        message: message.to_owned(),
        site,
    })
}
