//! The machine: all threads on one sequentially consistent memory. A search clones it to branch.
use crate::interpreter::event::{Event, EventKind, Operation, Update};
use crate::interpreter::outcome::{Limits, Outcome, RunEnd};
use crate::interpreter::step;
use crate::interpreter::thread::{State, Thread};
use crate::ir::instruction::*;
use crate::ir::program::*;
use crate::library::threads::thread_of_handle;
use crate::library::{barrier, condition, mutex, once};
use crate::memory::address_space::Memory;
use crate::memory::object::Named;
use crate::memory::value::{Deps, Val};
use crate::sc::footprint::Footprint;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

/// Shared by all runs of one program.
pub struct Context<'p> {
    pub program: &'p Program,
    pub limits: Limits,
    pub spurious: bool,
    pub deps: Deps,
    pub footprint: Footprint,
    /// The alternative that the next step takes: a compare-exchange that fails spuriously, the
    /// waiter to wake.
    pub variant: u32,
    pub steps: u64,
    pub events: u64,
    /// The most events of a thread in one run. Each may depend on all before it.
    pub most_events: u64,
}

/// Memory and the state of threads that other threads see.
#[derive(Clone)]
pub struct Shared {
    pub memory: Memory,
    /// Results of the threads that have ended.
    pub done: Vec<Option<u64>>,
    pub live: usize,
    /// The threads that another one has joined, a bit each.
    pub joined: u64,
    /// Those that were detached.
    pub detached: u64,
    /// Threads created by the current step.
    pub born: Vec<(FuncId, Val)>,
    /// Weak CASes that have failed spuriously in this run.
    pub spurious: Vec<SiteId>,
}

#[derive(Clone)]
pub struct Machine {
    pub threads: Vec<Rc<Thread>>,
    pub shared: Shared,
    pub end: Option<RunEnd>,
    /// Threads stopped by a limit.
    pub truncated: Vec<RunEnd>,
    pub steps: u64,
}

/// A thread to run, and the alternative that its step takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    pub thread: usize,
    pub variant: u32,
}

/// The environment of a thread while it runs a step.
pub struct StepEnvironment<'v, 'p> {
    pub shared: &'v mut Shared,
    pub context: &'v mut Context<'p>,
}

impl Machine {
    /// Main before its first instruction.
    pub fn new(program: &Program) -> Machine {
        let mut shared = Shared {
            memory: Memory::new(program),
            done: vec![None],
            live: 1,
            joined: 0,
            detached: 0,
            born: Vec::new(),
            spurious: Vec::new(),
        };
        shared.memory.add_thread(program);
        let mut main = Thread::new(0, program.main);
        main.enter(program, program.main, &[], (0, 0), 0);
        Machine {
            threads: vec![Rc::new(main)],
            shared,
            end: None,
            truncated: Vec::new(),
            steps: 0,
        }
    }

    /// Runs the global constructors, as the loader does, before main.
    pub fn construct(&mut self, context: &mut Context) {
        let program = context.program;
        for constructor in program.constructors.clone() {
            let mut thread = Thread::new(0, constructor);
            thread.enter(program, constructor, &[], (0, 0), 0);
            let mut main = std::mem::replace(&mut self.threads[0], Rc::new(thread));
            while self.end.is_none() && self.threads[0].state == State::Running {
                if !self.enabled(context, 0) {
                    break;
                }
                self.step(
                    context,
                    Choice {
                        thread: 0,
                        variant: 0,
                    },
                );
            }
            // destructors of its thread-local variables
            let registered = self.threads[0].at_exit.clone();
            Rc::make_mut(&mut main).at_exit.extend(registered);
            self.threads[0] = main;
            self.shared.done[0] = None;
            self.shared.live = 1;
        }
    }

    fn value(&self, t: usize, operand: Operand) -> u64 {
        self.threads[t].get(operand).bits
    }

    pub fn is_done(&self, t: usize) -> bool {
        self.shared.done.get(t).is_some_and(|d| d.is_some())
    }

