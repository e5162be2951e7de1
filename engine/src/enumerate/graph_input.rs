//! A candidate as a cat model sees it: named sets and relations of its events.

use std::collections::HashMap;

use super::candidate::{Candidate, Chosen, Index};
use super::event::{Act, Id};
use super::prepared::{pairs, Prepared};
use super::threads::Threads;
use crate::graph::{Relation, Set};
use crate::litmus::value::{Address, Value};

pub struct GraphInput {
    pub sets: HashMap<String, Set>,
    pub relations: HashMap<String, Relation>,
    pub locations: Vec<Option<u32>>,
}

/// Where each event is, numbered, as the candidate's equations say.
pub fn locations(c: &Candidate<'_>, chosen: &Chosen<'_>) -> Vec<Option<u32>> {
    let mut known: Vec<Address> = Vec::new();
    c.events
        .iter()
        .map(|e| {
            let at = e.act.address()?;
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

impl GraphInput {
    pub fn new(
        c: &Candidate<'_>,
        chosen: &Chosen<'_>,
        threads: &Threads,
        locations: Vec<Option<u32>>,
    ) -> GraphInput {
        let n = c.events.len();
        let mut sets = HashMap::new();
        let mut set = |name: &str, keep: &dyn Fn(Index) -> bool| {
            sets.insert(name.to_string(), Set::of(n, (0..n).filter(|i| keep(*i))));
        };
        let act = |i: Index| &c.events[i].act;
        set("M", &|i| act(i).is_memory());
        set("Exp", &|i| act(i).is_memory());
        set("R", &|i| act(i).is_load());
        set("W", &|i| act(i).is_store());
        set("IW", &|i| i < c.initial);
        set("F", &|i| matches!(act(i), Act::Fence));
        set("B", &|i| act(i).is_commit());
        set("BCC", &|i| matches!(act(i), Act::Branch));
        set("AMO", &|i| matches!(act(i), Act::Update { .. }));
        set("Rreg", &|i| matches!(act(i), Act::RegisterRead));
        set("Wreg", &|i| matches!(act(i), Act::RegisterWrite));
        let port = |i: Index| {
            let path = c.events[i].thread.and_then(|t| c.paths.get(t));
            path.is_some_and(|p| p.path.events[c.events[i].id].data_port)
        };
        set("DATA", &|i| port(i));
        set("NDATA", &|i| !port(i));
        for name in threads.empty {
            set(name, &|_| false);
        }
        for (bit, name) in threads.tags.iter().enumerate() {
            set(name, &|i| c.events[i].tags >> bit & 1 == 1);
        }
        let mut relations = HashMap::new();
        let thread = |i: Index| c.events[i].thread;
        let both = |keep: &dyn Fn(Index, Index) -> bool| {
            let pairs = (0..n).flat_map(|a| (0..n).map(move |b| (a, b)));
            Relation::of(n, pairs.filter(|(a, b)| keep(*a, *b)))
        };
        let mut add = |name: &str, r: Relation| {
            relations.insert(name.to_string(), r);
        };
        let loc = both(&|a, b| locations[a].is_some() && locations[a] == locations[b]);
        add("same-low-order-bits", loc.clone());
        add("loc", loc);
        add(
            "int",
            both(&|a, b| thread(a).is_some() && thread(a) == thread(b)),
        );
        add("ext", both(&|a, b| thread(a) != thread(b)));
        let memory = Set::of(n, (0..n).filter(|i| act(*i).is_memory()));
        add("sm", Relation::identity(&memory));
        add("si", Relation::identity(&memory));
        let same = |a: Index, b: Index| {
            thread(a).is_some()
                && thread(a) == thread(b)
                && c.events[a].instance == c.events[b].instance
        };
        add("same-instance", both(&same));
        let mut per_thread = |name: &str, of: &dyn Fn(&Prepared) -> Vec<(Id, Id)>| {
            let all = c
                .paths
                .iter()
                .enumerate()
                .flat_map(|(t, p)| c.globals(t, of(p).into_iter()));
            add(name, Relation::of(n, all));
        };
        per_thread("po", &|p| p.deps.po.pairs().collect());
        per_thread("addr", &|p| p.deps.addr.pairs().collect());
        per_thread("data", &|p| p.deps.data.pairs().collect());
        per_thread("ctrl", &|p| p.deps.ctrl.pairs().collect());
        per_thread("depend", &|p| p.deps.depend.pairs().collect());
        per_thread("control", &|p| p.path.control.clone());
        per_thread("iico_data", &|p| p.path.iico_data.clone());
        per_thread("iico_ctrl", &|p| p.path.iico_ctrl.clone());
        per_thread("rf-reg", &|p| p.path.rf_reg.clone());
        per_thread("iico_order", &|p| p.path.iico_order.clone());
        per_thread("partial_po", &|_| Vec::new());
        per_thread("success", &|_| Vec::new());
        let rmw = Relation::of(n, atomic_pairs(c, chosen));
        let amo = rmw.filter(same);
        add("rmw", rmw);
        add("amo", amo);
        GraphInput {
            sets,
            relations,
            locations,
        }
    }
}

/// The atomic load-store pairs of all threads.
fn atomic_pairs(c: &Candidate<'_>, chosen: &Chosen<'_>) -> Vec<(Index, Index)> {
    let mut all = Vec::new();
    for (thread, prepared) in c.paths.iter().enumerate() {
        let by = c.shifts[thread];
        let local = match prepared.rmw_fixed {
            true => prepared.rmw.clone(),
            false => pairs(&prepared.path, &prepared.deps, prepared.allowed, |o| {
                chosen.solver.find(super::candidate::shift(o, by))
            }),
        };
        all.extend(c.globals(thread, local.into_iter()));
    }
    all
}
