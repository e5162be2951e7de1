//! A cache of thread states: for each sequence of answers, the state it leads to and the event that
//! follows.
//!
//! A thread is a function of its answers ([`Source`]), and thousands of executions give it the same
//! ones. So each state is computed once, and executions refer to it by number. Each worker has its
//! own cache and clears it when it has grown too large; an execution then runs its threads again.

use rustc_hash::FxHashMap;

use crate::source::{Fault, FaultKind, Initial, Location, Next, Source, ThreadId};

/// The index of a state.
pub type Node = u32;

/// No state: the thread does not exist.
pub const NO_STATE: Node = Node::MAX;

/// A thread before its next event.
struct State<T> {
    thread: T,
    next: Next,
    previous: Node,
}

/// A transition from one state to another.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Transition {
    /// The event was performed, with this answer; 0 if it has none.
    Answered(u64),
    /// Its read was postponed.
    Postponed,
    /// Its read reads uninitialised memory.
    Unwritten,
    /// Its access is to unallocated memory.
    Outside,
    /// The execution has reached the limit of events.
    TooLong(usize),
    /// To the thread that it creates.
    Created(ThreadId),
}

pub struct ThreadStates<T> {
    states: Vec<State<T>>,
    successors: FxHashMap<(Node, Transition), Node>,
    initial: FxHashMap<Location, Initial>,
    /// Changes when the cache is cleared.
    pub generation: u32,
}

impl<T: Clone> ThreadStates<T> {
    pub fn new() -> ThreadStates<T> {
        ThreadStates {
            states: Vec::new(),
            successors: FxHashMap::default(),
            initial: FxHashMap::default(),
            generation: 1,
        }
    }

    /// Clears the cache if it holds more than `most` states; this invalidates all nodes.
    pub fn trim(&mut self, most: usize) {
        if self.states.len() > most {
            self.states.clear();
            self.successors.clear();
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

    /// The state that a transition leads to.
    pub fn follow<S: Source<Thread = T>>(
        &mut self,
        source: &S,
        node: Node,
        transition: Transition,
    ) -> Node {
        if let Some(known) = self.successors.get(&(node, transition)) {
            return *known;
        }
        let state = &self.states[node as usize];
        let mut thread = match transition {
            Transition::Created(child) => source.created(&state.thread, child),
            _ => state.thread.clone(),
        };
        let (next, previous) = match transition {
            Transition::Created(_) => (source.next(&mut thread), NO_STATE),
            Transition::Answered(value) => {
                if matches!(&state.next, Next::Event(label) if label.action.has_answer()) {
                    source.answer(&mut thread, value);
                }
                (source.next(&mut thread), node)
            }
            Transition::Postponed => {
                source.postpone(&mut thread);
                (source.next(&mut thread), node)
            }
            _ => (stopped(&state.next, transition), node),
        };
        let new = self.add(thread, next, previous);
        self.successors.insert((node, transition), new);
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

    /// The contents of a location when main performs its first event.
    pub fn initial<S: Source<Thread = T>>(&mut self, source: &S, at: Location) -> Initial {
        let found = self.initial.entry(at);
        *found.or_insert_with(|| source.initial(at))
    }
}

/// What a thread does that is stopped at its next event.
fn stopped(next: &Next, transition: Transition) -> Next {
    let site = match next {
        Next::Event(label) => Some(label.site),
        _ => None,
    };
    let (kind, message) = match transition {
        Transition::TooLong(most) => {
            let message = format!("more than {most} events in one execution");
            return Next::Truncated {
                message,
                site,
                limit: "events",
                because: String::new(),
            };
        }
        Transition::Unwritten => (FaultKind::Uninitialised, "read of uninitialised memory"),
        _ => (FaultKind::Memory, "access to unallocated memory"),
    };
    Next::Fault(Fault {
        kind,
        message: message.to_owned(),
        site,
    })
}
