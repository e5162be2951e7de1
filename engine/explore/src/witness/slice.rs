//! Which events of an execution another event, or the end of a thread, depends on.
//!
//! Threads run again with the answers of the execution, with one of them marked at a time: what the
//! mark reaches through registers, thread-local memory and branches may depend on it; a branch
//! affects everything after it. Reads found this way that do not affect the event, whatever they
//! read, are left out.
use crate::graph::execution_graph::{EventId, Graph, NONE};
use crate::source::{Action, Location, Next, Source, ThreadId};
use crate::threads::source::{ProgramSource, ProgramThread};
use crate::witness::independence::{Property, Query, STEPS};
use program::ir::{Extern, Op};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

pub struct Slice<'a> {
    source: &'a ProgramSource<'a>,
    pub graph: &'a Graph,
    /// The events of each thread in program order.
    pub by_thread: Vec<Vec<EventId>>,
    /// What each thread does after its last event.
    pub ends: Vec<Next>,
    /// For each marked event, which events of its thread, and its end, depend on it.
    reach: FxHashMap<EventId, Vec<bool>>,
    pub needed: BTreeSet<EventId>,
    /// Events, or ends, whose dependencies are all in `needed`.
    met: BTreeSet<(ThreadId, usize)>,
    /// How many steps may still be spent on finding independent reads.
    steps: usize,
    end: Option<Instant>,
}

impl<'a> Slice<'a> {
    pub fn new(source: &'a ProgramSource<'a>, graph: &'a Graph, end: Option<Instant>) -> Slice<'a> {
        let mut by_thread = vec![Vec::new(); graph.threads.len()];
        for id in 0..graph.len() as EventId {
            by_thread[graph.event(id).thread].push(id);
        }
        for thread_events in &mut by_thread {
            thread_events.sort_by_key(|id| graph.event(*id).index);
        }
        let mut slice = Slice {
            source,
            graph,
            by_thread,
            ends: Vec::new(),
            reach: FxHashMap::default(),
            needed: BTreeSet::new(),
            met: BTreeSet::new(),
            steps: STEPS,
            end,
        };
        for thread in 0..slice.by_thread.len() {
            slice.ends.push(match slice.is_there(thread) {
                true => slice.run(thread, slice.by_thread[thread].len(), None).2,
                false => Next::Done(0),
            });
        }
        slice
    }

    fn is_there(&self, thread: ThreadId) -> bool {
        thread == 0 || self.graph.threads[thread].creator != NONE
    }

    /// The state of a thread before its first event.
    fn beginning(&self, thread: ThreadId) -> ProgramThread {
        if thread == 0 {
            return self.source.main();
        }
        let create = self.graph.event(self.graph.threads[thread].creator);
        let (creator, ..) = self.run(create.thread, create.index as usize, None);
        self.source.created(&creator, thread)
    }

    /// Runs a thread up to its event number `stop`. Returns which events the mark reaches, and what
    /// the thread does next.
    fn run(
        &self,
        thread: ThreadId,
        stop: usize,
        mark: Option<usize>,
    ) -> (ProgramThread, Vec<bool>, Next) {
        let mut now = self.beginning(thread);
        Arc::make_mut(&mut now.now).local.mark = mark;
        let mut reached = Vec::new();
        loop {
            let next = self.source.next(&mut now);
            let run = &now.now;
            reached.push(self.source.is_marked(run));
            let number = reached.len() - 1;
            if number >= stop || !matches!(next, Next::Event(_)) {
                return (now, reached, next);
            }
            let id = self.by_thread[thread][number];
            if self.graph.event(id).action.has_answer() {
                let tracked = self.source.tracks_dependencies();
                self.source.answer(&mut now, self.graph.answer(id, tracked));
            }
        }
    }

    /// The function that a thread runs; if it runs none of the user's, where it is created.
    pub fn start(&self, thread: ThreadId) -> String {
        if !self.is_there(thread) {
            return String::new();
        }
        let (now, ..) = self.run(thread, self.by_thread[thread].len(), None);
        let program = self.source.program;
        let start = &program.functions[now.now.thread.start as usize];
        let creator = self.graph.threads[thread].creator;
        if !start.library || creator == NONE {
            return start.name.clone();
        }
        let site = program.sites.get(self.graph.event(creator).site as usize);
        site.map_or_else(
            || start.name.clone(),
            |site| format!("{}:{}", site.file, site.line),
        )
    }

    /// Whether an event is a choice to which nothing in the execution leads: a weak compare-exchange
    /// fails, a wait returns, or a clock stands still. Its kind, as a witness names it.
    pub fn spurious(&self, id: EventId) -> Option<&'static str> {
        let event = self.graph.event(id);
        let chosen = matches!(event.action, Action::Choose { alternatives: 2 });
        if !chosen || event.value != 1 {
            return None;
        }
        let program = self.source.program;
        let is_clock = program
            .sites
            .get(event.site as usize)
            .is_some_and(|site| site.kind == "clock");
        let mut code = program.functions.iter().flat_map(|function| &function.code);
        code.find_map(|inst| match &inst.op {
            Op::Cas { access, .. } if access.site == event.site => Some("FAILS"),
            Op::Extern {
                function: Extern::CondWait | Extern::Either,
                site,
                ..
            } if *site == event.site => Some(if is_clock { "CLOCK" } else { "RETURNS" }),
            _ => None,
        })
    }

