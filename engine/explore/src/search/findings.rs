//! What an execution that cannot go on shows.

use crate::consistency::judge::Race;
use crate::exploration::{Counts, Cut, End, ExploreError, Violation};
use crate::graph::execution_graph::{Event, Graph, Slot};
use crate::graph::interleaving::takes_turns;
use crate::search::execution::Ended;
use crate::source::{Action, Fault, Kind, Next, Source, Wait};
use program::ir::SiteId;
use std::cmp::Ordering;

#[derive(Default)]
pub struct Findings {
    pub counts: Counts,
    pub violations: Vec<Violation>,
    pub cuts: Vec<Cut>,
}

impl Findings {
    /// Counts a consistent execution none of whose threads can go on: how it ended, if it is
    /// counted, and whether it violates something. `unordered`: a free that the model does not
    /// order with every use.
    pub fn conclude<S: Source>(
        &mut self,
        source: &S,
        execution: &Ended<S::Thread>,
        race: Option<Race>,
        unordered: Option<Slot>,
    ) -> Result<Option<(End, bool)>, ExploreError> {
        let (mut faulty, mut cut, mut waiting) = (false, false, false);
        let mut violated = false;
        let elsewhere = |next: &Next| {
            let wait = Wait::Elsewhere;
            matches!(next, Next::Blocked { wait: found, .. } if *found == wait)
        };
        if execution.threads().any(|(_, next)| elsewhere(next)) {
            return Ok(None);
        }
        for (_, next) in execution.threads() {
            match next {
                Next::Done(_) => {}
                Next::Fault(fault) => {
                    self.violate(fault, None, execution.graph, 1);
                    faulty = true;
                }
                Next::Cut { message, site } => {
                    self.cut(message, *site);
                    cut = true;
                }
                Next::Unsupported { message, site } => {
                    return Err(ExploreError::Unsupported {
                        message: message.clone(),
                        site: *site,
                    })
                }
                Next::Blocked { .. } | Next::Event(_) => waiting = true,
            }
        }
        let mut misused = misused_objects(source, execution);
        if let (true, Some(free)) = (misused.is_empty(), unordered) {
            misused.push(Fault {
                kind: Kind::Memory,
                message: "use unordered with a free".to_owned(),
                site: Some(execution.graph.event(free).site),
            });
        }
        for fault in misused {
            self.violate(&fault, None, execution.graph, 1);
            violated = true;
        }
        if let Some(race) = race {
            self.violate(&race.fault, race.conflict, execution.graph, 1);
            violated = true;
        }
        let end = match (faulty, cut, waiting) {
            (true, _, _) => End::Faulty,
            (_, true, _) => End::Cut,
            (_, _, true) => End::Blocked,
            _ => End::Complete,
        };
        self.counts.count(end);
        let over = matches!(execution.next(0), Some(Next::Done(_))) && source.ends_with_main();
        if end == End::Blocked && !over {
            for fault in hangs(execution) {
                self.violate(&fault, None, execution.graph, 1);
                violated = true;
            }
        }
        Ok(Some((end, violated || faulty)))
    }

    /// Notes a violation that so many executions show, this one the best of them to be shown.
    fn violate(
        &mut self,
        fault: &Fault,
        conflict: Option<(Slot, Slot)>,
        graph: &Graph,
        count: u64,
    ) {
        let same =
            |seen: &&mut Violation| (seen.fault.kind, seen.fault.site) == (fault.kind, fault.site);
        match self.violations.iter_mut().find(same) {
            Some(seen) => {
                seen.count += count;
                if !seen.weak && graph.len() > seen.graph.len() {
                    return;
                }
                let weak = !takes_turns(graph);
                let rank = |weak: bool, graph: &Graph| (weak, graph.len());
                let by_rank = rank(weak, graph).cmp(&rank(seen.weak, &seen.graph));
                // whoever finds it first, the same one is shown
                if by_rank.then_with(|| compare(graph, &seen.graph)).is_lt() {
                    seen.graph.copy_from(graph);
                    seen.weak = weak;
                    seen.conflict = conflict;
                    seen.fault.message.clone_from(&fault.message);
                }
            }
            None => self.violations.push(Violation {
                fault: fault.clone(),
                count,
                graph: graph.clone(),
                weak: !takes_turns(graph),
                conflict,
            }),
        }
    }

    fn cut(&mut self, message: &str, site: Option<SiteId>) {
        let same = |seen: &Cut| seen.site == site && seen.message == message;
        if !self.cuts.iter().any(same) {
            let message = message.to_owned();
            self.cuts.push(Cut { message, site });
        }
    }

