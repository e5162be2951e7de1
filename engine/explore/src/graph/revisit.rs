//! What a revisit leaves of a graph, and which graph may make it.

use crate::graph::execution_graph::{Event, Graph, Slot, ABSENT, NONE};
use crate::source::Action;

impl Graph {
    /// Whether an event stays when `write` revisits `read`.
    pub fn stays(&self, slot: Slot, read: Slot, write: Slot) -> bool {
        slot <= read || self.precedes(slot, write)
    }

    /// The paper's IsMaximallyAdded (section 4.2): whether an event is what would have been
    /// added had `write` not been there.
    pub fn is_maximal(&self, slot: Slot, write: Slot) -> bool {
        let event = self.event(slot);
        let previous =
            |other: Slot| other <= slot || (other != write && self.precedes(other, write));
        match event.action {
            Action::Choose { .. } => event.value == 0,
            Action::Read { .. } => {
                let source = event.source;
                let mut later = self.following(event.location, source);
                if source != NONE && !previous(source) {
                    return false;
                }
                while later != NONE {
                    if previous(later) {
                        return false;
                    }
                    later = self.event(later).after;
                }
                true
            }
            Action::Write { .. } => {
                let mut later = event.after;
                while later != NONE {
                    if previous(later) {
                        return false;
                    }
                    later = self.event(later).after;
                }
                let read_before = |other: &Event| other.source == slot;
                !(event.revisited && self.events[..slot as usize].iter().any(read_before))
            }
            Action::Wait => event.source == NONE || previous(event.source),
            _ => true,
        }
    }

    /// Writes over `out` the graph that a revisit of `read` by `write` leaves; gives their
    /// places in it. The read has no source there, the write no place in the coherence order.
    pub fn restrict(
        &self,
        read: Slot,
        write: Slot,
        moved: &mut Vec<Slot>,
        out: &mut Graph,
    ) -> (Slot, Slot) {
        let stays = |slot| slot == write || self.stays(slot, read, write);
        self.part(stays, moved, out);
        let (read, write) = (moved[read as usize], moved[write as usize]);
        out.unset_source(read);
        (read, write)
    }

    /// Writes over `out` what is left of a graph with these events alone, which hold what comes
    /// before them; and where each is in it. A write that is in no coherence order stays so.
    pub fn part(&self, stays: impl Fn(Slot) -> bool, moved: &mut Vec<Slot>, out: &mut Graph) {
        moved.clear();
        let mut count = 0;
        for slot in 0..self.events.len() as Slot {
            let stays = stays(slot);
            moved.push(if stays { count } else { NONE });
            count += Slot::from(stays);
        }
        let to = |slot: Slot| match slot {
            NONE => NONE,
            slot => moved[slot as usize],
        };
        out.events.clear();
        out.clocks.clear();
        out.stride = self.stride;
        out.places.clear();
        out.threads.clear();
        out.threads.resize(self.threads.len(), ABSENT);
        for (slot, event) in self.events.iter().enumerate() {
            if moved[slot] == NONE {
                continue;
            }
            let new = out.events.len() as Slot;
            let mut event = *event;
            if event.action == Action::Wait {
                let waits = &mut out.threads[event.thread].waits;
                event.before = std::mem::replace(waits, new);
                event.source = to(event.source);
                out.events.push(event);
                out.clocks.extend_from_slice(self.clock(slot as Slot));
                continue;
            }
            if event.location != NONE {
                let place = &self.places[event.location as usize];
                event.location = match out.place(place.at) {
                    Some(number) => number,
                    None => out.add_place(place.at, place.initial),
                };
                out.places[event.location as usize].users += 1;
            }
            event.source = to(event.source);
            event.pair = to(event.pair);
            event.before = to(event.before);
            event.after = NONE;
            if let Action::Create { thread } = event.action {
                out.threads[thread].creator = new;
            }
            let line = &mut out.threads[event.thread];
            line.count += 1;
            line.last = new;
            out.events.push(event);
            out.clocks.extend_from_slice(self.clock(slot as Slot));
        }
        for place in &self.places {
            let Some(number) = out.place(place.at) else {
                continue;
            };
            let (mut at, mut previous) = (place.first, NONE);
            while at != NONE {
                let new = moved[at as usize];
                if new != NONE {
                    out.link(number, previous, new);
                    previous = new;
                }
                at = self.event(at).after;
            }
        }
    }
}
