//! A cache of thread states: for each sequence of answers, the state it leads to and the event that
//! follows.
//!
//! A thread is a function of its answers ([`Source`]), and thousands of executions give it the same
//! ones. So each state is computed once, and executions refer to it by number. Each worker has its
//! own cache and clears it when it has grown too large; an execution then runs its threads again.

use rustc_hash::FxHashMap;
use std::sync::Arc;

use crate::exchanges::Exchanges;
use crate::source::{Action, Answer, Fault, FaultKind, Initial, Location, Next, Source, ThreadId};

/// The index of a state.
pub type Node = u32;

/// No state: the thread does not exist.
pub const NO_STATE: Node = Node::MAX;

/// A thread before its next event.
struct State<T> {
    thread: T,
    next: Next,
    /// The state and the transition that lead to it; for a thread's first, those of its creator.
    origin: Option<(Node, Transition)>,
}

/// A transition from one state to another.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Transition {
    /// The event was performed, with this answer; the default if it has none.
    Answered(Answer),
    /// Its read was postponed.
    Postponed,
    /// Its read reads uninitialised memory.
    Unwritten,
    /// Its access is to unallocated memory.
    Outside,
    /// The execution has reached the limit of events.
    TooLong(usize),
    /// It is taken to wait, which postponed reads decide.
    Waits,
    /// To the thread that it creates.
    Created(ThreadId),
}

impl Transition {
    /// Past an event.
    pub fn past(action: Action, answer: Answer) -> Transition {
        match action {
            Action::Read {
                at,
                uninitialised_ok: false,
                ..
            } if answer.is_undefined(at.size) => Transition::Unwritten,
            action if action.has_answer() => Transition::Answered(answer),
            _ => Transition::Answered(Answer::default()),
        }
    }
}

pub struct ThreadStates<'s, S: Source> {
    pub source: &'s S,
    states: Vec<State<S::Thread>>,
    successors: FxHashMap<(Node, Transition), Node>,
    initial: FxHashMap<Location, Initial>,
    /// Changes when the cache is cleared.
    pub generation: u32,
    /// The exchanges of threads were found, if there are any (`equivariance`).
    pub(super) prepared: bool,
    /// For each thread that may be exchanged, the first of those that it may be exchanged with.
    pub(super) classes: FxHashMap<ThreadId, ThreadId>,
    pub(super) exchanges: Arc<Exchanges>,
    /// For each state that was checked, the states that the exchanges lead to from it.
    pub(super) images: FxHashMap<Node, Box<[Node]>>,
    /// The threads may not be exchanged.
    pub distinguished: bool,
}

impl<'s, S: Source> ThreadStates<'s, S> {
    pub fn new(source: &'s S, exchanges: Arc<Exchanges>) -> ThreadStates<'s, S> {
        ThreadStates {
            source,
            states: Vec::new(),
            successors: FxHashMap::default(),
            initial: FxHashMap::default(),
            generation: 1,
            prepared: false,
            classes: FxHashMap::default(),
            exchanges,
            images: FxHashMap::default(),
            distinguished: false,
        }
    }

    /// Clears the cache if it holds more than `most` states; this invalidates all nodes.
    pub fn trim(&mut self, most: usize) {
        if self.states.len() > most {
            *self = ThreadStates {
                generation: self.generation + 1,
                distinguished: self.distinguished,
                ..ThreadStates::new(self.source, self.exchanges.clone())
            };
        }
    }

    pub fn next(&self, node: Node) -> &Next {
        &self.states[node as usize].next
    }

    pub fn thread(&self, node: Node) -> &S::Thread {
        &self.states[node as usize].thread
    }

    /// The state before the last event of its thread.
    pub fn previous(&self, node: Node) -> Node {
        match self.origin(node) {
            None | Some((_, Transition::Created(_))) => NO_STATE,
            Some((before, _)) => before,
        }
    }

    pub(super) fn origin(&self, node: Node) -> Option<(Node, Transition)> {
        self.states[node as usize].origin
    }

    /// The first of the threads that a thread may be exchanged with, although they get different
    /// arguments.
    pub fn class(&self, thread: ThreadId) -> Option<ThreadId> {
        self.classes.get(&thread).copied()
    }

    /// Main before its first event.
    pub fn main(&mut self) -> Node {
        if self.states.is_empty() {
            let mut thread = self.source.main();
            let next = self.source.next(&mut thread);
            self.add(thread, next, None);
        }
        0
    }

    /// The state that a transition leads to.
    pub fn follow(&mut self, node: Node, transition: Transition) -> Node {
        let reached = self.reach(node, transition);
        self.check(reached);
        reached
    }

    /// As [`follow`](Self::follow), without a check of what exchanges of threads lead to.
    pub(super) fn reach(&mut self, node: Node, transition: Transition) -> Node {
        if let Some(known) = self.successors.get(&(node, transition)) {
            return *known;
        }
        let state = &self.states[node as usize];
        let mut thread = match transition {
            Transition::Created(child) => self.source.created(&state.thread, child),
            _ => state.thread.clone(),
        };
        let next = match transition {
            Transition::Created(_) => self.source.next(&mut thread),
            Transition::Answered(answer) => {
                if matches!(&state.next, Next::Event(label) if label.action.has_answer()) {
                    self.source.answer(&mut thread, answer);
                }
                self.source.next(&mut thread)
            }
            Transition::Postponed => {
                self.source.postpone(&mut thread);
                self.source.next(&mut thread)
            }
            _ => stopped(&state.next, transition),
        };
        let new = self.add(thread, next, Some((node, transition)));
        self.successors.insert((node, transition), new);
        new
    }

    fn add(&mut self, thread: S::Thread, next: Next, origin: Option<(Node, Transition)>) -> Node {
        self.states.push(State {
            thread,
            next,
            origin,
        });
        self.states.len() as Node - 1
    }

    /// The contents of a location when main performs its first event.
    pub fn initial(&mut self, at: Location) -> Initial {
        let found = self.initial.entry(at);
        *found.or_insert_with(|| self.source.initial(at))
    }

    /// The contents of a location before the first write, in an execution in which threads perform
    /// these actions; none if it is in no object.
    pub fn contents(
        &mut self,
        at: Location,
        mut actions: impl Iterator<Item = Action>,
    ) -> Option<Initial> {
        match self.initial(at) {
            Initial::Outside => actions.find_map(|action| action.allocates(at)),
            known => Some(known),
        }
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
        Transition::Waits => return Next::Needs(0),
        Transition::Unwritten => (FaultKind::Uninitialised, "read of uninitialised memory"),
        _ => (FaultKind::Memory, "access to unallocated memory"),
    };
    Next::Fault(Fault::new(kind, message, site))
}
