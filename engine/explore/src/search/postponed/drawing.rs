//! A partial execution as an execution graph.

use std::rc::Rc;

use crate::graph::execution_graph::{EventId, Graph, NONE};
use crate::search::postponed::execution::{EventPosition, LocalEvent, PartialExecution};
use crate::source::{Action, EventLabel, Source};
use program::memory::Dep;
use rustc_hash::FxHashMap;

/// The reads in sets of dependencies, which the source is asked for once each.
#[derive(Default)]
pub struct KnownReads {
    known: FxHashMap<Dep, Rc<[u32]>>,
}

impl KnownReads {
    pub fn reads<S: Source>(&mut self, source: &S, set: Dep) -> Rc<[u32]> {
        let found = self.known.entry(set);
        found.or_insert_with(|| source.reads(set).into()).clone()
    }
}

impl PartialExecution {
    /// Whether the last of these events is a part of an access of which an earlier part is shown.
    fn shows_part(&self, events: &[LocalEvent]) -> bool {
        let mut parts = events.iter().rev();
        let mut continues = |event: &LocalEvent| event.label.continues;
        parts.next().is_some_and(&mut continues)
            && parts
                .scan(true, |within, event| {
                    std::mem::replace(within, event.label.continues).then_some(event)
                })
                .any(|event| self.is_shown(event))
    }

    /// Sets `out` to the graph, in an order in which every thread's events follow its creation. Returns
    /// each thread's events there, `NONE` for one that is not shown.
    pub fn graph<S: Source>(
        &self,
        source: &S,
        sets: &mut KnownReads,
        out: &mut Graph,
    ) -> Vec<Vec<EventId>> {
        out.reset();
        let mut ids: Vec<Vec<EventId>> = vec![Vec::new(); self.threads.len()];
        let mut next = vec![0; self.threads.len()];
        let mut created = vec![false; self.threads.len()];
        created[0] = true;
        loop {
            let mut stuck = true;
            for thread in 0..self.threads.len() {
                while created[thread] && next[thread] < self.threads[thread].events.len() {
                    let event = &self.threads[thread].events[next[thread]];
                    if let (Action::Join { thread: joined }, true) =
                        (event.label.action, event.added != 0)
                    {
                        if next[joined] < self.threads[joined].events.len() {
                            break;
                        }
                    }
                    stuck = false;
                    next[thread] += 1;
                    if !self.is_shown(event) {
                        ids[thread].push(NONE);
                        continue;
                    }
                    let location = match event.is_read() || event.is_write() {
                        true => {
                            let place = &self.locations[event.location];
                            out.locate(place.at, place.initial)
                        }
                        false => NONE,
                    };
                    let events = &self.threads[thread].events[..next[thread]];
                    let label = EventLabel {
                        continues: self.shows_part(events),
                        ..event.label
                    };
                    let id = out.push(thread, &label, location);
                    out.set_value(id, event.value);
                    ids[thread].push(id);
                    if let Action::Create { thread } = event.label.action {
                        created[thread] = true;
                    }
                }
            }
            if stuck {
                break;
            }
        }
        let id = |place: EventPosition| ids[place.thread][place.index];
        for place in self.positions() {
            let event = self.event(place);
            let own = id(place);
            if own == NONE {
                continue;
            }
            if let (true, Some(write)) = (event.is_read(), event.source) {
                out.set_source(own, id(write), event.value);
            }
            let dependencies = event.label.dependencies;
            out.dependencies.add(dependencies, |set, pairs| {
                if set != 0 {
                    let reads = sets.reads(source, set);
                    let reads = reads.iter().map(|index| ids[place.thread][*index as usize]);
                    pairs.extend(reads.filter(|read| *read != NONE).map(|read| (read, own)));
                }
            });
        }
        for place in &self.locations {
            let mut previous = NONE;
            for write in &place.order {
                let write = id(*write);
                out.order_after(write, previous);
                previous = write;
            }
        }
        ids
    }
}