    /// Whether the thread can take its next step now.
    pub fn enabled(&self, context: &Context, t: usize) -> bool {
        let thread = &self.threads[t];
        match &thread.state {
            State::Done | State::Truncated => return false,
            State::Spinning { from, .. } => {
                let seen = thread.reads.get(*from..).unwrap_or_default();
                return seen
                    .iter()
                    .any(|s| Some(self.shared.memory.word(s.address, s.size)) != s.bits);
            }
            State::Waiting { condition, mutex } => {
                let state = self.shared.memory.word(*condition, condition::SIZE);
                return !condition::is_waiting(state, t) && self.may_lock(*mutex, t, 0);
            }
            State::AtBarrier { address, arrived } => {
                let state = self.shared.memory.word(*address, barrier::SIZE);
                return barrier::has_opened(*arrived, state) != Ok(false);
            }
            State::Running => {}
        }
        let Some(Op::Extern { function, args, .. }) = thread.inst(context.program).map(|i| &i.op)
        else {
            return true;
        };
        let arg = |k: usize| args.get(k).map_or(0, |a| self.value(t, *a));
        match function {
            Extern::MutexLock => self.may_lock(arg(0), t, thread.holds(arg(0))),
            Extern::ThreadJoin => match thread_of_handle(arg(0)) {
                Some(other) if other < self.threads.len() => self.is_done(other),
                _ => true,
            },
            Extern::Once => {
                let state = self.shared.memory.word(arg(0), once::SIZE);
                once::begin(state) != once::Begin::Wait
            }
            _ => true,
        }
    }

    fn may_lock(&self, mutex: u64, t: usize, held: u32) -> bool {
        let state = self.shared.memory.word(mutex, mutex::SIZE);
        mutex::lock(state, t, held) != Ok(mutex::Lock::Busy)
    }

    /// How many alternatives the next step of an enabled thread has at this point; 0 if it commutes
    /// with the steps of other threads, so that it is no decision.
    pub fn alternatives(&self, context: &Context, t: usize) -> u32 {
        let thread = &self.threads[t];
        if let Some(Op::Extern {
            function: Extern::Choose,
            args,
            ..
        }) = thread.inst(context.program).map(|i| &i.op)
        {
            return args.first().map_or(0, |a| self.value(t, *a) as u32);
        }
        if self.shared.live < 2 {
            return 0;
        }
        if self.threads[t].raised.is_some_and(|r| r.unwinding) {
            return 0;
        }
        let hot = |address: Operand, size: u32| {
            let address = self.value(t, address);
            u32::from(context.footprint.hot(address, size))
        };
        let Some(inst) = thread.inst(context.program) else {
            return 0;
        };
        match &inst.op {
            Op::Load {
                address, access, ..
            }
            | Op::Store {
                address, access, ..
            }
            | Op::Rmw {
                address, access, ..
            } if !access.private => hot(*address, access.size),
            Op::Cas {
                address,
                access,
                weak,
                expected,
                ..
            } if !access.private => {
                let now = self
                    .shared
                    .memory
                    .word(self.value(t, *address), access.size);
                let fails = *weak
                    && context.spurious
                    && now == self.value(t, *expected)
                    && !self.shared.spurious.contains(&access.site);
                if fails {
                    2
                } else {
                    hot(*address, access.size)
                }
            }
            Op::Extern {
                function,
                args,
                private,
                site,
                ..
            } => {
                let lock = |k: usize| args.get(k).map_or(0, |a| hot(*a, LOCK_SIZE));
                let range = |k: usize, private: bool| match (args.get(k), args.get(2)) {
                    (Some(a), Some(n)) if !private => hot(*a, self.value(t, *n) as u32),
                    _ => 0,
                };
                match function {
                    Extern::MutexLock
                    | Extern::MutexTrylock
                    | Extern::Once
                    | Extern::MutexInit
                    | Extern::CondInit
                    | Extern::BarrierInit
                    | Extern::Destroy(_) => lock(0),
                    Extern::Either => {
                        let may = context.spurious && !self.shared.spurious.contains(site);
                        u32::from(may) * 2
                    }
                    Extern::MutexUnlock if context.program.has_trylock => lock(0),
                    Extern::BarrierWait if thread.state == State::Running => lock(0),
                    Extern::CondWait | Extern::CondWaitFor if thread.state == State::Running => {
                        let seen = context.program.has_trylock && lock(1) > 0;
                        lock(0).max(u32::from(seen))
                    }
                    Extern::CondWait | Extern::CondWaitFor => lock(1),
                    Extern::CondSignal => {
                        let condition = args.first().map_or(0, |a| self.value(t, *a));
                        let state = self.shared.memory.word(condition, condition::SIZE);
                        lock(0).max(condition::waiters(state))
                    }
                    Extern::CondBroadcast => lock(0),
                    // freeing an object conflicts with every access to it
                    Extern::Free | Extern::Realloc => {
                        let object = args.first().map(|a| self.value(t, *a));
                        let extent = object.and_then(|a| self.shared.memory.extent(a));
                        extent.map_or(0, |(base, size)| {
                            u32::from(context.footprint.hot(base, size))
                        })
                    }
                    Extern::Memcpy => range(0, private.0).max(range(1, private.1)),
                    Extern::Memset => range(0, private.0),
                    Extern::Bytes(op) => {
                        // to the end of the object: how much is read depends on what is there
                        let rest = |k: usize| {
                            let at = args.get(k).map_or(0, |a| self.value(t, *a));
                            let extent = self.shared.memory.extent(at);
                            let rest = extent.map_or(1, |(base, size)| base + u64::from(size) - at);
                            args.get(k).map_or(0, |a| hot(*a, rest.max(1) as u32))
                        };
                        let two = [BytesOp::Memcmp, BytesOp::Strcmp, BytesOp::Strncmp].contains(op);
                        rest(0).max(if two { rest(1) } else { 0 })
                    }
                    _ => 0,
                }
            }
            _ => 0,
        }
    }

