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
//! The values come to an end. With a value are known the writes that it comes from, each an event of its
//! thread, and a run ends before a write that comes from itself. So two threads that add one to what
//! the other writes do not count for ever. A write's name is its location and its number among those of its
//! thread to it, which no other write of the run has; in runs that differ in reads, it may have others, and
//! whatever comes from it is found again with these. Of a value that comes from writes in many ways, only those are
//! known that all ways share: this may add values, but a promise of one is kept by no write. Then what ends
//! them is that no value comes from more writes, one after another, than the threads have together.

use super::semantics::{ReferenceThread, Semantics};
use crate::exploration::Limit;
use crate::source::{Action, Answer, Initial, Location, Next, ThreadId};
use program::ir::bits::mask;
use program::ir::FuncId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// An event: its thread, and its position in it.
pub type Position = (ThreadId, u32);

/// A write: its thread, its location, and how many writes of its thread to this location precede it.
type Write = (ThreadId, Location, usize);

/// More ways in which a value comes from writes are not distinguished.
const MOST_WAYS: usize = 16;

/// The writes that a value comes from, and how many of them come one from another.
#[derive(Clone, Default, PartialEq)]
struct Origin {
    writes: BTreeSet<Write>,
    depth: usize,
}

impl Origin {
    fn add(&mut self, other: &Origin) {
        self.writes.extend(&other.writes);
        self.depth = self.depth.max(other.depth);
    }

    /// What two ways share.
    fn meet(&mut self, other: &Origin) {
        self.writes.retain(|write| other.writes.contains(write));
        self.depth = self.depth.min(other.depth);
    }

    /// Whether whatever comes from the other one may come from this one.
    fn is_part_of(&self, other: &Origin) -> bool {
        self.depth <= other.depth && self.writes.is_subset(&other.writes)
    }
}

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

#[derive(Default)]
pub struct Values {
    written: FxHashMap<Location, Vec<Known>>,
    results: FxHashMap<ThreadId, Vec<Known>>,
    starts: Vec<Start>,
    allocated: Vec<Action>,
    /// What reads of some locations may return from nowhere.
    constants: BTreeSet<u64>,
    from_nowhere: FxHashSet<Location>,
    /// The most writes of each thread.
    writes: FxHashMap<ThreadId, usize>,
    grows: bool,
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
    /// The locations of its writes so far.
    writes: Vec<Location>,
    joined: Vec<ThreadId>,
    own: FxHashMap<Location, Known>,
}

impl Values {
    /// The values of a location that writes of other threads have, each with these writes.
    pub fn of_others(&self, at: Location, thread: ThreadId) -> Vec<(Answer, Position)> {
        let known = self.written.get(&at).into_iter().flatten();
        let others = known.filter(|known| known.by.0 != thread);
        others.map(|known| (known.answer, known.by)).collect()
    }

    /// Finds all values, unless `limit` is reached.
    pub fn find(
        semantics: &Semantics,
        limit: impl Fn() -> Option<Limit>,
        most: usize,
    ) -> Result<Values, Limit> {
        let mut values = Values {
            grows: true,
            constants: match semantics.model.kernel {
                true => semantics.program.constants(),
                false => BTreeSet::new(),
            },
            ..Values::default()
        };
        while std::mem::take(&mut values.grows) {
            let mut open = vec![Run::new(0, semantics.main(), Origin::default())];
            let starts = values.starts.iter().cloned();
            open.extend(starts.map(|start| Run::new(start.id, start.thread, start.from)));
            while let Some(run) = open.pop() {
                if let Some(limit) = limit() {
                    return Err(limit);
                }
                if run.events.len() < most && !semantics.overlaps.get() {
                    values.extend(semantics, run, &mut open);
                }
            }
        }
        Ok(values)
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
                let known = self.written.get(&at).into_iter().flatten();
                let others = known.filter(|known| known.by.0 != run.id);
                let mut sources: Vec<Known> = others.cloned().collect();
                match (run.own.get(&at), self.initial(semantics, at)) {
                    (Some(own), _) => sources.push(own.clone()),
                    (None, Initial::Outside) => {}
                    (None, initial) => sources.push(run.known(initial.answer(), Origin::default())),
                }
                let constants = self
                    .constants
                    .iter()
                    .filter(|_| self.from_nowhere.contains(&at));
                let constants = constants.map(|value| mask(*value, 8 * at.size));
                let constants: BTreeSet<u64> = constants.collect();
                for value in constants {
                    if sources.iter().all(|known| known.answer.value != value) {
                        sources.push(run.known(Answer::new(value), Origin::default()));
                    }
                }
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
                ..
            } => {
                let answer = Answer {
                    undefined,
                    ..Answer::new(value)
                };
                let of = label.dependencies;
                let mut known = run.known(answer, run.before.clone());
                for set in [of.addr, of.data, of.ctrl] {
                    let reads = semantics.sets.reads(set).into_iter();
                    reads.for_each(|read| known.from.add(&run.events[read as usize]));
                }
                let mut run = run;
                let earlier = run.writes.iter().filter(|write| **write == at).count();
                run.writes.push(at);
                let most = self.writes.entry(run.id).or_default();
                self.grows |= run.writes.len() > *most;
                *most = run.writes.len().max(*most);
                known.from.depth += 1;
                let repeats = !known.from.writes.insert((run.id, at, earlier))
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
                    run.before.add(&from);
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

/// The values, each with the ways that are distinguished.
fn by_answer(all: impl Iterator<Item = (Answer, Origin)>) -> Vec<(Answer, Origin)> {
    let mut answers: Vec<(Answer, Vec<Origin>)> = Vec::new();
    for (answer, from) in all {
        match answers.iter_mut().find(|(known, _)| *known == answer) {
            Some((_, ways)) => ways.push(from),
            None => answers.push((answer, vec![from])),
        }
    }
    let ways = answers.into_iter().flat_map(|(answer, mut ways)| {
        limit_ways(&mut ways);
        ways.into_iter().map(move |from| (answer, from))
    });
    ways.collect()
}

/// Leaves out the ways of which another one is a part, and makes one of those that are too many.
fn limit_ways(ways: &mut Vec<Origin>) {
    let mut least: Vec<Origin> = Vec::new();
    for way in ways.drain(..) {
        if !least.iter().any(|known| known.is_part_of(&way)) {
            least.retain(|known| !way.is_part_of(known));
            least.push(way);
        }
    }
    if least.len() > MOST_WAYS {
        let shared = least.into_iter().reduce(|mut one, other| {
            one.meet(&other);
            one
        });
        least = shared.into_iter().collect();
    }
    *ways = least;
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
        self.events.iter().for_each(|from| all.add(from));
        all
    }
}
