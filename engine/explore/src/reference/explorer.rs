//! All consistent graphs of a program, by extension.
//!
//! A graph is extended by the next event of a thread: a read reads from each write that is there, a
//! write stands at each place of its coherence order, and what is inconsistent is dropped. The models
//! that are explored so forbid cycles of po and rf, and a prefix of a consistent graph (closed under
//! both) is consistent: so each graph is reached by adding its events in an order that extends
//! po ∪ rf. It is reached by many such orders; graphs in which every next event is a read are
//! remembered in a form that no order shows in, and extended once (Kokologiannakis, Marmanis,
//! Gladstein, Vafeiadis, "Truly stateless, optimal dynamic partial order reduction", POPL 2022, section
//! 2, whose search reaches each by one order instead).
//!
//! Other events than reads need not be tried in every order: what a thread does next depends on its
//! own reads alone, so each graph that extends this one, and to which nothing can be added, contains
//! the event, and no other event has to come before it. So the first such event is added at once. A
//! thread that may wait for ever at the header of its loop is not taken on like this: that it stays
//! there is one of the things to be seen.

use super::judgement::{conclude, hangs};
use super::semantics::{ReferenceThread, Semantics};
use crate::consistency::checker::ConsistencyChecker;
use crate::evidence::{Exhausted, Guarantee};
use crate::exploration::{
    Acyclic, ExecutionEnd, Exploration, ExploreError, Limit, Options, Truncation,
};
use crate::graph::execution_graph::{EventId, Graph, NONE};
use crate::reductions::Reductions;
use crate::search::descents::mix;
use crate::search::findings::{name_misuses, Findings};
use crate::search::run::CheckedModel;
use crate::source::{
    Action, Answer, EventLabel, Fault, FaultKind, Initial, Location, Next, ThreadId,
};
use cat::Model;
use program::interpreter::Limits;
use program::Program;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::Arc;
use std::time::Instant;

/// What the reference finds.
pub struct ReferenceExploration {
    pub found: Exploration,
    /// What main returns, in how many executions in which every thread ends.
    pub results: BTreeMap<u64, u64>,
}

/// Explores all executions of a program, each once.
pub fn explore_reference(
    program: &Program,
    model: &Model,
    limits: Limits,
    options: &Options,
) -> Result<ReferenceExploration, ExploreError> {
    let mut explorer = Explorer::new(program, model, limits, options)?;
    let mut limit = explorer.explore()?;
    while explorer.semantics.overlaps.get() && limit.is_none() {
        explorer.semantics.restart();
        limit = explorer.explore()?;
    }
    explorer.found.remove_repeated();
    name_misuses(program, &mut explorer.found.violations);
    let Explorer {
        semantics,
        checker,
        guarantee,
        begun,
        mut found,
        results,
        ..
    } = explorer;
    found
        .violations
        .sort_by_key(|v| (v.fault.kind, v.fault.site));
    Ok(ReferenceExploration {
        found: Exploration {
            reductions: Reductions::NONE,
            guarantee: Some(guarantee),
            exhausted: Exhausted::new(limit.is_some(), false, false),
            counts: found.counts,
            violations: found.violations,
            truncations: found.truncations,
            limit,
            checks: checker.checks,
            threads: semantics.threads() - 1,
            seconds: begun.elapsed().as_secs_f64(),
            ..Exploration::default()
        },
        results,
    })
}

/// A consistent graph, and what each thread does next; none of those that were not created.
#[derive(Clone)]
struct Node {
    graph: Graph,
    threads: Vec<Option<Arc<ReferenceThread>>>,
}

pub(super) struct Explorer<'a> {
    pub semantics: Semantics<'a>,
    checker: ConsistencyChecker,
    guarantee: Guarantee,
    options: &'a Options,
    begun: Instant,
    /// Graphs to be extended.
    open: Vec<Node>,
    seen: FxHashSet<Vec<u32>>,
    pub found: Findings,
    results: BTreeMap<u64, u64>,
}

