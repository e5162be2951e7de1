//! A deliberately naive explorer: every thread that can take a step takes it, every read reads
//! from every write that is there, every write stands everywhere in coherence order, and what is
//! consistent is asked at the end. It shares nothing with the explorer but what it explores.
use cat::{Given, Input, Model};
use explore::{
    Action, Answer, EndedExecution, EventLabel, ExecutionEnd, Location, Next, Source, ThreadId,
    Wait, NONE,
};
use program::ir::Order;
use relation::{Relation, Set};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::ControlFlow;

/// A thread and the place in it.
pub type Event = (ThreadId, usize);

/// An execution whatever the order in which it came about: of each event what it is, its value,
/// and where it reads from; the coherence order of each location.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Canonical {
    pub threads: BTreeMap<ThreadId, Vec<(String, u64, Option<Event>)>>,
    pub orders: BTreeMap<Location, Vec<Event>>,
}

/// The execution that the explorer found.
pub fn canonical<S: Source>(execution: &EndedExecution<S>) -> Canonical {
    let graph = execution.graph;
    let name = |id: u32| (graph.event(id).thread, graph.event(id).index as usize);
    let mut found = Canonical::default();
    for event in &graph.events {
        let source = (event.is_read() && event.source != NONE).then(|| name(event.source));
        let label = (format!("{:?}", event.action), event.value, source);
        found.threads.entry(event.thread).or_default().push(label);
    }
    for (number, place) in graph.locations.iter().enumerate() {
        let writes: Vec<Event> = graph.writes(number as u32).map(name).collect();
        if !writes.is_empty() {
            found.orders.insert(place.at, writes);
        }
    }
    found
}

#[derive(Clone, Debug)]
struct Done {
    label: EventLabel,
    value: u64,
    source: Option<Event>,
}

#[derive(Clone, Default)]
struct State {
    threads: BTreeMap<ThreadId, Vec<Done>>,
    orders: BTreeMap<Location, Vec<Event>>,
}

pub struct Naive<'p, S: Source> {
    program: &'p S,
    model: &'p Model,
    seen: HashSet<Canonical>,
    pub found: BTreeSet<(Canonical, ExecutionEnd)>,
}

impl<'p, S: Source> Naive<'p, S> {
    pub fn explore(program: &'p S, model: &'p Model) -> BTreeSet<(Canonical, ExecutionEnd)> {
        let mut naive = Naive {
            program,
            model,
            seen: HashSet::new(),
            found: BTreeSet::new(),
        };
        let mut start = State::default();
        start.threads.insert(0, Vec::new());
        naive.visit(&start);
        naive.found
    }

    /// What a thread does next, run from its beginning.
    fn next(&self, state: &State, thread: ThreadId) -> Next {
        self.run(state, thread, state.threads[&thread].len()).1
    }

    fn run(&self, state: &State, thread: ThreadId, events: usize) -> (S::Thread, Next) {
        let mut running = match thread {
            0 => self.program.main(),
            _ => {
                let creates = |done: &Done| done.label.action == Action::Create { thread };
                let creator = state.threads.iter().find_map(|(creator, events)| {
                    Some((*creator, events.iter().position(creates)?))
                });
                let (creator, at) = creator.expect("a thread that was started");
                let (before, _) = self.run(state, creator, at);
                self.program.created(&before, thread)
            }
        };
        let mut next = self.program.next(&mut running);
        for done in &state.threads[&thread][..events] {
            if let Action::Read { .. } | Action::Join { .. } | Action::Choose { .. } =
                done.label.action
            {
                self.program.answer(&mut running, Answer::new(done.value));
            }
            next = self.program.next(&mut running);
        }
        (running, next)
    }

