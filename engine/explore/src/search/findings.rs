//! What executions show in the end: counts, violations, limits reached.

use crate::consistency::checker::{ConsistencyChecker, Flagged};
use crate::exploration::{Counts, ExecutionEnd, ExploreError, Truncation, Violation};
use crate::graph::execution_graph::{Event, EventId, Graph, NONE};
use crate::graph::interleaving::is_interleaving;
use crate::history::UnexplainedCalls;
use crate::search::endless_loops::endless_loops;
use crate::search::execution::EndedExecution;
use crate::source::{Action, Fault, FaultKind, Next, Source, ThreadId};
use cat::CatError;
use program::ir::sites::{DESTROY, INIT};
use program::ir::{Program, SiteId};
use program::library::threads::{DETACHED_TWICE, JOIN_OF_DETACHED};
use program::library::Misuse;
use program::memory::{Memory, USE_OF_ENDED_LOCAL};
use std::cmp::Ordering;

/// How an execution ends in which all threads do this next.
pub fn end_of(next: &Next) -> ExecutionEnd {
    match next {
        Next::Done(_) => ExecutionEnd::Complete,
        Next::Fault(_) => ExecutionEnd::Faulty,
        Next::Truncated { .. } | Next::Unsupported { .. } => ExecutionEnd::Truncated,
        Next::Blocked { .. } | Next::Event(_) | Next::Needs(_) | Next::Refuted => {
            ExecutionEnd::Blocked
        }
    }
}

/// What a model reports of a graph.
pub struct Reported {
    pub flagged: Vec<Flagged>,
    /// An allocation or a free, and a use of its object that the model does not order with it; the
    /// first lifetime twice if the model does not name them.
    unordered: Option<(EventId, EventId)>,
    /// The model orders more by what threads do later than po and rf do: it alone says whether a use comes
    /// before a free.
    orders_uses: bool,
}

impl Reported {
    /// None if the graph is inconsistent. `known_consistent`: it is known not to be. `end`: how the execution
    /// ends. What the Linux kernel's model reports of one that threads may continue does not count: the end
    /// of a critical section, and what it orders, may be missing.
    pub fn new(
        checker: &mut ConsistencyChecker,
        graph: &Graph,
        initial: &Extents,
        (known_consistent, end): (bool, ExecutionEnd),
    ) -> Result<Option<Reported>, CatError> {
        let Some(flags) = checker.flags(graph, known_consistent)? else {
            return Ok(None);
        };
        let end = match checker.is_kernel() {
            true => end,
            false => ExecutionEnd::Complete,
        };
        let mut flagged = match end {
            ExecutionEnd::Complete => checker.own_flags(graph, &flags),
            ExecutionEnd::Faulty => Vec::new(),
            ExecutionEnd::Blocked | ExecutionEnd::Truncated => {
                return Ok(Some(Reported {
                    flagged: Vec::new(),
                    unordered: None,
                    orders_uses: true,
                }))
            }
        };
        let race = checker.race(graph, &flags);
        let mut unordered = None;
        if race.is_none() {
            unordered = unordered_lifetime(checker, graph, &freed(graph, initial))?;
        }
        if race.is_none() && unordered.is_none() {
            unordered = unordered_lifetime(checker, graph, &allocated_elsewhere(graph))?;
        }
        flagged.extend(race);
        Ok(Some(Reported {
            flagged,
            unordered,
            orders_uses: checker.is_kernel(),
        }))
    }
}

/// One of these allocations and frees, each listed with a location, and a use that the model does not
/// order with it. The beginning or the end of an object counts as a write.
fn unordered_lifetime(
    checker: &mut ConsistencyChecker,
    graph: &Graph,
    lifetimes: &[(EventId, u32)],
) -> Result<Option<(EventId, EventId)>, CatError> {
    let Some((first, _)) = lifetimes.first() else {
        return Ok(None);
    };
    if checker.is_kernel() && !checker.allows_lifetimes(graph, lifetimes)? {
        // a use comes after a free
        return Ok(Some((*first, *first)));
    }
    let flags = checker.flags_on_lifetimes(graph, lifetimes)?;
    let race = checker.race(graph, &flags);
    Ok(race.map(|race| race.pair.unwrap_or((*first, *first))))
}

#[derive(Default)]
pub struct Findings {
    pub counts: Counts,
    pub violations: Vec<Violation>,
    pub truncations: Vec<Truncation>,
}

