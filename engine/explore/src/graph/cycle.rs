//! Whether a new event is on a cycle of program order, reads-from, coherence and from-reads.
//!
//! A new event precedes an old one only by coherence or from-reads: it precedes the writes that
//! follow, in coherence order, what it writes or reads from. So it is on a cycle if one of these
//! precedes it.

use crate::graph::execution_graph::{EventId, Graph, NONE};

/// Buffers that are reused.
#[derive(Clone, Default)]
pub struct Reach {
    /// How many events of each thread precede the event.
    known: Vec<u32>,
    /// The position of each write in its location's coherence order, counted from 1.
    rank: Vec<u32>,
    /// The position of the last write of each location that precedes the event.
    last: Vec<u32>,
}

impl Graph {
    /// Whether a path leads from an event back to itself. The event is a read, together with the
    /// write it reads from if that was added with it; or a write, together with its read if it is a
    /// read-modify-write's. Creating and joining threads count as program order.
    pub fn is_on_cycle(&self, id: EventId, reach: &mut Reach) -> bool {
        let event = self.event(id);
        let own = if event.is_write() { id } else { event.source };
        if self.following(event.location, own) == NONE {
            return false;
        }
        reach.known.clear();
        reach.known.extend_from_slice(self.clock(id));
        reach.rank.clear();
        reach.rank.resize(self.len(), 0);
        reach.last.clear();
        reach.last.resize(self.locations.len(), 0);
        for location in 0..self.locations.len() as u32 {
            for (place, write) in self.writes(location).enumerate() {
                reach.rank[write as usize] = place as u32 + 1;
            }
        }
        let rank = |reach: &Reach, write: EventId| match write {
            NONE => 0,
            write => reach.rank[write as usize],
        };
        loop {
            for (location, last) in reach.last.iter_mut().enumerate() {
                for write in self.writes(location as u32) {
                    let event = self.event(write);
                    if reach.known[event.thread] > event.index {
                        *last = reach.rank[write as usize];
                    }
                }
            }
            if reach.last[event.location as usize] > rank(reach, own) {
                return true;
            }
            let mut more = false;
            for (other, event) in self.events.iter().enumerate() {
                if event.location == NONE || reach.known[event.thread] > event.index {
                    continue;
                }
                let write = match event.is_write() {
                    true => other as EventId,
                    false => event.source,
                };
                if rank(reach, write) < reach.last[event.location as usize] {
                    let clock = self.clock(other as EventId);
                    for (known, more) in reach.known.iter_mut().zip(clock) {
                        *known = (*known).max(*more);
                    }
                    more = true;
                }
            }
            if !more {
                return false;
            }
        }
    }
}
