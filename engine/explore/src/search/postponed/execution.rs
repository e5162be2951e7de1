//! An execution in which reads may be postponed: the events of each thread in program order, some of
//! which are not in the graph yet.

use crate::exploration::ExploreError;
use crate::search::thread_states::{Node, ThreadStates, Transition, NO_STATE};
use crate::source::{Action, Answer, EventLabel, Initial, Location, Next, Source, ThreadId};
use program::ir::SiteId;

/// An event: its thread, and its position in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventPosition {
    pub thread: ThreadId,
    pub index: usize,
}

/// An event of a thread.
#[derive(Clone, Debug)]
pub struct LocalEvent {
    pub label: EventLabel,
    /// The index of the location in [`PartialExecution::locations`].
    pub location: usize,
    /// The state of the thread before it.
    pub(super) node: Node,
    /// When it was added to the graph; 0: it is not in it yet.
    pub added: u32,
    pub value: u64,
    /// For a read in the graph, the write that it reads from; none for the initial one.
    pub source: Option<EventPosition>,
    /// For a read in the graph: the bytes that are indeterminate.
    undefined: u8,
    /// And the event of its thread that shows where it reads from; see [`Answer`].
    source_event: u32,
    /// For a read that is not in the graph: it reads from a write that is added after this time.
    pub waits_since: Option<u32>,
    /// Or its thread waits forever: where it could have read from the last write, that was left out
    /// because the thread would have waited.
    pub left_out: bool,
    /// It follows an error of the program, and is not needed in the graph.
    skipped: bool,
    /// For an event in the graph: the threads with greater numbers that were twins of its thread when it
    /// was added ([`symmetry`](super::symmetry)), a bit for each.
    pub twins: u64,
    /// Postponed reads decided whether its thread waits before it. It is taken not to.
    undecided: bool,
}

impl LocalEvent {
    /// Whether it is still to be added to the graph.
    pub fn is_open(&self) -> bool {
        self.added == 0 && !self.skipped
    }

    pub fn is_read(&self) -> bool {
        self.label.action.is_read()
    }

    pub fn matters(&self) -> bool {
        self.label.action.matters()
    }

    pub fn is_write(&self) -> bool {
        self.label.action.is_write()
    }

    pub fn is_rmw(&self) -> bool {
        self.label.action.is_rmw()
    }

    /// Whether it is a read in the graph, of this location from this write.
    fn reads_from(&self, location: usize, write: Option<EventPosition>) -> bool {
        self.is_read() && self.added != 0 && (self.location, self.source) == (location, write)
    }

    /// The event that shows where it reads from if the read with this index reads from the same write.
    fn source_event_after(&self, read: EventPosition) -> u32 {
        let number = read.index as u32 + 1;
        match self.source_event {
            0 => number,
            known if self.source.is_some_and(|write| write.thread == read.thread) => known,
            first => first.min(number),
        }
    }

    /// Whether it writes, or is the read of a read-modify-write, which may.
    pub fn attempts(&self) -> bool {
        self.is_write() != self.is_rmw()
    }

    /// Whether a thread's event is this one, as far as its answer is known.
    fn is_repeated_by(&self, action: &Action) -> bool {
        match (*action, self.label.action) {
            (Action::Compare { outcome }, Action::Compare { .. }) => {
                outcome.is_none_or(|same| u64::from(same) == self.value)
            }
            _ if self.added == 0 => same_access(action, &self.label.action),
            (action, known) => action == known,
        }
    }
}

/// What follows the read of a read-modify-write, among the events of its thread, but for decisions and
/// for other parts of it: the write of the same location, if there is one.
pub fn after_read(events: &[LocalEvent], read: usize) -> Option<&LocalEvent> {
    let mut later = events[read + 1..].iter();
    let is_within = |event: &&LocalEvent| {
        event.label.action.is_decision() || event.is_read() && event.label.continues
    };
    let first = later.find(|event| !is_within(event))?;
    match first.is_write() && first.is_rmw() && first.location != events[read].location {
        true => later.find(|event| event.location == events[read].location),
        false => Some(first),
    }
}

