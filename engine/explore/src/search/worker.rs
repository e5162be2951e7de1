//! The search: Kokologiannakis, Marmanis, Gladstein, Vafeiadis, "Truly stateless, optimal
//! dynamic partial order reduction", POPL 2022, algorithm 1 (TruSt).
//!
//! Events are added one at a time. A read branches over the writes it may read from; a write
//! over its places in coherence order; and a write revisits the reads that were added before it
//! and are not in its causal prefix: they read from it in a graph without what was added after
//! them. So that each execution comes up once, only one of the graphs that lead to it by a
//! revisit may make it: the one in which all that the revisit throws away is what the search
//! adds when no revisit is ahead ([`Graph::is_maximal`]).
//!
//! Nothing leads from an event at the end of its thread that reads from the last write of its
//! location or is the last. With most models a consistent graph stays consistent with it
//! ([`Judge::lasting`], found in the model's text); with others it is asked later, at the latest
//! when the execution ends. For all else it is asked at once, but where the event is on no cycle
//! and the model forbids cycles alone ([`Judge::cycles`]).
//!
//! The write of a read-modify-write stands right after what its read reads from: that is what
//! makes it one operation, in C11 and on every machine.
//!
//! A thread that finds a lock taken adds no read that leads nowhere (Kokologiannakis, Marmanis,
//! Vafeiadis, "Unblocking dynamic partial order reduction", CAV 2023): where the last write of the
//! lock takes it, the thread waits, and then reads from one of the writes that came after that.
//! Where the last write gives the lock back, what reads from it is revisited as ever, and nothing
//! would revisit a read of those before. So of the executions in which threads stand before a
//! lock, those are found in which nobody gives it back any more: the others show nothing that
//! executions do not in which these threads have not come so far.
//!
//! [`Graph::is_maximal`]: crate::graph::execution_graph::Graph::is_maximal

use crate::consistency::judge::Judge;
use crate::consistency::stale::Stale;
use crate::exploration::End;
use crate::graph::cycle::Reach;
use crate::graph::execution_graph::{Slot, NONE};
use crate::search::execution::{Ended, Execution};
use crate::search::findings::{freed, Findings};
use crate::search::queue::{Halt, Shared};
use crate::search::thread_states::{Tree, Way};
use crate::source::{Action, Source, ThreadId, Told};

/// Where a write is put in the end.
enum Placed {
    Nowhere,
    /// Last in coherence order.
    Last,
    /// Elsewhere; whether the graph is known to be consistent.
    Asked(bool),
}

pub struct Worker<'s, S: Source, F> {
    pub shared: &'s Shared<'s, S, F>,
    pub judge: Judge,
    pub found: Findings,
    tree: Tree<S::Thread>,
    /// Executions to be written over.
    spare: Vec<Execution>,
    moved: Vec<Slot>,
    reach: Reach,
}

