//! Small random programs: loads, stores, read-modify-writes, fences, locks, loops, pointers.
use crate::dice::Dice;
use explore::{
    Action, Answer, Dependencies, EventLabel, Fault, FaultKind, Initial, Location, Next, Source,
    ThreadId, Wait,
};
use program::ir::Order;

/// What a thread does; a location is its number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Do {
    Load(u64, Order),
    /// Of a location whose number the thread read last.
    Follow(Order),
    Store(u64, u64, Order),
    /// What was read last, and one.
    StoreNext(u64, Order),
    Add(u64, Order),
    /// From, to; weak ones may fail for no reason.
    Cas(u64, u64, u64, Order, bool),
    Fence(Order),
    Lock(u64),
    Unlock(u64),
    /// Waits until the location holds the value.
    Await(u64, u64, Order),
    /// Goes back so many steps, once, when the last value read is 0.
    Again(usize),
    /// Leaves the next out when the last value read is not 0.
    Skip,
    Create(ThreadId),
    Join(ThreadId),
    /// An object of one location.
    Allocate(u64),
    Free(u64),
    /// An error when the last value read is this one.
    Forbid(u64),
}

#[derive(Clone, Debug)]
pub struct Program {
    pub threads: Vec<Vec<Do>>,
}

#[derive(Clone, Debug)]
pub struct SuspendedThread {
    thread: ThreadId,
    at: usize,
    /// How far it is with a step of several events.
    part: u8,
    read: u64,
    rounds: u8,
}

const READS: [Order; 4] = [Order::Rlx, Order::Acq, Order::Sc, Order::Na];
const WRITES: [Order; 4] = [Order::Rlx, Order::Rel, Order::Sc, Order::Na];
const BOTH: [Order; 5] = [Order::Rlx, Order::Acq, Order::Rel, Order::AcqRel, Order::Sc];

/// Locks are locations apart.
const LOCKS: u64 = 8;

/// From here on nothing is there that is not allocated.
pub const HEAP: u64 = 100;

impl Program {
    /// This program with light and heavy fences instead of its fences and updates.
    pub fn with_asymmetric_fences(mut self) -> Program {
        for step in self.threads.iter_mut().flatten() {
            match step {
                Do::Fence(Order::Acq | Order::Rel) | Do::Add(..) => *step = Do::Fence(Order::Light),
                Do::Fence(_) | Do::Cas(..) => *step = Do::Fence(Order::Heavy),
                _ => {}
            }
        }
        self
    }

    /// Threads of few events, which main starts after an event of its own, or at once.
    pub fn random(seed: u64) -> Program {
        let mut dice = Dice::new(seed);
        let count = 2 + dice.below(2) as usize;
        let mut budget = 7;
        let mut threads = vec![Vec::new()];
        for _ in 0..count {
            let mut code = Vec::new();
            let len = 1 + dice.below(4);
            for _ in 0..len {
                if budget == 0 {
                    break;
                }
                budget -= 1;
                code.push(step(&mut dice, code.len()));
            }
            if dice.happens(6) {
                let lock = LOCKS + dice.below(2);
                code.insert(0, Do::Lock(lock));
                if dice.below(8) > 0 {
                    code.push(Do::Unlock(lock));
                }
                budget = budget.min(3);
            }
            threads.push(code);
        }
        let with_main = dice.happens(4);
        if with_main {
            threads[0].push(Do::Store(dice.below(2), 3, Order::Na));
        }
        for thread in 1..=count {
            threads[0].push(Do::Create(thread));
        }
        if with_main {
            threads[0].extend((1..=count).map(Do::Join));
            threads[0].push(Do::Load(dice.below(2), Order::Na));
        }
        Program { threads }
    }
}

impl Program {
    /// Threads that take locks, some inside others, and may forget to give them back.
    pub fn of_locks(seed: u64) -> Program {
        let mut dice = Dice::new(seed);
        let count = 2 + dice.below(2) as usize;
        let mut threads = vec![(1..=count).map(Do::Create).collect::<Vec<_>>()];
        for _ in 0..count {
            let mut code = Vec::new();
            for _ in 0..1 + dice.below(4 - count as u64) {
                let (outer, inner) = (LOCKS + dice.below(2), LOCKS + dice.below(2));
                code.push(Do::Lock(outer));
                match dice.below(3) {
                    0 if inner != outer => code.extend([Do::Lock(inner), Do::Unlock(inner)]),
                    1 => code.push(Do::Add(0, dice.one(&BOTH))),
                    _ => code.push(access(&mut dice)),
                }
                if dice.below(8) > 0 {
                    code.push(Do::Unlock(outer));
                }
                if dice.happens(3) {
                    code.push(access(&mut dice));
                }
            }
            threads.push(code);
        }
        Program { threads }
    }
}

