//! An execution graph: events in the order they were added, from where each read reads, in
//! which order a location's writes come.
//!
//! An event is its place in the order of addition, which the paper calls the stamp
//! (Kokologiannakis, Marmanis, Gladstein, Vafeiadis, "Truly stateless, optimal dynamic partial
//! order reduction", POPL 2022). Events are added and taken away at the end; a backward revisit
//! makes a new graph of those that stay.

use crate::source::{Action, Initial, Location, ThreadId, Told};
use program::ir::SiteId;

/// The place of an event in a graph.
pub type Slot = u32;

/// No event; of a read's source and in a coherence order: the initial write.
pub const NONE: Slot = Slot::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    pub thread: ThreadId,
    /// The place in its thread.
    pub index: u32,
    pub action: Action,
    pub site: SiteId,
    /// What a read reads, a join is given, a choice is.
    pub value: u64,
    /// The number of the location in the graph.
    pub location: u32,
    /// Of a read, the write it reads from; `NONE` for the initial one. Of an `Action::Wait` instead
    /// of a read that was revisited, the write that did so.
    pub source: Slot,
    /// Of an exclusive write, its read; of an exclusive read, its write, where there is one.
    pub pair: Slot,
    /// Of a write, the next in coherence order.
    pub after: Slot,
    /// The thread's event before it; of an `Action::Wait`, which is none of these, the last one
    /// of the thread.
    pub before: Slot,
    /// Some read that was added before this write reads from it.
    pub revisited: bool,
}

impl Event {
    pub fn is_read(&self) -> bool {
        matches!(self.action, Action::Read { .. })
    }

    pub fn is_write(&self) -> bool {
        matches!(self.action, Action::Write { .. })
    }

    pub fn is_exclusive(&self) -> bool {
        matches!(
            self.action,
            Action::Read {
                exclusive: true,
                ..
            } | Action::Write {
                exclusive: true,
                ..
            }
        )
    }

    /// Where the event reads or writes.
    pub fn at(&self) -> Option<Location> {
        match self.action {
            Action::Read { at, .. } | Action::Write { at, .. } => Some(at),
            _ => None,
        }
    }
}

/// A location that some event of the graph reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub at: Location,
    pub initial: Initial,
    /// The first write in coherence order after the initial one.
    pub first: Slot,
    pub(super) users: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// How many events the thread has.
    pub count: u32,
    pub last: Slot,
    /// The event that creates it; `NONE` for main and for a thread that is not there.
    pub creator: Slot,
    /// Its last `Action::Wait`.
    pub waits: Slot,
}

pub(super) const ABSENT: Line = Line {
    count: 0,
    last: NONE,
    creator: NONE,
    waits: NONE,
};

#[derive(Clone, Debug, Default)]
pub struct Graph {
    pub events: Vec<Event>,
    pub places: Vec<Place>,
    pub threads: Vec<Line>,
    /// For each event, how many events of each thread are in its causal prefix (po | rf)*,
    /// itself included: `stride` numbers an event.
    pub(super) clocks: Vec<u32>,
    pub(super) stride: usize,
}

impl Graph {
    pub fn new() -> Graph {
        Graph {
            threads: vec![ABSENT],
            stride: 4,
            ..Graph::default()
        }
    }

    pub fn len(&self) -> usize {
        self.events.len()
    }

    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    pub fn event(&self, slot: Slot) -> &Event {
        &self.events[slot as usize]
    }

    pub(super) fn event_mut(&mut self, slot: Slot) -> &mut Event {
        &mut self.events[slot as usize]
    }

    pub fn clock(&self, slot: Slot) -> &[u32] {
        &self.clocks[slot as usize * self.stride..][..self.stride]
    }

    /// Whether the first event is the other or in its causal prefix.
    pub fn precedes(&self, first: Slot, other: Slot) -> bool {
        let event = self.event(first);
        self.clock(other)[event.thread] > event.index
    }

    /// The number of a location, if an event is there.
    pub fn place(&self, at: Location) -> Option<u32> {
        let found = self.places.iter().position(|place| place.at == at);
        found.map(|number| number as u32)
    }

    /// Makes a location known that has no event yet: the next event added is there.
    pub fn add_place(&mut self, at: Location, initial: Initial) -> u32 {
        self.places.push(Place {
            at,
            initial,
            first: NONE,
            users: 0,
        });
        self.places.len() as u32 - 1
    }

    /// Adds a thread's next event. A write is in no coherence order yet; a read reads from the
    /// initial write.
    pub fn push(&mut self, thread: ThreadId, told: &Told, location: u32) -> Slot {
        let slot = self.events.len() as Slot;
        let line = &mut self.threads[thread];
        let (before, index, creator) = (line.last, line.count, line.creator);
        line.last = slot;
        line.count += 1;
        let from = if before == NONE { creator } else { before };
        if from == NONE {
            self.clocks.resize(self.clocks.len() + self.stride, 0);
        } else {
            let from = from as usize * self.stride;
            self.clocks.extend_from_within(from..from + self.stride);
        }
        self.clocks[slot as usize * self.stride + thread] = index + 1;
        self.events.push(Event {
            thread,
            index,
            action: told.action,
            site: told.site,
            value: 0,
            location,
            source: NONE,
            pair: NONE,
            after: NONE,
            before,
            revisited: false,
        });
        if location != NONE {
            self.places[location as usize].users += 1;
        }
        match told.action {
            Action::Write {
                exclusive: true, ..
            } => self.pair(slot),
            Action::Create { thread } => self.create(slot, thread),
            Action::Join { thread } => {
                let last = self
                    .threads
                    .get(thread)
                    .map_or(NONE, |line| match line.last {
                        NONE => line.creator,
                        last => last,
                    });
                self.learn(slot, last);
            }
            _ => {}
        }
        slot
    }

