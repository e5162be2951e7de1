//! Small random programs whose threads get an element of an array each, as `&node[i]`, or a number;
//! most treat the elements alike, and some do not.
use crate::dice::Dice;
use explore::{
    Action, Answer, Dependencies, EventLabel, Fault, FaultKind, Initial, Location, Next, Source,
    ThreadId, Wait,
};
use program::ir::Order;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::Arc;

/// What a thread accesses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Spot {
    Shared(u64),
    /// The own element.
    Own,
    /// The element whose name was read last; a shared location if that was no name.
    Followed,
    /// The same element for all threads.
    Fixed(u64),
    /// The element after the own one.
    Next,
}

/// What a thread writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    Number(u64),
    /// The address of the own element.
    Name,
    /// That, with a bit in addition.
    Packed,
    /// What was read last.
    Read,
    ReadAndOne,
    /// Of the number of the own element.
    Parity,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Test {
    Zero,
    Name,
    OwnName,
    /// The name of an element before the own one.
    Less,
    /// The own element is the first, whatever was read.
    First,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    Load(Spot, Order),
    Store(Spot, Value, Order),
    Swap(Spot, Value, Order),
    /// Of 0.
    Take(Spot, Value, Order),
    /// Of the own name.
    GiveBack(Spot, Order),
    Await(Spot, Test, Order),
    Fence(Order),
    Choose,
    /// Leaves the next step out unless the test succeeds.
    If(Test),
    /// An error if the test succeeds.
    Forbid(Test),
    Create(ThreadId),
    Join(ThreadId),
}

/// What the elements contain at first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Filled {
    Zeros,
    OwnNames,
    NextNames,
    Numbers,
}

#[derive(Clone, Debug)]
pub struct Elements {
    pub threads: Vec<Vec<Step>>,
    /// The element that each thread gets; 0: none.
    pub arguments: Vec<u64>,
    pub filled: Filled,
    /// Threads were found to do different things.
    pub distinguished: Arc<AtomicBool>,
}

#[derive(Clone)]
pub struct Running {
    thread: ThreadId,
    at: usize,
    part: u8,
    read: u64,
    /// Where that was.
    last: u64,
}

/// Names are addresses of elements.
const FIRST: u64 = 0x8000;
const SIZE: u64 = 16;
const PACKED: u64 = 1;

fn location(address: u64) -> Location {
    Location { address, size: 8 }
}

const READS: [Order; 4] = [Order::Rlx, Order::Acq, Order::Sc, Order::Na];
const WRITES: [Order; 4] = [Order::Rlx, Order::Rel, Order::Sc, Order::Na];
const BOTH: [Order; 5] = [Order::Rlx, Order::Acq, Order::Rel, Order::AcqRel, Order::Sc];

impl Elements {
    pub fn random(seed: u64) -> Elements {
        let mut dice = Dice::new(seed);
        let count = 2 + dice.below(3) as usize;
        // what tells elements apart is in one of three programs
        let apart = dice.happens(3);
        let len = 1 + dice.below([0, 0, 4, 3, 2][count]);
        let code = steps(&mut dice, len, apart, true);
        let mut threads = vec![Vec::new()];
        let mut arguments = vec![0];
        if dice.happens(4) {
            threads.push(steps(&mut dice, 2, apart, false));
            arguments.push(0);
        }
        let mut numbers: Vec<u64> = (1..=count as u64).collect();
        for _ in 0..count {
            let number = numbers.remove(dice.below(numbers.len() as u64) as usize);
            threads.push(code.clone());
            arguments.push(number);
        }
        if dice.happens(4) {
            let len = 1 + dice.below(2);
            threads.push(steps(&mut dice, len, apart, false));
            arguments.push(0);
        }
        if count == 2 && dice.happens(4) {
            // threads that get nothing, and behave alike anyway
            let code = steps(&mut dice, 1, apart, false);
            for _ in 0..2 {
                threads.push(code.clone());
                arguments.push(0);
            }
        }
        let started = threads.len();
        if dice.happens(4) {
            let event = steps(&mut dice, 1, false, false);
            threads[0].extend(event);
        }
        for thread in 1..started {
            threads[0].push(Step::Create(thread));
            if apart && dice.happens(12) {
                threads[0].push(Step::Store(Spot::Shared(0), Value::Number(1), Order::Rlx));
            }
        }
        match dice.below(3) {
            0 => {
                let events = steps(&mut dice, 1, apart, false);
                threads[0].extend(events);
            }
            1 => {
                threads[0].extend((1..started).map(Step::Join));
                threads[0].push(Step::Load(Spot::Shared(dice.below(2)), Order::Na));
                let last = match dice.below(3) {
                    0 if apart => Step::Load(Spot::Fixed(1 + dice.below(2)), Order::Na),
                    1 => Step::Load(Spot::Followed, Order::Na),
                    _ => Step::Forbid(test(&mut dice, apart)),
                };
                threads[0].push(last);
            }
            _ => {}
        }
        let filled = match dice.below(6) {
            0 if apart => Filled::NextNames,
            1 if apart => Filled::Numbers,
            2 => Filled::OwnNames,
            _ => Filled::Zeros,
        };
        Elements {
            threads,
            arguments,
            filled,
            distinguished: Arc::default(),
        }
    }