    /// Takes one step of a thread.
    pub fn step(&mut self, context: &mut Context, choice: Choice) {
        let t = choice.thread;
        context.variant = choice.variant;
        context.steps += 1;
        self.steps += 1;
        let thread = Rc::make_mut(&mut self.threads[t]);
        if matches!(thread.state, State::Spinning { .. }) {
            thread.state = State::Running;
        }
        let before = thread.log.len();
        let (program, limits) = (context.program, context.limits);
        let mut environment = StepEnvironment {
            shared: &mut self.shared,
            context,
        };
        let dbg = thread.inst(program).map_or(0, |i| i.dbg);
        let result =
            step::step(program, &limits, thread, &mut environment).map_err(|end| match end.dbg {
                0 => RunEnd { dbg, ..end },
                _ => end,
            });
        let result = result.map_err(|end| RunEnd {
            site: end.site.map(|site| thread.users_site(program, site)),
            ..end
        });
        context.events += (thread.log.len() - before) as u64;
        if thread.state == State::Done && self.shared.done[t].is_none() {
            self.shared.done[t] = Some(thread.result.bits);
            self.shared.live -= 1;
        }
        let length = thread.log.len() as u64;
        if let Err(end) = result {
            if end.outcome == Outcome::Bound {
                thread.state = State::Truncated;
                self.truncated.push(end);
            } else {
                self.end = Some(end);
            }
        } else if self.steps > limits.instructions || length > context.most_events {
            let (most, events) = (limits.instructions, context.most_events);
            let message = format!("more than {most} steps or {events} events in one run");
            let dbg = thread.inst(program).map_or(0, |i| i.dbg);
            let mut end = RunEnd::new(Outcome::Bound, message, None);
            end.dbg = dbg;
            self.end = Some(end);
        }
        for (function, argument) in std::mem::take(&mut self.shared.born) {
            let mut thread = Thread::new(self.threads.len(), function);
            thread.enter(program, function, &[argument], (0, 0), 0);
            self.threads.push(Rc::new(thread));
        }
    }