    fn visit(&mut self, state: &State) {
        if !is_coherent(state) || !self.seen.insert(name(state)) {
            return;
        }
        let threads: Vec<ThreadId> = state.threads.keys().copied().collect();
        let mut stuck = true;
        for thread in threads {
            let Next::Event(label) = self.next(state, thread) else {
                continue;
            };
            let at = (thread, state.threads[&thread].len());
            let with = |value, source| {
                let mut new = state.clone();
                let events = new
                    .threads
                    .get_mut(&thread)
                    .expect("a thread that is there");
                events.push(Done {
                    label,
                    value,
                    source,
                });
                new
            };
            match label.action {
                Action::Read { at, .. } => {
                    self.visit(&with(0, None));
                    for write in state.orders.get(&at).into_iter().flatten() {
                        let Action::Write { value, .. } =
                            state.threads[&write.0][write.1].label.action
                        else {
                            panic!("a write")
                        };
                        self.visit(&with(value, Some(*write)));
                    }
                }
                Action::Write { at: place, .. } => {
                    let locations = state.orders.get(&place).map_or(0, Vec::len);
                    for position in 0..=locations {
                        let mut new = with(0, None);
                        new.orders.entry(place).or_default().insert(position, at);
                        self.visit(&new);
                    }
                }
                Action::Choose { alternatives } => {
                    (0..alternatives).for_each(|choice| self.visit(&with(u64::from(choice), None)));
                }
                Action::Create { thread } => {
                    let mut new = with(0, None);
                    new.threads.insert(thread, Vec::new());
                    self.visit(&new);
                }
                Action::Join { thread } => {
                    let ended = state.threads.contains_key(&thread);
                    match ended.then(|| self.next(state, thread)) {
                        Some(Next::Done(result)) => self.visit(&with(result, None)),
                        _ => continue,
                    }
                }
                _ => self.visit(&with(0, None)),
            }
            stuck = false;
        }
        if stuck && self.waits_for_the_last(state) && self.is_consistent(state) {
            self.found.insert((name(state), self.end(state)));
        }
    }

    /// Whether those who wait for a lock wait for the last who took it. Where they wait for one
    /// before, they show nothing that the others do not without them.
    fn waits_for_the_last(&self, state: &State) -> bool {
        state.threads.iter().all(|(thread, events)| {
            let Next::Blocked {
                wait: Wait::Handover { .. },
                ..
            } = self.next(state, *thread)
            else {
                return true;
            };
            let read = events.last().expect("the read of a lock");
            let Action::Read { at, .. } = read.label.action else {
                panic!("the read of a lock")
            };
            let last = state.orders.get(&at).and_then(|order| order.last());
            read.source.as_ref() == last
        })
    }

    fn end(&self, state: &State) -> ExecutionEnd {
        let ends = state
            .threads
            .keys()
            .map(|thread| match self.next(state, *thread) {
                Next::Done(_) => ExecutionEnd::Complete,
                Next::Fault(_) => ExecutionEnd::Faulty,
                Next::Truncated { .. } => ExecutionEnd::Truncated,
                Next::Unsupported { message, .. } => panic!("{message}"),
                Next::Refuted => panic!("the exploration has to start again"),
                Next::Blocked { .. } | Next::Event(_) | Next::Needs(_) => ExecutionEnd::Blocked,
            });
        ends.min().expect("main")
    }

    fn is_consistent(&self, state: &State) -> bool {
        let seen = Seen::new(state);
        let locations: Vec<Option<u32>> = seen.events.iter().map(|event| event.location).collect();
        let input = Input {
            n: seen.events.len(),
            given: &|name| seen.given(name),
            locations: &locations,
            variants: &|_| false,
        };
        let mut prepared = self.model.prepare(&input).unwrap_or_else(|e| panic!("{e}"));
        let mut consistent = false;
        let result = prepared.solutions(&seen.rf, None, &mut |solution| {
            consistent |= solution.co.is_none_or(|co| *co == seen.co);
            ControlFlow::Continue(())
        });
        result.unwrap_or_else(|e| panic!("{e}"));
        consistent
    }
}

fn name(state: &State) -> Canonical {
    let label = |done: &Done| (format!("{:?}", done.label.action), done.value, done.source);
    let threads = state
        .threads
        .iter()
        .filter(|(_, events)| !events.is_empty());
    Canonical {
        threads: threads
            .map(|(thread, events)| (*thread, events.iter().map(label).collect()))
            .collect(),
        orders: state.orders.clone(),
    }
}