impl Program {
    /// Some threads that behave alike, and sometimes one that does not; with locks and without.
    pub fn of_twins(seed: u64) -> Program {
        let mut dice = Dice::new(seed);
        let count = 2 + dice.below(3) as usize;
        let len = 1 + dice.below([0, 0, 4, 2, 1][count]);
        let mut code = Vec::new();
        for _ in 0..len {
            // no loops of many threads, which have too many executions
            let before = if count == 2 { code.len() } else { 0 };
            code.push(step(&mut dice, before));
        }
        if dice.happens(4) {
            code.truncate(2);
            code.insert(0, Do::Lock(LOCKS));
            code.push(Do::Unlock(LOCKS));
        }
        let mut threads = vec![Vec::new()];
        if dice.happens(2) {
            let other = (0..1 + dice.below(2)).map(|_| access(&mut dice));
            threads.push(other.collect());
        }
        threads.extend((0..count).map(|_| code.clone()));
        if dice.happens(4) {
            let last = vec![access(&mut dice)];
            threads.push(last);
        }
        let started = threads.len();
        if dice.happens(3) {
            let event = access(&mut dice);
            threads[0].push(event);
        }
        threads[0].extend((1..started).map(Do::Create));
        match dice.below(3) {
            0 => threads[0].push(access(&mut dice)),
            1 => {
                threads[0].extend((1..started).map(Do::Join));
                threads[0].push(Do::Load(dice.below(2), Order::Na));
            }
            _ => {}
        }
        Program { threads }
    }
}

/// A step of a thread; a thread only releases a lock that it has taken.
fn access(dice: &mut Dice) -> Do {
    match step(dice, 0) {
        Do::Skip => access(dice),
        step => step,
    }
}

fn step(dice: &mut Dice, before: usize) -> Do {
    let at = dice.below(2);
    match dice.below(16) {
        0..=3 => Do::Load(at, dice.one(&READS)),
        4..=7 => Do::Store(at, 1 + dice.below(2), dice.one(&WRITES)),
        8 => Do::StoreNext(at, dice.one(&WRITES)),
        9 => Do::Add(at, dice.one(&BOTH)),
        10 => Do::Cas(at, dice.below(2), 2, dice.one(&BOTH), dice.happens(2)),
        11 => Do::Fence(dice.one(&[Order::Acq, Order::Rel, Order::AcqRel, Order::Sc])),
        12 => Do::Await(at, 1 + dice.below(2), dice.one(&[Order::Rlx, Order::Acq])),
        13 => Do::Follow(dice.one(&READS)),
        14 if before > 0 => Do::Again(1),
        _ => Do::Skip,
    }
}

fn location(number: u64) -> Location {
    Location {
        address: 0x1000 + 8 * number,
        size: 8,
    }
}

impl SuspendedThread {
    fn done(&mut self) {
        self.at += 1;
        self.part = 0;
    }
}

impl Source for Program {
    type Thread = SuspendedThread;

    fn main(&self) -> SuspendedThread {
        SuspendedThread {
            thread: 0,
            at: 0,
            part: 0,
            read: 0,
            rounds: 0,
        }
    }

    fn created(&self, _: &SuspendedThread, thread: ThreadId) -> SuspendedThread {
        SuspendedThread {
            thread,
            ..self.main()
        }
    }

