//! One path per thread combined: the events that a model uses, and all choices of reads-from whose
//! values agree.

use super::paths::path::{Action, PathEventId};
use super::paths::prepared::PreparedPath;
use super::solver::Solver;
use super::term::{Equation, Term};
use super::thread_paths::ThreadPaths;
use litmus::value::Value;
use litmus::Annotations;

/// Index of an event in its candidate: initial writes first, then thread by thread.
pub type EventId = usize;

#[derive(Clone, Copy, Debug)]
pub struct CandidateEvent {
    /// None for an initial write.
    pub thread: Option<usize>,
    /// The event in its path.
    pub id: PathEventId,
    /// With the unknowns of the candidate.
    pub action: Action,
    pub annotations: Annotations,
    pub instance: u32,
    /// The bits of a memory access, where the instruction determines them.
    pub size: Option<i64>,
    /// The first event, in its path, of the access that this one is a part of.
    pub access: Option<PathEventId>,
    /// Where accesses are split into pieces, it is the first one of an access of `size`.
    pub starts: bool,
    /// What identifies a critical section of SRCU, at an event that begins or ends one.
    pub index: Option<Term>,
}

/// The events of a choice of paths.
pub struct Candidate<'p> {
    pub paths: Vec<&'p PreparedPath>,
    pub events: Vec<CandidateEvent>,
    /// By thread, what is added to the numbers of its unknowns.
    pub shifts: Vec<u32>,
    /// The number of initial writes.
    pub initial: usize,
    pub reads: Vec<EventId>,
    pub writes: Vec<EventId>,
    /// The addresses of all events, and the indices of critical sections, are known for any choice
    /// of reads-from.
    pub addresses_known: bool,
    /// There are critical sections of SRCU.
    pub has_indices: bool,
    /// A read may read from a write that depends on it inside its instruction.
    pub own_writes: bool,
    /// `local[thread][id]` is the event's index here, if the model uses it.
    pub local: Vec<Vec<Option<EventId>>>,
}

/// A complete choice of reads-from.
pub struct Chosen<'c> {
    pub solver: &'c Solver,
    /// From each write to the reads that read from it.
    pub rf: &'c [(EventId, EventId)],
}