/// Whether each thread sees each location change in coherence order, and nothing comes between
/// the halves of a read-modify-write: what sc, tso and rc11 have in common.
fn is_coherent(state: &State) -> bool {
    // the place of an access in coherence order: a write's, or of what it reads from, from 1
    let place = |event: Event| {
        let done = &state.threads[&event.0][event.1];
        let rank = |at: &Location, write: Event| {
            let order = &state.orders[at];
            1 + order
                .iter()
                .position(|other| *other == write)
                .expect("in order")
        };
        match &done.label.action {
            Action::Write { at, .. } => Some((*at, rank(at, event), true)),
            Action::Read { at, .. } => {
                Some((*at, done.source.map_or(0, |write| rank(at, write)), false))
            }
            _ => None,
        }
    };
    state.threads.iter().all(|(thread, events)| {
        let mut last: BTreeMap<Location, (usize, bool)> = BTreeMap::new();
        (0..events.len()).all(|index| {
            let Some((at, rank, writes)) = place((*thread, index)) else {
                return true;
            };
            let (before, _) = last.insert(at, (rank, writes)).unwrap_or((0, false));
            let rmw = matches!(events[index].label.action, Action::Write { rmw: true, .. });
            match (writes, rmw) {
                (true, true) => rank == before + 1,
                (true, false) => rank > before,
                (false, _) => rank >= before,
            }
        })
    })
}

struct One {
    thread: Option<ThreadId>,
    location: Option<u32>,
    sets: Vec<&'static str>,
}

/// The graph that the model is shown: starts and ends of threads are always in it.
struct Seen {
    events: Vec<One>,
    po: Relation,
    rf: Relation,
    co: Relation,
}

fn order_sets(order: Order) -> Vec<&'static str> {
    match order {
        Order::Na => vec!["NA"],
        Order::Rlx => vec!["RLX", "A"],
        Order::Acq => vec!["ACQ", "A"],
        Order::Rel => vec!["REL", "A"],
        Order::AcqRel => vec!["ACQ_REL", "A"],
        Order::Sc => vec!["SC", "A"],
        Order::Light => vec!["LIGHT"],
        Order::Heavy => vec!["HEAVY", "SC"],
        Order::Kernel(_) => vec![],
    }
}