impl Findings {
    /// Counts a consistent execution in which no thread can continue, and which no other stands for. Returns
    /// how it ended, and whether it violates something. `may_hang`: threads that wait forever are no
    /// violation.
    pub fn conclude<S: Source>(
        &mut self,
        execution: &EndedExecution<S>,
        reported: &Reported,
        may_hang: bool,
    ) -> Result<(ExecutionEnd, bool), ExploreError> {
        let graph = execution.graph;
        let end = self.end(graph, execution.threads().map(|(_, next)| next))?;
        let mut violated = self.report(graph, &|base| execution.source().extent(base), reported);
        for flagged in misused_threads(execution) {
            self.violate(&flagged.fault, flagged.pair, None, graph, 1);
            violated = true;
        }
        self.counts.count(end, execution.orbit);
        for site in unjoined(execution) {
            self.warn(site);
        }
        let hangs = match end {
            _ if may_hang => Vec::new(),
            ExecutionEnd::Blocked => hangs(execution),
            ExecutionEnd::Truncated => endless_loops(execution),
            _ => Vec::new(),
        };
        for fault in hangs {
            self.violate(&fault, None, None, graph, 1);
            violated = true;
        }
        let violated = violated || end == ExecutionEnd::Faulty;
        self.refuse(execution.threads().map(|(_, next)| next), violated)?;
        Ok((end, violated))
    }

    /// How an execution ends whose threads do this next. Records their errors and limits.
    pub fn end<'n>(
        &mut self,
        graph: &Graph,
        nexts: impl Iterator<Item = &'n Next>,
    ) -> Result<ExecutionEnd, ExploreError> {
        let mut end = ExecutionEnd::Complete;
        for next in nexts {
            end = end.min(end_of(next));
            match next {
                Next::Fault(fault) => self.violate(fault, None, None, graph, 1),
                Next::Truncated {
                    message,
                    site,
                    limit,
                    because,
                } => {
                    self.truncate(Truncation {
                        message: message.clone(),
                        site: *site,
                        limit: (*limit).to_owned(),
                        because: because.clone(),
                    });
                }
                Next::Refuted => return Err(ExploreError::Refuted),
                Next::Done(_)
                | Next::Blocked { .. }
                | Next::Event(_)
                | Next::Needs(_)
                | Next::Unsupported { .. } => {}
            }
        }
        Ok(end)
    }

    /// Fails if a thread of an execution does something that is not supported, unless the execution
    /// violates something, as undefined behaviour may have led there.
    pub fn refuse<'n>(
        &mut self,
        nexts: impl Iterator<Item = &'n Next>,
        violated: bool,
    ) -> Result<(), ExploreError> {
        for next in nexts {
            let Next::Unsupported { message, site } = next else {
                continue;
            };
            let (message, site) = (message.clone(), *site);
            if !violated {
                return Err(ExploreError::Unsupported { message, site });
            }
            self.truncate(Truncation {
                message,
                site,
                limit: "unsupported".to_owned(),
                because: String::new(),
            });
        }
        Ok(())
    }

    /// Records what the model reports of a graph, and misused objects. Returns whether there is
    /// anything.
    pub fn report(&mut self, graph: &Graph, initial: &Extents, reported: &Reported) -> bool {
        let mut misused = misused_objects(graph, initial, reported.orders_uses);
        if let (true, Some(unordered)) = (misused.is_empty(), reported.unordered) {
            misused.push(unordered_use(graph, unordered));
        }
        for flagged in misused.iter().chain(&reported.flagged) {
            self.violate(&flagged.fault, flagged.pair, None, graph, 1);
        }
        !misused.is_empty() || !reported.flagged.is_empty()
    }

    /// Records a violation that `count` executions show, with the best execution to present.
    pub fn violate(
        &mut self,
        fault: &Fault,
        pair: Option<(EventId, EventId)>,
        calls: Option<&UnexplainedCalls>,
        graph: &Graph,
        count: u64,
    ) {
        let same = |seen: &&mut Violation| {
            let place = (seen.fault.kind, seen.fault.site) == (fault.kind, fault.site);
            // several flags may be about one event
            place && (fault.kind != FaultKind::Flag || seen.fault.message == fault.message)
        };
        match self.violations.iter_mut().find(same) {
            Some(seen) => {
                seen.count += count;
                // a total order: the same execution is presented, whichever worker finds it first
                let by_size = graph.len().cmp(&seen.graph.len());
                let by_size = by_size.then_with(|| compare(graph, &seen.graph));
                if !seen.weak && by_size.is_ge() {
                    return;
                }
                let weak = !is_interleaving(graph);
                if weak.cmp(&seen.weak).then(by_size).is_lt() {
                    seen.graph = graph.clone();
                    seen.weak = weak;
                    seen.pair = pair;
                    seen.calls = calls.cloned();
                    seen.fault.message.clone_from(&fault.message);
                }
            }
            None => self.violations.push(Violation {
                fault: fault.clone(),
                count,
                graph: graph.clone(),
                weak: !is_interleaving(graph),
                pair,
                calls: calls.cloned(),
            }),
        }
    }

    /// Records that main may return while the thread runs that is created here. No execution shows
    /// that better than another.
    fn warn(&mut self, site: SiteId) {
        let fault = Fault::new(
            FaultKind::Unjoined,
            "main may return while this thread runs, which ends the process",
            site,
        );
        self.violate(&fault, None, None, &Graph::default(), 1);
    }

    /// Records a limit that stopped a thread, once.
    pub fn truncate(&mut self, new: Truncation) {
        let same = |seen: &&mut Truncation| seen.site == new.site && seen.message == new.message;
        match self.truncations.iter_mut().find(same) {
            // whichever worker is first, one reason is reported
            Some(seen) if seen.because.is_empty() || new.because < seen.because => {
                seen.because = new.because;
            }
            Some(_) => {}
            None => self.truncations.push(new),
        }
    }

    /// Removes what has the cause of another violation: memory that is read before it is written is
    /// not allocated by then either.
    pub fn remove_repeated(&mut self) {
        let uninitialised = |seen: &&Violation| seen.fault.kind == FaultKind::Uninitialised;
        let seen: Vec<_> = self.violations.iter().filter(uninitialised).collect();
        let sites: Vec<_> = seen.into_iter().map(|seen| seen.fault.site).collect();
        self.violations
            .retain(|seen| seen.fault.message != UNALLOCATED || !sites.contains(&seen.fault.site));
    }

    /// Adds what another worker found.
    pub fn merge(&mut self, other: Findings) {
        self.counts.add(&other.counts);
        for seen in &other.violations {
            let calls = seen.calls.as_ref();
            self.violate(&seen.fault, seen.pair, calls, &seen.graph, seen.count);
        }
        for truncation in other.truncations {
            self.truncate(truncation);
        }
    }

    /// Adds what executions violate that were drawn, and are counted where they are explored.
    pub fn merge_drawn(&mut self, mut drawn: Findings) {
        for violation in &mut drawn.violations {
            violation.count = 0;
        }
        self.merge(Findings {
            violations: drawn.violations,
            ..Findings::default()
        });
    }
}