/// Receives choices of reads-from as they are made.
pub trait Visitor {
    /// Some reads have a write: whether to extend this choice.
    fn partial(&mut self, chosen: Chosen<'_>) -> SearchControl;

    /// All reads have a write, and the values agree.
    fn complete(&mut self, chosen: Chosen<'_>) -> SearchControl;

    /// A read of this address can read from no write.
    fn unmatched(&mut self, _address: Value) -> SearchControl {
        SearchControl::Continue
    }
}

/// How a search proceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchControl {
    Continue,
    /// Do not extend this choice.
    Prune,
    Stop,
}

pub fn shift(o: Term, by: u32) -> Term {
    match o {
        Term::Var(v) => Term::Var(v + by),
        known => known,
    }
}

fn shift_act(action: Action, by: u32) -> Action {
    let s = |o| shift(o, by);
    match action {
        Action::Read { at, value } => Action::Read {
            at: s(at),
            value: s(value),
        },
        Action::Write { at, value } => Action::Write {
            at: s(at),
            value: s(value),
        },
        Action::Update { at, read, written } => Action::Update {
            at: s(at),
            read: s(read),
            written: s(written),
        },
        Action::Lock { at } => Action::Lock { at: s(at) },
        Action::Unlock { at } => Action::Unlock { at: s(at) },
        Action::LockTest { at } => Action::LockTest { at: s(at) },
        Action::Srcu { at, value } => Action::Srcu {
            at: s(at),
            value: value.map(s),
        },
        other => other,
    }
}

impl<'p> Candidate<'p> {
    pub fn new(threads: &ThreadPaths, paths: Vec<&'p PreparedPath>) -> Candidate<'p> {
        let memory = threads.initial.iter().map(|write| CandidateEvent {
            thread: None,
            id: 0,
            action: Action::Write {
                at: Term::Known(Value::Address(write.at)),
                value: Term::Known(write.value),
            },
            annotations: threads.dialect.initial_write,
            instance: 0,
            size: None,
            access: write.access,
            starts: false,
            index: None,
        });
        let seen = paths.iter().map(|p| p.visible.len()).sum::<usize>();
        let mut events = Vec::with_capacity(memory.len() + seen);
        events.extend(memory);
        let initial = events.len();
        let mut shifts = Vec::with_capacity(paths.len());
        let mut local = Vec::with_capacity(paths.len());
        let mut by = 0;
        for (thread, prepared) in paths.iter().enumerate() {
            shifts.push(by);
            let mut map = vec![None; prepared.path.events.len()];
            for id in &prepared.visible {
                let e = &prepared.path.events[*id];
                map[*id] = Some(events.len());
                let action = shift_act(e.action, by);
                let ends_section = e.annotations & threads.of_srcu != 0;
                let value = || action.read().or(action.written());
                events.push(CandidateEvent {
                    thread: Some(thread),
                    id: *id,
                    action,
                    annotations: e.annotations,
                    instance: e.instance,
                    size: e.size,
                    access: e.access,
                    starts: e.starts,
                    index: ends_section.then(value).flatten().or(action.index()),
                });
            }
            local.push(map);
            by += prepared.path.vars;
        }
        let pick = |f: fn(&Action) -> bool| {
            (0..events.len())
                .filter(|i| f(&events[*i].action))
                .collect()
        };
        Candidate {
            reads: pick(Action::is_load),
            writes: pick(Action::is_store),
            addresses_known: events
                .iter()
                .flat_map(|e| [e.action.address(), e.index])
                .all(|at| !matches!(at, Some(Term::Var(_)))),
            has_indices: events.iter().any(|e| e.index.is_some()),
            own_writes: false,
            paths,
            shifts,
            initial,
            local,
            events,
        }
    }

    /// The solver with the equations of the paths; none when they contradict each other.
    fn solver(&self) -> Option<Solver> {
        let mut equations = Vec::new();
        let mut vars = 0;
        for (prepared, by) in self.paths.iter().zip(&self.shifts) {
            let path = &prepared.path;
            equations.extend(path.equations.iter().map(|e| Equation {
                var: e.var + by,
                op: e.op,
                a: shift(e.a, *by),
                b: shift(e.b, *by),
            }));
            vars = by + path.vars;
        }
        let mut solver = Solver::new(vars, equations);
        for (prepared, by) in self.paths.iter().zip(&self.shifts) {
            for (a, b) in &prepared.path.equal {
                if !solver.unify(shift(*a, *by), shift(*b, *by)) {
                    return None;
                }
            }
        }
        solver.propagate().then_some(solver)
    }

    /// Visits every choice of reads-from whose values agree. Returns true if in one of them an operation
    /// has no result.
    pub fn choices(&self, visit: &mut dyn Visitor) -> bool {
        if self.paths.iter().any(|p| p.path.no_result) {
            return true;
        }
        let Some(mut solver) = self.solver() else {
            return false;
        };
        let mut search = Search {
            candidate: self,
            left: self.reads.clone(),
            rf: Vec::with_capacity(self.reads.len()),
            no_result: false,
        };
        search.next(&mut solver, visit);
        search.no_result
    }

    /// The write depends on the read inside one instruction.
    pub fn self_caused(&self, read: EventId, write: EventId) -> bool {
        let (r, w) = (&self.events[read], &self.events[write]);
        r.thread == w.thread
            && r.instance == w.instance
            && r.thread
                .is_some_and(|t| self.paths[t].order.iico.contains(r.id, w.id))
    }
}

struct Search<'c, 'p> {
    candidate: &'c Candidate<'p>,
    left: Vec<EventId>,
    rf: Vec<(EventId, EventId)>,
    no_result: bool,
}

impl Search<'_, '_> {
    fn next(&mut self, solver: &mut Solver, visit: &mut dyn Visitor) -> SearchControl {
        let c = self.candidate;
        if self.left.is_empty() {
            let known = || {
                let terms = c.events.iter().filter_map(|e| e.action.address());
                terms.map(|at| solver.known(at))
            };
            let addresses = known().all(|at| matches!(at, Some(Value::Address(_))));
            if let Some(code) = known().flatten().find(|at| matches!(at, Value::Code(_))) {
                return visit.unmatched(code);
            }
            if !solver.all_solved() || !addresses {
                self.no_result |= solver.lacks_result();
                return SearchControl::Continue;
            }
            return visit.complete(Chosen {
                solver,
                rf: &self.rf,
            });
        }
        let so_far = Chosen {
            solver,
            rf: &self.rf,
        };
        match visit.partial(so_far) {
            SearchControl::Continue => {}
            other => return other,
        }
        let address_of = |r: &EventId| {
            c.events[*r]
                .action
                .address()
                .and_then(|at| solver.known(at))
        };
        let at = self
            .left
            .iter()
            .position(|r| address_of(r).is_some())
            .unwrap_or(0);
        let read = self.left.swap_remove(at);
        let action = c.events[read].action;
        let (Some(address), Some(value)) = (action.address(), action.read()) else {
            return SearchControl::Continue;
        };
        let mut unmatched = true;
        for write in &c.writes {
            let (Some(target), Some(stored)) = (
                c.events[*write].action.address(),
                c.events[*write].action.written(),
            ) else {
                continue;
            };
            if read == *write || c.self_caused(read, *write) && !c.own_writes {
                continue;
            }
            let mark = solver.mark();
            unmatched &= solver.known(address) != solver.known(target);
            if solver.unify(address, target) && solver.unify(value, stored) && solver.propagate() {
                self.rf.push((*write, read));
                let go = self.next(solver, visit);
                self.rf.pop();
                if go == SearchControl::Stop {
                    return SearchControl::Stop;
                }
            }
            solver.undo(mark);
        }
        if let (true, Some(address)) = (unmatched, solver.known(address)) {
            if visit.unmatched(address) == SearchControl::Stop {
                return SearchControl::Stop;
            }
        }
        self.left.push(read);
        let last = self.left.len() - 1;
        self.left.swap(at, last);
        SearchControl::Continue
    }
}