impl<'a> Explorer<'a> {
    pub fn new(
        program: &'a Program,
        model: &Model,
        limits: Limits,
        options: &'a Options,
    ) -> Result<Explorer<'a>, ExploreError> {
        let begun = Instant::now();
        let fences = program.has_asymmetric_fences();
        let checked = CheckedModel::new(model, options.acyclic, fences)?;
        if checked.acyclic != Acyclic::ProgramOrder {
            return Err(ExploreError::Unsuitable(format!(
                "{} allows cycles of po and rf, which the reference does not build; use sc, tso, \
                 rc11 or rc20",
                model.name
            )));
        }
        Ok(Explorer {
            semantics: Semantics::new(program, limits, checked.defines_asymmetric_fences()),
            guarantee: checked.guarantee,
            checker: checked.into_checker(),
            options,
            begun,
            open: Vec::new(),
            seen: FxHashSet::default(),
            found: Findings::default(),
            results: BTreeMap::new(),
        })
    }

    fn start(&mut self) {
        self.seen.clear();
        self.open = vec![Node {
            graph: Graph::new(),
            threads: vec![Some(Arc::new(self.semantics.main()))],
        }];
    }

    /// Extends the empty graph by one event after another, of the alternatives one with equal
    /// probability, until nothing can be added. Returns whether that is so before the time is over.
    pub fn descend(
        &mut self,
        random: &mut u64,
        end: Option<Instant>,
    ) -> Result<bool, ExploreError> {
        self.start();
        while !self.open.is_empty() {
            let stop = self.options.limits.stop.as_ref();
            let stopped = stop.is_some_and(|stop| stop.load(Relaxed));
            if stopped || end.is_some_and(|end| Instant::now() >= end) {
                return Ok(false);
            }
            *random = mix(*random);
            let chosen = *random % self.open.len() as u64;
            let node = self.open.swap_remove(chosen as usize);
            self.open.clear();
            self.seen.clear();
            self.extend(node)?;
            if self.semantics.overlaps.get() {
                self.semantics.restart();
                self.found = Findings::default();
                self.start();
            }
        }
        Ok(true)
    }

    /// Explores everything from the empty graph on, up to a limit, or until locations are found to
    /// overlap.
    fn explore(&mut self) -> Result<Option<Limit>, ExploreError> {
        self.found = Findings::default();
        self.results.clear();
        self.start();
        let limits = &self.options.limits;
        while let Some(node) = self.open.pop() {
            if self.semantics.overlaps.get() {
                break;
            }
            let stopped = limits.stop.as_ref().is_some_and(|stop| stop.load(Relaxed));
            if stopped {
                return Ok(Some(Limit::Stopped));
            }
            if self.begun.elapsed() > limits.time {
                return Ok(Some(Limit::Seconds));
            }
            let executions = self.found.counts.all();
            if executions >= limits.executions {
                return Ok(Some(Limit::Executions));
            }
            if self.options.first && !self.found.violations.is_empty() {
                break;
            }
            limits.counted.store(executions, Relaxed);
            self.extend(node)?;
        }
        Ok(None)
    }

    /// Extends a graph by one event, in every way, or finds out what it shows.
    fn extend(&mut self, node: Node) -> Result<(), ExploreError> {
        let most = self.options.limits.events;
        if node.graph.len() >= most {
            self.found.counts.count(ExecutionEnd::Truncated, 1);
            self.found.truncate(Truncation {
                message: format!("more than {most} events in one execution"),
                site: node.graph.events.last().map(|event| event.site),
                limit: "events".to_owned(),
                because: String::new(),
            });
            return Ok(());
        }
        if let Some((thread, label)) = node.certain() {
            return self.add(&node, thread, &label);
        }
        if !self.seen.insert(canonical(&node.graph)) {
            return Ok(());
        }
        let threads: Vec<_> = node.existing().collect();
        for fault in hangs(&node.graph, &threads) {
            self.found.violate(&fault, None, None, &node.graph, 1);
        }
        let next: Vec<_> = node.choices().collect();
        if !next.is_empty() {
            return next
                .into_iter()
                .try_for_each(|(thread, label)| self.add(&node, thread, &label));
        }
        let end = conclude(
            &mut self.found,
            &mut self.checker,
            &self.semantics,
            &node.graph,
            &threads,
        )?;
        if let (Some(ExecutionEnd::Complete), Next::Done(result)) = (end, &threads[0].1.next) {
            *self.results.entry(*result).or_default() += 1;
        }
        Ok(())
    }

    /// Adds a thread's next event to a graph, in every way.
    fn add(
        &mut self,
        node: &Node,
        thread: ThreadId,
        label: &EventLabel,
    ) -> Result<(), ExploreError> {
        let mut with = node.clone();
        match label.action {
            Action::Read { at, .. } | Action::Write { at, .. } => {
                let Some(location) = self.locate(&mut with.graph, at) else {
                    with.fail(
                        thread,
                        FaultKind::Memory,
                        "access to unallocated memory",
                        label,
                    );
                    self.open.push(with);
                    return Ok(());
                };
                match label.action.is_read() {
                    true => self.read(&with, thread, label, location),
                    false => self.write(&with, thread, label, location),
                }
            }
            Action::Choose { alternatives } => {
                for choice in 0..alternatives {
                    let mut with = with.clone();
                    let id = with.graph.push(thread, label, NONE);
                    with.graph.set_value(id, choice.into());
                    self.proceed(with, id)?;
                }
                Ok(())
            }
            Action::Join { thread: joined } => {
                let id = with.graph.push(thread, label, NONE);
                with.graph.set_value(id, node.result(joined).unwrap_or(0));
                self.proceed(with, id)
            }
            Action::Create { thread: created } => {
                let id = with.graph.push(thread, label, NONE);
                if with.threads.len() <= created {
                    with.threads.resize(created + 1, None);
                }
                let creator = node.threads[thread].as_ref();
                let start = creator.map(|creator| self.semantics.created(creator, created));
                with.threads[created] = start.map(Arc::new);
                self.proceed(with, id)
            }
            _ => {
                let id = with.graph.push(thread, label, NONE);
                self.proceed(with, id)
            }
        }
    }

    fn read(
        &mut self,
        node: &Node,
        thread: ThreadId,
        label: &EventLabel,
        location: u32,
    ) -> Result<(), ExploreError> {
        let writes = node.graph.writes(location);
        let sources: Vec<EventId> = std::iter::once(NONE).chain(writes).collect();
        for source in sources {
            let mut with = node.clone();
            let id = with.graph.push(thread, label, location);
            let value = with.graph.value_of(location, source);
            with.graph.set_source(id, source, value);
            self.proceed(with, id)?;
        }
        Ok(())
    }

    /// Nothing comes between the read and the write of a read-modify-write.
    fn write(
        &mut self,
        node: &Node,
        thread: ThreadId,
        label: &EventLabel,
        location: u32,
    ) -> Result<(), ExploreError> {
        let writes = node.graph.writes(location);
        let mut before: Vec<EventId> = std::iter::once(NONE).chain(writes).collect();
        before.retain(|write| !node.graph.is_taken(location, *write));
        for before in before {
            let mut with = node.clone();
            let id = with.graph.push(thread, label, location);
            let pair = with.graph.event(id).pair;
            if pair != NONE && with.graph.event(pair).source != before {
                continue;
            }
            with.graph.order_after(id, before);
            self.proceed(with, id)?;
        }
        Ok(())
    }

    /// The number of a location in the graph; none if it is in no object.
    fn locate(&self, graph: &mut Graph, at: Location) -> Option<u32> {
        if let Some(number) = graph.location_number(at) {
            return Some(number);
        }
        let initial = match self.semantics.initial(at) {
            Initial::Outside => graph.allocated(at),
            known => known,
        };
        (initial != Initial::Outside).then(|| graph.add_location(at, initial))
    }

    /// Lets a thread continue after the event that was added, and keeps the graph if it is consistent.
    /// A read-modify-write is one event of the model: it is asked when it is known whether there is a
    /// write.
    fn proceed(&mut self, mut node: Node, id: EventId) -> Result<(), ExploreError> {
        let event = *node.graph.event(id);
        let answer = node.graph.answer(id);
        let undefined = |size| answer.is_undefined(size);
        match event.action {
            Action::Read {
                at,
                uninitialised_ok: false,
                ..
            } if undefined(at.size) => {
                let label = EventLabel {
                    action: event.action,
                    site: event.site,
                    dependencies: Default::default(),
                };
                let message = "read of uninitialised memory";
                node.fail(event.thread, FaultKind::Uninitialised, message, &label);
            }
            action => {
                let answer = match action.has_answer() {
                    true => answer,
                    false => Answer::default(),
                };
                if let Some(thread) = &mut node.threads[event.thread] {
                    self.semantics.answer(Arc::make_mut(thread), answer);
                }
            }
        }
        if node.is_halfway(event.thread) || self.checker.is_consistent(&node.graph)? {
            self.open.push(node);
        }
        Ok(())
    }
}

