//! What a cat model says of a graph.

use std::ops::ControlFlow;

use super::graph::Graph;
use super::view::{Index, Seen, View, EMPTY, SETS};
use crate::cat::{CatError, Given, Input, Model};
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
    let locations: Vec<Option<u32>> = view.events.iter().map(|seen| seen.location).collect();
    let input = Input {
        n,
        given: &|name| given(view, name),
        locations: &locations,
        variants: &|_| false,
    };
    let reads = view.events.iter().enumerate();
    let rf = reads.filter_map(|(read, seen)| Some((seen.source? as usize, read)));
    let rf = Relation::of(n, rf);
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
    model
        .prepare(&input)?
        .solutions(&rf, None, &mut |solution| {
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

/// What a name of herd7's stands for.
fn given(view: &View, name: &str) -> Option<Given> {
    let n = view.events.len();
    let set = |keep: &dyn Fn(&Seen) -> bool| Set::of(n, (0..n).filter(|i| keep(&view.events[*i])));
    if let Some((_, tags)) = SETS.iter().find(|(known, _)| *known == name) {
        return Some(Given::Set(set(&|seen| seen.tags & tags != 0)));
    }
    if EMPTY.contains(&name) {
        return Some(Given::Set(Set::new(n)));
    }
    let both = |keep: &dyn Fn(&Seen, &Seen) -> bool| {
        let all = &view.events;
        let pairs = (0..n).flat_map(|a| (0..n).map(move |b| (a, b)));
        Relation::of(n, pairs.filter(|(a, b)| keep(&all[*a], &all[*b])))
    };
    let same_thread = |a: &Seen, b: &Seen| a.thread.is_some() && a.thread == b.thread;
    let relation = match name {
        "int" => both(&same_thread),
        "ext" => both(&|a, b| a.thread != b.thread),
        "po" => both(&same_thread).filter(|a, b| a < b),
        "loc" => both(&|a, b| a.location.is_some() && a.location == b.location),
        "sm" | "si" => Relation::identity(&set(&|seen| seen.location.is_some())),
        // a read-modify-write is one event
        "rmw" | "amo" => Relation::new(n),
        _ => return None,
    };
    Some(Given::Relation(relation))
}
