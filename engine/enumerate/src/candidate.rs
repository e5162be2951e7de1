//! One path a thread, put together: the events a model sees and all choices of reads-from
//! whose values agree.

use super::event::{Act, Equation, Id, Operand};
use super::prepared::Prepared;
use super::solver::Solver;
use litmus::value::{Address, Value};

/// Index of an event in its candidate: initial writes first, then thread by thread.
pub type Index = usize;

#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// None for an initial write.
    pub thread: Option<usize>,
    /// The event in its path.
    pub id: Id,
    /// With operands of the candidate.
    pub act: Act,
    pub tags: u64,
    pub instance: u32,
    /// The bits of an access of memory, where its instruction says.
    pub size: Option<i64>,
}

/// The events of a choice of paths.
pub struct Candidate<'p> {
    pub paths: Vec<&'p Prepared>,
    pub events: Vec<Seen>,
    /// What to add to a thread's variables.
    pub shifts: Vec<u32>,
    pub initial: usize,
    pub reads: Vec<Index>,
    pub writes: Vec<Index>,
    /// The addresses of all events are known whatever is read from where.
    pub placed: bool,
    /// `local[thread][id]`, for events that are seen.
    pub local: Vec<Vec<Option<Index>>>,
}

/// A complete choice of reads-from.
pub struct Chosen<'c> {
    pub solver: &'c Solver,
    /// Of each read, in the order of `reads`.
    pub rf: &'c [(Index, Index)],
}

/// Looks at choices of reads-from as they are made.
pub trait Visitor {
    /// Whether the choices made so far may go on. Says nothing when it cannot know.
    fn may_go_on(&mut self, chosen: Chosen<'_>) -> Go;

    /// A complete choice whose values agree.
    fn complete(&mut self, chosen: Chosen<'_>) -> Go;

    /// A read of this place sees no write at all.
    fn unmatched(&mut self, _place: Value) -> Go {
        Go::On
    }
}

/// What a visitor says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Go {
    On,
    /// Not with these choices.
    Back,
    Stop,
}

pub fn shift(o: Operand, by: u32) -> Operand {
    match o {
        Operand::Var(v) => Operand::Var(v + by),
        known => known,
    }
}

fn shift_act(act: Act, by: u32) -> Act {
    let s = |o| shift(o, by);
    match act {
        Act::Read { at, value } => Act::Read {
            at: s(at),
            value: s(value),
        },
        Act::Write { at, value } => Act::Write {
            at: s(at),
            value: s(value),
        },
        Act::Update { at, read, written } => Act::Update {
            at: s(at),
            read: s(read),
            written: s(written),
        },
        Act::Lock { at } => Act::Lock { at: s(at) },
        Act::Unlock { at } => Act::Unlock { at: s(at) },
        other => other,
    }
}

impl<'p> Candidate<'p> {
    pub fn new(
        memory: impl ExactSizeIterator<Item = (Address, Value)>,
        initial_tags: u64,
        paths: Vec<&'p Prepared>,
    ) -> Candidate<'p> {
        let memory = memory.map(|(address, value)| Seen {
            thread: None,
            id: 0,
            act: Act::Write {
                at: Operand::Known(Value::Address(address)),
                value: Operand::Known(value),
            },
            tags: initial_tags,
            instance: 0,
            size: None,
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
                events.push(Seen {
                    thread: Some(thread),
                    id: *id,
                    act: shift_act(e.act, by),
                    tags: e.tags,
                    instance: e.instance,
                    size: e.size,
                });
            }
            local.push(map);
            by += prepared.path.vars;
        }
        let pick = |f: fn(&Act) -> bool| (0..events.len()).filter(|i| f(&events[*i].act)).collect();
        Candidate {
            reads: pick(Act::is_load),
            writes: pick(Act::is_store),
            placed: events
                .iter()
                .filter_map(|e| e.act.address())
                .all(|at| matches!(at, Operand::Known(_))),
            paths,
            shifts,
            initial,
            local,
            events,
        }
    }

    /// The solver with what the paths require; none when they contradict one another.
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

    /// Visits every choice of reads-from whose values agree. True when an operation without a
    /// result was met.
    pub fn choices(&self, visit: &mut dyn Visitor) -> bool {
        if self.paths.iter().any(|p| p.path.illegal) {
            return true;
        }
        let Some(mut solver) = self.solver() else {
            return false;
        };
        let mut search = Search {
            candidate: self,
            left: self.reads.clone(),
            rf: Vec::with_capacity(self.reads.len()),
        };
        search.next(&mut solver, visit);
        solver.illegal
    }

    /// The write is caused by the read inside one instruction, or is the read itself.
    fn self_caused(&self, read: Index, write: Index) -> bool {
        let (r, w) = (&self.events[read], &self.events[write]);
        read == write
            || r.thread == w.thread
                && r.instance == w.instance
                && r.thread
                    .is_some_and(|t| self.paths[t].order.iico.contains(r.id, w.id))
    }
}

struct Search<'c, 'p> {
    candidate: &'c Candidate<'p>,
    left: Vec<Index>,
    rf: Vec<(Index, Index)>,
}

impl Search<'_, '_> {
    fn next(&mut self, solver: &mut Solver, visit: &mut dyn Visitor) -> Go {
        let c = self.candidate;
        if self.left.is_empty() {
            let addresses = c
                .events
                .iter()
                .filter_map(|e| e.act.address())
                .all(|at| matches!(solver.known(at), Some(Value::Address(_))));
            if !solver.all_solved() || !addresses {
                return Go::On;
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
        match visit.may_go_on(so_far) {
            Go::On => {}
            other => return other,
        }
        let place = |r: &Index| c.events[*r].act.address().and_then(|at| solver.known(at));
        let at = self
            .left
            .iter()
            .position(|r| place(r).is_some())
            .unwrap_or(0);
        let read = self.left.swap_remove(at);
        let act = c.events[read].act;
        let (Some(address), Some(value)) = (act.address(), act.read()) else {
            return Go::On;
        };
        let mut unmatched = true;
        for write in &c.writes {
            let (Some(place), Some(stored)) = (
                c.events[*write].act.address(),
                c.events[*write].act.written(),
            ) else {
                continue;
            };
            if c.self_caused(read, *write) {
                continue;
            }
            let mark = solver.mark();
            unmatched &= solver.known(address) != solver.known(place);
            if solver.unify(address, place) && solver.unify(value, stored) && solver.propagate() {
                self.rf.push((*write, read));
                let go = self.next(solver, visit);
                self.rf.pop();
                if go == Go::Stop {
                    return Go::Stop;
                }
            }
            solver.undo(mark);
        }
        if let (true, Some(place)) = (unmatched, solver.known(address)) {
            if visit.unmatched(place) == Go::Stop {
                return Go::Stop;
            }
        }
        self.left.push(read);
        let last = self.left.len() - 1;
        self.left.swap(at, last);
        Go::On
    }
}