    fn next(&self, t: &mut SuspendedThread) -> Next {
        loop {
            let Some(step) = self.threads[t.thread].get(t.at) else {
                return Next::Done(t.read);
            };
            let read = |number, order, rmw| Action::Read {
                at: location(number),
                order,
                rmw,
                uninitialised_ok: false,
                ignored: false,
            };
            let write = |number, value, order, rmw| Action::Write {
                at: location(number),
                order,
                value,
                rmw,
                undefined: 0,
            };
            let site = 16 * t.thread as u32 + t.at as u32;
            let part = t.part;
            t.part += 1;
            let action = match (*step, part) {
                (Do::Load(at, order), 0) => read(at, order, false),
                (Do::Follow(order), 0) => read(t.read % 2, order, false),
                (Do::Store(at, value, order), 0) => write(at, value, order, false),
                (Do::StoreNext(at, order), 0) => write(at, t.read + 1, order, false),
                (Do::Add(at, order), 0) => read(at, order, true),
                (Do::Add(at, order), 1) => write(at, t.read + 1, order, true),
                (Do::Cas(at, _, _, order, _), 0) => {
                    let failure = match order {
                        Order::Rel => Order::Rlx,
                        Order::AcqRel => Order::Acq,
                        order => order,
                    };
                    read(at, failure, true)
                }
                (Do::Cas(_, from, _, _, weak), 1) => match (t.read == from, weak) {
                    (false, _) => {
                        t.done();
                        continue;
                    }
                    (true, false) => continue,
                    (true, true) => Action::Choose { alternatives: 2 },
                },
                (Do::Cas(at, from, to, order, _), 2) if t.read == from => {
                    write(at, to, order, true)
                }
                (Do::Fence(order), 0) => Action::Fence { order },
                (Do::Lock(at), 0) => read(at, Order::Acq, true),
                (Do::Lock(at), 1) => match t.read {
                    0 => write(at, 1, Order::Acq, true),
                    _ => {
                        t.part = 1;
                        return Next::Blocked {
                            wait: Wait::Handover { what: "a lock" },
                            site,
                        };
                    }
                },
                (Do::Unlock(at), 0) => write(at, 0, Order::Rel, false),
                (Do::Await(at, _, order), 0) => read(at, order, false),
                (Do::Await(_, value, _), 1) if t.read != value => {
                    t.part = 1;
                    return Next::Blocked {
                        wait: Wait::Spin { reads: 1 },
                        site,
                    };
                }
                (Do::Again(back), _) => {
                    if t.read == 0 {
                        if t.rounds == 2 {
                            return Next::Truncated {
                                message: "a loop".to_owned(),
                                site: Some(site),
                                limit: "",
                                because: String::new(),
                            };
                        }
                        t.rounds += 1;
                        t.at -= back;
                        t.part = 0;
                    } else {
                        t.done();
                    }
                    continue;
                }
                (Do::Skip, _) => {
                    t.at += usize::from(t.read != 0);
                    t.done();
                    continue;
                }
                (Do::Create(thread), 0) => Action::Create { thread },
                (Do::Join(thread), 0) => Action::Join { thread },
                (Do::Allocate(number), 0) => Action::Allocate {
                    base: location(number).address,
                    size: 8,
                    zeroed: false,
                },
                (Do::Free(number), 0) => Action::Free {
                    base: location(number).address,
                },
                (Do::Forbid(value), _) if t.read == value => {
                    return Next::Fault(Fault {
                        kind: FaultKind::Assertion,
                        message: format!("{value} is read"),
                        site: Some(site),
                    })
                }
                _ => {
                    t.done();
                    continue;
                }
            };
            return Next::Event(EventLabel {
                action,
                site,
                dependencies: Dependencies::default(),
                continues: false,
            });
        }
    }

    fn are_symmetric(
        &self,
        one: (&SuspendedThread, ThreadId),
        other: (&SuspendedThread, ThreadId),
    ) -> bool {
        self.threads[one.1] == self.threads[other.1]
    }

    fn answer(&self, t: &mut SuspendedThread, Answer { value, .. }: Answer) {
        // the answer to the choice of a weak compare-exchange: whether it fails
        match (self.threads[t.thread][t.at], t.part) {
            (Do::Cas(_, from, ..), 2) => t.read = if value == 0 { from } else { from + 100 },
            (Do::Join(_), _) => {}
            _ => t.read = value,
        }
    }

    fn initial(&self, at: Location) -> Initial {
        match at.address < location(HEAP).address {
            true => Initial::Value(0),
            false => Initial::Outside,
        }
    }

    fn extent(&self, _: u64) -> Option<u64> {
        None
    }
}
