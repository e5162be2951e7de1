//! An execution graph: events in the order in which they were added, reads-from, and coherence.
//!
//! An event is identified by its position in the order of addition, called stamp in
//! Kokologiannakis, Marmanis, Gladstein, Vafeiadis, "Truly stateless, optimal dynamic partial order
//! reduction", POPL 2022. Events are added and removed at the end; a backward revisit makes a new
//! graph of the events that it preserves.

use crate::source::{Action, Answer, Dependencies, EventLabel, Initial, Location, ThreadId};
use borsh::{BorshDeserialize, BorshSerialize};
use program::ir::SiteId;
use program::memory::Dep;

/// The position of an event in the order of addition.
pub type EventId = u32;

/// No event. As the source of a read, and in coherence order: the initial write.
pub const NONE: EventId = EventId::MAX;
/// The source of a read whose write is not in the graph yet. The model sees neither.
pub const PROMISED: EventId = NONE - 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Event {
    pub thread: ThreadId,
    /// The position in its thread.
    pub index: u32,
    pub action: Action,
    pub site: SiteId,
    /// The value read, the result of the joined thread, or the alternative chosen.
    pub value: u64,
    /// The index of the location in [`Graph::locations`].
    pub location: u32,
    /// For a read, the write it reads from; `NONE` for the initial one. For an `Action::Wait` that
    /// replaces a revisited read, the write that revisited it.
    pub source: EventId,
    /// For the write of a read-modify-write, its read; for the read, its write, if there is one.
    pub pair: EventId,
    /// For a write, the next one in coherence order.
    pub co_successor: EventId,
    /// The previous event of the thread. For an `Action::Wait`, which is not an event of its
    /// thread, the previous one of the thread.
    pub po_predecessor: EventId,
    /// Some read that was added earlier reads from this write.
    pub revisited: bool,
    /// See [`EventLabel::continues`].
    pub continues: bool,
}

impl Event {
    /// A thread's event with this index, which follows `po_predecessor`.
    pub(super) fn new(
        thread: ThreadId,
        index: u32,
        label: &EventLabel,
        location: u32,
        po_predecessor: EventId,
    ) -> Event {
        Event {
            thread,
            index,
            action: label.action,
            site: label.site,
            value: 0,
            location,
            source: NONE,
            pair: NONE,
            co_successor: NONE,
            po_predecessor,
            revisited: false,
            continues: label.continues,
        }
    }

    #[inline]
    pub fn is_read(&self) -> bool {
        self.action.is_read()
    }

    pub fn is_read_of(&self, location: u32) -> bool {
        self.is_read() && self.location == location
    }

    pub fn matters(&self) -> bool {
        self.action.matters()
    }

    #[inline]
    pub fn is_write(&self) -> bool {
        self.action.is_write()
    }

    pub fn is_rmw(&self) -> bool {
        self.action.is_rmw()
    }

    /// The location that the event reads or writes.
    pub fn at(&self) -> Option<Location> {
        self.action.at()
    }
}

/// A location that some event of the graph reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct GraphLocation {
    pub at: Location,
    pub initial: Initial,
    /// The first write in coherence order after the initial one.
    pub first: EventId,
    pub(super) users: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct ThreadEvents {
    /// The number of events of the thread.
    pub count: u32,
    pub last: EventId,
    /// The event that creates it; `NONE` for main and for a thread that does not exist.
    pub creator: EventId,
    /// Its last `Action::Wait`.
    pub waits: EventId,
}

pub(super) const ABSENT: ThreadEvents = ThreadEvents {
    count: 0,
    last: NONE,
    creator: NONE,
    waits: NONE,
};

/// Dependencies: pairs of a read and a later event of its thread.
#[derive(Clone, Debug, Default, BorshSerialize, BorshDeserialize)]
pub struct DependencyPairs {
    pub addr: Vec<(EventId, EventId)>,
    pub data: Vec<(EventId, EventId)>,
    pub ctrl: Vec<(EventId, EventId)>,
    /// Those of `data` whose write has one of several values.
    pub chosen: Vec<(EventId, EventId)>,
}