#[derive(Clone, Debug)]
pub struct ThreadRun {
    pub creator: Option<EventPosition>,
    /// The first of the threads that behave like this one.
    pub class: ThreadId,
    /// The time since when the thread is taken to wait before its next event, if postponed reads
    /// decide that.
    pub waits: Option<u32>,
    /// Before this event the thread is taken not to wait, which postponed reads decide.
    pub continues: Option<usize>,
    pub events: Vec<LocalEvent>,
    /// How many of the events the thread has passed; all, or all but the last.
    passed: usize,
    /// The state after these.
    pub node: Node,
}

impl ThreadRun {
    /// A thread that is not created yet.
    pub(super) fn new(thread: ThreadId) -> ThreadRun {
        ThreadRun {
            creator: None,
            class: thread,
            waits: None,
            continues: None,
            events: Vec::new(),
            passed: 0,
            node: NO_STATE,
        }
    }
}

#[derive(Clone, Debug)]
pub struct WrittenLocation {
    pub at: Location,
    pub initial: Initial,
    /// The writes in the graph, in coherence order, without the initial one.
    pub order: Vec<EventPosition>,
}

#[derive(Clone, Debug)]
pub struct PartialExecution {
    pub threads: Vec<ThreadRun>,
    pub locations: Vec<WrittenLocation>,
    /// Counts the additions to the graph.
    pub time: u32,
    /// The graph is known to be consistent.
    pub consistent: bool,
    /// An event in the graph that its thread does not come to, because of a read that was postponed.
    pub missed: Option<SiteId>,
    generation: u32,
}

impl PartialExecution {
    pub fn new() -> PartialExecution {
        PartialExecution {
            threads: Vec::new(),
            locations: Vec::new(),
            time: 0,
            consistent: true,
            missed: None,
            generation: 0,
        }
    }

    pub fn event(&self, at: EventPosition) -> &LocalEvent {
        &self.threads[at.thread].events[at.index]
    }

    pub fn event_mut(&mut self, at: EventPosition) -> &mut LocalEvent {
        &mut self.threads[at.thread].events[at.index]
    }