impl Node {
    fn existing(&self) -> impl Iterator<Item = (ThreadId, &ReferenceThread)> {
        let threads = self.threads.iter().enumerate();
        threads.filter_map(|(id, thread)| Some((id, &**thread.as_ref()?)))
    }

    /// The result of a thread that has ended.
    fn result(&self, thread: ThreadId) -> Option<u64> {
        match self.threads.get(thread)?.as_ref()?.next {
            Next::Done(result) => Some(result),
            _ => None,
        }
    }

    /// Whether a read-modify-write of the thread may still lack its write.
    fn is_halfway(&self, thread: ThreadId) -> bool {
        let last = self.graph.threads[thread].last;
        let after_read = last != NONE && {
            let event = self.graph.event(last);
            event.is_read() && event.is_rmw()
        };
        let state = self.threads[thread].as_ref();
        state.is_some_and(|state| state.is_halfway(after_read))
    }

    /// An event that each extension of the graph contains, in each of which it may come next.
    fn certain(&self) -> Option<(ThreadId, EventLabel)> {
        let mut certain = None;
        for (id, thread) in self.existing() {
            let Next::Event(label) = thread.next else {
                continue;
            };
            if self.is_halfway(id) {
                return Some((id, label));
            }
            let is_certain = match label.action {
                Action::Read { .. } => false,
                Action::Join { thread } => self.result(thread).is_some(),
                _ => true,
            };
            if is_certain && thread.round.is_none() && certain.is_none() {
                certain = Some((id, label));
            }
        }
        certain
    }