impl DependencyPairs {
    /// Adds those of an event. `add` adds the pairs of the reads in a set.
    pub fn add(
        &mut self,
        of: Dependencies,
        mut add: impl FnMut(Dep, &mut Vec<(EventId, EventId)>),
    ) {
        add(of.addr, &mut self.addr);
        add(of.data, &mut self.data);
        add(of.ctrl, &mut self.ctrl);
        if of.chosen {
            add(of.data, &mut self.chosen);
        }
    }
}

#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub struct Graph {
    pub events: Vec<Event>,
    pub locations: Vec<GraphLocation>,
    pub threads: Vec<ThreadEvents>,
    /// For each event, how many events of each thread are in its causal prefix (po | rf)*, itself
    /// included: a vector clock of `stride` numbers.
    pub(super) clocks: Vec<u32>,
    pub(super) stride: usize,
    /// Empty unless the search postpones reads.
    pub dependencies: DependencyPairs,
}

impl Default for Graph {
    /// The empty graph: main has no events.
    fn default() -> Graph {
        Graph {
            events: Vec::new(),
            locations: Vec::new(),
            threads: vec![ABSENT],
            clocks: Vec::new(),
            stride: 4,
            dependencies: DependencyPairs::default(),
        }
    }
}

impl Graph {
    pub fn len(&self) -> usize {
        self.events.len()
    }

    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    #[inline]
    pub fn event(&self, id: EventId) -> &Event {
        &self.events[id as usize]
    }

    #[inline]
    pub(super) fn event_mut(&mut self, id: EventId) -> &mut Event {
        &mut self.events[id as usize]
    }

    #[inline]
    pub fn clock(&self, id: EventId) -> &[u32] {
        &self.clocks[id as usize * self.stride..][..self.stride]
    }

    /// Whether the first event is in the causal prefix of the other, or is the other.
    #[inline]
    pub fn precedes(&self, first: EventId, other: EventId) -> bool {
        let event = self.event(first);
        self.clock(other)[event.thread] > event.index
    }

    /// Whether an operation call of another thread, which had not returned when the event's thread was
    /// created, has returned in the event's causal prefix.
    pub fn follows_calls(&self, id: EventId) -> bool {
        let thread = self.event(id).thread;
        let creator = self.threads[thread].creator;
        (0..self.len() as EventId).any(|other| {
            let event = self.event(other);
            let call = event.at().and_then(Location::call);
            call.is_some_and(|(_, returned)| returned)
                && event.thread != thread
                && self.precedes(other, id)
                && (creator == NONE || !self.precedes(other, creator))
        })
    }

    /// Whether a thread was created, directly or not, by the event's thread after the event.
    pub fn is_created_after(&self, thread: ThreadId, id: EventId) -> bool {
        let event = self.event(id);
        let mut creator = self.threads[thread].creator;
        while creator != NONE {
            let create = self.event(creator);
            if create.thread == event.thread {
                return create.index > event.index;
            }
            creator = self.threads[create.thread].creator;
        }
        false
    }

    /// The index of a location, if some event accesses it.
    pub fn location_number(&self, at: Location) -> Option<u32> {
        let found = self.locations.iter().position(|place| place.at == at);
        found.map(|number| number as u32)
    }

    /// Whether a location is a round of a barrier.
    pub fn is_round(&self, location: u32) -> bool {
        self.locations[location as usize].at.barrier().is_some()
    }

    /// Adds a location that no event accesses yet; the next event added does.
    pub fn add_location(&mut self, at: Location, initial: Initial) -> u32 {
        self.locations.push(GraphLocation {
            at,
            initial,
            first: NONE,
            users: 0,
        });
        self.locations.len() as u32 - 1
    }

    /// The index of a location, which is added with these contents if no event accesses it yet; the next
    /// event added does then.
    pub fn locate(&mut self, at: Location, initial: Initial) -> u32 {
        let known = self.location_number(at);
        known.unwrap_or_else(|| self.add_location(at, initial))
    }

