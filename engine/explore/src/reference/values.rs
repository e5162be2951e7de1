//! The values that reads may be promised: those that some write may have, whatever reads return.
//!
//! Each thread runs alone, and each of its reads returns in turn the initial value, that of the thread's
//! own last write (so the models say, by coherence), and those that other threads are known to write,
//! until nothing new is written. A value of a consistent graph is found so: dependencies and rf have no
//! cycle there, so that its writes have an order in which each comes after those that it depends on. Let
//! the values of these be known. Then the thread has a run in which the reads that the write depends on return them, and the others
//! anything, and it performs the write. Once all are known, each thread has the run that it has in the
//! graph.
//!
//! The Linux kernel's model does not know what plain accesses depend on: there, a value may come from
//! itself through one. herd7 finds such an execution if comparisons and constants leave one value only. So
//! reads of a location with plain accesses return the constants too that the program writes or compares
//! with. Reads of another need not: a cycle of dependencies and rf has a plain access, which is at one end of
//! rf, and so a read of a location with plain accesses. Nor does a write depend there on a branch that has
//! ended, though this may decide which of several values it writes, or where: so reads on which such a
//! branch depends return the constants as well. With the values of these reads given, the others are found
//! in the order of their dependencies.
//!
//! A read that is in such a cycle, or comes from one, reads from a write that depends on another such read.
//! So, once all values are found with the constants, they are found anew: where reads returned the constants,
//! they return now the values of the writes that depend on such reads. If these contain what such reads
//! return in any graph, then all writes of the graph are found, in the order of their dependencies without
//! these reads, and among them those that such reads read from. So it is done again with those of the values
//! that such a write still has, until they stay the same. Where then the value of such a write does not come
//! from such a read by data and addresses, what it comes from is known: a thread that reads it performs none
//! of these writes with a value that comes from what was read. (Three threads that each add one to a counter
//! after they have waited for one another: it is three at most.)
//!
//! The values come to an end. With a value are known the writes that it comes from, each an event of its
//! thread, and a run ends before a write that comes from itself. So two threads that add one to what
//! the other writes do not count for ever. A write's name is its location and its number among those of its
//! thread to it, which no other write of the run has; in runs that differ in reads, it may have others, and
//! whatever comes from it is found again with these. Of a value that comes from writes in many ways, only those are
//! known that all ways share: this may add values, but a promise of one is kept by no write. Then what ends
//! them is that no value comes from more writes, one after another, than the threads have together.

use super::node::{Node, Position};
use super::origins::{by_answer, limit_ways, Chain, Origin};
use super::semantics::{ReferenceThread, Semantics};
use crate::exploration::Limit;
use crate::graph::execution_graph::{EventId, NONE};
use crate::source::{Action, Answer, Initial, Location, Next, ThreadId};
use program::ir::bits::mask;
use program::ir::FuncId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// How often values are found anew. Those of each time contain all.
const MOST_ROUNDS: usize = 16;

/// A value, what it comes from, and the event that has it.
#[derive(Clone)]
struct Known {
    answer: Answer,
    from: Origin,
    by: Position,
}

/// How a thread starts: what it runs, with which argument.
#[derive(Clone)]
struct Start {
    id: ThreadId,
    function: FuncId,
    argument: u64,
    thread: ReferenceThread,
    from: Origin,
}

/// The values that reads of locations may return from nowhere, each with ways to come by it.
type FromNowhere = FxHashMap<Location, Vec<(u64, Origin)>>;

#[derive(Default)]
pub struct Values {
    written: FxHashMap<Location, Vec<Known>>,
    results: FxHashMap<ThreadId, Vec<Known>>,
    starts: Vec<Start>,
    allocated: Vec<Action>,
    /// What reads of some locations may return from nowhere: one of these, as long as no others are known.
    constants: BTreeSet<u64>,
    from_nowhere: FxHashSet<Location>,
    known: Option<FromNowhere>,
    /// The most writes of each thread.
    writes: FxHashMap<ThreadId, usize>,
    grows: bool,
    /// Those from nowhere that no write supports were left out.
    pub are_fewest: bool,
}

/// A write of a run.
#[derive(Clone)]
struct OwnWrite {
    at: Location,
    answer: Answer,
    /// Whether its address depends on no read.
    at_fixed_address: bool,
}

