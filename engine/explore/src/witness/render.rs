//! Renders the selected events with the names of the source.
use crate::graph::execution_graph::{Event, EventId, NONE};
use crate::graph::interleaving::node;
use crate::source::{Action, Initial, Location};
use crate::threads::source::ProgramSource;
use crate::witness::minimise::Selection;
use crate::witness::nodes::{order, Nodes};
use crate::witness::slice::Slice;
use crate::witness::value::{Witness, WitnessEvent};
use program::ir::bits::sext;
use program::ir::wide;
use program::ir::Order;
use program::memory::Memory;
use program::trace::report::LocationNames;
use relation::cycle::{label, Edge};
use relation::Relation;
use std::collections::{BTreeMap, BTreeSet};

pub struct Renderer<'a> {
    source: &'a ProgramSource<'a>,
    slice: &'a Slice<'a>,
    nodes: &'a Nodes<'a>,
    selection: Selection,
    names: LocationNames<'a>,
}

impl<'a> Renderer<'a> {
    pub fn new(
        source: &'a ProgramSource<'a>,
        slice: &'a Slice<'a>,
        nodes: &'a Nodes<'a>,
        selection: Selection,
    ) -> Renderer<'a> {
        let addresses = selection.ids.iter().flat_map(|id| {
            let event = slice.graph.event(*id);
            let written = match event.is_write() {
                true => event.action.written().value,
                false => event.value,
            };
            [event.at().map(Location::object_address), Some(written)]
        });
        let objects = addresses.flatten().filter_map(|address| {
            let (base, extent) = source.sharing.extent(address)?;
            Some((base, extent.named))
        });
        let names = LocationNames::new(source.program, objects);
        Renderer {
            source,
            slice,
            nodes,
            selection,
            names,
        }
    }

    fn name(&self, at: Location, whole: bool) -> String {
        let address = at.object_address();
        let word = || self.name(Location { address, size: 1 }, true);
        if at.is_sleepers() {
            return format!("{}.waiters", word());
        }
        match self.source.sharing.extent(address) {
            Some((base, extent)) => {
                let size = if whole { 1 } else { u64::from(at.size) };
                self.names.of(extent.named, base, address - base, size)
            }
            None => format!("{address:#x}"),
        }
    }

    /// A number, as a signed one, or the name of the object that it points to.
    fn value(&self, bits: u64, size: u32) -> String {
        if size == wide::SIZE {
            let (low, high) = wide::halves(bits);
            return format!("{{{}, {}}}", self.value(low, 8), self.value(high, 8));
        }
        let pointed = match size {
            8 => self.source.sharing.extent(bits),
            _ => None,
        };
        match pointed {
            Some((base, extent)) if bits - base < extent.size.max(1) => {
                format!("&{}", self.names.of(extent.named, base, bits - base, 0))
            }
            _ => (sext(bits, 8 * size) as i64).to_string(),
        }
    }

    fn shown(&self, id: EventId, number: usize) -> Option<WitnessEvent> {
        let graph = self.slice.graph;
        let event: &Event = graph.event(id);
        let site = self.source.program.sites.get(event.site as usize);
        let kind = match (site.map(|s| s.kind), event.action) {
            // the site of a wait for a condition variable is also that of its relaxed accesses
            (Some("lock"), Action::Read { .. })
                if event.pair != NONE && order(graph, id) == Order::Acq =>
            {
                "LOCK"
            }
            (Some("unlock"), Action::Write { .. }) => "UNLOCK",
            (_, Action::Read { .. }) if event.pair != NONE => "RMW",
            (_, Action::Read { .. }) => "R",
            (_, Action::Write { .. }) => "W",
            (_, Action::Fence { .. }) => "F",
            (_, Action::Free { base })
                if Memory::is_of_stack(base) || Memory::is_thread_local(base) =>
            {
                "END"
            }
            (_, Action::Free { .. }) => "FREE",
            _ => self.slice.spurious(id)?,
        };
        let at = match event.action {
            Action::Free { base } => Some(Location {
                address: base,
                size: 1,
            }),
            _ => event.at(),
        };
        if at.is_some_and(|at| at.call().is_some()) {
            return None;
        }
        let size = at.map_or(8, |a| a.size);
        let written = |id: EventId| match graph.event(id).action {
            Action::Write { value, .. } => self.value(value, size),
            _ => String::new(),
        };
        Some(WitnessEvent {
            thread: Some(event.thread),
            label: label(number),
            kind,
            order: match kind {
                "FREE" | "END" | "FAILS" | "RETURNS" | "CLOCK" => "",
                _ => order(graph, id).name(),
            },
            location: at.map_or(String::new(), |at| {
                self.name(at, matches!(kind, "LOCK" | "UNLOCK" | "FREE" | "END"))
            }),
            read: match event.is_read() {
                true => self.value(event.value, size),
                false => String::new(),
            },
            written: match (event.is_read(), event.pair) {
                (true, NONE) => String::new(),
                (true, pair) => written(pair),
                _ => written(id),
            },
            site: Some(event.site),
        })
    }

    pub fn render(self) -> Witness {
        let graph = self.slice.graph;
        let mut events: Vec<WitnessEvent> = Vec::new();
        let mut locations: BTreeMap<EventId, usize> = BTreeMap::new();
        let ids: BTreeSet<EventId> = self.selection.ids.iter().map(|s| node(graph, *s)).collect();
        // initial values that a selected read reads
        let mut initial: BTreeMap<u32, usize> = BTreeMap::new();
        for id in &ids {
            let event = graph.event(*id);
            if event.is_read() && event.source == NONE && !initial.contains_key(&event.location) {
                let place = graph.locations[event.location as usize];
                let answer = place.initial.answer();
                let value = match place.initial {
                    Initial::Outside => "?".to_owned(),
                    _ if answer.is_undefined(place.at.size) => "?".to_owned(),
                    _ => self.value(answer.value, place.at.size),
                };
                initial.insert(event.location, events.len());
                events.push(WitnessEvent {
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
        for id in self
            .slice
            .by_thread
            .iter()
            .flatten()
            .filter(|s| ids.contains(s))
        {
            if let Some(shown) = self.shown(*id, events.len() - first) {
                locations.insert(*id, events.len());
                events.push(shown);
            }
        }
        let (mut rf, mut co, mut fr) = (Vec::new(), Vec::new(), Vec::new());
        let place = |id: usize| locations.get(&(id as EventId)).copied();
        for (location, number) in &initial {
            let next = graph
                .writes(*location)
                .find_map(|w| place(node(graph, w) as usize));
            co.extend(next.map(|next| (*number, next)));
        }
        for (id, number) in &locations {
            let event = graph.event(*id);
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
            // the first selected write that follows it
            let first = |relation: &Relation| {
                let later: Vec<usize> = relation.successors(*id as usize).collect();
                let least = later
                    .iter()
                    .filter(|w| locations.contains_key(&(**w as EventId)))
                    .find(|w| {
                        let earlier = |other: &&usize| self.nodes.co.contains(**other, **w);
                        let selection = later
                            .iter()
                            .filter(|o| locations.contains_key(&(**o as EventId)));
                        selection.filter(earlier).count() == 0
                    });
                least.and_then(|w| place(*w))
            };
            co.extend(first(&self.nodes.co).map(|next| (*number, next)));
            fr.extend(first(&self.nodes.fr).map(|next| (*number, next)));
        }
        co.sort_unstable();
        rf.sort_unstable();
        let functions = (0..self.slice.by_thread.len())
            .map(|t| self.slice.start(t))
            .collect();
        let around = |(a, b, kind): &Edge| Some((place(*a)?, place(*b)?, *kind));
        let mut round: Vec<Edge> = self.selection.cycle.iter().filter_map(around).collect();
        // the cycle starts at its first event
        let first = (0..round.len()).min_by_key(|k| round[*k].0);
        round.rotate_left(first.unwrap_or(0));
        let pair = |(a, b): (EventId, EventId)| {
            let (a, b) = (node(graph, a) as usize, node(graph, b) as usize);
            Some((place(a)?, place(b)?))
        };
        Witness {
            functions,
            rf,
            co,
            fr,
            cycle: round,
            conflict: self.selection.conflict.and_then(pair),
            waits: self.selection.waits.clone(),
            calls: None,
            events,
        }
    }
}
