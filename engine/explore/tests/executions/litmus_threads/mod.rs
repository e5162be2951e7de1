//! A C litmus test as something to explore, so that exploration and enumeration can be compared.
//!
//! The threads do what `enumerate`'s C threads do, loops unrolled as often; a lock is a
//! read-modify-write that waits.

mod compile;

use std::collections::BTreeSet;
use std::sync::Mutex;

use cat::Model;
use compile::{compile, decode, encode, unsupported, Code, Step};
use explore::{
    explore_each, Action, Answer, Dependencies, EndedExecution, EventLabel, ExecutionEnd,
    Exploration, ExploreError, Initial, Location, Next, Options, Source, ThreadId, Wait,
};
use litmus::value::{Op, Value};
use litmus::{Observable, Program, Test};
use program::ir::SiteId;
use program::memory::Dep;

/// The test's threads; main starts them all and has none of the test's events.
pub struct Threads<'t> {
    test: &'t Test,
    codes: Vec<Code>,
}

#[derive(Clone)]
pub struct SuspendedThread {
    /// 0: main.
    number: ThreadId,
    at: usize,
    registers: Box<[u64]>,
    /// The reads that each register depends on: a bit for each of the thread's first events.
    depend: Box<[Dep]>,
    /// Those that branches depended on.
    ctrl: Dep,
    /// Those that the write of a read-modify-write depends on besides.
    compared: Dep,
    postponed: Dep,
    events: u32,
}

impl<'t> Threads<'t> {
    pub fn new(test: &'t Test) -> Result<Threads<'t>, ExploreError> {
        let Program::C(threads) = &test.program else {
            return Err(unsupported("only tests of C are explored"));
        };
        let threads = threads.iter().enumerate();
        let codes = threads.map(|(number, thread)| compile(test, number, thread));
        Ok(Threads {
            test,
            codes: codes.collect::<Result<_, _>>()?,
        })
    }

    fn event(action: Action, at: usize, dependencies: Dependencies) -> Next {
        Next::Event(EventLabel {
            action,
            site: at as SiteId,
            dependencies,
            continues: false,
        })
    }

    fn value(&self, execution: &EndedExecution<Self>, observable: &Observable) -> Value {
        match observable {
            Observable::Register { thread, name } => {
                let names = match &self.test.program {
                    Program::C(threads) => &threads[*thread].variables,
                    Program::Assembly(_) => return Value::ZERO,
                };
                let register = names.iter().position(|known| known == name);
                let running = execution.thread(thread + 1);
                match (register, running) {
                    (Some(register), Some(running)) => decode(running.registers[register]),
                    _ => Value::ZERO,
                }
            }
            Observable::Memory(address)
            | Observable::Element { at: address, .. }
            | Observable::Array { at: address, .. } => {
                let at = location(encode(Value::Address(*address)));
                match execution.graph.location_number(at) {
                    Some(place) => {
                        let last = execution.graph.last_write(place);
                        decode(execution.graph.value_of(place, last))
                    }
                    None => self
                        .test
                        .memory
                        .get(address)
                        .copied()
                        .unwrap_or(Value::ZERO),
                }
            }
        }
    }
}

fn location(address: u64) -> Location {
    Location { address, size: 8 }
}

/// Beside the reads that a register depends on: they choose its value.
const CHOSEN: Dep = 1 << (Dep::BITS - 1);

fn compares(op: Op) -> bool {
    matches!(op, Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge)
}

impl Source for Threads<'_> {
    type Thread = SuspendedThread;

    fn main(&self) -> SuspendedThread {
        SuspendedThread {
            number: 0,
            at: 0,
            registers: Box::default(),
            depend: Box::default(),
            ctrl: 0,
            compared: 0,
            postponed: 0,
            events: 0,
        }
    }

    fn created(&self, _: &SuspendedThread, thread: ThreadId) -> SuspendedThread {
        SuspendedThread {
            number: thread,
            at: 0,
            registers: self.codes[thread - 1].registers.clone().into(),
            depend: vec![0; self.codes[thread - 1].registers.len()].into(),
            ctrl: 0,
            compared: 0,
            postponed: 0,
            events: 0,
        }
    }