    /// Adds a thread's next event. A write has no place in coherence order yet; a read reads from
    /// the initial write.
    pub fn push(&mut self, thread: ThreadId, label: &EventLabel, location: u32) -> EventId {
        let id = self.events.len() as EventId;
        let thread_events = &mut self.threads[thread];
        let (before, index, creator) = (
            thread_events.last,
            thread_events.count,
            thread_events.creator,
        );
        thread_events.last = id;
        thread_events.count += 1;
        let from = if before == NONE { creator } else { before };
        if from == NONE {
            self.clocks.resize(self.clocks.len() + self.stride, 0);
        } else {
            let from = from as usize * self.stride;
            self.clocks.extend_from_within(from..from + self.stride);
        }
        self.clocks[id as usize * self.stride + thread] = index + 1;
        self.events
            .push(Event::new(thread, index, label, location, before));
        if location != NONE {
            self.locations[location as usize].users += 1;
        }
        match label.action {
            Action::Write { rmw: true, .. } => self.pair(id),
            Action::Create { thread } => self.create(id, thread),
            Action::Join { thread } => {
                let last =
                    self.threads.get(thread).map_or(NONE, |thread_events| {
                        match thread_events.last {
                            NONE => thread_events.creator,
                            last => last,
                        }
                    });
                self.learn(id, last);
            }
            _ => {}
        }
        id
    }

    /// Pairs the write of a read-modify-write with its thread's last read of the location.
    fn pair(&mut self, write: EventId) {
        let location = self.event(write).location;
        let read = self
            .po_predecessors(self.event(write).po_predecessor)
            .find(|earlier| self.event(*earlier).is_read_of(location));
        if let Some(read) = read {
            self.event_mut(read).pair = write;
            self.event_mut(write).pair = read;
        }
    }

    fn create(&mut self, id: EventId, thread: ThreadId) {
        if thread >= self.threads.len() {
            self.threads.resize(thread + 1, ABSENT);
        }
        if thread >= self.stride {
            self.widen((thread + 1).next_power_of_two());
        }
        self.threads[thread] = ThreadEvents {
            creator: id,
            ..ABSENT
        };
    }

    fn widen(&mut self, stride: usize) {
        let mut clocks = vec![0; self.events.len() * stride];
        let rows = self.clocks.chunks_exact(self.stride);
        for (row, wide) in rows.zip(clocks.chunks_exact_mut(stride)) {
            wide[..self.stride].copy_from_slice(row);
        }
        self.clocks = clocks;
        self.stride = stride;
    }

    /// Adds another event's causal prefix to that of an event.
    fn learn(&mut self, id: EventId, from: EventId) {
        if from == NONE {
            return;
        }
        let (id, from) = (id as usize * self.stride, from as usize * self.stride);
        for thread in 0..self.stride {
            let known = self.clocks[from + thread];
            let own = &mut self.clocks[id + thread];
            *own = known.max(*own);
        }
    }

    /// Sets the source of a read. No event follows the read, and its prefix is that of its thread.
    pub fn set_source(&mut self, read: EventId, write: EventId, value: u64) {
        let event = self.event_mut(read);
        event.source = write;
        event.value = value;
        self.learn(read, write);
        if write != NONE && write > read {
            self.event_mut(write).revisited = true;
        }
    }

    /// Sets the value of a read whose write is added later.
    pub fn promise(&mut self, read: EventId, value: u64) {
        let event = self.event_mut(read);
        event.source = PROMISED;
        event.value = value;
    }

    /// Resets the source of a read to the initial write.
    pub(super) fn unset_source(&mut self, read: EventId) {
        let event = *self.event(read);
        let row = read as usize * self.stride;
        self.clocks[row..][..self.stride].fill(0);
        self.learn(read, self.predecessor(&event));
        self.clocks[row + event.thread] = event.index + 1;
        self.event_mut(read).source = NONE;
    }

    pub fn set_value(&mut self, id: EventId, value: u64) {
        self.event_mut(id).value = value;
    }

    /// The answer to a read from a write; `NONE`: from the initial write.
    pub fn written(&self, location: u32, write: EventId) -> Answer {
        match write {
            NONE => self.locations[location as usize].initial.answer(),
            write => self.event(write).action.written(),
        }
    }

    /// The value of a write; `NONE`: of the initial write.
    pub fn value_of(&self, location: u32, write: EventId) -> u64 {
        self.written(location, write).value
    }

    /// What a thread gets for an event; `tracked`: of a source that tracks dependencies.
    pub fn answer(&self, id: EventId, tracked: bool) -> Answer {
        let event = self.event(id);
        Answer {
            undefined: match event.is_read() {
                true => self.written(event.location, event.source).undefined,
                false => 0,
            },
            event: match tracked && event.is_read() {
                true => self.source_event(id),
                false => 0,
            },
            ..Answer::new(event.value)
        }
    }