    /// Ties an exclusive write to its thread's last read.
    fn pair(&mut self, write: Slot) {
        let mut read = self.event(write).before;
        while read != NONE && !self.event(read).is_read() {
            read = self.event(read).before;
        }
        if read != NONE {
            self.event_mut(read).pair = write;
            self.event_mut(write).pair = read;
        }
    }

    fn create(&mut self, slot: Slot, thread: ThreadId) {
        if thread >= self.threads.len() {
            self.threads.resize(thread + 1, ABSENT);
        }
        if thread >= self.stride {
            self.widen((thread + 1).next_power_of_two());
        }
        self.threads[thread] = Line {
            creator: slot,
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

    /// Puts another event's causal prefix into an event's.
    fn learn(&mut self, slot: Slot, from: Slot) {
        if from == NONE {
            return;
        }
        let (slot, from) = (slot as usize * self.stride, from as usize * self.stride);
        for thread in 0..self.stride {
            let known = self.clocks[from + thread];
            let own = &mut self.clocks[slot + thread];
            *own = known.max(*own);
        }
    }

    /// Has a read read from a write. The read has no events after it, and its prefix only what
    /// comes before it in its thread.
    pub fn set_source(&mut self, read: Slot, write: Slot, value: u64) {
        let event = self.event_mut(read);
        event.source = write;
        event.value = value;
        self.learn(read, write);
        if write != NONE && write > read {
            self.event_mut(write).revisited = true;
        }
    }

    /// Forgets what a read reads from.
    pub(super) fn unset_source(&mut self, read: Slot) {
        let event = *self.event(read);
        let row = read as usize * self.stride;
        let from = match event.before {
            NONE => self.threads[event.thread].creator,
            before => before,
        };
        for thread in 0..self.stride {
            self.clocks[row + thread] = match from {
                NONE => 0,
                from => self.clocks[from as usize * self.stride + thread],
            };
        }
        self.clocks[row + event.thread] = event.index + 1;
        self.event_mut(read).source = NONE;
    }

    pub fn set_value(&mut self, slot: Slot, value: u64) {
        self.event_mut(slot).value = value;
    }

    /// What a read of the location from this write reads.
    pub fn value_of(&self, location: u32, write: Slot) -> u64 {
        match write {
            NONE => match self.places[location as usize].initial {
                Initial::Value(value) => value,
                _ => 0,
            },
            write => match self.event(write).action {
                Action::Write { value, .. } => value,
                _ => 0,
            },
        }
    }

    /// Whether the event reads what nothing has written, where that is an error.
    pub fn reads_unknown(&self, read: Slot) -> bool {
        let event = self.event(read);
        matches!(event.action, Action::Read { lax: false, .. })
            && event.source == NONE
            && self.places[event.location as usize].initial == Initial::Unknown
    }

    /// The last events of a thread that are reads, so many at most, newest first.
    pub fn last_reads(&self, thread: ThreadId, count: usize) -> impl Iterator<Item = Slot> + '_ {
        let mut slot = self.threads[thread].last;
        let events = std::iter::from_fn(move || {
            let now = slot;
            slot = self.events.get(now as usize)?.before;
            Some(now)
        });
        events
            .filter(|slot| self.event(*slot).is_read())
            .take(count)
    }

    /// What an object made by the program holds at first.
    pub fn allocated(&self, at: Location) -> Initial {
        for event in &self.events {
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

    /// Takes the last event away.
    pub fn pop(&mut self) {
        let slot = self.events.len() as Slot - 1;
        let event = self.events[slot as usize];
        if event.action == Action::Wait {
            self.threads[event.thread].waits = event.before;
            self.events.pop();
            self.clocks.truncate(slot as usize * self.stride);
            return;
        }
        if event.is_write() {
            if let Some(previous) = self.preceding(slot) {
                self.unorder(slot, previous);
            }
            if event.pair != NONE {
                self.event_mut(event.pair).pair = NONE;
            }
        }
        if let Action::Create { thread } = event.action {
            self.threads[thread] = ABSENT;
        }
        if event.location != NONE {
            let place = &mut self.places[event.location as usize];
            place.users -= 1;
            if place.users == 0 {
                self.places.truncate(event.location as usize);
            }
        }
        let line = &mut self.threads[event.thread];
        line.count -= 1;
        line.last = event.before;
        self.events.pop();
        self.clocks.truncate(slot as usize * self.stride);
    }

    pub fn copy_from(&mut self, other: &Graph) {
        self.events.clone_from(&other.events);
        self.places.clone_from(&other.places);
        self.threads.clone_from(&other.threads);
        self.clocks.clone_from(&other.clocks);
        self.stride = other.stride;
    }
}