impl Seen {
    fn new(state: &State) -> Seen {
        let mut events: Vec<One> = Vec::new();
        let mut locations: Vec<Location> = Vec::new();
        let all = || state.threads.values().flatten();
        for done in all() {
            if let Action::Read { at, .. } | Action::Write { at, .. } = done.label.action {
                if !locations.contains(&at) {
                    locations.push(at);
                    events.push(One {
                        thread: None,
                        location: Some(locations.len() as u32 - 1),
                        sets: vec!["W", "M", "IW", "NA"],
                    });
                }
            }
        }
        let number = |at: &Location| {
            locations
                .iter()
                .position(|known| known == at)
                .expect("known")
        };
        let mut index: BTreeMap<Event, usize> = BTreeMap::new();
        let mut starts: BTreeMap<ThreadId, usize> = BTreeMap::new();
        let mut begins: BTreeMap<ThreadId, usize> = BTreeMap::new();
        let mut ends: BTreeMap<ThreadId, usize> = BTreeMap::new();
        let mut joins: Vec<(ThreadId, usize)> = Vec::new();
        let mut changed = Vec::new();
        let hidden = |thread: usize| 100 + 2 * thread as u32;
        for (thread, list) in &state.threads {
            let mut add = |location: Option<u32>, sets: Vec<&'static str>| {
                let thread = Some(*thread);
                events.push(One {
                    thread,
                    location,
                    sets,
                });
                events.len() - 1
            };
            let begin = add(Some(hidden(*thread)), vec!["R", "M", "ACQ", "A"]);
            begins.insert(*thread, begin);
            for (place, done) in list.iter().enumerate() {
                let at = (*thread, place);
                match done.label.action {
                    Action::Read {
                        at: location,
                        order,
                        ..
                    } => {
                        let mut sets = order_sets(order);
                        sets.extend(["R", "M"]);
                        index.insert(at, add(Some(number(&location) as u32), sets));
                    }
                    Action::Write {
                        at: location,
                        order,
                        rmw,
                        ..
                    } => {
                        let mut sets = order_sets(order);
                        sets.extend(["W", "M"]);
                        let event = match rmw {
                            false => add(Some(number(&location) as u32), Vec::new()),
                            true => {
                                sets.extend(["R", "RMW", "AMO"]);
                                let reads = |p: &usize| {
                                    matches!(list[*p].label.action, Action::Read { .. })
                                };
                                let read = (0..place).rev().find(reads).expect("a read");
                                index[&(*thread, read)]
                            }
                        };
                        changed.push((event, sets));
                        index.insert(at, event);
                    }
                    Action::Fence { order, .. } => {
                        let mut sets = order_sets(order);
                        sets.retain(|set| *set != "A");
                        sets.extend(["F", "NA"]);
                        add(None, sets);
                    }
                    Action::Create { thread } => {
                        let sets = vec!["W", "M", "REL", "A"];
                        starts.insert(thread, add(Some(hidden(thread)), sets));
                    }
                    Action::Join { thread } => {
                        let sets = vec!["R", "M", "ACQ", "A"];
                        joins.push((thread, add(Some(hidden(thread) + 1), sets)));
                    }
                    _ => {}
                }
            }
            let end = events.len();
            events.push(One {
                thread: Some(*thread),
                location: Some(hidden(*thread) + 1),
                sets: vec!["W", "M", "REL", "A"],
            });
            ends.insert(*thread, end);
        }
        for (event, sets) in changed {
            events[event].sets = sets;
        }
        let n = events.len();
        let mut rf = Relation::new(n);
        for (thread, start) in &starts {
            rf.insert(*start, begins[thread]);
        }
        for (thread, join) in &joins {
            rf.insert(ends[thread], *join);
        }
        for (thread, list) in &state.threads {
            for (place, done) in list.iter().enumerate() {
                if let Action::Read { at, .. } = done.label.action {
                    let from = match done.source {
                        Some(write) => index[&write],
                        None => number(&at),
                    };
                    rf.insert(from, index[&(*thread, place)]);
                }
            }
        }
        let mut co = Relation::new(n);
        for (at, writes) in &state.orders {
            let mut order = vec![number(at)];
            order.extend(writes.iter().map(|write| index[write]));
            for (place, first) in order.iter().enumerate() {
                for second in &order[place + 1..] {
                    co.insert(*first, *second);
                }
            }
        }
        let po = Relation::new(n);
        let mut seen = Seen { events, po, rf, co };
        let same = seen.pairs(|a, b| a.thread.is_some() && a.thread == b.thread);
        seen.po = same.filter(|a, b| a < b);
        seen
    }

    fn pairs(&self, keep: impl Fn(&One, &One) -> bool) -> Relation {
        let n = self.events.len();
        let all = (0..n).flat_map(|a| (0..n).map(move |b| (a, b)));
        Relation::of(
            n,
            all.filter(|(a, b)| keep(&self.events[*a], &self.events[*b])),
        )
    }

    fn given(&self, name: &str) -> Option<Given> {
        let n = self.events.len();
        Some(Given::Relation(match name {
            "po" => self.po.clone(),
            "loc" => self.pairs(|a, b| a.location.is_some() && a.location == b.location),
            "int" => self.pairs(|a, b| a.thread.is_some() && a.thread == b.thread),
            "ext" => self.pairs(|a, b| a.thread != b.thread),
            "rmw" | "amo" => Relation::new(n),
            _ => {
                let items = (0..n).filter(|i| self.events[*i].sets.contains(&name));
                return Some(Given::Set(Set::of(n, items)));
            }
        }))
    }
}