    fn is_late(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }

    fn reaches(&mut self, id: EventId, to: usize) -> bool {
        if self.is_late() {
            return true;
        }
        if !self.reach.contains_key(&id) {
            let event = self.graph.event(id);
            let stop = self.by_thread[event.thread].len();
            let (_, reached, _) = self.run(event.thread, stop, Some(event.index as usize));
            self.reach.insert(id, reached);
        }
        // if the thread took another path, everything may depend on it
        self.reach[&id].get(to).copied().unwrap_or(true)
    }

    /// Adds what an event of that number, or the end, depends on. Returns the events of the thread
    /// itself among them, if they were not added before.
    pub fn explain(&mut self, thread: ThreadId, number: usize) -> BTreeSet<EventId> {
        if !self.met.insert((thread, number)) {
            return BTreeSet::new();
        }
        let creator = self.graph.threads[thread].creator;
        if creator != NONE {
            let create = self.graph.event(creator);
            self.explain(create.thread, create.index as usize);
        }
        let mut required = BTreeSet::new();
        for before in 0..number {
            let id = self.by_thread[thread][before];
            let answered = match self.graph.event(id).action {
                Action::Read { .. } | Action::Join { .. } => self.reaches(id, number),
                _ => self.spurious(id).is_some(),
            };
            if answered {
                required.insert(id);
            }
        }
        let end = self.ends[thread].clone();
        self.leave_out(thread, &Property::Comes(number, &end), &mut required);
        required.iter().for_each(|id| self.need(*id));
        required
    }

    /// Adds what prevents a thread from writing to a location again, as far as it can be
    /// determined.
    pub fn explain_missing_write(&mut self, thread: ThreadId, location: Location) {
        if !self.is_there(thread)
            || matches!(self.ends[thread], Next::Unsupported { .. } | Next::Refuted)
        {
            return;
        }
        let read = |id: &&EventId| self.graph.event(**id).is_read();
        let mut required = self.by_thread[thread]
            .iter()
            .filter(read)
            .copied()
            .collect();
        self.leave_out(thread, &Property::Leaves(location), &mut required);
        if self.steps > 0 {
            required.into_iter().for_each(|id| self.need(id));
        }
    }

    /// Removes reads that the property is independent of, and then what happens spuriously. The last
    /// ones are tried first: they often matter only after others.
    fn leave_out(&mut self, thread: ThreadId, what: &Property, required: &mut BTreeSet<EventId>) {
        let thread_events = self.by_thread[thread].clone();
        let last_first = thread_events.iter().rev().copied();
        let found = last_first.filter(|id| required.contains(id));
        let (mut tried, spurious): (Vec<EventId>, BTreeSet<EventId>) = (
            found
                .clone()
                .filter(|id| self.graph.event(*id).is_read())
                .collect(),
            found.filter(|id| self.spurious(*id).is_some()).collect(),
        );
        tried.extend(spurious.iter().rev());
        if tried.is_empty() {
            return;
        }
        let beginning = self.beginning(thread);
        let asked = Query::new(self.source, self.graph, &thread_events, what, beginning);
        let asked = asked.with_spurious(spurious);
        for id in tried {
            if self.is_late() {
                return;
            }
            required.remove(&id);
            if !asked.holds(required, &mut self.steps) {
                required.insert(id);
                self.source.forget();
            }
        }
    }

    /// Adds an event and what it depends on.
    pub fn need(&mut self, id: EventId) {
        if !self.needed.insert(id) {
            return;
        }
        let event = *self.graph.event(id);
        self.explain(event.thread, event.index as usize);
        if event.pair != NONE {
            self.need(event.pair);
        }
        match event.action {
            Action::Read { .. } if event.source != NONE => self.need(event.source),
            Action::Join { thread } => {
                self.explain(thread, self.by_thread[thread].len());
            }
            _ => {}
        }
    }
}
