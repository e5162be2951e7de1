//! An execution that violates something, in words of the source and without what it does not
//! need.
//!
//! Kept are the events that the violation's values depend on, those of a shortest cycle that
//! shows that the threads do not take turns, and the fences between these. Of a race: its two
//! accesses, and how one might have come before the other. The order in which locks are taken
//! only takes executions away, so that a lock is left out where nothing depends on its value.
use super::graph::{Event, Graph, Slot, NONE};
use super::outcome::Violation;
use super::program::ProgramSource;
use super::slice::Slice;
use super::source::{Action, Fault, Initial, Kind, Location, Next, ThreadId};
use crate::enumerate::witness::{cycle, label, Edge};
use crate::graph::Relation;
use crate::program::compute::sext;
use crate::program::ir::{Order, SiteId};
use crate::program::memory::Named;
use crate::program::tell::Names;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// None for the initial value of a location.
    pub thread: Option<ThreadId>,
    pub label: String,
    pub kind: &'static str,
    pub order: &'static str,
    pub location: String,
    pub read: String,
    pub written: String,
    pub site: Option<SiteId>,
}

/// A thread that waits for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    pub thread: ThreadId,
    pub what: String,
    pub site: SiteId,
}

/// Pairs are of places in `events`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The start function of each thread.
    pub functions: Vec<String>,
    pub events: Vec<Shown>,
    pub rf: Vec<(usize, usize)>,
    /// From each write to the next of its location, from each read to the first write that it
    /// comes too early for.
    pub co: Vec<(usize, usize)>,
    pub fr: Vec<(usize, usize)>,
    pub cycle: Vec<Edge>,
    pub conflict: Option<(usize, usize)>,
    pub waits: Vec<Waiting>,
}

/// A read-modify-write is one node: that of its read. Nodes have the numbers of their events.
struct Nodes<'g> {
    graph: &'g Graph,
    po: Relation,
    rf: Relation,
    co: Relation,
    fr: Relation,
}

fn node(graph: &Graph, slot: Slot) -> Slot {
    let event = graph.event(slot);
    match event.is_write() && event.pair != NONE {
        true => event.pair,
        false => slot,
    }
}