impl<'s, S: Source, F: Fn(&Ended<S::Thread>, End) + Sync> Worker<'s, S, F> {
    pub fn new(shared: &'s Shared<'s, S, F>) -> Worker<'s, S, F> {
        Worker {
            shared,
            judge: shared.judge.clone(),
            found: Findings::default(),
            tree: Tree::new(),
            spare: Vec::new(),
            moved: Vec::new(),
            reach: Reach::default(),
        }
    }

    /// Explores all that begins as this execution, which may end otherwise. `sure`: its graph is
    /// known to be consistent, but for reads that are halfway through a read-modify-write.
    pub fn visit(&mut self, execution: &mut Execution, mut sure: bool) -> Result<(), Halt> {
        let source = self.shared.source;
        loop {
            self.tree.trim(self.shared.options.limits.states);
            execution.stand(source, &mut self.tree);
            if !sure && self.judge.lasting && !execution.is_halfway(&self.tree) {
                // what is found now spares it every execution that begins so
                sure = true;
                if !self.judge.is_consistent(&execution.graph)? {
                    return Ok(());
                }
            }
            let Some((thread, told)) = execution.schedule(&self.tree) else {
                return self.finish(execution, sure);
            };
            let most = self.shared.options.limits.events;
            if execution.graph.len() >= most {
                execution.stop(source, &mut self.tree, thread, Way::TooLong(most));
                continue;
            }
            match told.action {
                Action::Read { at, .. } | Action::Write { at, .. } => {
                    let places = execution.graph.places.len();
                    let Some(location) = execution.locate(source, &mut self.tree, at) else {
                        execution.stop(source, &mut self.tree, thread, Way::Outside);
                        continue;
                    };
                    if let Action::Read { .. } = told.action {
                        self.read(execution, thread, &told, location, sure)?;
                        sure &= self.judge.lasting;
                    } else {
                        let write = execution.push(thread, &told, location);
                        execution.go_on(source, &mut self.tree, write);
                        self.revisit(execution, write, sure)?;
                        match self.place(execution, write, None, sure)? {
                            Placed::Nowhere => return Ok(()),
                            Placed::Asked(known) => sure = known,
                            Placed::Last => sure &= self.judge.lasting,
                        }
                    }
                    // from a new initial write much may lead
                    sure &= self.judge.cycles || places == execution.graph.places.len();
                }
                Action::Choose { ways } => {
                    // a weak compare-exchange that fails leaves a read alone
                    sure &= !execution.is_halfway(&self.tree);
                    for way in (0..ways).rev() {
                        let slot = execution.push(thread, &told, NONE);
                        execution.graph.set_value(slot, u64::from(way));
                        execution.go_on(source, &mut self.tree, slot);
                        if way > 0 {
                            self.branch(execution, sure)?;
                            self.back(execution, slot as usize);
                        }
                    }
                }
                Action::Join { thread: joined } => {
                    let result = execution.result(&self.tree, joined);
                    let slot = execution.push(thread, &told, NONE);
                    execution.graph.set_value(slot, result.unwrap_or(0));
                    execution.go_on(source, &mut self.tree, slot);
                    sure &= self.judge.lasting;
                }
                Action::Fence { .. } | Action::Create { .. } => {
                    let slot = execution.push(thread, &told, NONE);
                    execution.go_on(source, &mut self.tree, slot);
                    sure &= self.judge.lasting;
                }
                Action::Wait => unreachable!("no source tells it"),
                Action::Allocate { .. } | Action::Free { .. } => {
                    let slot = execution.push(thread, &told, NONE);
                    execution.go_on(source, &mut self.tree, slot);
                }
            }
        }
    }

    /// Adds a read and explores what follows for every write it may read from but the last,
    /// which it reads from in the end.
    fn read(
        &mut self,
        execution: &mut Execution,
        thread: ThreadId,
        told: &Told,
        location: u32,
        sure: bool,
    ) -> Result<(), Halt> {
        let last = execution.graph.last_write(location);
        let since = execution.graph.waits_since(thread);
        let slot = execution.push(thread, told, location);
        let mut write = match self.judge.coherent {
            true => execution.graph.known_write(slot),
            false => NONE,
        };
        // of exclusive reads one does not know yet what they are
        let exclusive = execution.graph.event(slot).is_exclusive();
        let mut ordered = match exclusive {
            true => None,
            false => execution.graph.ordered_write(slot, write),
        };
        while write != last {
            if ordered.is_some_and(|ordered| ordered.write == write) {
                ordered = None;
            }
            if since.is_some_and(|since| write == NONE || write < since) {
                write = execution.graph.following(location, write);
                continue;
            }
            let stale = ordered.and_then(|by| Stale::read(&execution.graph, slot, write, by));
            if let Some(stale) = stale {
                if self.judge.forbids(stale)? {
                    write = execution.graph.following(location, write);
                    continue;
                }
            }
            self.read_from(execution, slot, write);
            let known = if self.is_locked_out(execution, thread) {
                None
            } else if execution.is_halfway(&self.tree) {
                // it is asked about with its write
                Some(sure)
            } else {
                self.ask(execution, slot, sure)?
            };
            if let Some(sure) = known {
                self.branch(execution, sure)?;
            }
            self.back(execution, slot as usize);
            write = execution.graph.following(location, write);
            execution.push(thread, told, location);
        }
        self.read_from(execution, slot, last);
        if self.is_locked_out(execution, thread) {
            self.back(execution, slot as usize);
            execution.graph.push_wait(thread, told);
        }
        Ok(())
    }

    /// Whether the thread is to wait instead of what it has just read.
    fn is_locked_out(&self, execution: &Execution, thread: ThreadId) -> bool {
        self.judge.lasting && execution.is_locked_out(&self.tree, thread)
    }

    fn read_from(&mut self, execution: &mut Execution, read: Slot, write: Slot) {
        let location = execution.graph.event(read).location;
        let value = execution.graph.value_of(location, write);
        execution.graph.set_source(read, write, value);
        execution.go_on(self.shared.source, &mut self.tree, read);
    }

    /// Whether the graph may be consistent: none if not, else whether it is known to be. `sure`:
    /// the graph without its newest events is known to be; `slot` is one of these, a read or the
    /// only write.
    fn ask(&mut self, execution: &Execution, slot: Slot, sure: bool) -> Result<Option<bool>, Halt> {
        if sure && self.judge.cycles && !execution.graph.is_on_cycle(slot, &mut self.reach) {
            debug_assert!(
                self.stays_consistent(execution),
                "the model was read as lasting"
            );
            return Ok(Some(true));
        }
        if execution.is_halfway(&self.tree) {
            return Ok(Some(false));
        }
        let consistent = self.judge.is_consistent(&execution.graph)?;
        Ok(consistent.then_some(true))
    }

    fn stays_consistent(&mut self, execution: &Execution) -> bool {
        let halfway = execution.is_halfway(&self.tree);
        halfway || matches!(self.judge.is_consistent(&execution.graph), Ok(true))
    }

    /// Puts a new write into coherence order, and explores what follows for every place but the
    /// last possible, where it is in the end. `reader`: a read that was added before and reads
    /// from it. `sure`: the graph without these is known to be consistent.
    fn place(
        &mut self,
        execution: &mut Execution,
        write: Slot,
        reader: Option<Slot>,
        sure: bool,
    ) -> Result<Placed, Halt> {
        let len = execution.graph.len();
        let event = *execution.graph.event(write);
        let location = event.location;
        let (mut previous, mut seen) = (NONE, NONE);
        if self.judge.coherent {
            previous = execution.graph.known_write(write);
            seen = reader.map_or(NONE, |reader| execution.graph.known_write(reader));
        }
        if event.pair != NONE {
            let source = execution.graph.event(event.pair).source;
            let graph = &mut execution.graph;
            if graph.is_taken(location, source) || graph.is_later(location, seen, source) {
                return Ok(Placed::Nowhere);
            }
            graph.order_after(write, source);
            return Ok(match graph.event(write).after {
                NONE => Placed::Last,
                _ => match self.ask(execution, reader.unwrap_or(write), sure)? {
                    Some(sure) => Placed::Asked(sure),
                    None => Placed::Nowhere,
                },
            });
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
                let stale = Stale::write(&execution.graph, write, ordered);
                if self.judge.forbids(stale)? {
                    previous = next;
                    continue;
                }
            }
            if next == NONE {
                execution.graph.order_after(write, previous);
                return Ok(Placed::Last);
            }
            if !execution.graph.is_taken(location, previous) {
                execution.graph.order_after(write, previous);
                let newest = reader.unwrap_or(write);
                if let Some(sure) = self.ask(execution, newest, sure)? {
                    self.branch(execution, sure)?;
                    self.back(execution, len);
                }
                execution.graph.unorder(write, previous);
            }
            previous = next;
        }
    }

    /// Has earlier reads read from a new write, which is in no coherence order yet. `sure`: the
    /// graph without the write is known to be consistent, and so is what remains of it.
    fn revisit(&mut self, execution: &Execution, write: Slot, sure: bool) -> Result<(), Halt> {
        let graph = &execution.graph;
        let location = graph.event(write).location;
        // of a read-modify-write: the one that reads from the same, if it stays
        let other = graph.taken_by(write);
        let taken = |read| other.is_some_and(|other| graph.stays(other, read, write));
        for slot in (0..write).rev() {
            if graph.precedes(slot, write) {
                continue;
            }
            if !graph.is_maximal(slot, write) {
                // every earlier revisit would throw this away
                break;
            }
            let event = *graph.event(slot);
            if !event.is_read() || event.location != location || taken(slot) {
                continue;
            }
            let mut new = self.spare.pop().unwrap_or_else(Execution::new);
            let (read, moved) =
                execution.restrict(&self.tree, (slot, write), &mut self.moved, &mut new);
            self.read_from(&mut new, read, moved);
            let waits = self.is_locked_out(&new, event.thread);
            if waits {
                new.wait_instead(&self.tree, read);
            }
            let reader = (!waits).then_some(read);
            let sure = match self.place(&mut new, moved, reader, sure)? {
                Placed::Nowhere => None,
                Placed::Asked(sure) => Some(sure),
                Placed::Last => Some(sure && self.judge.lasting),
            };
            if let Some(sure) = sure {
                self.branch(&mut new, sure)?;
            }
            self.spare.push(new);
        }
        Ok(())
    }

    fn back(&mut self, execution: &mut Execution, len: usize) {
        execution.truncate(self.shared.source, &mut self.tree, len);
    }

    /// Explores all that begins as this execution, or has an idle worker do so.
    fn branch(&mut self, execution: &mut Execution, sure: bool) -> Result<(), Halt> {
        if self.shared.is_hungry() {
            self.shared.give(execution.copy(), sure);
            return Ok(());
        }
        self.visit(execution, sure)
    }

    fn finish(&mut self, execution: &Execution, sure: bool) -> Result<(), Halt> {
        if !execution.graph.has_waits() {
            return self.conclude(execution, sure);
        }
        let mut whole = self.spare.pop().unwrap_or_else(Execution::new);
        let source = self.shared.source;
        execution.told_whole(source, &mut self.tree, &mut self.moved, &mut whole);
        self.conclude(&whole, sure)?;
        self.spare.push(whole);
        Ok(())
    }

    fn conclude(&mut self, execution: &Execution, sure: bool) -> Result<(), Halt> {
        let Some(flags) = self.judge.flags(&execution.graph, sure)? else {
            return Ok(());
        };
        let source = self.shared.source;
        let race = self.judge.race(&execution.graph, &flags);
        let frees = freed(source, &execution.graph);
        let unordered = match frees.first() {
            Some((free, _)) if race.is_none() => {
                let flags = self.judge.flags_on_frees(&execution.graph, &frees)?;
                let race = self.judge.race(&execution.graph, &flags);
                race.map(|_| *free)
            }
            _ => None,
        };
        let execution = execution.ended(&self.tree);
        let found = self.found.conclude(source, &execution, race, unordered)?;
        let Some((end, violated)) = found else {
            return Ok(());
        };
        (self.shared.each)(&execution, end);
        self.shared.count()?;
        match violated && self.shared.options.first {
            true => Err(Halt::Over),
            false => Ok(()),
        }
    }
}