/// Races with the initialisation or the destruction of a synchronisation object are misuses of the
/// object; one is left out if a misuse is found at its site without it. Called once, at the end.
pub fn name_misuses(program: &Program, violations: &mut Vec<Violation>) {
    let known = violations.iter();
    let known = known.filter(|seen| seen.fault.kind == FaultKind::Lock);
    let known: Vec<_> = known.map(|seen| seen.fault.site).collect();
    violations.retain_mut(|seen| {
        let Some(fault) = misuse(program, seen) else {
            return true;
        };
        let repeated = known.contains(&fault.site);
        seen.fault = fault;
        !repeated
    });
}

fn misuse(program: &Program, race: &Violation) -> Option<Fault> {
    let (one, other) = race.pair.filter(|_| race.fault.kind == FaultKind::Race)?;
    [one, other].into_iter().find_map(|id| {
        let site = race.graph.event(id).site;
        let message = match program.sites[site as usize].kind {
            INIT => "initialisation not ordered with a use",
            DESTROY => "destruction not ordered with a use",
            _ => return None,
        };
        Some(Fault::new(FaultKind::Lock, message, site))
    })
}

/// A total order of the executions of one program.
fn compare(one: &Graph, other: &Graph) -> Ordering {
    let label = |event: &Event| (event.thread, event.value, event.source, event.co_successor);
    one.events
        .iter()
        .map(label)
        .cmp(other.events.iter().map(label))
}