    /// The reads that are not in the graph.
    pub fn open_reads(&self) -> impl Iterator<Item = EventPosition> + '_ {
        self.positions().filter(|at| {
            let event = self.event(*at);
            event.is_open() && event.is_read()
        })
    }

    /// Whether no later event of its thread is in the graph.
    pub fn ends_thread(&self, at: EventPosition) -> bool {
        let mut later = self.threads[at.thread].events[at.index + 1..].iter();
        !later.any(|event| event.added != 0)
    }

    /// How often a thread has come to write a location: writes, and read-modify-writes by their reads.
    pub fn attempts(&self, thread: ThreadId, location: usize) -> u32 {
        let events = self.threads[thread].events.iter();
        let attempts = events.filter(|event| event.location == location && event.attempts());
        attempts.count() as u32
    }

    /// How many of these are over: there is a write, or the read is in the graph and none follows.
    pub fn attempted(&self, thread: ThreadId, location: usize) -> u32 {
        let events = &self.threads[thread].events;
        let is_over = |(index, event): &(usize, &LocalEvent)| {
            event.location == location
                && match after_read(events, *index) {
                    _ if !event.attempts() => false,
                    _ if event.is_write() => true,
                    Some(next) => event.added != 0 || next.is_write() && next.is_rmw(),
                    None => false,
                }
        };
        events.iter().enumerate().filter(is_over).count() as u32
    }

    pub fn len(&self) -> usize {
        self.threads.iter().map(|thread| thread.events.len()).sum()
    }

    /// The events, by threads.
    pub fn positions(&self) -> impl Iterator<Item = EventPosition> + '_ {
        let threads = self.threads.iter().enumerate();
        threads.flat_map(|(thread, run)| {
            (0..run.events.len()).map(move |index| EventPosition { thread, index })
        })
    }

    /// Recomputes the states of all threads, if the worker's cache was cleared since. Fails if a
    /// thread does something else with the same answers.
    pub fn refresh_states<S: Source>(
        &mut self,
        states: &mut ThreadStates<S>,
    ) -> Result<(), ExploreError> {
        if self.generation == states.generation {
            return Ok(());
        }
        self.generation = states.generation;
        if self.threads.is_empty() {
            self.threads.push(ThreadRun::new(0));
        }
        for run in &mut self.threads {
            run.node = NO_STATE;
        }
        // a thread's creator may have a greater number
        let waits = |execution: &Self, thread: ThreadId| {
            let run = &execution.threads[thread];
            run.node == NO_STATE && (thread == 0 || run.creator.is_some())
        };
        while (0..self.threads.len()).any(|thread| waits(self, thread)) {
            for thread in 0..self.threads.len() {
                let start = match self.threads[thread].creator {
                    _ if !waits(self, thread) => continue,
                    None => states.main(),
                    Some(creator) if self.threads[creator.thread].node == NO_STATE => continue,
                    Some(creator) => {
                        let before = self.event(creator).node;
                        states.follow(before, Transition::Created(thread))
                    }
                };
                if !self.replay(states, EventPosition { thread, index: 0 }, start) {
                    return Err(ExploreError::Unsupported {
                        message: format!("thread {thread} does not repeat what it did"),
                        site: None,
                    });
                }
            }
        }
        Ok(())
    }

    /// Lets a thread continue from an event that was added to the graph. Returns whether its later
    /// events in the graph stay the same; those that are not in it may have changed or be gone.
    pub fn proceed<S: Source>(
        &mut self,
        states: &mut ThreadStates<S>,
        from: EventPosition,
    ) -> bool {
        let run = &mut self.threads[from.thread];
        run.passed = run.passed.max(from.index + 1);
        let before = run.events[from.index].node;
        self.replay(states, from, before)
    }

    fn replay<S: Source>(
        &mut self,
        states: &mut ThreadStates<S>,
        from: EventPosition,
        before: Node,
    ) -> bool {
        let ThreadRun {
            waits,
            events,
            passed,
            node,
            ..
        } = &mut self.threads[from.thread];
        *node = before;
        let mut index = from.index;
        while index < *passed {
            let gone = match states.next(*node) {
                Next::Event(label) => {
                    let event = &mut events[index];
                    let same = event.is_repeated_by(&label.action);
                    if same {
                        event.label = *label;
                    } else if matches!(label.action, Action::Compare { .. }) {
                        // it was taken to have the other outcome: that is another branch
                        return false;
                    }
                    !same
                }
                _ => true,
            };
            if gone {
                let blocked = matches!(states.next(*node), Next::Blocked { .. });
                if waits.is_some() || blocked && events[index].undecided {
                    // that is another branch
                    return false;
                }
                let lost = events[index..].iter().any(|event| event.added != 0);
                let faulty = matches!(states.next(*node), Next::Fault(_));
                if lost && !faulty {
                    let first = events[index..].iter().find(|event| event.added != 0);
                    self.missed = first.map(|first| first.label.site);
                    return false;
                }
                match lost {
                    // what is in the graph does not depend on the error
                    true => events[index..]
                        .iter_mut()
                        .for_each(|event| event.skipped = true),
                    false => events.truncate(index),
                }
                *passed = events.len();
                return true;
            }
            let event = &mut events[index];
            event.node = *node;
            let transition = transition(states.source, event, event.source_event);
            *node = states.follow(*node, transition);
            index += 1;
        }
        if let Some(event) = events.get_mut(*passed) {
            event.node = *node;
            match states.next(*node) {
                Next::Event(label) if same_access(&label.action, &event.label.action) => {
                    event.label = *label;
                }
                Next::Blocked { .. } if event.undecided => return false,
                _ => events.truncate(*passed),
            }
        }
        if waits.is_some() {
            match states.next(*node) {
                Next::Blocked { .. } => {}
                Next::Event(_) if states.source.is_undecided(states.thread(*node)) => {
                    *node = states.follow(*node, Transition::Waits);
                }
                _ => return false,
            }
        }
        true
    }

    /// Lets a thread pass its last event, which is in the graph or postponed.
    pub fn pass<S: Source>(&mut self, states: &mut ThreadStates<S>, thread: ThreadId) {
        let run = &mut self.threads[thread];
        let event = &run.events[run.passed];
        let transition = transition(states.source, event, event.source_event);
        run.node = states.follow(run.node, transition);
        run.passed += 1;
    }

    /// Stops a thread instead of its next event.
    pub fn stop<S: Source>(
        &mut self,
        states: &mut ThreadStates<S>,
        thread: ThreadId,
        why: Transition,
    ) {
        let run = &mut self.threads[thread];
        run.node = states.follow(run.node, why);
    }

    /// A thread's next event, if it has one and does not stand before its last one.
    pub fn next<'s, S: Source>(
        &self,
        states: &'s ThreadStates<S>,
        thread: ThreadId,
    ) -> Option<&'s Next> {
        debug_assert_eq!(
            self.generation, states.generation,
            "its states were cleared"
        );
        let run = &self.threads[thread];
        (run.node != NO_STATE && run.passed == run.events.len()).then(|| states.next(run.node))
    }

    /// Adds an event to its thread, not yet to the graph.
    pub fn push(&mut self, thread: ThreadId, label: &EventLabel, location: usize) -> EventPosition {
        let run = &mut self.threads[thread];
        let undecided = run.continues == Some(run.events.len());
        run.events.push(LocalEvent {
            label: *label,
            location,
            node: run.node,
            added: 0,
            value: 0,
            source: None,
            undefined: 0,
            source_event: 0,
            waits_since: None,
            left_out: false,
            skipped: false,
            twins: 0,
            undecided,
        });
        EventPosition {
            thread,
            index: run.events.len() - 1,
        }
    }

    /// Adds an event to the graph.
    pub fn add(&mut self, at: EventPosition, value: u64) {
        let twins = self.twins_before(at);
        self.time += 1;
        let time = self.time;
        let event = self.event_mut(at);
        event.twins = twins;
        event.added = time;
        event.value = value;
    }

    /// Adds a read to the graph, which reads from this write; none: the initial one.
    pub fn add_read(&mut self, read: EventPosition, write: Option<EventPosition>) {
        let Answer {
            value, undefined, ..
        } = self.written(self.event(read).location, write);
        let source_event = self.source_event(read, write);
        self.add(read, value);
        let event = self.event_mut(read);
        event.source = write;
        event.undefined = undefined;
        event.source_event = source_event;
        let location = event.location;
        for later in &mut self.threads[read.thread].events[read.index + 1..] {
            if later.reads_from(location, write) {
                later.source_event = later.source_event_after(read);
            }
        }
    }

    /// The event of its thread that shows where a read reads from, if that is this write; see [`Answer`].
    fn source_event(&self, read: EventPosition, write: Option<EventPosition>) -> u32 {
        if let Some(own) = write.filter(|write| write.thread == read.thread) {
            return own.index as u32 + 1;
        }
        let location = self.event(read).location;
        let mut earlier = self.threads[read.thread].events[..read.index].iter();
        let first = earlier.position(|event| event.reads_from(location, write));
        first.map_or(0, |index| index as u32 + 1)
    }

    /// Whether no execution that extends this one is counted, because of a thread's last event.
    pub fn is_redundant<S: Source>(&self, states: &ThreadStates<S>) -> bool {
        (0..self.threads.len()).any(|thread| {
            let next = self.next(states, thread);
            let last = self.threads[thread].events.last();
            next.zip(last)
                .is_some_and(|(next, last)| next.is_redundant_after(last.label.action, last.value))
        })
    }

    /// What a thread would do next if a read, which is not in the graph, read from this write, and after
    /// how many of its events; none if it would not come to its later events in the graph.
    pub fn next_if_read<'s, S: Source>(
        &self,
        states: &'s mut ThreadStates<S>,
        read: EventPosition,
        write: Option<EventPosition>,
    ) -> Option<(&'s Next, usize)> {
        let events = &self.threads[read.thread].events;
        let event = self.event(read);
        let mut answer = self.written(event.location, write);
        if states.source.tracks_dependencies() {
            answer.event = self.source_event(read, write);
        }
        let read_it = Transition::past(event.label.action, answer);
        let mut node = states.follow(event.node, read_it);
        let mut reached = read.index + 1;
        for later in &events[read.index + 1..] {
            match states.next(node) {
                Next::Event(label) if later.is_repeated_by(&label.action) => {
                    let source_event = match later.reads_from(event.location, write) {
                        true => later.source_event_after(read),
                        false => later.source_event,
                    };
                    node = states.follow(node, transition(states.source, later, source_event));
                }
                _ if events[reached..].iter().any(|event| event.added != 0) => return None,
                _ => break,
            }
            reached += 1;
        }
        Some((states.next(node), reached))
    }

    pub fn create<S: Source>(
        &mut self,
        states: &mut ThreadStates<S>,
        creator: EventPosition,
        thread: ThreadId,
        symmetric: bool,
    ) {
        let before = self.event(creator).node;
        let class = match symmetric {
            true => self.class(states, creator, thread),
            false => thread,
        };
        let absent = self.threads.len()..thread + 1;
        self.threads.extend(absent.map(ThreadRun::new));
        self.threads[thread].creator = Some(creator);
        self.threads[thread].class = class;
        self.threads[thread].node = states.follow(before, Transition::Created(thread));
    }

    /// Whether all events of a thread, up to a position, are in the graph.
    pub fn is_added_up_to(&self, thread: ThreadId, index: usize) -> bool {
        let events = &self.threads[thread].events;
        !events[..index].iter().any(LocalEvent::is_open)
    }

    /// The result of a thread that has ended and whose events are all in the graph.
    pub fn result<S: Source>(&self, states: &ThreadStates<S>, thread: ThreadId) -> Option<u64> {
        let run = self.threads.get(thread)?;
        match self.next(states, thread)? {
            Next::Done(result) if self.is_added_up_to(thread, run.events.len()) => Some(*result),
            _ => None,
        }
    }

    /// Whether a thread may still have events that it has not reached yet.
    pub fn may_continue<S: Source>(&self, states: &ThreadStates<S>, thread: ThreadId) -> bool {
        let run = &self.threads[thread];
        if run.node == NO_STATE || run.waits.is_some() {
            return false;
        }
        match self.next(states, thread) {
            None => true,
            Some(Next::Event(_) | Next::Needs(_)) => true,
            Some(_) => false,
        }
    }

    /// The index of a location, which is added if necessary; none if it is in no object.
    pub fn locate<S: Source>(
        &mut self,
        states: &mut ThreadStates<S>,
        at: Location,
    ) -> Option<usize> {
        let known = self.locations.iter().position(|place| place.at == at);
        if known.is_some() {
            return known;
        }
        let events = self.threads.iter().flat_map(|thread| &thread.events);
        let actions = events.map(|event| event.label.action);
        let initial = states.contents(at, actions)?;
        self.locations.push(WrittenLocation {
            at,
            initial,
            order: Vec::new(),
        });
        Some(self.locations.len() - 1)
    }
}

/// How a thread's state changes when it passes an event.
fn transition<S: Source>(source: &S, event: &LocalEvent, source_event: u32) -> Transition {
    if event.is_read() && event.added == 0 {
        return Transition::Postponed;
    }
    let answer = Answer {
        undefined: event.undefined,
        event: match source.tracks_dependencies() {
            true => source_event,
            false => 0,
        },
        ..Answer::new(event.value)
    };
    Transition::past(event.label.action, answer)
}

/// Whether two actions differ in the value written at most.
fn same_access(one: &Action, other: &Action) -> bool {
    match (*one, *other) {
        (
            Action::Write { at, order, rmw, .. },
            Action::Write {
                at: other_at,
                order: other_order,
                rmw: other_rmw,
                ..
            },
        ) => (at, order, rmw) == (other_at, other_order, other_rmw),
        (one, other) => one == other,
    }
}
