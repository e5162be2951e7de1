//! The search: Kokologiannakis, Marmanis, Gladstein, Vafeiadis, "Truly stateless, optimal dynamic
//! partial order reduction" (TruSt), POPL 2022, algorithm 1, which GenMC implements.
//!
//! Events are added one at a time. A read branches over the writes it may read from; a write
//! branches over its positions in coherence order; and a write revisits the reads that were added
//! before it and are not in its causal prefix: they read from it in a graph without the events that
//! were added after them. To produce each execution once, a revisit is allowed from only one of the
//! graphs that lead to it: the one in which every event that the revisit deletes is what the search
//! adds if no revisit follows ([`Graph::is_maximal`]).
//!
//! A po-maximal event that reads from, or is, the last write of its location precedes no other
//! event. With most models a consistent graph survives consistent when it is added
//! ([`ConsistencyChecker::extensible`], determined from the model's text); with other models the
//! check is postponed, at the latest to the end of the execution. Any other event is checked at
//! once, unless it is on no cycle and the model only forbids cycles
//! ([`ConsistencyChecker::only_cycles`]).
//!
//! The write of a read-modify-write directly follows, in coherence order, the write that its read
//! reads from: atomicity, in C11 and on every machine.
//!
//! A thread that waits for a lock, or in a loop, does not add a read that leads nowhere: it waits for
//! a write to read from (`graph/waits.rs` has the argument).
//!
//! [`Graph::is_maximal`]: crate::graph::execution_graph::Graph::is_maximal
//! [`ConsistencyChecker::extensible`]: crate::consistency::checker::ConsistencyChecker::extensible
//! [`ConsistencyChecker::only_cycles`]: crate::consistency::checker::ConsistencyChecker::only_cycles

use crate::graph::cycle::Reach;
use crate::graph::execution_graph::{EventId, Graph, NONE};
use crate::search::branching::Turn;
use crate::search::execution::Execution;
use crate::search::halt::Halt;
use crate::search::thread_states::Transition;
use crate::search::worker::{Algorithm, Worker};
use crate::source::{Action, EventLabel, Source, ThreadId};

/// What a worker of this search has: buffers.
#[derive(Default)]
pub struct Revisits {
    spare: Vec<Execution>,
    renumbered: Vec<EventId>,
    reach: Reach,
}

impl Algorithm for Revisits {
    /// An execution, and whether it is known to be consistent.
    type Branch = (Execution, bool);

    fn root() -> (Execution, bool) {
        (Execution::default(), false)
    }

    fn explore<S: Source>(
        worker: &mut Worker<S, Revisits>,
        (mut execution, known_consistent): (Execution, bool),
    ) -> Result<(), Halt> {
        worker.visit(&mut execution, known_consistent)
    }
}

