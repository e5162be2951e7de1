//! All consistent graphs of a program, by extension.
//!
//! A graph is extended by the next event of a thread: a read reads from each write that is there, a
//! write stands at each place of its coherence order, and what is inconsistent is dropped. Models that
//! order by dependencies need more ([`super::promises`]). The others forbid cycles of po and rf, and a
//! prefix of a consistent graph (closed under both) is consistent: so each graph is reached by adding
//! its events in an order that extends po ∪ rf. It is reached by many such orders; graphs in which every next event is a read are
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
use super::node::{canonical, Node};
use super::semantics::{ModelTraits, Semantics};
use super::values::Values;
use crate::consistency::checker::ConsistencyChecker;
use crate::consistency::uses::Uses;
use crate::evidence::{Exhausted, Guarantee};
use crate::exploration::{
    Acyclic, ExecutionEnd, Exploration, ExploreError, Limit, Options, Truncation,
};
use crate::graph::execution_graph::{EventId, Graph, NONE, PROMISED};
use crate::reductions::Reductions;
use crate::search::descents::mix;
use crate::search::findings::{name_misuses, Findings};
use crate::search::run::CheckedModel;
use crate::source::{Action, Answer, EventLabel, FaultKind, Initial, Location, Next, ThreadId};
use cat::Model;
use program::interpreter::Limits;
use program::Program;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::Arc;
use std::time::Instant;

/// How many graphs are extended before it pays to look for fewer values of reads.
const FEW: usize = 20_000;

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
        explorer.restart()?;
        limit = explorer.explore()?;
    }
    explorer.found.remove_repeated();
    name_misuses(program, &mut explorer.found.violations);
    let Explorer {
        semantics,
        checker,
        partial,
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
            checks: checker.checks + partial.checks,
            threads: semantics.threads() - 1,
            mixed_sizes: semantics.in_parts.get(),
            seconds: begun.elapsed().as_secs_f64(),
            ..Exploration::default()
        },
        results,
    })
}

pub(super) struct Explorer<'a> {
    pub semantics: Semantics<'a>,
    model: &'a Model,
    checked: Arc<CheckedModel>,
    pub checker: ConsistencyChecker,
    /// What a part of a graph is asked for, with less order.
    partial: ConsistencyChecker,
    guarantee: Guarantee,
    options: &'a Options,
    begun: Instant,
    /// The values that reads may be promised; none: events are added in an order that extends po ∪ rf.
    pub values: Option<Values>,
    /// Graphs to be extended.
    pub open: Vec<Node>,
    seen: FxHashSet<Vec<u32>>,
    pub found: Findings,
    results: BTreeMap<u64, u64>,
}

