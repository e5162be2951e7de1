//! What a cat model says of a graph.

use std::collections::HashMap;
use std::ops::ControlFlow;

use super::graph::Graph;
use super::view::{Index, Seen, View, EMPTY, SETS};
use crate::cat::{CatError, Input, Model};
use crate::graph::{Relation, Set};

/// What a model says beside that a graph is consistent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    pub raised: Vec<String>,
    pub undefined: bool,
}

pub struct Judge<'m> {
    model: &'m Model,
    view: View,
    /// How many graphs were judged.
    pub judged: u64,
}

impl<'m> Judge<'m> {
    pub fn new(model: &'m Model) -> Judge<'m> {
        Judge {
            model,
            view: View::default(),
            judged: 0,
        }
    }

    pub fn is_consistent(&mut self, graph: &Graph) -> Result<bool, CatError> {
        Ok(self.flags(graph)?.is_some())
    }

    /// None when the graph is inconsistent.
    pub fn flags(&mut self, graph: &Graph) -> Result<Option<Flags>, CatError> {
        self.judged += 1;
        self.view.fill(graph);
        solve(self.model, &self.view)
    }
}

/// Finds the solution with this coherence order among all that the model has.
fn solve(model: &Model, view: &View) -> Result<Option<Flags>, CatError> {
    let n = view.events.len();
    let mut sets = HashMap::new();
    for (name, tags) in SETS {
        let holds = |i: &usize| view.events[*i].tags & tags != 0;
        sets.insert(name.to_owned(), Set::of(n, (0..n).filter(holds)));
    }
    for name in EMPTY {
        sets.insert(name.to_owned(), Set::new(n));
    }
    let both = |keep: &dyn Fn(&Seen, &Seen, usize, usize) -> bool| {
        let pairs = (0..n).flat_map(|a| (0..n).map(move |b| (a, b)));
        Relation::of(
            n,
            pairs.filter(|(a, b)| keep(&view.events[*a], &view.events[*b], *a, *b)),
        )
    };
    let mut relations = HashMap::new();
    let mut add = |name: &str, relation: Relation| relations.insert(name.to_owned(), relation);
    let int = |a: &Seen, b: &Seen| a.thread.is_some() && a.thread == b.thread;
    add("int", both(&|a, b, _, _| int(a, b)));
    add("ext", both(&|a, b, _, _| a.thread != b.thread));
    add("po", both(&|a, b, i, j| i < j && int(a, b)));
    add(
        "loc",
        both(&|a, b, _, _| a.location.is_some() && a.location == b.location),
    );
    add("rmw", Relation::new(n));
    add("amo", Relation::new(n));
    let memory = Set::of(n, (0..n).filter(|i| view.events[*i].location.is_some()));
    add("sm", Relation::identity(&memory));
    add("si", Relation::identity(&memory));
    let reads = view.events.iter().enumerate();
    let rf = reads.filter_map(|(read, seen)| Some((seen.source? as usize, read)));
    add("rf", Relation::of(n, rf));
    let locations: Vec<Option<u32>> = view.events.iter().map(|seen| seen.location).collect();
    let input = Input {
        n,
        sets: &sets,
        relations: &relations,
        locations: &locations,
        variants: &|_| false,
    };
    let mut co = Relation::new(n);
    for order in view.starts.windows(2) {
        let writes: &[Index] = &view.orders[order[0] as usize..order[1] as usize];
        for (place, first) in writes.iter().enumerate() {
            for second in &writes[place + 1..] {
                co.insert(*first as usize, *second as usize);
            }
        }
    }
    let mut found = None;
    model.solutions(&input, &mut |solution| {
        if solution.co.map_or(true, |order| *order == co) {
            found = Some(Flags {
                raised: solution
                    .flags
                    .iter()
                    .map(|flag| (*flag).to_owned())
                    .collect(),
                undefined: solution.undefined,
            });
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    })?;
    Ok(found)
}