    /// The event of its thread that shows where a read reads from; see [`Answer`].
    fn source_event(&self, read: EventId) -> u32 {
        let (location, source) = (self.event(read).location, self.event(read).source);
        let shows = |id: &EventId| {
            let event = self.event(*id);
            event.is_read() && (event.location, event.source) == (location, source)
        };
        let mut before: Vec<EventId> = self.po_predecessors(read).skip(1).collect();
        before.reverse();
        let own = before.iter().position(|id| *id == source);
        let first = own.or_else(|| before.iter().position(shows));
        first.map_or(0, |index| index as u32 + 1)
    }

    /// At most `count` of the last reads of a thread that matter to it, newest first.
    pub fn last_reads(&self, thread: ThreadId, count: usize) -> impl Iterator<Item = EventId> + '_ {
        let events = self.po_predecessors(self.threads[thread].last);
        events.filter(|id| self.event(*id).matters()).take(count)
    }

    /// An event, and those of its thread before it, newest first; none for `NONE`.
    pub fn po_predecessors(&self, last: EventId) -> impl Iterator<Item = EventId> + '_ {
        let mut id = last;
        std::iter::from_fn(move || {
            let now = id;
            id = self.events.get(now as usize)?.po_predecessor;
            Some(now)
        })
    }

    /// The event before an event in its thread; for the first one, that which creates the thread.
    pub fn predecessor(&self, event: &Event) -> EventId {
        match event.po_predecessor {
            NONE => self.threads[event.thread].creator,
            before => before,
        }
    }

    /// The initial contents of a location in an object that the program allocates.
    pub fn allocated(&self, at: Location) -> Initial {
        let mut events = self.events.iter();
        let found = events.find_map(|event| event.action.allocates(at));
        found.unwrap_or(Initial::Outside)
    }

    /// Whether a location is in an object that another thread has allocated, which was not the case
    /// yet when this one was created.
    pub fn is_allocated_beside(&self, thread: ThreadId, at: Location) -> bool {
        (0..self.len() as EventId).any(|id| {
            let event = self.event(id);
            event.thread != thread
                && event.action.allocates(at).is_some()
                && !self.is_created_after(thread, id)
        })
    }

    /// Removes the last event.
    pub fn pop(&mut self) {
        let id = self.events.len() as EventId - 1;
        let event = self.events[id as usize];
        if event.action == Action::Wait {
            self.threads[event.thread].waits = event.po_predecessor;
            self.events.pop();
            self.clocks.truncate(id as usize * self.stride);
            return;
        }
        if event.is_write() {
            if let Some(previous) = self.preceding(id) {
                self.unorder(id, previous);
            }
            if event.pair != NONE {
                self.event_mut(event.pair).pair = NONE;
            }
        }
        if let Action::Create { thread } = event.action {
            self.threads[thread] = ABSENT;
        }
        if event.location != NONE {
            let place = &mut self.locations[event.location as usize];
            place.users -= 1;
            if place.users == 0 {
                self.locations.truncate(event.location as usize);
            }
        }
        let thread_events = &mut self.threads[event.thread];
        thread_events.count -= 1;
        thread_events.last = event.po_predecessor;
        self.events.pop();
        self.clocks.truncate(id as usize * self.stride);
    }

    /// Removes all events.
    pub fn reset(&mut self) {
        self.events.clear();
        self.locations.clear();
        self.clocks.clear();
        self.threads.clear();
        self.threads.push(ABSENT);
        self.dependencies.addr.clear();
        self.dependencies.data.clear();
        self.dependencies.ctrl.clear();
        self.dependencies.chosen.clear();
    }

    /// Recomputes the causal prefixes of all events, in a graph in which po | rf may have cycles.
    pub fn close_prefixes(&mut self) {
        let mut changed = true;
        while changed {
            changed = false;
            for id in 0..self.len() as EventId {
                let event = *self.event(id);
                let joined = match event.action {
                    Action::Join { thread } => self.threads[thread].last,
                    _ => NONE,
                };
                let row = id as usize * self.stride..(id as usize + 1) * self.stride;
                let known = self.clocks[row.clone()].to_vec();
                self.learn(id, self.predecessor(&event));
                self.learn(id, event.source);
                self.learn(id, joined);
                changed |= known != self.clocks[row];
            }
        }
    }
}
