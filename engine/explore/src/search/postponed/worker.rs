//! The search for models in which po | rf may have cycles, but dependencies | rf may not.
//!
//! Such executions are the subject of Kokologiannakis and Vafeiadis, "HMC: Model checking for
//! hardware memory models", ASPLOS 2020. Its revisits rely on the model: whatever is added last can
//! be added consistently. Here nothing is revisited, and nothing but this is required of the model:
//!
//! - A consistent graph restricted to fewer events, closed under what an event needs and rf, is
//!   consistent. An axiom for which that is not known is checked at the end of an execution.
//! - No consistent graph has a cycle of rf and of what events need: dependencies (address
//!   dependencies of an event hold for all later ones, as do control dependencies), everything
//!   after an acquire read that read, everything after a fence what is before it, and what other
//!   threads read from a read-modify-write its read ([`guarantee`] asks the model). Where the same
//!   holds for writes that release and what is before them, an event needs that too.
//!
//! An event is added to the graph when everything that it needs is in it. A read that nothing needs
//! yet is postponed: its thread continues without the value, past it, and writes that need it are
//! left out for now. Only when no thread can continue does one read get its source: one of the
//! writes that are in the graph, or one that is added later, if there may be one (`progress`). In the
//! latter case it waits until there is one, and a search in which none can come is given up.
//!
//! A thread may read what its own exchange writes before the exchange has read: Armv8 and POWER
//! forward such a store. The read is shown to the model once the write has its place. An acquire read
//! is postponed, as others are, where its thread has a store to the location that waits for its value:
//! IMM does not order the read, and what follows it, after the reads that the value depends on.
//!
//! Under a model in which po | rf has no cycle, a thread does not continue past a read that is
//! postponed: everything after it needs it. Then nothing is asked of dependencies.
//!
//! Each execution is found: a linear order of its events in which each follows what it needs, and
//! the write that it reads from, exists, and the choices along the way that lead to it are in it.
//! Each is found once: whether a read gets one of the writes in the graph, or which, is what two
//! executions that part there differ in.
//!
//! [`guarantee`]: crate::consistency::guarantee

use crate::exploration::ExploreError;
use crate::graph::execution_graph::Graph;
use crate::reductions::Reduction;
use crate::search::branching::Turn;
use crate::search::halt::Halt;
use crate::search::postponed::drawing::KnownReads;
use crate::search::postponed::execution::{EventPosition, PartialExecution};
use crate::search::postponed::progress::{KnownWrites, Progress};
use crate::search::thread_states::Transition;
use crate::search::worker::{Algorithm, Worker};
use crate::source::{Action, EventLabel, Next, Source, ThreadId};

/// What a read reads from.
pub(super) enum ReadSource {
    Initial,
    Write(EventPosition),
    /// A write that is added later.
    Later,
}

/// What a worker of this search has.
#[derive(Default)]
pub struct Postpones {
    pub(super) sets: KnownReads,
    pub(super) progress: Progress,
    pub(super) writes: KnownWrites,
    /// A buffer.
    pub(super) graph: Graph,
}

pub(super) type PostponingWorker<'s, S> = Worker<'s, S, Postpones>;

impl Algorithm for Postpones {
    type Branch = PartialExecution;

    fn root() -> PartialExecution {
        PartialExecution::new()
    }

    fn explore<S: Source>(
        worker: &mut PostponingWorker<S>,
        execution: PartialExecution,
    ) -> Result<(), Halt> {
        worker.visit(execution)
    }
}