    fn next(&self, thread: &mut SuspendedThread) -> Next {
        let Some(number) = thread.number.checked_sub(1) else {
            thread.at += 1;
            return match thread.at > self.codes.len() {
                true => Next::Done(0),
                false => {
                    let action = Action::Create { thread: thread.at };
                    Self::event(action, 0, Dependencies::default())
                }
            };
        };
        let code = &self.codes[number];
        let registers = &mut thread.registers;
        let depend = &mut thread.depend;
        loop {
            let at = thread.at;
            let Some(step) = code.steps.get(at) else {
                return Next::Done(0);
            };
            thread.at += 1;
            let mut dependencies = Dependencies::default();
            if let Step::Read { at: to, .. } | Step::Write { at: to, .. } = *step {
                if depend[to] & thread.postponed != 0 {
                    thread.at = at;
                    return Next::Needs(depend[to] & thread.postponed);
                }
                match depend[to] & CHOSEN {
                    0 => dependencies.addr = depend[to],
                    _ => thread.ctrl |= depend[to] & !CHOSEN,
                }
            }
            if let Step::Write { from, .. } = *step {
                dependencies.data = depend[from] & !CHOSEN;
                dependencies.chosen = depend[from] & CHOSEN != 0;
            }
            let action = match *step {
                Step::Set(to, value) => {
                    registers[to] = value;
                    depend[to] = 0;
                    continue;
                }
                Step::Copy(to, from) => {
                    registers[to] = registers[from];
                    depend[to] = depend[from];
                    continue;
                }
                Step::Compute(to, op, a, b) => {
                    depend[to] = depend[a] | depend[b];
                    if depend[to] != 0 && compares(op) {
                        depend[to] |= CHOSEN;
                    }
                    if depend[to] & thread.postponed != 0 {
                        continue;
                    }
                    match op.apply(decode(registers[a]), decode(registers[b])) {
                        Ok(value) => registers[to] = encode(value),
                        Err(_) => {
                            return Next::Unsupported {
                                message: "the test computes what has no result".to_owned(),
                                site: None,
                            }
                        }
                    }
                    continue;
                }
                Step::Zero(register, _) | Step::Await(register)
                    if depend[register] & thread.postponed != 0 =>
                {
                    thread.at = at;
                    return Next::Needs(depend[register] & thread.postponed);
                }
                Step::Zero(register, target) => {
                    thread.ctrl |= depend[register] & !CHOSEN;
                    if registers[register] == 0 {
                        thread.at = target;
                    }
                    continue;
                }
                Step::Depend(to, from) => {
                    depend[to] |= depend[from] | CHOSEN;
                    continue;
                }
                Step::Jump(target) => {
                    thread.at = target;
                    continue;
                }
                Step::Await(register) => {
                    thread.ctrl |= depend[register] & !CHOSEN;
                    if registers[register] == 0 {
                        continue;
                    }
                    return Next::Blocked {
                        wait: Wait::Handover { what: "a lock" },
                        site: at as SiteId,
                    };
                }
                Step::Truncation => {
                    return Next::Truncated {
                        message: "a loop goes round more often".to_owned(),
                        site: None,
                        limit: "",
                        because: String::new(),
                    }
                }
                Step::Read { at, order, rmw, .. } => Action::Read {
                    at: location(registers[at]),
                    order,
                    rmw,
                    uninitialised_ok: false,
                    ignored: false,
                },
                Step::Write {
                    at,
                    from,
                    order,
                    rmw,
                } => Action::Write {
                    at: location(registers[at]),
                    order,
                    value: registers[from],
                    rmw,
                    undefined: 0,
                },
                Step::Fence(order) => Action::fence(order),
                Step::Choose(_) => Action::Choose { alternatives: 2 },
                Step::Compare(_, a, b) => {
                    thread.compared = (depend[a] | depend[b]) & !CHOSEN;
                    let is_known = thread.compared & thread.postponed == 0;
                    let outcome = is_known.then_some(registers[a] == registers[b]);
                    Action::Compare { outcome }
                }
            };
            dependencies.ctrl = thread.ctrl;
            if let Action::Write { rmw: true, .. } = action {
                dependencies.ctrl |= std::mem::take(&mut thread.compared);
            }
            thread.events += 1;
            return Self::event(action, at, dependencies);
        }
    }

    fn answer(&self, thread: &mut SuspendedThread, Answer { value, .. }: Answer) {
        let code = &self.codes[thread.number - 1];
        match code.steps[thread.at - 1] {
            Step::Read { to, .. } => {
                thread.registers[to] = value;
                thread.depend[to] = 1 << (thread.events - 1);
            }
            Step::Choose(to) | Step::Compare(to, ..) => {
                thread.registers[to] = value;
                thread.depend[to] = 0;
            }
            _ => {}
        }
    }

    fn tracks_dependencies(&self) -> bool {
        true
    }

    fn postpone(&self, thread: &mut SuspendedThread) {
        self.answer(thread, Answer::default());
        thread.postponed |= 1 << (thread.events - 1);
    }

    fn reads(&self, set: Dep) -> Vec<u32> {
        (0..Dep::BITS).filter(|at| set >> at & 1 == 1).collect()
    }

    fn initial(&self, at: Location) -> Initial {
        match decode(at.address) {
            Value::Address(address) => {
                let value = self.test.memory.get(&address);
                Initial::Value(encode(value.copied().unwrap_or(Value::ZERO)))
            }
            _ => Initial::Outside,
        }
    }

    fn extent(&self, _: u64) -> Option<u64> {
        None
    }
}

/// The final states of a test, of what it shows and in that order, and what exploring it found.
pub fn states(
    test: &Test,
    model: &Model,
    options: &Options,
) -> Result<(BTreeSet<Vec<Value>>, Exploration), ExploreError> {
    let threads = Threads::new(test)?;
    let shown = test.displayed();
    let states = Mutex::new(BTreeSet::new());
    let found = explore_each(&threads, model, options, |execution, end| {
        if end != ExecutionEnd::Complete {
            return;
        }
        let value = |observable: &Observable| threads.value(execution, observable);
        if test
            .filter
            .as_ref()
            .is_none_or(|filter| filter.holds(&value))
        {
            let parts = shown.iter().flat_map(Observable::parts);
            let state = parts.map(|observable| value(&observable)).collect();
            if let Ok(mut states) = states.lock() {
                states.insert(state);
            }
        }
    })?;
    Ok((states.into_inner().unwrap_or_default(), found))
}
