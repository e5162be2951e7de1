//! The predefined sets and relations of cat, for the events of a candidate. Each is computed when
//! the model uses it.

use super::candidate::{shift, Candidate, CandidateEvent, Chosen, EventId};
use super::paths::path::{Action, PathEventId};
use super::paths::prepared::{rmw_pairs, PreparedPath};
use super::thread_paths::ThreadPaths;
use cat::Given;
use litmus::dialects::DIALECTS;
use litmus::value::{Address, Value};
use litmus::{Annotations, Dialect};
use relation::{Relation, Set};
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

pub struct GraphInput<'g> {
    candidate: &'g Candidate<'g>,
    chosen: &'g Chosen<'g>,
    threads: &'g ThreadPaths,
    locations: &'g [Option<u32>],
    /// The annotations that some event has; models name many that none has.
    annotations: Annotations,
    sets: &'static DialectSets,
}

/// The sets of a dialect: by name, the bit of the annotation, if events can have it.
type DialectSets = FxHashMap<&'static str, Option<usize>>;

/// Those of each dialect, by its name. Models name dozens of sets, each looked up for every graph.
static SETS: LazyLock<FxHashMap<&'static str, DialectSets>> = LazyLock::new(|| {
    let sets = |dialect: &&'static Dialect| {
        let empty = dialect.empty_sets.iter().map(|name| (*name, None));
        let annotations = dialect.annotations.iter().enumerate();
        let annotations = annotations.map(|(bit, name)| (*name, Some(bit)));
        (dialect.name, empty.chain(annotations).collect())
    };
    DIALECTS.iter().map(sets).collect()
});

/// By event, the number of its location, as the candidate's equations determine it.
pub fn event_locations(c: &Candidate<'_>, chosen: &Chosen<'_>) -> Vec<Option<u32>> {
    let mut known: Vec<Address> = Vec::new();
    c.events
        .iter()
        .map(|e| {
            let at = e.action.address()?;
            let Some(Value::Address(a)) = chosen.solver.known(at) else {
                return None;
            };
            let at = known.iter().position(|k| *k == a).unwrap_or_else(|| {
                known.push(a);
                known.len() - 1
            });
            Some(at as u32)
        })
        .collect()
}

/// By event, the index of its critical section of SRCU, as the candidate's equations determine it.
pub fn event_indices(c: &Candidate<'_>, chosen: &Chosen<'_>) -> Vec<Option<Value>> {
    let index = |e: &CandidateEvent| e.index.map(|index| chosen.solver.value(index));
    match c.has_indices {
        true => c.events.iter().map(index).collect(),
        false => Vec::new(),
    }
}