impl<'g> Nodes<'g> {
    fn new(graph: &'g Graph, lines: &[Vec<Slot>]) -> Nodes<'g> {
        let n = graph.len();
        let at = |slot: Slot| node(graph, slot) as usize;
        let mut all = Nodes {
            graph,
            po: Relation::new(n),
            rf: Relation::new(n),
            co: Relation::new(n),
            fr: Relation::new(n),
        };
        for line in lines {
            let memory = |s: &&Slot| graph.event(**s).at().is_some();
            let nodes: Vec<usize> = line.iter().filter(memory).map(|s| at(*s)).collect();
            for (k, a) in nodes.iter().enumerate() {
                for b in nodes[k + 1..].iter().filter(|b| *b != a) {
                    all.po.insert(*a, *b);
                }
            }
        }
        for location in 0..graph.places.len() as u32 {
            let writes: Vec<Slot> = graph.writes(location).collect();
            for (k, a) in writes.iter().enumerate() {
                for b in &writes[k + 1..] {
                    all.co.insert(at(*a), at(*b));
                }
            }
            let reads = (0..n as Slot)
                .filter(|s| graph.event(*s).is_read() && graph.event(*s).location == location);
            for read in reads {
                let source = graph.event(read).source;
                let from = match source {
                    NONE => 0,
                    source => {
                        all.rf.insert(at(source), at(read));
                        writes
                            .iter()
                            .position(|w| *w == source)
                            .map_or(0, |k| k + 1)
                    }
                };
                for later in writes[from..].iter().filter(|w| at(**w) != at(read)) {
                    all.fr.insert(at(read), at(*later));
                }
            }
        }
        all
    }

    fn cycle(&self) -> Vec<Edge> {
        let relations = [
            ("rf", &self.rf),
            ("fr", &self.fr),
            ("co", &self.co),
            ("po", &self.po),
        ];
        cycle(&relations, self.graph.len())
    }
}

/// What is kept of an execution, and why.
struct Kept {
    slots: BTreeSet<Slot>,
    cycle: Vec<Edge>,
    conflict: Option<(Slot, Slot)>,
    waits: Vec<Waiting>,
}

impl Witness {
    pub fn new(source: &ProgramSource, violation: &Violation) -> Witness {
        let graph = &violation.graph;
        let mut slice = Slice::new(source, graph);
        let nodes = Nodes::new(graph, &slice.lines);
        let kept = match violation.fault.kind {
            Kind::Race => race(&slice, &nodes, violation.conflict),
            _ => depended(&mut slice, &nodes, &violation.fault),
        };
        Teller::new(source, &slice, &nodes, kept).tell()
    }
}

/// Everything but a race: what it depends on, and the cycle.
fn depended(slice: &mut Slice, nodes: &Nodes, fault: &Fault) -> Kept {
    let graph = slice.graph;
    let mut waits = Vec::new();
    let all = 0..graph.len() as Slot;
    let mut seeded = false;
    for (thread, end) in slice.ends.clone().into_iter().enumerate() {
        let number = slice.lines[thread].len();
        match end {
            Next::Fault(own) if (own.kind, own.site) == (fault.kind, fault.site) => {
                slice.explain(thread, number);
                seeded = true;
            }
            Next::Blocked { wait, site } if fault.kind == Kind::Hang => {
                let Some((what, reads)) = wait.awaited() else {
                    continue;
                };
                waits.push(Waiting {
                    thread,
                    what: what.to_owned(),
                    site,
                });
                let line = slice.lines[thread].clone();
                let read = |s: &&Slot| graph.event(**s).is_read();
                for slot in line.iter().rev().filter(read).take(reads) {
                    let location = graph.event(*slot).location;
                    for other in all.clone() {
                        if graph.event(other).location == location {
                            slice.need(other);
                        }
                    }
                }
                slice.explain(thread, number);
                seeded = true;
            }
            // the explorer has found no memory where the event would be
            Next::Event(told) if fault.kind == Kind::Memory && Some(told.site) == fault.site => {
                slice.explain(thread, number);
                seeded = true;
            }
            Next::Event(told) if fault.kind == Kind::Hang => waits.push(Waiting {
                thread,
                what: "the end of a thread".to_owned(),
                site: told.site,
            }),
            _ => {}
        }
    }
    if !seeded {
        // what the explorer finds by itself has the place of an event
        for slot in all.clone() {
            let event = graph.event(slot);
            let ends = matches!(event.action, Action::Free { .. }) && fault.kind == Kind::Memory;
            if Some(event.site) == fault.site || ends {
                slice.need(slot);
                seeded = true;
            }
        }
    }
    if !seeded {
        // nothing is proven unneeded
        slice.needed.extend(all);
    }
    let mut slots = slice.needed.clone();
    let cycle = nodes.cycle();
    for (a, b, kind) in &cycle {
        let (a, b) = (*a as Slot, *b as Slot);
        slots.extend([a, b]);
        if *kind == "po" {
            let (first, last) = (graph.event(a), graph.event(b));
            let between = &slice.lines[first.thread][first.index as usize..last.index as usize];
            let fence = |s: &&Slot| matches!(graph.event(**s).action, Action::Fence { .. });
            slots.extend(between.iter().filter(fence));
        }
    }
    Kept {
        slots,
        cycle,
        conflict: None,
        waits,
    }
}

fn order(graph: &Graph, slot: Slot) -> Order {
    let event = graph.event(slot);
    let half = match event.is_read() && event.pair != NONE {
        true => graph.event(event.pair),
        false => event,
    };
    match half.action {
        Action::Read { order, .. } | Action::Write { order, .. } | Action::Fence { order } => order,
        _ => Order::Na,
    }
}

/// The accesses of a race, and a shortest way from one to the other, which does not order them.
fn race(slice: &Slice, nodes: &Nodes, conflict: Option<(Slot, Slot)>) -> Kept {
    let graph = slice.graph;
    let Some((a, b)) = conflict.map(|(a, b)| (node(graph, a), node(graph, b))) else {
        return Kept {
            slots: (0..graph.len() as Slot).collect(),
            cycle: Vec::new(),
            conflict: None,
            waits: Vec::new(),
        };
    };
    let mut ways = nodes.po.union(&nodes.rf);
    ways.union_with(&starts(slice));
    let (from, to) = (a as usize, b as usize);
    let found = way(&ways, from, to).or_else(|| way(&ways, to, from));
    Kept {
        slots: found
            .unwrap_or_else(|| vec![from, to])
            .into_iter()
            .map(|s| s as Slot)
            .collect(),
        cycle: Vec::new(),
        conflict: Some((a, b)),
        waits: Vec::new(),
    }
}

/// From a thread's creation to its first event, from its last to who joins it.
fn starts(slice: &Slice) -> Relation {
    let graph = slice.graph;
    let mut all = Relation::new(graph.len());
    for slot in 0..graph.len() as Slot {
        let event = graph.event(slot);
        let line = &slice.lines[event.thread];
        let at = event.index as usize;
        match event.action {
            Action::Create { thread } => {
                for first in &slice.lines[thread] {
                    all.insert(slot as usize, *first as usize);
                }
            }
            Action::Join { thread } => {
                for last in &slice.lines[thread] {
                    all.insert(*last as usize, slot as usize);
                }
            }
            _ => continue,
        }
        for other in &line[..at] {
            all.insert(*other as usize, slot as usize);
        }
        for other in &line[at + 1..] {
            all.insert(slot as usize, *other as usize);
        }
    }
    all
}

/// A shortest way from one event to another.
fn way(ways: &Relation, from: usize, to: usize) -> Option<Vec<usize>> {
    let mut back: BTreeMap<usize, usize> = BTreeMap::new();
    let mut waiting = std::collections::VecDeque::from([from]);
    while let Some(at) = waiting.pop_front() {
        if at == to {
            let mut path = vec![to];
            while path[path.len() - 1] != from {
                path.push(back[&path[path.len() - 1]]);
            }
            path.reverse();
            return Some(path);
        }
        for next in ways.successors(at) {
            back.entry(next).or_insert_with(|| {
                waiting.push_back(next);
                at
            });
        }
    }
    None
}

struct Teller<'a> {
    source: &'a ProgramSource<'a>,
    slice: &'a Slice<'a>,
    nodes: &'a Nodes<'a>,
    kept: Kept,
    names: Names<'a>,
}