    /// The next events of threads, where none is certain.
    fn choices(&self) -> impl Iterator<Item = (ThreadId, EventLabel)> + '_ {
        self.existing()
            .filter_map(|(id, thread)| match thread.next {
                Next::Event(label) => match label.action {
                    Action::Join { thread } if self.result(thread).is_none() => None,
                    _ => Some((id, label)),
                },
                _ => None,
            })
    }

    /// The thread ends with an error at its next event.
    fn fail(&mut self, thread: ThreadId, kind: FaultKind, message: &str, label: &EventLabel) {
        if let Some(thread) = &mut self.threads[thread] {
            Arc::make_mut(thread).next = Next::Fault(Fault {
                kind,
                message: message.to_owned(),
                site: Some(label.site),
            });
        }
    }
}

/// A graph in a form that does not depend on the order in which its events were added: of each thread
/// the sources of its reads and its choices, from which all else that it does follows, and the
/// coherence orders.
fn canonical(graph: &Graph) -> Vec<u32> {
    let name = |id: EventId| match id {
        NONE => 0,
        id => {
            let event = graph.event(id);
            (event.thread as u32 + 1) << 16 | event.index
        }
    };
    let mut form = Vec::with_capacity(graph.len() + 8);
    for thread in &graph.threads {
        let first = form.len();
        for id in graph.po_predecessors(thread.last) {
            let event = graph.event(id);
            match event.action {
                Action::Read { .. } => form.push(name(event.source)),
                Action::Choose { .. } => form.push(event.value as u32),
                _ => {}
            }
        }
        form[first..].reverse();
        form.push(u32::MAX);
        form.push(thread.count);
    }
    let mut locations: Vec<_> = graph.locations.iter().zip(0..).collect();
    locations.sort_by_key(|(location, _)| location.at);
    for (_, number) in locations {
        form.extend(graph.writes(number).map(name));
        form.push(u32::MAX);
    }
    form
}