impl<'g> GraphInput<'g> {
    /// `locations` are the `event_locations`.
    pub fn new(
        candidate: &'g Candidate<'g>,
        chosen: &'g Chosen<'g>,
        threads: &'g ThreadPaths,
        locations: &'g [Option<u32>],
    ) -> GraphInput<'g> {
        let annotations = candidate.events.iter().map(|event| event.annotations);
        GraphInput {
            candidate,
            chosen,
            threads,
            locations,
            annotations: annotations.fold(0, |all, some| all | some),
            sets: &SETS[threads.dialect.name],
        }
    }

    pub fn given(&self, name: &str) -> Option<Given> {
        let set = self.set(name).map(Given::Set);
        set.or_else(|| self.relation(name).map(Given::Relation))
    }

    fn set(&self, name: &str) -> Option<Set> {
        if let Some((_, bit)) = self.threads.tags.iter().find(|(tag, _)| tag == name) {
            return Some(bit.map_or_else(|| self.no_events(), |bit| self.annotated(bit)));
        }
        let of_dialect = self.sets.get(name);
        if let Some(Some(bit)) = of_dialect {
            return Some(self.annotated(*bit));
        }
        let actions = |selects: fn(&Action) -> bool| {
            self.events(|i| selects(&self.candidate.events[i].action))
        };
        Some(match name {
            "M" | "Exp" => actions(Action::is_memory),
            "R" => actions(Action::is_load),
            "W" => actions(Action::is_store),
            "IW" => self.events(|i| i < self.candidate.initial),
            "F" => actions(|action| matches!(action, Action::Fence)),
            "B" => actions(Action::is_commit),
            "BCC" => actions(|action| matches!(action, Action::Branch)),
            "AMO" => actions(|action| matches!(action, Action::Update { .. })),
            "Rreg" => actions(|action| matches!(action, Action::RegisterRead)),
            "Wreg" => actions(|action| matches!(action, Action::RegisterWrite)),
            "DATA" => self.events(|i| self.feeds_data(i)),
            "NDATA" => self.events(|i| !self.feeds_data(i)),
            _ => return of_dialect.map(|_| self.no_events()),
        })
    }

    pub fn relation(&self, name: &str) -> Option<Relation> {
        let n = self.candidate.events.len();
        Some(match name {
            "loc" | "same-low-order-bits" => self.same(|i| self.locations[i]),
            "int" => self.same(|i| self.candidate.events[i].thread),
            "ext" => {
                let mut ext = Relation::full(n);
                for (_, thread) in self.classes(|i| Some(self.candidate.events[i].thread)) {
                    thread.iter().for_each(|i| ext.remove_all(i, &thread));
                }
                ext
            }
            "sm" | "si" => {
                let one = self.same(|i| {
                    let event = &self.candidate.events[i];
                    Some((event.thread, event.access?))
                });
                let memory = self.events(|i| self.candidate.events[i].action.is_memory());
                one.union(&Relation::identity(&memory))
            }
            "has-index" => {
                let with = self.events(|i| self.candidate.events[i].index.is_some());
                Relation::product(&with, &with)
            }
            "same-index" => self.same(|i| {
                let index = self.candidate.events[i].index?;
                Some(self.chosen.solver.value(index))
            }),
            "same-instance" => self.same(|i| self.instance(i)),
            "po" => self.threads(|p| p.order.po().iter()),
            "addr" => self.threads(|p| p.deps().addr.iter()),
            "data" => self.threads(|p| p.deps().data.iter()),
            "ctrl" => self.threads(|p| p.deps().ctrl.iter()),
            "chosen" => self.threads(|p| p.deps().chosen.iter()),
            "depend" => self.threads(|p| p.deps().depend.iter()),
            "control" => self.threads(|p| p.path.control.iter().copied()),
            "iico_data" => self.threads(|p| p.path.iico_data.iter().copied()),
            "iico_ctrl" => self.threads(|p| p.path.iico_ctrl.iter().copied()),
            "iico_order" => self.threads(|p| p.path.iico_order.iter().copied()),
            "rf-reg" => self.threads(|p| p.path.rf_reg.iter().copied()),
            "partial_po" | "success" => Relation::new(n),
            "rmw" => self.rmw(),
            "amo" => {
                let one = |a, b| self.instance(a).is_some() && self.instance(a) == self.instance(b);
                self.rmw().filter(one)
            }
            _ => return None,
        })
    }

    fn events(&self, selects: impl Fn(EventId) -> bool) -> Set {
        let n = self.candidate.events.len();
        Set::of(n, (0..n).filter(|i| selects(*i)))
    }

    fn no_events(&self) -> Set {
        Set::new(self.candidate.events.len())
    }

    /// The events with an annotation.
    fn annotated(&self, bit: usize) -> Set {
        match self.annotations >> bit & 1 {
            0 => self.no_events(),
            _ => self.events(|i| self.candidate.events[i].annotations >> bit & 1 == 1),
        }
    }

    fn feeds_data(&self, i: EventId) -> bool {
        let event = &self.candidate.events[i];
        let path = event.thread.and_then(|t| self.candidate.paths.get(t));
        path.is_some_and(|p| p.path.events[event.id].data_port)
    }

    /// The thread and the instance of its instruction that an event belongs to.
    fn instance(&self, i: EventId) -> Option<(usize, u32)> {
        let event = &self.candidate.events[i];
        event.thread.map(|thread| (thread, event.instance))
    }

    /// The events of each class; some events may have none.
    fn classes<C: PartialEq>(&self, class: impl Fn(EventId) -> Option<C>) -> Vec<(C, Set)> {
        let n = self.candidate.events.len();
        let mut all: Vec<(C, Set)> = Vec::new();
        for i in 0..n {
            let Some(of) = class(i) else { continue };
            match all.iter_mut().find(|(known, _)| *known == of) {
                Some((_, events)) => events.insert(i),
                None => all.push((of, Set::of(n, [i]))),
            }
        }
        all
    }

    /// The pairs of events of one class.
    fn same<C: PartialEq>(&self, class: impl Fn(EventId) -> Option<C>) -> Relation {
        let mut all = Relation::new(self.candidate.events.len());
        for (_, events) in self.classes(class) {
            events.iter().for_each(|i| all.insert_all(i, &events));
        }
        all
    }

    /// The union of a relation of each thread's path, restricted to the events that the model uses.
    fn threads<'s, I: Iterator<Item = (PathEventId, PathEventId)> + 's>(
        &'s self,
        of: impl Fn(&'s PreparedPath) -> I,
    ) -> Relation {
        let c = self.candidate;
        let mut all = Relation::new(c.events.len());
        for (prepared, seen) in c.paths.iter().zip(&c.local) {
            for (a, b) in of(prepared) {
                if let (Some(a), Some(b)) = (seen[a], seen[b]) {
                    all.insert(a, b);
                }
            }
        }
        all
    }

    /// The rmw pairs of all threads.
    fn rmw(&self) -> Relation {
        let c = self.candidate;
        let mut all = Relation::new(c.events.len());
        for (thread, prepared) in c.paths.iter().enumerate() {
            let resolved;
            let pairs = match prepared.rmw_fixed {
                true => &prepared.rmw,
                false => {
                    let find = |o| self.chosen.solver.find(shift(o, c.shifts[thread]));
                    let one_instruction = prepared.rmw_in_one_instruction;
                    resolved = rmw_pairs(&prepared.path, &prepared.order, one_instruction, find);
                    &resolved
                }
            };
            for (a, b) in pairs {
                if let (Some(a), Some(b)) = (c.local[thread][*a], c.local[thread][*b]) {
                    all.insert(a, b);
                }
            }
        }
        all
    }
}