/// The threads that wait forever. A waiting thread continues only if one of the reads of its wait
/// reads another value. If every waiting thread has read what its locations hold in the end, no
/// thread is left that could write: under sequential consistency, TSO and RC11, a fair memory
/// eventually makes the last write of each location visible, so the same values are read again
/// (Lahav, Namakonov, Oberhauser, Podkopaev, Vafeiadis, "Making weak memory models fair", OOPSLA
/// 2021). If some thread has read another value, there is an execution in which it reads the last
/// one and continues, and that execution shows what follows.
fn hangs<S: Source>(execution: &EndedExecution<S>) -> Vec<Fault> {
    let graph = execution.graph;
    let is_last = |read: EventId| {
        let event = graph.event(read);
        event.value == graph.value_of(event.location, graph.last_write(event.location))
    };
    let (mut faults, mut joins) = (Vec::new(), Vec::new());
    for (thread, next) in execution.threads() {
        match next {
            Next::Blocked { wait, site } => match wait.awaited() {
                Some((what, reads)) if graph.last_reads(thread, reads).all(is_last) => {
                    faults.push(Fault::hang(thread, what, *site));
                }
                _ => return Vec::new(),
            },
            Next::Event(label) => {
                joins.push(Fault::hang(thread, "another thread to end", label.site));
            }
            _ => {}
        }
    }
    match faults.is_empty() {
        true => joins, // threads that wait for each other to end
        false => faults,
    }
}

/// Where the threads are created that may still run when the process ends with main: no join waits for
/// the thread, and some event of it, if it has events, does not precede the last one of main.
fn unjoined<'e, S: Source>(execution: &EndedExecution<'e, S>) -> impl Iterator<Item = SiteId> + 'e {
    let graph = execution.graph;
    let ended = matches!(execution.next(0), Some(Next::Done(_)));
    let main = execution.thread(0).filter(|_| ended);
    let ends = main.is_some_and(|main| execution.source().ends_process(main));
    let joins = |event: &Event| matches!(event.action, Action::Join { .. });
    let joins = ends && graph.events.iter().any(joins);
    let end = graph.threads[0].last;
    let is_over = move |id: EventId| end != NONE && (id == end || graph.precedes(id, end));
    let is_joined = move |thread: ThreadId| {
        let mut events = graph.events.iter().zip(0..);
        events.any(|(event, id)| event.action == Action::Join { thread } && is_over(id))
    };
    let threads = graph.threads.iter().enumerate().skip(1);
    threads
        .filter(move |(thread, events)| {
            let over = ends && events.last != NONE && is_over(events.last);
            ends && events.creator != NONE && !over && !(joins && is_joined(*thread))
        })
        .map(move |(_, events)| graph.event(events.creator).site)
}

/// Threads that one thread has detached and another joins or detaches, in whatever order.
fn misused_threads<S: Source>(execution: &EndedExecution<S>) -> Vec<Flagged> {
    let threads = (0..execution.graph.threads.len()).filter_map(|id| execution.thread(id));
    let fault = |misuse: Misuse, site: SiteId| Flagged {
        fault: Fault::new(FaultKind::Lock, misuse.0, site),
        pair: None,
    };
    let mut detached = 0;
    let mut faults = Vec::new();
    for (thread, site) in threads.flat_map(|thread| execution.source().detached(thread)) {
        if detached >> thread & 1 == 1 {
            faults.push(fault(DETACHED_TWICE, *site));
        }
        detached |= 1_u64 << thread;
    }
    if detached != 0 {
        let events = execution.graph.events.iter();
        faults.extend(events.filter_map(|event| match event.action {
            Action::Join { thread } if detached >> thread & 1 == 1 => {
                Some(fault(JOIN_OF_DETACHED, event.site))
            }
            _ => None,
        }));
    }
    faults
}

const UNALLOCATED: &str = "use not ordered with the allocation";

/// A use that the model does not order with the allocation, or with a free, of its object.
fn unordered_use(graph: &Graph, (one, other): (EventId, EventId)) -> Flagged {
    let action = |id: EventId| graph.event(id).action;
    let frees = |id: &EventId| matches!(action(*id), Action::Free { .. });
    let allocates = |id: &EventId| matches!(action(*id), Action::Allocate { .. });
    let (message, id) = match [one, other].into_iter().find(allocates) {
        Some(allocation) if allocation == one => (UNALLOCATED, other),
        Some(_) => (UNALLOCATED, one),
        None => {
            let free = [one, other].into_iter().find(frees).unwrap_or(one);
            match action(free) {
                Action::Free { base } => (unordered_with_end(base), free),
                _ => (unordered_with_end(0), free),
            }
        }
    };
    Flagged {
        fault: Fault::new(FaultKind::Memory, message, graph.event(id).site),
        pair: Some((one, other)),
    }
}