/// A run of a thread alone.
#[derive(Clone)]
struct Run {
    id: ThreadId,
    thread: ReferenceThread,
    /// What the answers to its events come from.
    events: Vec<Origin>,
    /// The locations that they access.
    locations: Vec<Option<Location>>,
    /// What all later events come from: by the creation of the thread, and by joins.
    before: Origin,
    writes: Vec<OwnWrite>,
    joined: Vec<ThreadId>,
    own: FxHashMap<Location, Known>,
}

impl Values {
    /// The values of a location that other threads may still write, each with a thread that may, for a
    /// thread that reads it after this event of its own.
    pub fn later<'s>(
        &'s self,
        node: &'s Node,
        at: Location,
        (thread, after): (ThreadId, EventId),
    ) -> impl Iterator<Item = (Answer, ThreadId)> + 's {
        let own = node.written(after, at);
        let known = self.written.get(&at).into_iter().flatten();
        let others = known.filter(move |known| {
            let (by, chain) = (known.by.0, &known.from.chain);
            by != thread && node.may_come_to(known.by) && chain.fits(thread, own.clone(), &own) && {
                let last = node
                    .graph
                    .threads
                    .get(by)
                    .map_or(NONE, |events| events.last);
                chain.contains(by, &node.written(last, at))
            }
        });
        others.map(|known| (known.answer, known.by.0))
    }

    /// Whether a thread may write a value to a location.
    pub fn may_write(&self, thread: ThreadId, at: Location, value: u64) -> bool {
        let known = self.written.get(&at).into_iter().flatten();
        let mut values = known.map(|known| (known.by.0, known.answer.value));
        values.any(|known| known == (thread, value))
    }

    /// Finds all values, unless `limit` is reached.
    pub fn find(
        semantics: &Semantics,
        limit: &dyn Fn() -> Option<Limit>,
        most: usize,
    ) -> Result<Values, Limit> {
        let mut values = Values {
            constants: match semantics.model.kernel {
                true => semantics.program.constants(),
                false => BTreeSet::new(),
            },
            ..Values::default()
        };
        values.run_threads(semantics, limit, most)?;
        values.are_fewest = values.from_nowhere.is_empty();
        Ok(values)
    }

    /// Finds them anew with fewer values from nowhere, until these stay the same.
    pub fn find_fewer(
        mut self,
        semantics: &Semantics,
        limit: &dyn Fn() -> Option<Limit>,
        most: usize,
    ) -> Result<Values, Limit> {
        for _ in 0..MOST_ROUNDS {
            let remaining = self.remaining();
            if remaining == self.used() {
                break;
            }
            self = Values {
                known: Some(remaining),
                ..Values::default()
            };
            self.run_threads(semantics, limit, most)?;
        }
        self.are_fewest = true;
        Ok(self)
    }

    fn run_threads(
        &mut self,
        semantics: &Semantics,
        limit: &dyn Fn() -> Option<Limit>,
        most: usize,
    ) -> Result<(), Limit> {
        self.grows = true;
        while std::mem::take(&mut self.grows) {
            let mut open = vec![Run::new(0, semantics.main(), Origin::default())];
            let starts = self.starts.iter().cloned();
            open.extend(starts.map(|start| Run::new(start.id, start.thread, start.from)));
            while let Some(run) = open.pop() {
                if let Some(limit) = limit() {
                    return Err(limit);
                }
                if run.events.len() < most && !semantics.overlaps.get() {
                    self.extend(semantics, run, &mut open);
                }
            }
        }
        Ok(())
    }

    /// What a read of a location may return from nowhere.
    fn constants_at(&self, at: Location) -> Vec<(u64, Origin)> {
        match &self.known {
            _ if !self.from_nowhere.contains(&at) => Vec::new(),
            Some(known) => known.get(&at).cloned().unwrap_or_default(),
            None => {
                let masked = self.constants.iter().map(|value| mask(*value, 8 * at.size));
                let masked: BTreeSet<u64> = masked.collect();
                let each = masked.into_iter();
                let from = Origin::nowhere(Some(&BTreeSet::new()));
                each.map(|value| (value, from.clone())).collect()
            }
        }
    }

    fn used(&self) -> FromNowhere {
        let all = self.from_nowhere.iter();
        all.map(|at| (*at, self.constants_at(*at))).collect()
    }

    /// The values of the writes that depend on such reads, with what they come from by data: those of all
    /// where reads returned constants, else those that reads returned.
    fn remaining(&self) -> FromNowhere {
        let remaining = self.used().into_iter().map(|(at, used)| {
            let written = self.written.get(&at).into_iter().flatten();
            let remains =
                |value: u64| self.known.is_none() || used.iter().any(|(known, _)| *known == value);
            let kept =
                written.filter(|known| known.from.from_nowhere && remains(known.answer.value));
            let ways = kept.map(|known| {
                let is_known = self.known.is_some() && !known.from.data_from_nowhere;
                let data = is_known.then_some(&known.from.data);
                (Answer::new(known.answer.value), Origin::nowhere(data))
            });
            let mut ways: Vec<(u64, Origin)> = by_answer(ways)
                .into_iter()
                .map(|(answer, way)| (answer.value, way))
                .collect();
            ways.sort_by(|(one, a), (other, b)| (one, &a.data).cmp(&(other, &b.data)));
            (at, ways)
        });
        remaining.collect()
    }

    /// Lets a run continue with its next event, in each way.
    fn extend(&mut self, semantics: &Semantics, run: Run, open: &mut Vec<Run>) {
        let label = match run.thread.next {
            Next::Event(label) => label,
            Next::Done(result) => {
                let known = run.known(Answer::new(result), run.all());
                self.grows |= add(self.results.entry(run.id).or_default(), known);
                return;
            }
            _ => return,
        };
        let (accessed, plain) = match label.action {
            Action::Read { at, order, rmw, .. } | Action::Write { at, order, rmw, .. } => {
                (Some(at), order.is_plain(rmw))
            }
            _ => (None, false),
        };
        let mut proceed = |mut run: Run, answer: Answer, from: Origin| {
            run.events.push(from);
            run.locations.push(accessed);
            semantics.answer(&mut run.thread, answer);
            open.push(run);
        };
        if self.runs_beside(&run) {
            let left = semantics.sets.reads(label.dependencies.left_behind);
            let left = left.iter().filter_map(|read| run.locations[*read as usize]);
            for at in left.chain(accessed.filter(|_| plain)) {
                self.grows |= self.from_nowhere.insert(at);
            }
        }
        match label.action {
            Action::Read {
                at,
                uninitialised_ok,
                ..
            } => {
                let own = run.writes.iter().filter(|write| write.at == at);
                let surely = own.clone().filter(|write| write.at_fixed_address);
                let surely: Vec<Answer> = surely.map(|write| write.answer).collect();
                let own: Vec<Answer> = own.map(|write| write.answer).collect();
                let known = self.written.get(&at).into_iter().flatten();
                let others = known.filter(|known| {
                    known.by.0 != run.id && known.from.chain.fits(run.id, own.clone(), &surely)
                });
                let mut sources: Vec<Known> = others.cloned().collect();
                match (run.own.get(&at), self.initial(semantics, at)) {
                    (Some(own), _) => sources.push(own.clone()),
                    (None, Initial::Outside) => {}
                    (None, initial) => sources.push(run.known(initial.answer(), Origin::initial())),
                }
                let constants = self.constants_at(at).into_iter();
                sources.extend(constants.map(|(value, from)| run.known(Answer::new(value), from)));
                let sources = sources.into_iter().map(|known| {
                    // another value may be there that is not known yet
                    let answer = match uninitialised_ok {
                        true => known.answer,
                        false => Answer::new(known.answer.value),
                    };
                    (answer, known.from)
                });
                for (answer, from) in by_answer(sources) {
                    proceed(run.clone(), answer, from);
                }
            }
            Action::Write {
                at,
                value,
                undefined,
                rmw,
                ..
            } => {
                let answer = Answer {
                    undefined,
                    ..Answer::new(value)
                };
                let of = label.dependencies;
                let mut known = run.known(answer, run.before.clone());
                known.from.chain = Chain::default();
                let half = run.locations.iter().rposition(|known| *known == Some(at));
                let by_data = self.known.is_some(); // of use where values are not constants
                for (set, data) in [(of.addr, by_data), (of.data, by_data), (of.ctrl, false)] {
                    for read in semantics.sets.reads(set) {
                        let of_read = &run.events[read as usize];
                        match data {
                            true => known.from.add_data(of_read),
                            false => known.from.add(of_read),
                        }
                        if rmw && half == Some(read as usize) {
                            known.from.chain = of_read.chain.clone();
                        }
                    }
                }
                for read in semantics.sets.reads(of.left_behind) {
                    known.from.from_nowhere |= run.events[read as usize].from_nowhere;
                }
                known.from.chain.add(run.id, answer);
                let mut run = run;
                let earlier = run.writes.iter().filter(|write| write.at == at).count();
                run.writes.push(OwnWrite {
                    at,
                    answer,
                    at_fixed_address: semantics.sets.reads(of.addr).is_empty(),
                });
                let most = self.writes.entry(run.id).or_default();
                self.grows |= run.writes.len() > *most;
                *most = run.writes.len().max(*most);
                known.from.depth += 1;
                let name = (run.id, at, earlier);
                let repeats = !known.from.writes.insert(name)
                    || by_data && !known.from.data.insert(name)
                    || known.from.depth > self.writes.values().sum();
                if repeats || self.initial(semantics, at) == Initial::Outside {
                    return;
                }
                self.grows |= add(self.written.entry(at).or_default(), known.clone());
                run.own.insert(at, known);
                proceed(run, Answer::default(), Origin::default());
            }
            Action::Create { thread } => {
                if let Some((function, argument)) = run.thread.thread.creates(semantics.program) {
                    self.start(Start {
                        id: thread,
                        function,
                        argument: argument.bits,
                        thread: semantics.created(&run.thread, thread),
                        from: run.all(),
                    });
                }
                proceed(run, Answer::default(), Origin::default());
            }
            Action::Join { thread } => {
                let results = self.results.get(&thread).into_iter().flatten();
                let results = results.map(|known| (known.answer, known.from.clone()));
                for (answer, from) in by_answer(results) {
                    let mut run = run.clone();
                    run.before.add_all(&from);
                    run.joined.push(thread);
                    // what is written when no other thread runs, none reads
                    if self.runs_beside(&run) {
                        proceed(run, answer, from);
                    }
                }
            }
            Action::Choose { alternatives } => {
                for choice in 0..alternatives {
                    proceed(run.clone(), Answer::new(choice.into()), Origin::default());
                }
            }
            action => {
                if matches!(action, Action::Allocate { .. }) && !self.allocated.contains(&action) {
                    self.allocated.push(action);
                    self.grows = true;
                }
                proceed(run, Answer::default(), Origin::default());
            }
        }
    }

    /// Whether another thread runs.
    fn runs_beside(&self, run: &Run) -> bool {
        let runs = |id: ThreadId| id != run.id && !run.joined.contains(&id);
        runs(0) || self.starts.iter().any(|start| runs(start.id))
    }

    /// Adds a start, unless it is known to come from fewer writes.
    fn start(&mut self, new: Start) {
        let same = |start: &&Start| {
            (start.id, start.function, start.argument) == (new.id, new.function, new.argument)
        };
        let mut known = self.starts.iter().filter(same);
        if !known.any(|start| start.from.is_part_of(&new.from)) {
            self.starts.push(new);
            self.grows = true;
        }
    }

    fn initial(&self, semantics: &Semantics, at: Location) -> Initial {
        match semantics.initial(at) {
            Initial::Outside => self
                .allocated
                .iter()
                .find_map(|action| action.allocates(at))
                .unwrap_or(Initial::Outside),
            known => known,
        }
    }
}