impl<S: Source> Worker<'_, S, Revisits> {
    /// Explores all executions that extend this one, which is modified. `known_consistent`: its
    /// graph is known to be consistent, except for reads of read-modify-writes that lack their
    /// write.
    fn visit(&mut self, execution: &mut Execution, mut known_consistent: bool) -> Result<(), Halt> {
        loop {
            self.step()?;
            if self.branching.is_given() {
                return Ok(());
            }
            self.states.trim(self.queue.options.limits.states);
            execution.refresh_states(&mut self.states);
            if self.branching.is_at_choice() && !execution.is_halfway(&self.states) {
                return self.offer(execution, known_consistent);
            }
            if !self.may_continue(execution, &mut known_consistent)? {
                return Ok(());
            }
            let Some((thread, label)) = execution.schedule(&self.states) else {
                return self.finish(execution, known_consistent);
            };
            let most = self.queue.options.limits.events;
            if execution.is_too_long(thread, most) {
                execution.stop(&mut self.states, thread, Transition::TooLong(most));
                continue;
            }
            match label.action {
                Action::Read { at, .. } | Action::Write { at, .. } => {
                    let locations = execution.graph.locations.len();
                    let Some(location) = execution.locate(&mut self.states, at) else {
                        execution.stop(&mut self.states, thread, Transition::Outside);
                        continue;
                    };
                    if let Action::Read { .. } = label.action {
                        self.read(execution, thread, &label, location, known_consistent)?;
                        known_consistent &= self.checker.extensible;
                    } else {
                        let write = execution.graph.push(thread, &label, location);
                        execution.advance(&mut self.states, write);
                        self.revisit(execution, write, known_consistent)?;
                        // the cache may have been cleared meanwhile
                        execution.refresh_states(&mut self.states);
                        match self.place(execution, write, None, known_consistent)? {
                            None => return Ok(()),
                            Some(known) => known_consistent = known,
                        }
                    }
                    // events may follow a new initial write
                    known_consistent &=
                        self.checker.only_cycles || locations == execution.graph.locations.len();
                }
                Action::Choose { alternatives } => {
                    // a weak compare-exchange that fails leaves the read without a write
                    known_consistent &= !execution.is_halfway(&self.states);
                    for choice in (0..alternatives).rev() {
                        let id = self.perform(execution, thread, &label, choice.into());
                        if choice > 0 {
                            self.branch(execution, known_consistent)?;
                            self.back(execution, id as usize);
                        }
                    }
                }
                Action::Compare { outcome } => {
                    // every read is performed before what follows
                    known_consistent &= !execution.is_halfway(&self.states);
                    let same = outcome.unwrap_or_default();
                    self.perform(execution, thread, &label, same.into());
                }
                Action::Join { thread: joined } => {
                    let result = execution.result(&self.states, joined);
                    self.perform(execution, thread, &label, result.unwrap_or(0));
                    known_consistent &= self.checker.extensible;
                }
                Action::Fence { .. } | Action::Create { .. } => {
                    self.perform(execution, thread, &label, 0);
                    known_consistent &= self.checker.extensible;
                }
                Action::Allocate { .. } | Action::Free { .. } => {
                    self.perform(execution, thread, &label, 0);
                }
                Action::Wait => unreachable!("no source returns it"),
            }
        }
    }

    /// Performs a thread's next event, which is no access of memory.
    fn perform(
        &mut self,
        execution: &mut Execution,
        thread: ThreadId,
        label: &EventLabel,
        value: u64,
    ) -> EventId {
        let id = execution.graph.push(thread, label, NONE);
        execution.graph.set_value(id, value);
        execution.advance(&mut self.states, id);
        id
    }

    /// Whether there may be executions that extend this one. The graph is checked once here, instead
    /// of in each of them.
    fn may_continue(
        &mut self,
        execution: &Execution,
        known_consistent: &mut bool,
    ) -> Result<bool, Halt> {
        if execution.is_redundant(&self.states) {
            return Ok(false);
        }
        if *known_consistent || !self.checker.extensible || execution.is_halfway(&self.states) {
            return Ok(true);
        }
        *known_consistent = true;
        Ok(self.checker.is_consistent(&execution.graph)?)
    }

    /// Adds a read, and explores what follows for every write it may read from except the last,
    /// which is left as its source.
    fn read(
        &mut self,
        execution: &mut Execution,
        thread: ThreadId,
        label: &EventLabel,
        location: u32,
        known_consistent: bool,
    ) -> Result<(), Halt> {
        let last = execution.graph.last_write(location);
        let since = execution.graph.waits_since(thread);
        let ends_wait =
            |graph: &Graph, write| since.is_none_or(|since| graph.ends_wait(since, write));
        let id = execution.graph.push(thread, label, location);
        let mut write = match self.checker.coherent {
            // only the last write lets a thread continue
            _ if execution.graph.is_round(location) => last,
            true => execution.graph.observed_write(id),
            false => NONE,
        };
        // whether the read of a read-modify-write gets a write is not known yet
        let rmw = execution.graph.event(id).is_rmw();
        let mut ordered = match rmw {
            true => None,
            false => execution.graph.ordered_write(id, write),
        };
        while write != last {
            if ordered.is_some_and(|ordered| ordered.write == write) {
                ordered = None;
            }
            if !ends_wait(&execution.graph, write) {
                write = execution.graph.following(location, write);
                continue;
            }
            if let Some(by) = ordered {
                if self
                    .checker
                    .forbids_source(&execution.graph, id, write, by)?
                {
                    write = execution.graph.following(location, write);
                    continue;
                }
            }
            execution.read_from(&mut self.states, id, write);
            let known = if self.waits(execution, thread) {
                None
            } else if execution.is_halfway(&self.states) {
                // it is checked with its write
                Some(known_consistent)
            } else {
                self.ask(execution, id, known_consistent)?
            };
            if let Some(known_consistent) = known {
                self.branch(execution, known_consistent)?;
            }
            self.back(execution, id as usize);
            write = execution.graph.following(location, write);
            execution.graph.push(thread, label, location);
        }
        let may_end = ends_wait(&execution.graph, last);
        if may_end {
            execution.read_from(&mut self.states, id, last);
        }
        if !may_end || self.waits(execution, thread) {
            self.back(execution, id as usize);
            execution.graph.push_wait(thread, label);
        }
        Ok(())
    }

    /// Whether a thread waits instead of performing its last read.
    fn waits(&self, execution: &Execution, thread: ThreadId) -> bool {
        self.checker.extensible && execution.waits_in_place(&self.states, thread)
    }

    /// Checks the graph: none if it is inconsistent, else whether it is known to be consistent.
    /// `known_consistent`: the graph without its newest events is known to be; `id` is one of
    /// these, a read or the only write.
    fn ask(
        &mut self,
        execution: &Execution,
        id: EventId,
        known_consistent: bool,
    ) -> Result<Option<bool>, Halt> {
        if known_consistent
            && self.checker.only_cycles
            && !execution.graph.is_on_cycle(id, &mut self.own.reach)
        {
            debug_assert!(
                self.stays_consistent(execution),
                "the model was read as extensible"
            );
            return Ok(Some(true));
        }
        if execution.is_halfway(&self.states) {
            return Ok(Some(false));
        }
        let consistent = self.checker.is_consistent(&execution.graph)?;
        Ok(consistent.then_some(true))
    }

    fn stays_consistent(&mut self, execution: &Execution) -> bool {
        let halfway = execution.is_halfway(&self.states);
        halfway || matches!(self.checker.is_consistent(&execution.graph), Ok(true))
    }

    /// Inserts a new write into coherence order, and explores what follows for every position
    /// except the last possible, where it is left. `reader`: a read that was added earlier and
    /// reads from it. `known_consistent`: the graph without these two is known to be consistent.
    /// Returns whether the graph is known to be consistent then; none if there is no position.
    fn place(
        &mut self,
        execution: &mut Execution,
        write: EventId,
        reader: Option<EventId>,
        known_consistent: bool,
    ) -> Result<Option<bool>, Halt> {
        let len = execution.graph.len();
        let event = *execution.graph.event(write);
        let location = event.location;
        let last = known_consistent && self.checker.extensible;
        let (mut previous, mut seen) = (NONE, NONE);
        if self.checker.coherent {
            previous = execution.graph.observed_write(write);
            seen = reader.map_or(NONE, |reader| execution.graph.observed_write(reader));
        }
        if event.pair != NONE {
            let source = execution.graph.event(event.pair).source;
            let graph = &mut execution.graph;
            if graph.is_taken(location, source) || graph.is_later(location, seen, source) {
                return Ok(None);
            }
            graph.order_after(write, source);
            return match graph.event(write).co_successor {
                NONE => Ok(Some(last)),
                _ => self.ask(execution, reader.unwrap_or(write), known_consistent),
            };
        }
        if execution.graph.is_later(location, seen, previous) {
            previous = seen;
        }
        let mut ordered = execution.graph.ordered_write(write, previous);
        loop {
            let next = execution.graph.following(location, previous);
            if ordered.is_some_and(|ordered| ordered.write == previous) {
                ordered = None;
            }
            if let Some(ordered) = ordered {
                if self
                    .checker
                    .forbids_before(&execution.graph, write, ordered)?
                {
                    previous = next;
                    continue;
                }
            }
            if next == NONE {
                execution.graph.order_after(write, previous);
                return Ok(Some(last));
            }
            if !execution.graph.is_taken(location, previous) {
                execution.graph.order_after(write, previous);
                let newest = reader.unwrap_or(write);
                if let Some(known_consistent) = self.ask(execution, newest, known_consistent)? {
                    self.branch(execution, known_consistent)?;
                    self.back(execution, len);
                }
                execution.graph.unorder(write, previous);
            }
            previous = next;
        }
    }

    /// Lets earlier reads read from a new write, which has no position in coherence order yet.
    /// `known_consistent`: the graph without the write is known to be consistent, and so is each
    /// restriction of it.
    fn revisit(
        &mut self,
        execution: &Execution,
        write: EventId,
        known_consistent: bool,
    ) -> Result<(), Halt> {
        let graph = &execution.graph;
        let location = graph.event(write).location;
        // if the write is a read-modify-write's: another one that reads from the same write, if it
        // is preserved
        let other = graph.taken_by(write);
        let taken = |read| other.is_some_and(|other| graph.survives(other, read, write));
        for id in (0..write).rev() {
            if graph.precedes(id, write) {
                continue;
            }
            if !graph.is_maximal(id, write) {
                // every earlier revisit would delete this event
                break;
            }
            let event = *graph.event(id);
            let revisited = event.is_read()
                && event.location == location
                && !taken(id)
                && graph.may_follow_waits(event.thread, event.index, write);
            if !revisited {
                continue;
            }
            let mut new = self.own.spare.pop().unwrap_or_default();
            let (read, renumbered) = execution.restrict(
                &self.states,
                (id, write),
                &mut self.own.renumbered,
                &mut new,
            );
            new.read_from(&mut self.states, read, renumbered);
            let known = match self.waits(&new, event.thread) {
                true => {
                    // only under an extensible model
                    new.wait_instead(&self.states, read);
                    let may = new.graph.insert_last(renumbered);
                    may.then_some(known_consistent)
                }
                false => self.place(&mut new, renumbered, Some(read), known_consistent)?,
            };
            if let Some(known_consistent) = known {
                self.branch(&mut new, known_consistent)?;
            }
            self.own.spare.push(new);
        }
        Ok(())
    }

    fn back(&mut self, execution: &mut Execution, len: usize) {
        execution.truncate(&mut self.states, len);
    }

    /// Explores all executions that extend this one, unless they are given away.
    fn branch(&mut self, execution: &mut Execution, known_consistent: bool) -> Result<(), Halt> {
        if self.branching.is_drawing() {
            return self.draw(execution, known_consistent);
        }
        let turn = self.branching.meet();
        self.take(turn, execution, known_consistent)
    }

    /// Offers an alternative to a descent, unless no execution extends it: the read of a
    /// read-modify-write together with each alternative of its write.
    fn draw(&mut self, execution: &mut Execution, mut known_consistent: bool) -> Result<(), Halt> {
        execution.refresh_states(&mut self.states);
        self.branching.choose();
        if execution.is_halfway(&self.states) {
            return self.visit(execution, known_consistent);
        }
        match self.may_continue(execution, &mut known_consistent)? {
            true => self.offer(execution, known_consistent),
            false => Ok(()),
        }
    }

    fn offer(&mut self, execution: &mut Execution, known_consistent: bool) -> Result<(), Halt> {
        let turn = self.branching.offer();
        self.take(turn, execution, known_consistent)
    }

    fn take(
        &mut self,
        turn: Turn,
        execution: &mut Execution,
        known_consistent: bool,
    ) -> Result<(), Halt> {
        match turn {
            Turn::Skip => Ok(()),
            Turn::Keep => self.branching.keep((execution.clone(), known_consistent)),
            Turn::Visit => {
                self.share();
                self.visit(execution, known_consistent)?;
                self.branching.leave();
                Ok(())
            }
        }
    }

    fn finish(&mut self, execution: &Execution, known_consistent: bool) -> Result<(), Halt> {
        if !execution.graph.has_waits() {
            return self.conclude(&execution.graph, execution.states(), 1, known_consistent);
        }
        let mut whole = self.own.spare.pop().unwrap_or_default();
        if execution.resolve_waits(&mut self.states, &mut self.own.renumbered, &mut whole) {
            self.conclude(&whole.graph, whole.states(), 1, known_consistent)?;
        }
        self.own.spare.push(whole);
        Ok(())
    }
}