fn unordered_with_end(base: u64) -> &'static str {
    if Memory::is_of_stack(base) {
        "use not ordered with the end of a local variable's lifetime"
    } else if Memory::is_thread_local(base) {
        "use not ordered with the end of the thread whose thread-local variable it is"
    } else {
        "use not ordered with a free"
    }
}

/// Each allocation, with each location of the object that another thread accesses which need not
/// have been created after it; and, if such a thread frees the object, the two with a location that
/// stands for the whole object.
fn allocated_elsewhere(graph: &Graph) -> Vec<(EventId, u32)> {
    let ids = || (0..graph.len() as EventId).map(|id| (id, graph.event(id)));
    let objects = ids().filter_map(|(id, event)| match event.action {
        Action::Allocate { base, size, .. } => Some((id, event.thread, base, size)),
        _ => None,
    });
    let objects: Vec<_> = objects.collect();
    let mut found = Vec::new();
    let mut whole = graph.locations.len() as u32;
    for (allocation, thread, base, size) in objects {
        for (id, event) in ids() {
            let elsewhere =
                event.thread != thread && !graph.is_created_after(event.thread, allocation);
            if !elsewhere {
                continue;
            }
            match event.action {
                Action::Read { at, .. } | Action::Write { at, .. }
                    if at.is_in(base, size) && !found.contains(&(allocation, event.location)) =>
                {
                    found.push((allocation, event.location));
                }
                Action::Free { base: at } if at == base => {
                    found.extend([(allocation, whole), (id, whole)]);
                    whole += 1;
                }
                _ => {}
            }
        }
    }
    found
}

fn extent(graph: &Graph, initial: &Extents, base: u64) -> Option<u64> {
    let allocated = graph.events.iter().find_map(|event| match event.action {
        Action::Allocate { base: at, size, .. } if at == base => Some(size),
        _ => None,
    });
    allocated.or_else(|| initial(base))
}

/// The size of an object that exists when main performs its first event, and may be freed.
pub type Extents<'a> = dyn Fn(u64) -> Option<u64> + 'a;

/// Each free, with each location that it frees.
fn freed(graph: &Graph, initial: &Extents) -> Vec<(EventId, u32)> {
    let mut found = Vec::new();
    for (id, event) in graph.events.iter().enumerate() {
        let Action::Free { base } = event.action else {
            continue;
        };
        let size = extent(graph, initial, base).unwrap_or(0);
        let locations = graph.locations.iter().enumerate();
        let locations = locations.filter(|(_, place)| place.at.is_in(base, size));
        found.extend(locations.map(|(number, _)| (id as EventId, number as u32)));
    }
    found
}

/// Uses after or unordered with a free, double frees, and frees of what was not allocated. `by_model`: what is
/// unordered, the model says.
fn misused_objects(graph: &Graph, initial: &Extents, by_model: bool) -> Vec<Flagged> {
    let ids = || (0..graph.len() as EventId).map(|id| (id, graph.event(id)));
    let mut found = Vec::new();
    let mut fault = |message: &str, id: EventId, earlier: Option<EventId>| {
        found.push(Flagged {
            fault: Fault::new(FaultKind::Memory, message, graph.event(id).site),
            pair: earlier.map(|earlier| (earlier, id)),
        });
    };
    for (free, event) in ids() {
        let Action::Free { base } = event.action else {
            continue;
        };
        let Some(size) = extent(graph, initial, base) else {
            fault("free of a pointer that malloc did not return", free, None);
            continue;
        };
        for (id, event) in ids() {
            match event.action {
                Action::Free { base: at } if at == base && id < free => {
                    fault("double free", free, Some(id));
                }
                Action::Read { at, .. } | Action::Write { at, .. }
                    if at.is_in(base, size) && !graph.precedes(id, free) =>
                {
                    let message = match graph.precedes(free, id) {
                        true if Memory::is_of_stack(base) => USE_OF_ENDED_LOCAL,
                        true if Memory::is_thread_local(base) => {
                            "use of a thread-local variable after the end of its thread"
                        }
                        true => "use after free",
                        false if by_model => continue,
                        false => unordered_with_end(base),
                    };
                    fault(message, id, Some(free));
                }
                _ => {}
            }
        }
    }
    found
}
