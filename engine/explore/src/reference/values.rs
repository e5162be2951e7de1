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
//! where the program has plain accesses, reads return the constants too that it writes or compares with.
//!
//! The values come to an end. With a value are known the writes that it comes from, each an event of its
//! thread, and a run ends before a write that comes from itself. So two threads that add one to what
//! the other writes do not count for ever.

use super::semantics::{ReferenceThread, Semantics};
use crate::exploration::Limit;
use crate::source::{Action, Answer, Initial, Location, Next, ThreadId};
use program::ir::bits::mask;
use program::ir::FuncId;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// An event: its thread, and its position in it.
pub type Position = (ThreadId, u32);

/// A write: its thread, how many accesses precede it there without the writes of read-modify-writes, and
/// whether it is one. A compare-exchange may succeed or not without what follows depending on that.
type Write = (ThreadId, usize, bool);

/// A value, the writes that it comes from, and the event that has it.
#[derive(Clone)]
struct Known {
    answer: Answer,
    from: BTreeSet<Write>,
    by: Position,
}

/// How a thread starts: what it runs, with which argument.
#[derive(Clone)]
struct Start {
    id: ThreadId,
    function: FuncId,
    argument: u64,
    thread: ReferenceThread,
    from: BTreeSet<Write>,
}

#[derive(Default)]
pub struct Values {
    written: FxHashMap<Location, Vec<Known>>,
    results: FxHashMap<ThreadId, Vec<Known>>,
    starts: Vec<Start>,
    allocated: Vec<Action>,
    /// What a read may return from nowhere.
    constants: BTreeSet<u64>,
    grows: bool,
}

/// A run of a thread alone.
#[derive(Clone)]
struct Run {
    id: ThreadId,
    thread: ReferenceThread,
    /// The writes that the answers to its events come from.
    events: Vec<BTreeSet<Write>>,
    /// Those that all later events come from: by the creation of the thread, and by joins.
    before: BTreeSet<Write>,
    /// The accesses so far without the writes of read-modify-writes.
    accesses: usize,
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
                true => semantics.program.constants_beside_plain_accesses(),
                false => BTreeSet::new(),
            },
            ..Values::default()
        };
        while std::mem::take(&mut values.grows) {
            let mut open = vec![Run::new(0, semantics.main(), BTreeSet::new())];
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
        let mut proceed = |mut run: Run, answer: Answer, from: BTreeSet<Write>| {
            run.events.push(from);
            semantics.answer(&mut run.thread, answer);
            open.push(run);
        };
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
                    (None, initial) => sources.push(run.known(initial.answer(), BTreeSet::new())),
                }
                let constants = self.constants.iter().map(|value| mask(*value, 8 * at.size));
                let constants: BTreeSet<u64> = constants.collect();
                for value in constants {
                    if sources.iter().all(|known| known.answer.value != value) {
                        sources.push(run.known(Answer::new(value), BTreeSet::new()));
                    }
                }
                for Known { answer, from, .. } in sources {
                    // another value may be there that is not known yet
                    let answer = match uninitialised_ok {
                        true => answer,
                        false => Answer::new(answer.value),
                    };
                    let mut run = run.clone();
                    run.accesses += 1;
                    proceed(run, answer, from);
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
                for set in [of.addr, of.data, of.ctrl] {
                    let reads = semantics.sets.reads(set).into_iter();
                    reads.for_each(|read| known.from.extend(&run.events[read as usize]));
                }
                let exists = self.initial(semantics, at) != Initial::Outside;
                if !exists || !known.from.insert((run.id, run.accesses, rmw)) {
                    return;
                }
                self.grows |= add(self.written.entry(at).or_default(), known.clone());
                let mut run = run;
                run.accesses += usize::from(!rmw);
                run.own.insert(at, known);
                proceed(run, Answer::default(), BTreeSet::new());
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
                proceed(run, Answer::default(), BTreeSet::new());
            }
            Action::Join { thread } => {
                for known in self.results.get(&thread).into_iter().flatten() {
                    let mut run = run.clone();
                    run.before.extend(&known.from);
                    run.joined.push(thread);
                    let runs_beside = |id: ThreadId| id != run.id && !run.joined.contains(&id);
                    // what is written when no other thread runs, none reads
                    if runs_beside(0) || self.starts.iter().any(|start| runs_beside(start.id)) {
                        proceed(run, known.answer, known.from.clone());
                    }
                }
            }
            Action::Choose { alternatives } => {
                for choice in 0..alternatives {
                    proceed(run.clone(), Answer::new(choice.into()), BTreeSet::new());
                }
            }
            action => {
                if matches!(action, Action::Allocate { .. }) && !self.allocated.contains(&action) {
                    self.allocated.push(action);
                    self.grows = true;
                }
                proceed(run, Answer::default(), BTreeSet::new());
            }
        }
    }

    /// Adds a start, unless it is known to come from fewer writes.
    fn start(&mut self, new: Start) {
        let same = |start: &&Start| {
            (start.id, start.function, start.argument) == (new.id, new.function, new.argument)
        };
        let mut known = self.starts.iter().filter(same);
        if !known.any(|start| start.from.is_subset(&new.from)) {
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
    let known = all
        .iter()
        .any(|known| same(known) && known.from.is_subset(&new.from));
    if !known {
        all.retain(|known| !(same(known) && new.from.is_subset(&known.from)));
        all.push(new);
    }
    !known
}

impl Run {
    fn new(id: ThreadId, thread: ReferenceThread, before: BTreeSet<Write>) -> Run {
        Run {
            id,
            thread,
            events: Vec::new(),
            before,
            accesses: 0,
            joined: Vec::new(),
            own: FxHashMap::default(),
        }
    }

    /// A value that comes from these writes, at the run's next event.
    fn known(&self, answer: Answer, from: BTreeSet<Write>) -> Known {
        Known {
            answer,
            from,
            by: (self.id, self.events.len() as u32),
        }
    }

    /// All the writes that it comes from.
    fn all(&self) -> BTreeSet<Write> {
        self.events
            .iter()
            .fold(self.before.clone(), |all, from| &all | from)
    }
}