impl<'a> Explorer<'a> {
    pub fn new(
        program: &'a Program,
        model: &'a Model,
        limits: Limits,
        options: &'a Options,
    ) -> Result<Explorer<'a>, ExploreError> {
        let begun = Instant::now();
        let uses = Uses::of(program);
        let checked = CheckedModel::of(model, options.acyclic, uses)?;
        let dependencies = checked.acyclic == Acyclic::Dependencies;
        let traits = ModelTraits {
            asymmetric_fences: checked.defines_asymmetric_fences(),
            dependencies,
            kernel: checked.checker.is_kernel(),
            kernel_version: checked.kernel_version,
            mixed_sizes: checked.takes_mixed_sizes(options),
            branches: checked.branches,
        };
        let guarantee = match checked.checker.is_kernel() {
            true => Guarantee::Unneeded,
            false => checked.guarantee,
        };
        let checker = checked.checker.clone();
        let partial = match checker.is_kernel() {
            true => {
                let with_less = CheckedModel::of(model, options.acyclic, uses.without_locks())?;
                with_less.checker.clone()
            }
            false => checker.clone(),
        };
        if dependencies && !(checker.in_halves() && checker.coherent) {
            return Err(ExploreError::Unsuitable(format!(
                "{} orders by dependencies, and does not use rmw, or has no axiom of coherence: the \
                 reference does not support that",
                model.name
            )));
        }
        Ok(Explorer {
            semantics: Semantics::new(program, limits, traits),
            guarantee,
            checker,
            partial,
            model,
            checked,
            options,
            begun,
            values: None,
            open: Vec::new(),
            seen: FxHashSet::default(),
            found: Findings::default(),
            results: BTreeMap::new(),
        })
    }

    /// Forgets which locations there are, but not where they are divided.
    fn restart(&mut self) -> Result<(), ExploreError> {
        if self.semantics.in_parts.get().is_some() {
            self.checker = self.checked.checker_in_parts(self.model)?;
            self.partial = self.checker.clone();
        }
        self.semantics.restart();
        Ok(())
    }

    fn start(&mut self) {
        self.seen.clear();
        self.open = vec![Node {
            graph: Graph::default(),
            threads: vec![Some(Arc::new(self.semantics.main()))],
            promised: Vec::new(),
            staying: Vec::new(),
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
                self.restart()?;
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
        if self.semantics.model.dependencies {
            match Values::find(&self.semantics, &|| self.limit(), limits.events) {
                Ok(values) => self.values = Some(values),
                Err(limit) => return Ok(Some(limit)),
            }
        }
        let mut extended = 0;
        while let Some(node) = self.open.pop() {
            if self.semantics.overlaps.get() {
                break;
            }
            if let Some(limit) = self.limit() {
                return Ok(Some(limit));
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
            extended += 1;
            if let Some(values) = self.values.take_if(|of| extended > FEW && !of.are_fewest) {
                match values.find_fewer(&self.semantics, &|| self.limit(), limits.events) {
                    Ok(fewer) => self.values = Some(fewer),
                    Err(limit) => return Ok(Some(limit)),
                }
                self.found = Findings::default();
                self.results.clear();
                self.start();
            }
        }
        Ok(None)
    }

    /// The limit that has ended the exploration.
    fn limit(&self) -> Option<Limit> {
        let limits = &self.options.limits;
        let stopped = limits.stop.as_ref().is_some_and(|stop| stop.load(Relaxed));
        match self.begun.elapsed() > limits.time {
            _ if stopped => Some(Limit::Stopped),
            true => Some(Limit::Seconds),
            false => None,
        }
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
        if self.values.is_some() {
            return self.extend_in_turn(node);
        }
        if let Some((thread, label)) = node.certain(|_| true) {
            return self.add(&node, thread, &label);
        }
        if !self.seen.insert(canonical(&node.graph)) {
            return Ok(());
        }
        self.report_hangs(&node);
        let next: Vec<_> = node.choices().collect();
        match next.is_empty() {
            true => self.conclude(&node),
            false => next
                .into_iter()
                .try_for_each(|(thread, label)| self.add(&node, thread, &label)),
        }
    }

    /// Records the threads of a consistent graph that wait for ever.
    pub fn report_hangs(&mut self, node: &Node) {
        let threads: Vec<_> = node.existing().collect();
        for fault in hangs(&node.graph, &threads) {
            self.found.violate(&fault, None, None, &node.graph, 1);
        }
    }

    /// Records what a consistent graph shows to which nothing can be added.
    pub fn conclude(&mut self, node: &Node) -> Result<(), ExploreError> {
        let threads: Vec<_> = node.existing().collect();
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
    pub fn add(
        &mut self,
        node: &Node,
        thread: ThreadId,
        label: &EventLabel,
    ) -> Result<(), ExploreError> {
        let mut with = node.clone();
        match label.action {
            Action::Read { at, .. } | Action::Write { at, .. } => {
                let Some(location) = self.locate(&mut with.graph, at) else {
                    let message = "access to unallocated memory";
                    with.fail(thread, FaultKind::Memory, message, label.site);
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
                    let id = self.push(&mut with.graph, thread, label, NONE);
                    with.graph.set_value(id, choice.into());
                    self.proceed(with, id)?;
                }
                Ok(())
            }
            Action::Join { thread: joined } => {
                let id = self.push(&mut with.graph, thread, label, NONE);
                with.graph.set_value(id, node.result(joined).unwrap_or(0));
                self.proceed(with, id)
            }
            Action::Create { thread: created } => {
                if self.values.is_some() && node.has_joined_all(thread) {
                    return Err(ExploreError::Unsupported {
                        message: "the reference does not support a thread that is created when \
                                  all others were joined, under a model that orders by \
                                  dependencies"
                            .to_owned(),
                        site: Some(label.site),
                    });
                }
                let id = self.push(&mut with.graph, thread, label, NONE);
                if with.threads.len() <= created {
                    with.threads.resize(created + 1, None);
                }
                let creator = node.threads[thread].as_ref();
                let start = creator.map(|creator| self.semantics.created(creator, created));
                with.threads[created] = start.map(Arc::new);
                self.proceed(with, id)
            }
            _ => {
                let id = self.push(&mut with.graph, thread, label, NONE);
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
            let id = self.push(&mut with.graph, thread, label, location);
            let value = with.graph.value_of(location, source);
            with.graph.set_source(id, source, value);
            self.proceed(with, id)?;
        }
        self.promise(node, thread, label, location)
    }

    /// Nothing comes between the read and the write of a read-modify-write.
    fn write(
        &mut self,
        node: &Node,
        thread: ThreadId,
        label: &EventLabel,
        location: u32,
    ) -> Result<(), ExploreError> {
        if !self.may_write(node, thread, label) {
            return Ok(());
        }
        let writes = node.graph.writes(location);
        let mut before: Vec<EventId> = std::iter::once(NONE).chain(writes).collect();
        before.retain(|write| !node.graph.is_taken(location, *write));
        if label.action.unlocks() {
            let event = |write: &EventId| node.graph.event(*write);
            let own = node.graph.writes(location);
            let own = own.filter(|write| event(write).thread == thread);
            let lock = own.max_by_key(|write| event(write).index);
            before.retain(|write| Some(*write) == lock);
        }
        for before in before {
            let mut with = node.clone();
            let id = self.push(&mut with.graph, thread, label, location);
            let pair = with.graph.event(id).pair;
            if pair != NONE && ![before, PROMISED].contains(&with.graph.event(pair).source) {
                continue;
            }
            with.graph.order_after(id, before);
            for with in with.fulfilments(id) {
                self.proceed(with, id)?;
            }
        }
        Ok(())
    }

    /// The number of a location in the graph; none if it is in no object.
    fn locate(&self, graph: &mut Graph, at: Location) -> Option<u32> {
        if let Some(number) = graph.location_number(at) {
            return Some(number);
        }
        let initial = self.initial(graph, at);
        (initial != Initial::Outside).then(|| graph.add_location(at, initial))
    }

    /// The initial contents of a location.
    pub fn initial(&self, graph: &Graph, at: Location) -> Initial {
        if let Some(number) = graph.location_number(at) {
            return graph.locations[number as usize].initial;
        }
        match self.semantics.initial(at) {
            Initial::Outside => graph.allocated(at),
            known => known,
        }
    }

    /// Adds an event to a graph, with what it depends on.
    pub fn push(
        &self,
        graph: &mut Graph,
        thread: ThreadId,
        label: &EventLabel,
        location: u32,
    ) -> EventId {
        let id = graph.push(thread, label, location);
        let mut own: Vec<EventId> = graph.po_predecessors(id).collect();
        own.reverse();
        let dependencies = label.dependencies;
        graph.dependencies.add(dependencies, |set, pairs| {
            let reads = self.semantics.sets.reads(set).into_iter();
            pairs.extend(reads.map(|read| (own[read as usize], id)));
        });
        id
    }

    /// Lets a thread continue after the event that was added, and keeps the graph if it is consistent.
    /// It is asked of a read-modify-write when it is known whether there is a write.
    pub fn proceed(&mut self, mut node: Node, id: EventId) -> Result<(), ExploreError> {
        let event = *node.graph.event(id);
        let answer = node.answer(id);
        let undefined = |size| answer.is_undefined(size);
        match event.action {
            Action::Read {
                at,
                uninitialised_ok: false,
                ..
            } if undefined(at.size) => {
                let message = "read of uninitialised memory";
                node.fail(event.thread, FaultKind::Uninitialised, message, event.site);
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
        if node.is_halfway(event.thread)
            || self.partial.is_consistent(&node.graph)?
            || self.values.is_some() && !self.partial.fails_with_later_events()
        {
            self.open.push(node);
        }
        Ok(())
    }
}