impl<'a> Teller<'a> {
    fn new(
        source: &'a ProgramSource<'a>,
        slice: &'a Slice<'a>,
        nodes: &'a Nodes<'a>,
        kept: Kept,
    ) -> Teller<'a> {
        let heap = kept.slots.iter().filter_map(|slot| {
            let at = slice.graph.event(*slot).at()?;
            let (base, extent) = source.sharing.extent(at.address)?;
            (extent.named == Named::Heap).then_some(base)
        });
        let names = Names::new(source.program, heap.collect::<Vec<u64>>().into_iter());
        Teller {
            source,
            slice,
            nodes,
            kept,
            names,
        }
    }

    fn name(&self, at: Location, whole: bool) -> String {
        match self.source.sharing.extent(at.address) {
            Some((base, extent)) => {
                let size = if whole { 1 } else { u64::from(at.size) };
                self.names.of(extent.named, base, at.address - base, size)
            }
            None => format!("{:#x}", at.address),
        }
    }

    /// A number as a signed one, or the name of what it points to.
    fn value(&self, bits: u64, size: u32) -> String {
        let pointed = match size {
            8 => self.source.sharing.extent(bits),
            _ => None,
        };
        match pointed {
            Some((base, extent)) if bits - base < extent.size.max(1) => {
                format!("&{}", self.names.of(extent.named, base, bits - base, 1))
            }
            _ => (sext(bits, 8 * size) as i64).to_string(),
        }
    }

    fn shown(&self, slot: Slot, number: usize) -> Option<Shown> {
        let graph = self.slice.graph;
        let event: &Event = graph.event(slot);
        let site = self.source.program.sites.get(event.site as usize);
        let kind = match (site.map(|s| s.kind), event.action) {
            // the place of a wait for a condition is also that of its relaxed accesses
            (Some("lock"), Action::Read { .. })
                if event.pair != NONE && order(graph, slot) == Order::Acq =>
            {
                "LOCK"
            }
            (Some("unlock"), Action::Write { .. }) => "UNLOCK",
            (_, Action::Read { .. }) if event.pair != NONE => "RMW",
            (_, Action::Read { .. }) => "R",
            (_, Action::Write { .. }) => "W",
            (_, Action::Fence { .. }) => "F",
            (_, Action::Free { .. }) => "FREE",
            _ => return None,
        };
        let at = match event.action {
            Action::Free { base } => Some(Location {
                address: base,
                size: 1,
            }),
            _ => event.at(),
        };
        let size = at.map_or(8, |a| a.size);
        let written = |slot: Slot| match graph.event(slot).action {
            Action::Write { value, .. } => self.value(value, size),
            _ => String::new(),
        };
        Some(Shown {
            thread: Some(event.thread),
            label: label(number),
            kind,
            order: match kind {
                "FREE" => "",
                _ => order(graph, slot).name(),
            },
            location: at.map_or(String::new(), |at| {
                self.name(at, matches!(kind, "LOCK" | "UNLOCK" | "FREE"))
            }),
            read: match event.is_read() {
                true => self.value(event.value, size),
                false => String::new(),
            },
            written: match (event.is_read(), event.pair) {
                (true, NONE) => String::new(),
                (true, pair) => written(pair),
                _ => written(slot),
            },
            site: Some(event.site),
        })
    }

    fn tell(self) -> Witness {
        let graph = self.slice.graph;
        let mut events: Vec<Shown> = Vec::new();
        let mut places: BTreeMap<Slot, usize> = BTreeMap::new();
        let slots: BTreeSet<Slot> = self.kept.slots.iter().map(|s| node(graph, *s)).collect();
        // initial values that some kept read reads
        let mut initial: BTreeMap<u32, usize> = BTreeMap::new();
        for slot in &slots {
            let event = graph.event(*slot);
            if event.is_read() && event.source == NONE && !initial.contains_key(&event.location) {
                let place = graph.places[event.location as usize];
                let value = match place.initial {
                    Initial::Value(value) => self.value(value, place.at.size),
                    _ => "?".to_owned(),
                };
                initial.insert(event.location, events.len());
                events.push(Shown {
                    thread: None,
                    label: String::new(),
                    kind: "W",
                    order: "",
                    location: self.name(place.at, false),
                    read: String::new(),
                    written: value,
                    site: None,
                });
            }
        }
        let first = events.len();
        for slot in self
            .slice
            .lines
            .iter()
            .flatten()
            .filter(|s| slots.contains(s))
        {
            if let Some(shown) = self.shown(*slot, events.len() - first) {
                places.insert(*slot, events.len());
                events.push(shown);
            }
        }
        let (mut rf, mut co, mut fr) = (Vec::new(), Vec::new(), Vec::new());
        let place = |slot: usize| places.get(&(slot as Slot)).copied();
        for (location, number) in &initial {
            let next = graph
                .writes(*location)
                .find_map(|w| place(node(graph, w) as usize));
            co.extend(next.map(|next| (*number, next)));
        }
        for (slot, number) in &places {
            let event = graph.event(*slot);
            let source = |location| initial.get(location).copied();
            if event.is_read() {
                rf.extend(
                    match event.source {
                        NONE => source(&event.location),
                        write => place(node(graph, write) as usize),
                    }
                    .map(|write| (write, *number)),
                );
            }
            // the first of the writes after it that are kept
            let first = |relation: &Relation| {
                let later: Vec<usize> = relation.successors(*slot as usize).collect();
                let least = later
                    .iter()
                    .filter(|w| places.contains_key(&(**w as Slot)))
                    .find(|w| {
                        let earlier = |other: &&usize| self.nodes.co.contains(**other, **w);
                        let kept = later.iter().filter(|o| places.contains_key(&(**o as Slot)));
                        kept.filter(earlier).count() == 0
                    });
                least.and_then(|w| place(*w))
            };
            co.extend(first(&self.nodes.co).map(|next| (*number, next)));
            fr.extend(first(&self.nodes.fr).map(|next| (*number, next)));
        }
        co.sort_unstable();
        rf.sort_unstable();
        let functions = (0..self.slice.lines.len())
            .map(|t| self.slice.start(t))
            .collect();
        let around = |(a, b, kind): &Edge| Some((place(*a)?, place(*b)?, *kind));
        let mut round: Vec<Edge> = self.kept.cycle.iter().filter_map(around).collect();
        // it begins with its first event
        let first = (0..round.len()).min_by_key(|k| round[*k].0);
        round.rotate_left(first.unwrap_or(0));
        let pair = |(a, b): (Slot, Slot)| {
            let (a, b) = (node(graph, a) as usize, node(graph, b) as usize);
            Some((place(a)?, place(b)?))
        };
        Witness {
            functions,
            rf,
            co,
            fr,
            cycle: round,
            conflict: self.kept.conflict.and_then(pair),
            waits: self.kept.waits.clone(),
            events,
        }
    }
}
