//! Random programs, with everything that the search treats in a way of its own: all atomic accesses and
//! fences, plain ones, loops that wait, also within one another, retry and undo, locks, reader-writer locks,
//! condition variables, barriers, futexes, allocation, calls through pointers, threads that behave alike,
//! joins in any order, accesses of halves.
use crate::dice::Dice;

pub type Order = &'static str;

const LOADS: [Order; 4] = ["monotonic", "monotonic", "acquire", "seq_cst"];
const STORES: [Order; 4] = ["monotonic", "monotonic", "release", "seq_cst"];
const UPDATES: [Order; 6] = [
    "monotonic",
    "monotonic",
    "acquire",
    "release",
    "acq_rel",
    "seq_cst",
];
const FENCES: [Order; 5] = ["acquire", "release", "acq_rel", "seq_cst", "seq_cst"];
const PLACES: [&str; 4] = ["x", "x", "y", "z"];
/// The halves of x, and x.
const PARTS: [&str; 4] = ["xl", "xh", "xh", "x"];

#[derive(Clone, Debug)]
pub enum Value {
    Constant(u64),
    /// What the thread has read last, plus this.
    Last(u64),
}

#[derive(Clone, Debug)]
pub enum Op {
    Load(&'static str, Order),
    /// The same, of an address that is computed from what the thread has read last.
    Follow(&'static str, Order),
    Store(&'static str, Value, Order),
    Update(&'static str, &'static str, Value, Order),
    Exchange {
        at: &'static str,
        from: u64,
        to: Value,
        order: Order,
        weak: bool,
    },
    Fence(Order),
    PlainLoad(&'static str),
    /// A plain load whose value is not used.
    Peek(&'static str),
    /// Sets a bit of a number, which nothing uses.
    Mark(Order),
    PlainStore(&'static str, Value),
    If {
        equal: u64,
        then: Vec<Op>,
        otherwise: Vec<Op>,
    },
    Repeat(u64, Vec<Op>),
    /// Does this, and forgets what the thread has read meanwhile.
    Forget(Vec<Op>),
    /// Reads until the value compares so.
    Await {
        at: &'static str,
        test: &'static str,
        with: u64,
        order: Order,
        round: Vec<Op>,
    },
    /// Reads until the value is this, so many times at most, and adds 3 if it never was. `late`: rounds
    /// are counted after the read, and the last value is seen. `peeks`: at the end of a round, at p.
    /// `exchange`: and then exchanges it with this one, perhaps by a weak compare-exchange; reads again if
    /// that fails.
    Look {
        at: &'static str,
        equal: u64,
        order: Order,
        rounds: u64,
        late: bool,
        peeks: bool,
        exchange: Option<(u64, bool)>,
    },
    /// The same of two locations: both, or one.
    AwaitTwo {
        at: [&'static str; 2],
        with: [u64; 2],
        order: Order,
        both: bool,
    },
    /// Updates until the old value is another.
    AwaitUpdate {
        at: &'static str,
        update: &'static str,
        value: u64,
        not: u64,
        order: Order,
    },
    /// Tries to exchange until it succeeds, and does this before each attempt. `late`: but the first.
    AwaitExchange {
        at: &'static str,
        from: u64,
        to: u64,
        order: Order,
        weak: bool,
        late: bool,
        round: Vec<Op>,
    },
    /// Adds one to what it reads; reads again if that has changed, or takes what the exchange has read.
    Retry {
        at: &'static str,
        order: Order,
        weak: bool,
        again: bool,
    },
    /// Adds until the old value is less than this, and undoes what it has added.
    Undo {
        at: &'static str,
        most: u64,
        order: Order,
    },
    Spin {
        order: Order,
        free: Order,
        section: Vec<Op>,
    },
    Lock(&'static str, Vec<Op>),
    TryLock(&'static str, Vec<Op>),
    /// What a reader, or a writer, does while it holds the reader-writer lock.
    Shared {
        writes: bool,
        section: Vec<Op>,
    },
    WaitForCondition,
    Signal {
        all: bool,
    },
    Barrier,
    /// Sleeps while the value is this.
    Sleep {
        at: &'static str,
        equal: u64,
        order: Order,
    },
    /// Wakes one thread that sleeps there, or all.
    Wake {
        at: &'static str,
        all: bool,
    },
    /// Allocates, writes, and stores the address.
    Publish(Order),
    /// Reads what is at the address, if there is one.
    Use(Order),
    /// Takes the address, and frees what is there.
    Release(Order),
    /// Adds to the thread's element of an array, and reads that of the next thread.
    Element(Order),
    /// Runs a function once in the process; the function stores to x and p.
    Once,
    /// Stores to a local variable whose address other threads get, and reads what they left there.
    Lend(Order),
    /// Writes through the address of another thread's local variable.
    Borrow(Order),
    /// Stores the address of one of the functions.
    Point(usize, Order),
    /// Calls the function at the address, if there is one.
    Call(Order),
    /// Fails if the last value is this.
    Assert(u64),
}

#[derive(Clone, Debug)]
pub struct Threads {
    /// What threads do.
    pub bodies: Vec<Vec<Op>>,
    /// What functions do that are called through a pointer.
    pub functions: Vec<Vec<Op>>,
    /// Which of `bodies` each thread does.
    pub starts: Vec<usize>,
    /// The order of joins.
    pub joins: Vec<usize>,
    pub main: Vec<Op>,
}

struct Random<'d> {
    dice: &'d mut Dice,
    style: u64,
    /// Accesses of several sizes overlap.
    mixed: bool,
}

impl Random<'_> {
    fn place(&mut self) -> &'static str {
        match self.mixed && self.dice.below(3) > 0 {
            true => self.dice.one(&PARTS),
            false => self.dice.one(&PLACES),
        }
    }

    fn value(&mut self) -> Value {
        match self.dice.below(4) {
            0 => Value::Last(self.dice.below(2)),
            _ => Value::Constant(1 + self.dice.below(2)),
        }
    }

    fn ops(&mut self, most: u64, depth: u32) -> Vec<Op> {
        (0..1 + self.dice.below(most))
            .map(|_| self.op(depth))
            .collect()
    }

    fn op(&mut self, depth: u32) -> Op {
        let (at, value, dice) = (self.place(), self.value(), &mut *self.dice);
        let with = dice.below(3);
        match dice.below(20) {
            0..=9 if self.style / 2 == 5 && depth == 0 => self.shared(),
            0..=3 if dice.happens(8) => Op::Follow(at, dice.one(&LOADS)),
            0..=3 => Op::Load(at, dice.one(&LOADS)),
            4..=7 => Op::Store(at, value, dice.one(&STORES)),
            8..=9 => {
                let update = dice.one(&["add", "add", "xchg", "or", "sub", "and"]);
                Op::Update(at, update, value, dice.one(&UPDATES))
            }
            10 => Op::Exchange {
                at,
                from: with,
                to: value,
                order: dice.one(&UPDATES),
                weak: dice.happens(3),
            },
            11 => Op::Fence(dice.one(&FENCES)),
            12 if self.mixed && dice.happens(4) => Op::PlainLoad(at),
            12 if self.style % 2 == 0 && dice.happens(6) => {
                Op::PlainLoad(dice.one(&[at, "spin", "mark"]))
            }
            12 if self.style % 2 == 0 => Op::PlainLoad(dice.one(&["p", "q"])),
            13 if self.style % 2 == 0 => Op::PlainStore(dice.one(&["p", "q"]), value),
            14 if dice.happens(3) => Op::Assert(with),
            12..=14 if depth < 2 => {
                let then = self.ops(2, depth + 1);
                let otherwise = if self.dice.happens(3) {
                    self.ops(1, depth + 1)
                } else {
                    Vec::new()
                };
                Op::If {
                    equal: with,
                    then,
                    otherwise,
                }
            }
            _ if depth < 2 => self.special(depth),
            _ => Op::Load(at, dice.one(&LOADS)),
        }
    }

    /// A reader reads one or two locations, and mostly looks at what it has read; a writer writes them.
    fn shared(&mut self) -> Op {
        let writes = self.dice.happens(2);
        let plain = self.style % 2 == 0 || self.dice.happens(2);
        let mut section = Vec::new();
        for _ in 0..1 + self.dice.below(2) {
            let at = self.dice.one(if plain { &["p", "q"] } else { &["x", "y"] });
            section.push(match (writes, plain) {
                (false, true) => Op::PlainLoad(at),
                (false, false) => Op::Load(at, self.dice.one(&LOADS)),
                (true, true) => Op::PlainStore(at, self.value()),
                (true, false) => Op::Store(at, self.value(), self.dice.one(&STORES)),
            });
        }
        match self.dice.below(6) {
            0 => section.push(Op::Assert(self.dice.below(3))),
            1 => section.push(self.op(2)),
            _ => {}
        }
        Op::Shared { writes, section }
    }

    /// A round of a loop: it changes what the thread has read, or comes back to the same state.
    fn round(&mut self, most: u64, depth: u32) -> Vec<Op> {
        let ops = self.ops(most, depth);
        match self.dice.happens(2) {
            true => vec![Op::Forget(ops)],
            false => ops,
        }
    }

    /// A store, and a round of a loop that mostly stores the same there again.
    fn rewrites(&mut self) -> (Op, Vec<Op>) {
        let (at, number) = (self.place(), 1 + self.dice.below(2));
        let orders = match self.dice.happens(3) {
            true => [self.dice.one(&STORES), self.dice.one(&STORES)],
            false => [self.dice.one(&STORES); 2],
        };
        let [first, again] = orders.map(|order| Op::Store(at, Value::Constant(number), order));
        let peek = match self.style % 2 == 0 {
            true => self.dice.one(&["p", "p", "q"]),
            false => at,
        };
        let round = match self.dice.below(4) {
            0 => vec![Op::Peek(peek)],
            1 => vec![Op::Peek(peek), again],
            _ => vec![again],
        };
        (first, round)
    }

    /// The ends of two threads: one tries until it passes a value on, the other does something once it has
    /// read that.
    fn passes_on(&mut self) -> [Vec<Op>; 2] {
        let (before, round) = self.rewrites();
        let dice = &mut *self.dice;
        let (at, to) = (dice.one(&PLACES), 1 + dice.below(2));
        let tries = Op::AwaitExchange {
            at,
            from: 0,
            to,
            order: dice.one(&UPDATES),
            weak: true,
            late: dice.happens(2),
            round,
        };
        let reads = Op::Load(at, dice.one(&LOADS));
        let chases = Op::If {
            equal: to,
            then: vec![match dice.happens(2) {
                true => Op::PlainStore(dice.one(&["p", "p", "q"]), Value::Constant(1)),
                false => self.op(2),
            }],
            otherwise: Vec::new(),
        };
        [vec![before, tries], vec![reads, chases]]
    }

    fn special(&mut self, depth: u32) -> Op {
        let (at, dice) = (self.place(), &mut *self.dice);
        let with = dice.below(3);
        match (self.style / 2, dice.below(12)) {
            (0, 0..=3) => {
                let order = dice.one(&LOADS);
                let test = dice.one(&["ne", "eq", "ult"]);
                let (before, round) = match self.dice.below(6) {
                    0..=1 => (None, self.round(1, 2)),
                    2 => (None, self.round(2, 1)),
                    3 => (None, vec![Op::Mark(self.dice.one(&UPDATES))]),
                    4 => {
                        let (first, round) = self.rewrites();
                        (Some(first), round)
                    }
                    _ => (None, Vec::new()),
                };
                let awaits = Op::Await {
                    at,
                    test,
                    with,
                    order,
                    round,
                };
                Op::Repeat(1, before.into_iter().chain([awaits]).collect())
            }
            (0, 4) => {
                let at = [at, dice.one(&PLACES)];
                let with = [with, dice.below(2)];
                Op::AwaitTwo {
                    at,
                    with,
                    order: dice.one(&LOADS),
                    both: dice.happens(2),
                }
            }
            (0, 5) => {
                let update = dice.one(&["or", "add", "xchg"]);
                let value = if update == "xchg" { 1 } else { 0 };
                Op::AwaitUpdate {
                    at,
                    update,
                    value,
                    not: dice.below(2),
                    order: dice.one(&UPDATES),
                }
            }
            (0, 6) => {
                let (to, order) = (1 + dice.below(2), dice.one(&UPDATES));
                let (weak, late) = (dice.happens(2), dice.happens(2));
                let (before, round) = match self.dice.below(6) {
                    0..=1 => (None, self.round(1, 2)),
                    2 => (None, vec![Op::Mark(self.dice.one(&UPDATES))]),
                    3..=4 => {
                        let (first, round) = self.rewrites();
                        (Some(first), round)
                    }
                    _ => (None, Vec::new()),
                };
                let tries = Op::AwaitExchange {
                    at,
                    from: with,
                    to,
                    order,
                    weak,
                    late,
                    round,
                };
                Op::Repeat(1, before.into_iter().chain([tries]).collect())
            }
            (0 | 1 | 3 | 4, 11) => Op::Look {
                at,
                equal: with,
                order: dice.one(&LOADS),
                rounds: 1 + dice.below(4),
                late: dice.happens(2),
                peeks: dice.happens(4),
                exchange: match dice.below(4) {
                    0 => Some((1 + dice.below(2), dice.happens(4))),
                    _ => None,
                },
            },
            (0 | 1, 7) | (1, 0..=1) => {
                let order = dice.one(&UPDATES);
                Op::Retry {
                    at,
                    order,
                    weak: dice.happens(2),
                    again: dice.happens(2),
                }
            }
            (1, 2..=3) => Op::Undo {
                at,
                most: 1 + dice.below(2),
                order: dice.one(&UPDATES),
            },
            (0 | 1, 8) | (1, 4) => {
                let (order, free) = (dice.one(&UPDATES), dice.one(&STORES));
                Op::Spin {
                    order,
                    free,
                    section: self.ops(2, 2),
                }
            }
            (2, 0..=4) => {
                let mutex = dice.one(&["m", "m", "n"]);
                Op::Lock(mutex, self.ops(2, depth + 1))
            }
            (2, 5) => {
                let mutex = dice.one(&["m", "n"]);
                Op::TryLock(mutex, self.ops(2, depth + 1))
            }
            (2, 6) if depth == 0 => Op::WaitForCondition,
            (2, 7..=8) if depth == 0 => Op::Signal {
                all: dice.happens(2),
            },
            (3, 0..=2) => Op::Publish(dice.one(&STORES)),
            (3, 3..=5) => Op::Use(dice.one(&LOADS)),
            (3, 6..=7) => Op::Release(dice.one(&UPDATES)),
            (1, 5..=6) | (2, 10) => Op::Element(dice.one(&UPDATES)),
            (2, 11) => Op::Once,
            (3, 8) => Op::Lend(dice.one(&STORES)),
            (3, 10) => Op::Borrow(dice.one(&LOADS)),
            (4, 0..=2) => Op::Sleep {
                at,
                equal: dice.below(2),
                order: dice.one(&LOADS),
            },
            (4, 3..=5) => Op::Wake {
                at,
                all: dice.happens(2),
            },
            (4, 6..=7) => Op::Call(dice.one(&LOADS)),
            (4, 8 | 10) => Op::Point(dice.below(2) as usize, dice.one(&STORES)),
            (_, 9) => Op::Repeat(2, self.ops(1, 2)),
            _ => Op::Load(at, dice.one(&LOADS)),
        }
    }
}

impl Threads {
    /// The program of a seed.
    pub fn random(seed: u64) -> Threads {
        Threads::drawn(seed, false)
    }

    /// One whose last two threads, at least, behave alike.
    pub fn alike(seed: u64) -> Threads {
        Threads::drawn(seed, true)
    }

    fn drawn(seed: u64, always_alike: bool) -> Threads {
        let dice = &mut Dice::new(seed + 1);
        dice.below(2);
        let style = dice.below(12);
        let count = dice.one(&[2, 2, 3]) as usize;
        let alike = dice.happens(4) || always_alike;
        let meets = dice.happens(6);
        let mixed = dice.happens(6);
        let mut random = Random { dice, style, mixed };
        let mut bodies = Vec::new();
        for _ in 0..if alike { count - 1 } else { count } {
            let most = match (style / 2, count) {
                (5, 3) => 1,
                (5, _) => 2, // each section has four events of the lock
                (_, 2) => 4,
                _ => 3,
            };
            let mut ops = random.ops(most, 0);
            if meets {
                let at = random.dice.below(ops.len() as u64 + 1) as usize;
                ops.insert(at, Op::Barrier);
            }
            bodies.push(ops);
        }
        let main = if random.dice.happens(4) {
            random.ops(1, 0)
        } else {
            Vec::new()
        };
        let starts = (0..count)
            .map(|thread| thread.min(bodies.len() - 1))
            .collect();
        let mut joins: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            joins.swap(last, random.dice.below(last as u64 + 1) as usize);
        }
        if bodies.len() > 1 && random.dice.happens(4) {
            for (body, end) in bodies.iter_mut().zip(random.passes_on()) {
                body.truncate(1);
                body.extend(end);
            }
        }
        let functions = match style / 2 {
            4 => vec![random.ops(2, 2), random.ops(2, 2)],
            _ => Vec::new(),
        };
        Threads {
            bodies,
            functions,
            starts,
            joins,
            main,
        }
    }

    /// Programs with an operation, or a thread, less.
    pub fn smaller(&self) -> Vec<Threads> {
        let mut all = Vec::new();
        if self.starts.len() > 1 {
            for thread in 0..self.starts.len() {
                let mut less = self.clone();
                less.starts.remove(thread);
                less.joins.retain(|join| *join != thread);
                less.joins
                    .iter_mut()
                    .filter(|join| **join > thread)
                    .for_each(|join| *join -= 1);
                all.push(less);
            }
        }
        for ops in smaller(&self.main) {
            all.push(Threads {
                main: ops,
                ..self.clone()
            });
        }
        for (number, body) in self.functions.iter().enumerate() {
            for ops in smaller(body) {
                let mut less = self.clone();
                less.functions[number] = ops;
                all.push(less);
            }
        }
        for (number, body) in self.bodies.iter().enumerate() {
            for ops in smaller(body) {
                let mut less = self.clone();
                less.bodies[number] = ops;
                all.push(less);
            }
        }
        all
    }
}

fn smaller(ops: &[Op]) -> Vec<Vec<Op>> {
    let mut all = Vec::new();
    for (at, op) in ops.iter().enumerate() {
        let mut with = |new: Vec<Op>| {
            let mut less = ops.to_vec();
            less.splice(at..=at, new);
            all.push(less);
        };
        with(Vec::new());
        match op {
            Op::If {
                equal,
                then,
                otherwise,
            } => {
                with(then.clone());
                for then in smaller(then) {
                    with(vec![Op::If {
                        equal: *equal,
                        then,
                        otherwise: otherwise.clone(),
                    }]);
                }
                for otherwise in smaller(otherwise) {
                    with(vec![Op::If {
                        equal: *equal,
                        then: then.clone(),
                        otherwise,
                    }]);
                }
            }
            Op::Forget(ops) => {
                with(ops.clone());
                smaller(ops)
                    .into_iter()
                    .for_each(|ops| with(vec![Op::Forget(ops)]));
            }
            Op::Repeat(count, round) => {
                with(round.clone());
                smaller(round)
                    .into_iter()
                    .for_each(|round| with(vec![Op::Repeat(*count, round)]));
            }
            Op::Await {
                at,
                test,
                with: value,
                order,
                round,
            } => {
                let (at, test, value, order) = (*at, *test, *value, *order);
                for round in smaller(round) {
                    with(vec![Op::Await {
                        at,
                        test,
                        with: value,
                        order,
                        round,
                    }]);
                }
            }
            Op::AwaitExchange {
                at,
                from,
                to,
                order,
                weak,
                late,
                round,
            } => {
                let (at, from, to, order, weak) = (*at, *from, *to, *order, *weak);
                for round in smaller(round) {
                    with(vec![Op::AwaitExchange {
                        at,
                        from,
                        to,
                        order,
                        weak,
                        late: *late,
                        round,
                    }]);
                }
            }
            Op::Spin {
                order,
                free,
                section,
            } => {
                let (order, free) = (*order, *free);
                for section in smaller(section) {
                    with(vec![Op::Spin {
                        order,
                        free,
                        section,
                    }]);
                }
            }
            Op::Lock(mutex, section) => {
                with(section.clone());
                smaller(section)
                    .into_iter()
                    .for_each(|ops| with(vec![Op::Lock(mutex, ops)]));
            }
            Op::Shared { writes, section } => {
                with(section.clone());
                smaller(section).into_iter().for_each(|section| {
                    with(vec![Op::Shared {
                        writes: *writes,
                        section,
                    }]);
                });
            }
            Op::TryLock(mutex, section) => {
                smaller(section)
                    .into_iter()
                    .for_each(|ops| with(vec![Op::TryLock(mutex, ops)]));
            }
            _ => {}
        }
    }
    all
}