    /// A key of the machine's future and history: machines with equal keys have equal threads,
    /// memory and logs, whatever order of independent steps led there.
    pub fn key(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for thread in &self.threads {
            let tag = std::mem::discriminant(&thread.state);
            let pc = thread.frames.last().map(|f| f.pc);
            (thread.log.history, thread.log.len(), tag, pc).hash(&mut hasher);
        }
        self.shared.memory.hash.hash(&mut hasher);
        let mut spurious = self.shared.spurious.clone();
        spurious.sort_unstable();
        spurious.hash(&mut hasher);
        hasher.finish()
    }

    /// Runs every thread up to its next decision. Empty if the run has ended.
    pub fn settle(&mut self, context: &mut Context) -> Vec<Choice> {
        loop {
            let mut moved = false;
            let mut choices = Vec::new();
            let mut t = 0;
            while t < self.threads.len() {
                while self.enabled(context, t) {
                    let count = self.alternatives(context, t);
                    if count > 0 {
                        choices.extend((0..count).map(|variant| Choice { thread: t, variant }));
                        break;
                    }
                    self.step(
                        context,
                        Choice {
                            thread: t,
                            variant: 0,
                        },
                    );
                    moved = true;
                    if self.end.is_some() {
                        return Vec::new();
                    }
                }
                t += 1;
            }
            if !moved {
                return choices;
            }
        }
    }

    /// How a run without further choices ends.
    pub fn finish(&mut self, context: &Context) -> RunEnd {
        if let Some(end) = self.end.clone() {
            return end;
        }
        if let Some(truncation) = self.truncated.first() {
            return truncation.clone();
        }
        // when main returns the process ends, even if other threads wait
        if self.is_done(0) {
            return RunEnd::new(Outcome::Complete, "", None);
        }
        let mut site = None;
        let mut waits = Vec::new();
        let mut worst = 0;
        for thread in self.threads.iter().filter(|t| t.state != State::Done) {
            let inst = thread.inst(context.program);
            let own = match inst.map(|i| &i.op) {
                Some(Op::Extern { site, .. }) => Some(*site),
                _ => None,
            };
            let (rank, what, at) = match &thread.state {
                State::Spinning { site, .. } => (3, "waits in a loop", Some(*site)),
                State::Waiting { .. } => (2, "waits for a condition variable", own),
                State::AtBarrier { .. } => (2, "waits at a barrier", own),
                _ => match inst.map(|i| &i.op) {
                    Some(Op::Extern {
                        function: Extern::ThreadJoin,
                        ..
                    }) => (1, "joins a thread", own),
                    _ => (2, "waits for a lock", own),
                },
            };
            let place = at.map(|s| context.program.sites[s as usize].place());
            waits.push(format!(
                "thread {} {what} at {}",
                thread.id,
                place.unwrap_or_default()
            ));
            if rank > worst {
                worst = rank;
                site = at;
            }
        }
        RunEnd::new(Outcome::Deadlock, waits.join("; "), site)
    }
}

/// The size of a synchronisation object in the footprint and in events, in bytes.
pub const LOCK_SIZE: u32 = 4;

/// An event of `thread`, with its control dependencies.
pub fn event(thread: &Thread, site: SiteId, kind: EventKind, order: Order) -> Event {
    Event {
        site,
        kind,
        order,
        update: Update::None,
        volatile: false,
        size: 0,
        address: 0,
        object: 0,
        named: Named::Nothing,
        read: None,
        written: None,
        operand: None,
        call: thread.call,
        operation: if thread.call == 0 {
            Operation::Start
        } else {
            thread.operation
        },
        addr: 0,
        data: 0,
        ctrl: thread.ctrl,
        via: 0,
        other: None,
    }
}

impl Machine {
    /// Records which operation a thread is in when it is chosen.
    pub fn mark_call(&mut self, context: &Context, t: usize) {
        let call = match self.threads[t].inst(context.program) {
            Some(inst) => self.threads[t].call_of(inst),
            None => 0,
        };
        Rc::make_mut(&mut self.threads[t]).last_call = call;
    }

    /// Whether a thread's next step belongs to the operation of its last decision.
    pub fn inside(&self, context: &Context, t: usize) -> bool {
        let thread = &self.threads[t];
        let call = thread.inst(context.program).map(|i| thread.call_of(i));
        call.is_some_and(|c| c != 0 && c == thread.last_call)
    }
}
