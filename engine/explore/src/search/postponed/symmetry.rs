//! Threads that behave alike: of the executions that differ only in which of them does what, one is
//! explored.
//!
//! Exchanging two such threads in an execution gives another execution of the program, consistent
//! with any model, which does not know the threads' numbers. The executions that are explored are
//! the leaves of a tree whose nodes are decisions: what a read reads from, where in coherence order a
//! write stands, which alternative is chosen. Of the executions that exchanges lead to, the one
//! whose sequence of decisions is the least in lexicographic order is found, with the decisions at a
//! node in the order of coherence, and a write that is added later as the last.
//!
//! A subtree is left out only where that shows it has no such execution. Let two threads be twins at
//! a node: neither has a write in the graph, and what they have done is the same. Exchanging them
//! gives the same node, so both the execution and its exchanged form pass it, and the one whose first
//! decision after it is less is less. At such a node the thread with the smaller number decides
//! first, so
//!
//! - where it has read from a write, its twin reads from none of the writes of that time that are
//!   before it in coherence order;
//! - where it waits for a later write, so does its twin;
//! - where its write was added, its twin's stands after it if a write of that time is between the
//!   two, and directly before it otherwise;
//! - its twin's alternative is none that comes before its own.
//!
//! In which order they arrive at a barrier, where that order is fixed, does not distinguish them:
//! with the arrivals of two of them exchanged too, the order is the same as before.
//!
//! That threads that behave alike may be exchanged is from Emerson and Sistla, "Symmetry and model
//! checking", 1996; its combination with partial order reduction is the subject of Kokologiannakis,
//! Marmanis, Vafeiadis, "SPORE: Combining Symmetry and Partial Order Reduction", PLDI 2024. Their
//! search revisits, which makes what is a twin at a node a matter of proof; this one only adds.

use crate::search::postponed::execution::{PartialExecution, Place, Slot};
use crate::search::thread_states::ThreadStates;
use crate::source::{Action, Location, Source, ThreadId};

/// The round of a barrier that an event is an access of.
fn round_of(slot: &Slot) -> Option<Location> {
    match slot.label.action {
        Action::Read { at, .. } | Action::Write { at, .. } if at.barrier().is_some() => Some(at),
        _ => None,
    }
}

impl PartialExecution {
    /// The first of the threads that a new thread behaves like; itself if there is none. They are
    /// created one directly after the other.
    pub fn class<S: Source>(
        &self,
        source: &S,
        states: &ThreadStates<S::Thread>,
        creator: Place,
        thread: ThreadId,
    ) -> ThreadId {
        let before = |at: Place| states.thread(self.slot(at).node);
        let previous = creator.index.checked_sub(1);
        let previous = previous.map(|index| Place { index, ..creator });
        let like = previous.and_then(|at| match self.slot(at).label.action {
            Action::Create { thread: other } => source
                .alike((before(at), other), (before(creator), thread))
                .then_some(self.threads[other].class),
            _ => None,
        });
        like.unwrap_or(thread)
    }

    /// The events of other threads with smaller numbers that are in the graph, and that this event,
    /// which is not, could have had the part of: their threads were twins when they were added.
    fn taken_by_twins(&self, at: Place) -> impl Iterator<Item = &Slot> {
        let class = self.threads[at.thread].class;
        let others = (class..at.thread).filter(move |other| self.threads[*other].class == class);
        others.filter_map(move |other| {
            let slot = self.threads[other].slots.get(at.index)?;
            let twins = slot.added != 0 && self.were_twins(other, at, slot.added);
            twins.then_some(slot)
        })
    }

    /// Whether a thread was a twin of another when its event at the same position was added. Later
    /// events of either, which threads that postpone reads may have had by then, are none in the
    /// graph.
    fn were_twins(&self, other: ThreadId, at: Place, added: u32) -> bool {
        let (one, two) = (&self.threads[other].slots, &self.threads[at.thread].slots);
        let (before, after) = (0..at.index, at.index + 1);
        let early = |slot: &Slot| slot.added != 0 && slot.added < added;
        before.into_iter().all(|index| {
            early(&one[index])
                && early(&two[index])
                && self.is_same(other, &one[index], at.thread, &two[index])
        }) && !one[after..].iter().any(early)
            && !two[after.min(two.len())..].iter().any(early)
    }

    /// Whether two events of two threads are the same, whichever of them does what. A write in the
    /// graph is not: its place in coherence order is its own.
    fn is_same(&self, one: ThreadId, slot: &Slot, two: ThreadId, other: &Slot) -> bool {
        let same_progress = (slot.added == 0) == (other.added == 0)
            && (slot.added != 0 || slot.waits_since == other.waits_since)
            && slot.is_open() == other.is_open();
        if let (Some(round), Some(same)) = (round_of(slot), round_of(other)) {
            // in which order threads arrive at a barrier does not matter
            return round == same && slot.is_write() == other.is_write() && same_progress;
        }
        let own = |thread: ThreadId, source: Option<Place>| source.map(|at| at.thread == thread);
        let sources = match (own(one, slot.source), own(two, other.source)) {
            (Some(true), Some(true)) => {
                slot.source.map(|at| at.index) == other.source.map(|at| at.index)
            }
            (Some(true), _) | (_, Some(true)) => false,
            _ => slot.source == other.source,
        };
        let changes = match slot.label.action {
            Action::Write { .. } => slot.added != 0 || other.added != 0,
            Action::Create { .. } | Action::Allocate { .. } | Action::Free { .. } => true,
            _ => false,
        };
        slot.label.action == other.label.action
            && !changes
            && sources
            && slot.value == other.value
            && same_progress
    }