    /// The threads that execute the same steps, one after the other, if these may be exchanged.
    pub fn classes(&self) -> Vec<Vec<ThreadId>> {
        let mut classes: Vec<Vec<ThreadId>> = Vec::new();
        let created = |thread: ThreadId| {
            let steps = self.threads[0].iter();
            let mut steps = steps.enumerate();
            let found = steps.find(|(_, step)| **step == Step::Create(thread));
            found.unwrap().0
        };
        // main reads nothing until it has created them
        let is_read = |step: &Step| {
            use Step::{Await, Choose, GiveBack, Load, Swap, Take};
            matches!(
                step,
                Load(..) | Swap(..) | Take(..) | GiveBack(..) | Await(..) | Choose
            )
        };
        let mut steps = self.threads[0].iter();
        let first_read = steps.position(is_read).unwrap_or(usize::MAX);
        for thread in 1..self.threads.len() {
            let like = |class: &&mut Vec<ThreadId>| {
                let last = class[class.len() - 1];
                let equal = self.arguments[last] == self.arguments[thread];
                let exchanged = !self.distinguished.load(Relaxed)
                    && self.arguments[last] != 0
                    && created(thread) < first_read;
                self.threads[last] == self.threads[thread]
                    && created(last) + 1 == created(thread)
                    && (equal || exchanged)
            };
            match classes.last_mut().filter(like) {
                Some(class) => class.push(thread),
                None => classes.push(vec![thread]),
            }
        }
        classes
    }

    fn address(&self, t: &Running, spot: Spot) -> u64 {
        let element = |number: u64| FIRST + SIZE * number;
        let count = self.arguments.iter().max().unwrap();
        match spot {
            Spot::Shared(number) => 0x1000 + 8 * number,
            Spot::Own => element(self.arguments[t.thread]),
            Spot::Followed if is_name(t.read) => t.read & !PACKED,
            Spot::Followed => 0x1000,
            Spot::Fixed(number) => element(number),
            Spot::Next => element(self.arguments[t.thread] % count + 1),
        }
    }

    fn value(&self, t: &Running, value: Value) -> u64 {
        let own = FIRST + SIZE * self.arguments[t.thread];
        match value {
            Value::Number(number) => number,
            Value::Name => own,
            Value::Packed => own | PACKED,
            Value::Read => t.read,
            Value::ReadAndOne => t.read + 1,
            Value::Parity => self.arguments[t.thread] % 2,
        }
    }

    fn succeeds(&self, t: &Running, test: Test) -> bool {
        let own = FIRST + SIZE * self.arguments[t.thread];
        match test {
            Test::Zero => t.read == 0,
            Test::Name => is_name(t.read),
            Test::OwnName => t.read == own,
            Test::Less => t.read < own,
            Test::First => self.arguments[t.thread] == 1,
        }
    }
}

fn is_name(value: u64) -> bool {
    (FIRST..FIRST + 16 * SIZE).contains(&value)
}

fn spot(dice: &mut Dice, apart: bool, own: bool) -> Spot {
    match dice.below(10) {
        0 if apart => Spot::Fixed(1 + dice.below(2)),
        1 if apart && own => Spot::Next,
        2..=4 if own => Spot::Own,
        5 | 6 => Spot::Followed,
        _ => Spot::Shared(dice.below(2)),
    }
}

fn value(dice: &mut Dice, apart: bool, own: bool) -> Value {
    match dice.below(10) {
        0 if apart && own => Value::Parity,
        1..=4 if own => Value::Name,
        5 if own => Value::Packed,
        6 => Value::Read,
        7 => Value::ReadAndOne,
        _ => Value::Number(dice.below(3)),
    }
}

fn test(dice: &mut Dice, apart: bool) -> Test {
    match dice.below(8) {
        0 if apart => Test::Less,
        1 if apart => Test::First,
        2 | 3 => Test::Name,
        4 | 5 => Test::OwnName,
        _ => Test::Zero,
    }
}

fn steps(dice: &mut Dice, len: u64, apart: bool, own: bool) -> Vec<Step> {
    let mut steps = Vec::new();
    while (steps.len() as u64) < len {
        let at = spot(dice, apart, own);
        let step = match dice.below(18) {
            0..=4 => Step::Load(at, dice.one(&READS)),
            5..=8 => Step::Store(at, value(dice, apart, own), dice.one(&WRITES)),
            9 | 10 => Step::Swap(at, value(dice, apart, own), dice.one(&BOTH)),
            11 | 12 => Step::Take(at, value(dice, apart, own), dice.one(&BOTH)),
            13 if own => Step::GiveBack(at, dice.one(&BOTH)),
            14 => Step::Await(at, test(dice, apart), dice.one(&[Order::Rlx, Order::Acq])),
            15 => match dice.below(4) {
                0 => Step::Choose,
                _ => Step::Fence(dice.one(&BOTH[1..])),
            },
            16 => {
                steps.push(Step::If(test(dice, apart)));
                Step::Store(at, value(dice, apart, own), dice.one(&WRITES))
            }
            17 => Step::Forbid(test(dice, apart)),
            _ => continue,
        };
        steps.push(step);
    }
    steps
}