impl<S: Source> PostponingWorker<'_, S> {
    /// Explores all executions that extend this one.
    fn visit(&mut self, mut execution: PartialExecution) -> Result<(), Halt> {
        loop {
            if self.step()? && self.own.writes.end.is_some_and(|end| self.steps >= end) {
                self.queue.source.look_at_writes();
            }
            if self.branching.is_given() {
                return Ok(());
            }
            if self.branching.is_at_choice() {
                let turn = self.branching.offer();
                return self.take(turn, execution);
            }
            self.states.trim(self.queue.options.limits.states);
            let reductions = self.queue.options.reductions;
            let symmetric = reductions.has(Reduction::Symmetry);
            if symmetric && reductions.has(Reduction::Elements) {
                let most = self.queue.options.limits.events;
                self.states.prepare(most);
            }
            execution.refresh_states(&mut self.states)?;
            if self.states.distinguished {
                let message = "threads that were taken to behave alike do not".to_owned();
                let site = None;
                return Err(ExploreError::Unsupported { message, site }.into());
            }
            if execution.is_redundant(&self.states) {
                return Ok(());
            }
            if let Some(at) = self.ready(&execution) {
                if let Action::Create { thread } = execution.event(at).label.action {
                    execution.add(at, 0);
                    execution.create(&mut self.states, at, thread, symmetric);
                } else if !self.place(&mut execution, at)? {
                    return Ok(());
                }
                continue;
            }
            if self.advance(&mut execution)? {
                continue;
            }
            let ready = self.ready_reads(&execution);
            if self.is_stuck(&execution, &ready) {
                return Ok(());
            }
            let Some((read, may_wait)) = self.next_read(&execution, &ready) else {
                if self.decide(&mut execution)? {
                    continue;
                }
                let left_out = self.left_out();
                let resolved = match execution.resolve_waits(&mut self.states, left_out) {
                    None => {
                        self.record_missing(&execution);
                        false
                    }
                    Some(0) => true,
                    Some(_) => self.may_be_consistent(&mut execution)?,
                };
                return match resolved {
                    true => self.finish(&execution),
                    false => Ok(()),
                };
            };
            if !self.read(&mut execution, read, may_wait)? {
                return Ok(());
            }
        }
    }

    /// Lets a thread perform its next event. Returns whether there was one.
    fn advance(&mut self, execution: &mut PartialExecution) -> Result<bool, Halt> {
        let between = |execution: &PartialExecution, thread: ThreadId| {
            let mut events = execution.threads[thread].events.iter().rev();
            let last = events.find(|event| !event.label.action.is_decision());
            last.is_some_and(|event| event.is_read() && event.is_rmw())
        };
        // a read-modify-write is completed first; twins keep step
        let creates = |thread: ThreadId| {
            let next = execution.next(&self.states, thread);
            matches!(next, Some(Next::Event(label)) if matches!(label.action, Action::Create { .. }))
        };
        let mut threads: Vec<ThreadId> = (0..execution.threads.len()).collect();
        threads.sort_by_cached_key(|thread| {
            let done = execution.threads[*thread].events.len();
            (!between(execution, *thread), !creates(*thread), done)
        });
        for thread in threads {
            let Some(Next::Event(label)) = execution.next(&self.states, thread) else {
                continue;
            };
            let label = *label;
            if execution.is_undecided(&self.states, thread)
                || self.lets_twins_decide(execution, thread)
            {
                continue;
            }
            if self.perform(execution, thread, &label)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Performs a thread's next event, unless it has to wait for others.
    fn perform(
        &mut self,
        execution: &mut PartialExecution,
        thread: ThreadId,
        label: &EventLabel,
    ) -> Result<bool, Halt> {
        let most = self.queue.options.limits.events;
        let share = most / execution.threads.len().max(1);
        let count = execution.threads[thread].events.len();
        if execution.len() >= most && count >= share {
            execution.stop(&mut self.states, thread, Transition::TooLong(most));
            return Ok(true);
        }
        let mut value = 0;
        match label.action {
            Action::Read { at, .. } | Action::Write { at, .. } => {
                let Some(location) = execution.locate(&mut self.states, at) else {
                    execution.stop(&mut self.states, thread, Transition::Outside);
                    return Ok(true);
                };
                let at = execution.push(thread, label, location);
                self.foresee(execution, at);
                // forwarding does not wait for what the value of the store depends on
                let pending = |own: EventPosition| execution.event(own).is_open();
                let forwarded = execution.own_write(at).is_some_and(pending);
                let held = match label.action {
                    Action::Read { .. } if !self.queue.source.tracks_dependencies() => true,
                    Action::Read { order, .. } => order.acquires() && !forwarded,
                    Action::Write {
                        rmw: true, order, ..
                    } => {
                        let read = execution.read_of(at);
                        order.acquires() && read.is_some_and(|read| execution.event(read).is_open())
                    }
                    _ => false,
                };
                if !held {
                    execution.pass(&mut self.states, thread);
                }
                return Ok(true);
            }
            Action::Create { .. } => {
                execution.push(thread, label, 0);
                execution.pass(&mut self.states, thread);
                return Ok(true);
            }
            Action::Fence { .. } if !execution.is_added_up_to(thread, count) => return Ok(false),
            Action::Join { thread: joined } => {
                let Some(result) = execution.result(&self.states, joined) else {
                    return Ok(false);
                };
                value = result;
            }
            Action::Compare {
                outcome: Some(same),
            } => value = same.into(),
            Action::Choose { .. } | Action::Compare { .. } => {
                let alternatives = match label.action {
                    Action::Choose { alternatives } => alternatives,
                    _ => 2,
                };
                let index = count;
                value = execution.first_choice(EventPosition { thread, index });
                // exploring one choice may clear the states
                for choice in (value + 1..u64::from(alternatives)).rev() {
                    let mut other = execution.clone();
                    other.refresh_states(&mut self.states)?;
                    let at = other.push(thread, label, 0);
                    other.add(at, choice);
                    other.pass(&mut self.states, thread);
                    self.branch(other)?;
                }
                execution.refresh_states(&mut self.states)?;
            }
            _ => {}
        }
        if matches!(label.action, Action::Fence { .. }) && self.checker.is_kernel() {
            // the end of a critical section of RCU orders what is there already
            execution.consistent = false;
        }
        let at = execution.push(thread, label, 0);
        execution.add(at, value);
        execution.pass(&mut self.states, thread);
        Ok(true)
    }

    /// Adds a write to the graph, and explores what follows for every position in coherence order
    /// except the last possible, where it is left. Returns whether there is one.
    fn place(
        &mut self,
        execution: &mut PartialExecution,
        write: EventPosition,
    ) -> Result<bool, Halt> {
        let event = execution.event(write);
        let (location, rmw) = (event.location, event.is_rmw());
        let mut positions = self.positions(execution, write);
        let before = match event.label.action {
            _ if rmw => {
                let read = execution.read_of(write).map(|read| execution.event(read));
                Some(read.and_then(|read| read.source))
            }
            action if action.unlocks() => Some(execution.own_write(write)),
            _ => None,
        };
        if let Some(before) = before {
            let after = execution.position_after(location, before);
            positions = positions.start.max(after)..positions.end.min(after + 1);
        }
        let free = |position: &usize| {
            !execution.is_taken(location, *position) && execution.leaves_position(write, *position)
        };
        let positions: Vec<usize> = positions.filter(free).collect();
        self.extend(execution, write, positions, false, |extended, position| {
            extended.add(write, 0);
            let order = &mut extended.locations[location].order;
            order.insert(position, write);
            true
        })
    }

    /// Lets a read read from each write that it may read from, and with `may_wait` from one that is
    /// added later, and explores what follows except for the last of these, where it is left. Returns
    /// whether there is one.
    fn read(
        &mut self,
        execution: &mut PartialExecution,
        read: EventPosition,
        mut may_wait: bool,
    ) -> Result<bool, Halt> {
        let mut sources = Vec::new();
        let location = execution.event(read).location;
        let kinds = self.left_out();
        let waits = may_wait && execution.would_wait(&mut self.states, read, kinds);
        if execution.locations[location].at.barrier().is_some() {
            may_wait &= waits;
        }
        let left_out = match execution.has_waited_for_last(read) {
            true => execution.event(read).left_out,
            false => {
                waits
                    && !execution.is_waiting(&self.states, read.thread)
                    && !execution.may_be_freed(&mut self.states, read)
            }
        };
        match may_wait {
            true => sources.push(ReadSource::Later),
            false => self.wait_forever(execution, read)?,
        }
        let found = self.sources(execution, read).into_iter();
        sources.extend(found.filter(|source| match source {
            ReadSource::Initial => execution.leaves_source(read, None),
            ReadSource::Write(write) => execution.leaves_source(read, Some(*write)),
            ReadSource::Later => true,
        }));
        self.drop_stale(execution, read, &mut sources)?;
        self.extend(execution, read, sources, may_wait, |extended, source| {
            let write = match source {
                ReadSource::Later => {
                    extended.wait_with_twins(read, left_out);
                    return false;
                }
                ReadSource::Initial => None,
                ReadSource::Write(write) => Some(write),
            };
            extended.add_read(read, write);
            true
        })
    }

    /// Explores what follows if a thread that waits, and may read a newer write, still waits: it
    /// reads the last write, for which it has waited already.
    fn wait_forever(
        &mut self,
        execution: &mut PartialExecution,
        read: EventPosition,
    ) -> Result<(), Halt> {
        let event = execution.event(read);
        let order = &execution.locations[event.location].order;
        if !execution.has_waited_for_last(read)
            || !event.left_out
            || execution.is_waiting(&self.states, read.thread)
            || !self.positions(execution, read).contains(&order.len())
        {
            return Ok(());
        }
        let last = order.last().copied();
        let mut waiting = execution.clone();
        waiting.add_read(read, last);
        let same = waiting.proceed(&mut self.states, read);
        self.record_missing(&waiting);
        if same
            && waiting.waits(&self.states, read, self.left_out())
            && self.stays_consistent(&mut waiting, read)?
        {
            self.branch(waiting)?;
            execution.refresh_states(&mut self.states)?;
        }
        Ok(())
    }

    /// Extends an execution in each of these ways, and explores what follows except for the last
    /// that is consistent, which it is left in. `by` returns whether it adds the event to the graph;
    /// with `may_wait`, one after which its thread waits is left out: its thread waits already. So is
    /// one in which its thread waits because of what is overwritten.
    /// Returns whether one is consistent; if not, the execution is used up.
    fn extend<C>(
        &mut self,
        execution: &mut PartialExecution,
        added: EventPosition,
        choices: Vec<C>,
        may_wait: bool,
        by: impl Fn(&mut PartialExecution, C) -> bool,
    ) -> Result<bool, Halt> {
        let mut left: Option<PartialExecution> = None;
        let count = choices.len();
        let only = count == 1;
        let waited = execution.is_waiting(&self.states, added.thread);
        for (number, choice) in choices.into_iter().enumerate() {
            if let Some(extended) = left.take() {
                self.branch(extended)?;
            }
            let mut extended = match number + 1 == count {
                true => std::mem::replace(execution, PartialExecution::new()),
                false => execution.clone(),
            };
            extended.refresh_states(&mut self.states)?;
            if by(&mut extended, choice) {
                let unchanged = extended.proceed(&mut self.states, added);
                self.record_missing(&extended);
                let stale = self.checker.extensible && !extended.reads_last(added);
                let waits = (may_wait || stale)
                    && !waited
                    && extended.waits(&self.states, added, self.left_out())
                    && !extended.may_be_freed(&mut self.states, added);
                if !unchanged || waits || extended.loses_update(&self.states, added) {
                    continue;
                }
                if only {
                    // checked with what follows
                    extended.consistent = self.is_known(&extended, added);
                } else if !self.stays_consistent(&mut extended, added)? {
                    continue;
                }
            }
            left = Some(extended);
        }
        let found = left.is_some();
        if let Some(extended) = left {
            *execution = extended;
        }
        Ok(found)
    }

    /// As `may_be_consistent`, for a graph to which this event was added.
    fn stays_consistent(
        &mut self,
        execution: &mut PartialExecution,
        added: EventPosition,
    ) -> Result<bool, Halt> {
        match self.is_known(execution, added) {
            true => Ok(true),
            false => self.may_be_consistent(execution),
        }
    }

    /// Whether the graph is known to be consistent with this event, which was added last.
    fn is_known(&self, execution: &PartialExecution, added: EventPosition) -> bool {
        execution.consistent && self.checker.extensible && execution.is_maximal(added)
    }

    /// Whether the graph is consistent; or not, but a larger one may be.
    fn may_be_consistent(&mut self, execution: &mut PartialExecution) -> Result<bool, Halt> {
        execution.consistent = false;
        if self.is_between(execution) {
            // it is checked with its write
            return Ok(true);
        }
        execution.graph(self.queue.source, &mut self.own.sets, &mut self.own.graph);
        execution.consistent = self.checker.is_consistent(&self.own.graph)?;
        Ok(execution.consistent || !self.checker.fails_in_larger())
    }

    /// Explores all executions that extend this one, unless they are given away.
    pub(super) fn branch(&mut self, execution: PartialExecution) -> Result<(), Halt> {
        let turn = self.branching.meet();
        self.take(turn, execution)
    }

    fn take(&mut self, turn: Turn, execution: PartialExecution) -> Result<(), Halt> {
        match turn {
            Turn::Skip => Ok(()),
            Turn::Keep => self.branching.keep(execution),
            Turn::Visit => {
                self.share();
                self.visit(execution)?;
                self.branching.leave();
                Ok(())
            }
        }
    }

    fn finish(&mut self, execution: &PartialExecution) -> Result<(), Halt> {
        let misses_release = (0..execution.threads.len()).any(|thread| {
            let next = execution.next(&self.states, thread);
            next.is_some_and(Next::is_handover) && {
                let mut events = execution.threads[thread].events.iter().rev();
                events.find(|event| event.is_read()).is_some_and(|read| {
                    let last = execution.locations[read.location].order.last();
                    read.source.as_ref() != last
                })
            }
        });
        if misses_release {
            // another write of the lock follows: the thread reads from it in another execution
            return Ok(());
        }
        execution.graph(self.queue.source, &mut self.own.sets, &mut self.own.graph);
        self.own.graph.close_prefixes();
        let ends = execution.threads.iter().map(|thread| thread.node);
        let (orbit, known) = (execution.orbit(), execution.consistent);
        let graph = std::mem::take(&mut self.own.graph);
        let ended = self.conclude(&graph, ends.collect(), orbit, known);
        self.own.graph = graph;
        ended
    }
}