/// Adds a value, unless it is known to come from fewer writes. Returns whether it is new.
fn add(all: &mut Vec<Known>, new: Known) -> bool {
    let same = |known: &Known| (known.answer, known.by) == (new.answer, new.by);
    let known = all.iter().filter(|known| same(known));
    let mut ways: Vec<Origin> = known.map(|known| known.from.clone()).collect();
    if ways.iter().any(|way| way.is_part_of(&new.from)) {
        return false;
    }
    ways.push(new.from.clone());
    limit_ways(&mut ways);
    all.retain(|known| !same(known));
    all.extend(ways.into_iter().map(|from| Known {
        from,
        ..new.clone()
    }));
    true
}

impl Run {
    fn new(id: ThreadId, thread: ReferenceThread, before: Origin) -> Run {
        Run {
            id,
            thread,
            events: Vec::new(),
            locations: Vec::new(),
            before,
            writes: Vec::new(),
            joined: Vec::new(),
            own: FxHashMap::default(),
        }
    }

    /// A value that comes from these writes, at the run's next event.
    fn known(&self, answer: Answer, from: Origin) -> Known {
        Known {
            answer,
            from,
            by: (self.id, self.events.len() as u32),
        }
    }

    /// All that it comes from.
    fn all(&self) -> Origin {
        let mut all = self.before.clone();
        self.events.iter().for_each(|from| all.add_all(from));
        all
    }
}