    /// Adds what another worker found.
    pub fn merge(&mut self, other: Findings) {
        self.counts.add(&other.counts);
        for Violation {
            fault,
            count,
            graph,
            conflict,
            ..
        } in &other.violations
        {
            self.violate(fault, *conflict, graph, *count);
        }
        for cut in &other.cuts {
            self.cut(&cut.message, cut.site);
        }
    }
}

/// An order of the executions of one program: what each event is answered, where it reads from,
/// what it is overwritten by.
fn compare(one: &Graph, other: &Graph) -> Ordering {
    let told = |event: &Event| (event.thread, event.value, event.source, event.after);
    one.events
        .iter()
        .map(told)
        .cmp(other.events.iter().map(told))
}

/// The threads that wait for ever. A thread that waits goes on only when one of the reads of its
/// wait reads another value. When every thread that waits has read what its locations hold in
/// the end, no thread is left to write anything else: under sequential consistency, TSO and RC11
/// alike a fair memory makes the last write of each location visible in the end, and what is
/// read then is the same again (Lahav, Namakonov, Oberhauser, Podkopaev, Vafeiadis, "Making weak
/// memory models fair", OOPSLA 2021). When some thread has read another value there is an
/// execution in which it reads the last one and goes on, and what the others then do is seen
/// there.
fn hangs<T: Clone>(execution: &Ended<T>) -> Vec<Fault> {
    let graph = execution.graph;
    let is_last = |read: Slot| {
        let event = graph.event(read);
        event.value == graph.value_of(event.location, graph.last_write(event.location))
    };
    let mut faults = Vec::new();
    let mut joins = Vec::new();
    for (thread, next) in execution.threads() {
        match next {
            Next::Blocked { wait, site } => {
                let Some((what, reads)) = wait.awaited() else {
                    return Vec::new();
                };
                if !graph.last_reads(thread, reads).all(is_last) {
                    return Vec::new();
                }
                let message = format!("thread {thread} waits for ever for {what}");
                faults.push(Fault {
                    kind: Kind::Hang,
                    message,
                    site: Some(*site),
                });
            }
            Next::Event(told) => joins.push((thread, *told)),
            _ => {}
        }
    }
    if faults.is_empty() {
        // threads that wait for one another's end
        faults.extend(joins.into_iter().map(|(thread, told)| Fault {
            kind: Kind::Hang,
            message: format!("thread {thread} waits for ever for the end of a thread"),
            site: Some(told.site),
        }));
    }
    faults
}

fn extent<S: Source>(source: &S, graph: &Graph, base: u64) -> Option<u64> {
    let allocated = graph.events.iter().find_map(|event| match event.action {
        Action::Allocate { base: at, size, .. } if at == base => Some(size),
        _ => None,
    });
    allocated.or_else(|| source.extent(base))
}

/// Each free with each location that it ends.
pub fn freed<S: Source>(source: &S, graph: &Graph) -> Vec<(Slot, u32)> {
    let mut found = Vec::new();
    for (slot, event) in graph.events.iter().enumerate() {
        let Action::Free { base } = event.action else {
            continue;
        };
        let size = extent(source, graph, base).unwrap_or(0);
        let inside = |at: u64| base <= at && at - base < size;
        let places = graph.places.iter().enumerate();
        let places = places.filter(|(_, place)| inside(place.at.address));
        found.extend(places.map(|(number, _)| (slot as Slot, number as u32)));
    }
    found
}

/// Objects that are used after their end, or unordered with it, and objects that end twice or
/// never began.
fn misused_objects<S: Source>(source: &S, execution: &Ended<S::Thread>) -> Vec<Fault> {
    let graph = execution.graph;
    let slots = || (0..graph.len() as Slot).map(|slot| (slot, graph.event(slot)));
    let mut faults = Vec::new();
    let mut fault = |message: &str, slot: Slot| {
        faults.push(Fault {
            kind: Kind::Memory,
            message: message.to_owned(),
            site: Some(graph.event(slot).site),
        });
    };
    for (free, event) in slots() {
        let Action::Free { base } = event.action else {
            continue;
        };
        let Some(size) = extent(source, graph, base) else {
            fault("free of what was not allocated", free);
            continue;
        };
        for (slot, event) in slots() {
            match event.action {
                Action::Free { base: at } if at == base && slot < free => {
                    fault("double free", free);
                }
                Action::Read { at, .. } | Action::Write { at, .. }
                    if base <= at.address
                        && at.address - base < size
                        && !graph.precedes(slot, free) =>
                {
                    let after = graph.precedes(free, slot);
                    fault(
                        match after {
                            true => "use after free",
                            false => "use unordered with a free",
                        },
                        slot,
                    );
                }
                _ => {}
            }
        }
    }
    faults
}