impl Running {
    fn done(&mut self) {
        self.at += 1;
        self.part = 0;
    }
}

impl Source for Elements {
    type Thread = Running;

    fn main(&self) -> Running {
        Running {
            thread: 0,
            at: 0,
            part: 0,
            read: 0,
            last: 0,
        }
    }

    fn created(&self, _: &Running, thread: ThreadId) -> Running {
        Running {
            thread,
            ..self.main()
        }
    }

    fn next(&self, t: &mut Running) -> Next {
        loop {
            let Some(step) = self.threads[t.thread].get(t.at) else {
                return Next::Done(0);
            };
            let read = |spot, order, rmw| Action::Read {
                at: location(self.address(t, spot)),
                order,
                rmw,
                uninitialised_ok: false,
                ignored: false,
            };
            let write = |at, value, order, rmw| Action::Write {
                at,
                order,
                value: self.value(t, value),
                rmw,
                undefined: 0,
            };
            let codes = self.threads.iter();
            let code = codes
                .enumerate()
                .find(|(_, code)| **code == self.threads[t.thread]);
            let site = 16 * code.unwrap().0 as u32 + t.at as u32;
            let failure = |order| match order {
                Order::Rel => Order::Rlx,
                Order::AcqRel => Order::Acq,
                order => order,
            };
            let action = match (*step, t.part) {
                (Step::Load(spot, order), 0) => read(spot, order, false),
                (Step::Store(spot, value, order), 0) => {
                    write(location(self.address(t, spot)), value, order, false)
                }
                (Step::Swap(spot, _, order), 0) => read(spot, order, true),
                (Step::Take(spot, _, order) | Step::GiveBack(spot, order), 0) => {
                    read(spot, failure(order), true)
                }
                (Step::Swap(_, value, order), 1) => write(location(t.last), value, order, true),
                (Step::Take(_, value, order), 1) if t.read == 0 => {
                    write(location(t.last), value, order, true)
                }
                (Step::GiveBack(_, order), 1) if self.succeeds(t, Test::OwnName) => {
                    write(location(t.last), Value::Number(0), order, true)
                }
                (Step::Await(spot, _, order), 0) => match spot {
                    // what was read last is read over
                    Spot::Followed => read(Spot::Shared(0), order, false),
                    spot => read(spot, order, false),
                },
                (Step::Await(_, test, _), 1) if !self.succeeds(t, test) => {
                    return Next::Blocked {
                        wait: Wait::Spin { reads: 1 },
                        site,
                    };
                }
                (Step::Fence(order), 0) => Action::Fence { order },
                (Step::Choose, 0) => Action::Choose { alternatives: 2 },
                (Step::If(test), 0) => {
                    t.at += usize::from(!self.succeeds(t, test));
                    t.done();
                    continue;
                }
                (Step::Forbid(test), 0) if self.succeeds(t, test) => {
                    return Next::Fault(Fault {
                        kind: FaultKind::Assertion,
                        message: "forbidden".to_owned(),
                        site: Some(site),
                    })
                }
                (Step::Create(thread), 0) => Action::Create { thread },
                (Step::Join(thread), 0) => Action::Join { thread },
                _ => {
                    t.done();
                    continue;
                }
            };
            t.part += 1;
            if let Action::Read { at, .. } = action {
                t.last = at.address;
            }
            return Next::Event(EventLabel {
                action,
                site,
                dependencies: Dependencies::default(),
                continues: false,
            });
        }
    }

    fn are_symmetric(&self, one: (&Running, ThreadId), other: (&Running, ThreadId)) -> bool {
        self.exchangeable_code(one.1, other.1) && self.arguments[one.1] == self.arguments[other.1]
    }

    fn exchangeable(&self, one: (&Running, ThreadId), other: (&Running, ThreadId)) -> bool {
        !self.distinguished.load(Relaxed) && self.exchangeable_code(one.1, other.1)
    }

    fn distinguish(&self, _: ThreadId) {
        self.distinguished.store(true, Relaxed);
    }

    fn answer(&self, t: &mut Running, Answer { value, .. }: Answer) {
        match self.threads[t.thread][t.at] {
            Step::Join(_) => {}
            _ => t.read = value,
        }
    }

    fn initial(&self, at: Location) -> Initial {
        let count = *self.arguments.iter().max().unwrap();
        let number = at.address.wrapping_sub(FIRST) / SIZE;
        Initial::Value(match self.filled {
            _ if at.address < FIRST => 0,
            Filled::Zeros => 0,
            Filled::OwnNames => at.address,
            Filled::NextNames => FIRST + SIZE * (number % count + 1),
            Filled::Numbers => number,
        })
    }

    fn extent(&self, _: u64) -> Option<u64> {
        None
    }
}

impl Elements {
    fn exchangeable_code(&self, one: ThreadId, other: ThreadId) -> bool {
        self.threads[one] == self.threads[other]
    }
}