    /// The reads that are not in the graph of threads that were twins of a thread until it read
    /// there.
    pub fn undecided_twins(&self, thread: ThreadId) -> impl Iterator<Item = Place> + '_ {
        let run = &self.threads[thread];
        let class = run.class;
        let others = class..self.threads.len();
        let others =
            others.filter(move |other| *other != thread && self.threads[*other].class == class);
        others.filter_map(move |other| {
            let slots = &self.threads[other].slots;
            let index = slots
                .iter()
                .position(|slot| slot.is_open() && slot.is_read())?;
            let read = run.slots.get(index)?.added != 0;
            let pairs = run.slots[..index].iter().zip(&slots[..index]);
            let twins = read
                && pairs
                    .into_iter()
                    .all(|(slot, twin)| self.is_same(thread, slot, other, twin));
            twins.then_some(Place {
                thread: other,
                index,
            })
        })
    }

    /// Whether a twin leaves a source to a read; none: the initial write.
    pub fn leaves_source(&self, read: Place, write: Option<Place>) -> bool {
        let location = self.slot(read).location;
        let position = self.position_after(location, write);
        let added = write.map_or(0, |write| self.slot(write).added);
        let denies = |twin: &Slot| {
            added < twin.added && position < self.position_after(location, twin.source)
        };
        !self.taken_by_twins(read).any(denies)
    }

    /// Whether a twin leaves a position in coherence order, as the number of writes before it, to a
    /// write.
    pub fn leaves_position(&self, write: Place, position: usize) -> bool {
        let location = self.slot(write).location;
        let order = &self.locations[location].order;
        let class = self.threads[write.thread].class;
        let denies = |twin: &Slot| {
            let place = order.iter().position(|at| {
                at.index == write.index
                    && at.thread < write.thread
                    && self.threads[at.thread].class == class
                    && self.slot(*at).added == twin.added
            });
            let Some(place) = place else { return false };
            let old = |at: &Place| self.slot(*at).added < twin.added;
            match position > place {
                // some write of that time has to be between
                true => !order[place + 1..position].iter().any(old),
                false => order[position..place].iter().any(old),
            }
        };
        !self
            .taken_by_twins(write)
            .any(|twin| twin.location == location && denies(twin))
    }

    /// The first alternative that twins leave to a choice.
    pub fn first_choice(&self, at: Place) -> u64 {
        let chosen = self.taken_by_twins(at).map(|twin| twin.value);
        chosen.max().unwrap_or(0)
    }

    /// Lets a thread, and its twins, wait for a later write that this read reads from.
    pub fn wait_with_twins(&mut self, read: Place) {
        let class = self.threads[read.thread].class;
        for other in read.thread + 1..self.threads.len() {
            if self.threads[other].class == class && self.are_same(read.thread, other) {
                let twin = Place {
                    thread: other,
                    ..read
                };
                let now = self.time;
                self.slot_mut(twin).waits_since = Some(now);
            }
        }
        let now = self.time;
        self.slot_mut(read).waits_since = Some(now);
    }

    /// How many executions exchanges of threads that behave alike lead to, this one included.
    pub fn orbit(&self) -> u64 {
        let mut count: u64 = 1;
        for class in 0..self.threads.len() {
            let of =
                |thread: &ThreadId| self.threads[*thread].class == class && self.exists(*thread);
            let mut different: Vec<(ThreadId, u64)> = Vec::new();
            for (number, thread) in (0..self.threads.len()).filter(of).enumerate() {
                let same = different
                    .iter_mut()
                    .find(|(other, _)| self.are_same(*other, thread));
                let among = match same {
                    Some((_, many)) => {
                        *many += 1;
                        *many
                    }
                    None => {
                        different.push((thread, 1));
                        1
                    }
                };
                // n! / (a! · b! · …), an integer at each step
                count = count.saturating_mul(number as u64 + 1) / among;
            }
        }
        count
    }

    fn exists(&self, thread: ThreadId) -> bool {
        thread == 0 || self.threads[thread].creator.is_some()
    }

    fn are_same(&self, one: ThreadId, other: ThreadId) -> bool {
        let (first, second) = (&self.threads[one].slots, &self.threads[other].slots);
        first.len() == second.len()
            && first
                .iter()
                .zip(second)
                .all(|(slot, twin)| self.is_same(one, slot, other, twin))
    }
}
