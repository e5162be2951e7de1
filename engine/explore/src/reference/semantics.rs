//! What a thread does next, as a function of the answers to its events so far.
//!
//! Under the Linux kernel's model the reference is what answers, and not only what the answers are
//! compared with. There, a thread that waits in a loop, and only reads in it, does so for one round: an
//! execution with more rounds is one with the last of them, and with one of the others, as far as
//! anything shows. Without the events of a round, whatever orders others is less, and what the model
//! forbids is that orders and coherence disagree; a race with a read of a round is one in an execution
//! with that round alone. And what main does before it starts a thread, or takes a lock or begins a
//! critical section, makes the initial state, as in a litmus test: it has no events. All of it happens
//! before the other events.
//!
//! The interpreter runs the thread's instructions. One that needs an event is interrupted, and runs
//! again from its beginning when the event has an answer, with all answers that it has so far.

use crate::semantics::dependencies::DependencySets;
use crate::semantics::environment::{
    CallRecord, Done, EventEnvironment, Events, Interruption, KernelVersion,
};
use crate::semantics::rounds::Step;
use crate::source::{Action, Answer, EventLabel, Initial, Location, Next, ThreadId, Wait};
use program::interpreter::thread::{State, Thread};
use program::interpreter::{self, Limits, RunEnd};
use program::ir::{FuncId, Loop, Program, SiteId};
use program::memory::{Dep, Memory, Named};
use rustc_hash::FxHasher;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A loop that has returned to its header in the same state: its last rounds since then, repeated for
/// ever, are an execution of the thread if they find memory as they leave it.
#[derive(Clone, Debug)]
pub struct Round {
    pub site: SiteId,
    /// Where the thread was in this state, among [`Local::steps`].
    pub from: Vec<usize>,
}

/// The state of a thread besides its call stack and registers.
#[derive(Clone)]
pub struct Local {
    /// Local variables whose address does not escape, and constants; of other objects only the extents
    /// of those that exist from the beginning and those that the thread has allocated.
    pub memory: Arc<Memory>,
    /// The answers to the events of the current instruction.
    pub answers: Vec<Answer>,
    /// The number of events of completed instructions.
    pub events: usize,
    /// The number of the last of them that other threads may have synchronised with.
    pub synchronised: usize,
    pub calls: CallRecord,
    /// Those since its last progress.
    pub steps: Vec<Step>,
    /// The headers of loops that it has reached since its last progress: a hash of its state there, and
    /// the number of steps before.
    pub headers: Vec<(u64, usize)>,
    /// A global constructor, or main under the Linux kernel's model: no other thread exists, and memory is
    /// accessed directly.
    pub alone: bool,
    /// How many rounds of loops have left the thread in the state that it was in.
    pub rounds: u32,
    /// How many of them have only read, under the kernel's model.
    pub waits: u32,
    instructions: u64,
}

/// A thread between two events.
#[derive(Clone)]
pub struct ReferenceThread {
    pub thread: Thread,
    pub local: Local,
    pub next: Next,
    /// Its loop may repeat its last round for ever. The next event is the first of another round.
    pub round: Option<Round>,
}

/// Rounds of more headers than this are not taken to repeat.
const MOST_HEADERS: usize = 256;

/// What the events of threads depend on in the model.
#[derive(Clone, Copy)]
pub struct ModelTraits {
    /// The model says what asymmetric fences order.
    pub asymmetric_fences: bool,
    /// The model orders events by dependencies.
    pub dependencies: bool,
    /// The model is the Linux kernel's.
    pub kernel: bool,
    pub kernel_version: KernelVersion,
    /// Atomic accesses of several sizes may overlap.
    pub mixed_sizes: bool,
    /// It orders what follows a compare-exchange as after a branch on what it compares.
    pub branches: bool,
}

/// A program's threads. Besides the program, it holds the numbers that threads got, and how accesses
/// are divided into locations, both the same in all executions.
pub struct Semantics<'p> {
    pub program: &'p Program,
    pub limits: Limits,
    pub model: ModelTraits,
    /// What values depend on.
    pub sets: DependencySets,
    initial: Arc<Memory>,
    main: ReferenceThread,
    /// The thread that a thread creates as its first, second, …
    numbers: RefCell<BTreeMap<(ThreadId, u32), ThreadId>>,
    /// Addresses at which accesses are divided.
    cuts: RefCell<BTreeSet<u64>>,
    /// The locations so far, from and to.
    locations: RefCell<BTreeMap<u64, u64>>,
    /// Atomic accesses are divided, this one first.
    pub in_parts: Cell<Option<SiteId>>,
    /// Locations overlap: with the new cuts, they do not.
    pub overlaps: Cell<bool>,
}

/// How a thread uses the program's memory and the library, during one instruction.
pub struct ReferenceEnvironment<'a, 'p> {
    pub semantics: &'a Semantics<'p>,
    pub local: &'a mut Local,
    /// Events of the instruction so far.
    pub asked: usize,
    pub synchronised: usize,
    /// In a library function that branches on what it reads.
    pub in_library: bool,
}

impl<'p> Semantics<'p> {
    pub fn new(program: &'p Program, limits: Limits, model: ModelTraits) -> Semantics<'p> {
        let mut memory = Memory::new(program);
        memory.add_thread(program);
        let initial = Arc::new(memory);
        let mut semantics = Semantics {
            program,
            limits,
            model,
            sets: DependencySets::new(model.dependencies, model.kernel),
            main: ReferenceThread::new(program, 0, program.main, initial.clone()),
            initial,
            numbers: RefCell::default(),
            cuts: RefCell::default(),
            locations: RefCell::default(),
            in_parts: Cell::new(None),
            overlaps: Cell::new(false),
        };
        semantics.construct();
        semantics
    }

    /// Runs the global constructors, before any other thread and main exist; and main as far as it runs
    /// alone.
    fn construct(&mut self) {
        let mut at_exit = Vec::new();
        for start in &self.program.constructors {
            let mut run = ReferenceThread::new(self.program, 0, *start, self.initial.clone());
            run.local.alone = true;
            run.thread.at_exit = at_exit;
            self.run(&mut run);
            if !matches!(run.next, Next::Done(_)) {
                self.main = run;
                return;
            }
            self.initial = run.local.memory;
            at_exit = run.thread.at_exit;
        }
        let mut main = self.main.clone();
        main.local.memory = self.initial.clone();
        main.thread.at_exit = at_exit;
        if self.model.kernel {
            main.local.alone = true;
            match self.next(&mut main) {
                Ok(next) => main.next = next,
                Err(_) => main.local.alone = false,
            }
            self.initial = main.local.memory.clone();
        }
        self.main = main;
    }

    /// Main before its first event; or what runs alone and does not come to one.
    pub fn main(&self) -> ReferenceThread {
        let mut main = self.main.clone();
        if !main.local.alone {
            self.run(&mut main);
        }
        main
    }

    /// The initial memory, with the thread-local variables of threads up to this one.
    fn memory(&self, thread: ThreadId) -> Memory {
        let mut memory = (*self.initial).clone();
        while memory.threads() <= thread {
            memory.add_thread(self.program);
        }
        memory
    }

    /// The thread started by the `Create` that is the next event of `creator`.
    pub fn created(&self, creator: &ReferenceThread, id: ThreadId) -> ReferenceThread {
        let (start, argument) = creator
            .thread
            .creates(self.program)
            .unwrap_or((self.program.main, Default::default()));
        let memory = Arc::new(self.memory(id));
        let mut created = ReferenceThread::new(self.program, id, start, memory);
        if let Some(register) = created.thread.registers.first_mut() {
            register.bits = argument.bits;
        }
        self.run(&mut created);
        created
    }

    /// Runs a thread from its next event, which has this answer, to the one after it.
    pub fn answer(&self, thread: &mut ReferenceThread, answer: Answer) {
        thread.local.answers.push(answer);
        thread.round = None;
        self.run(thread);
    }

    /// The number of the thread that a thread creates after so many others.
    pub fn number(&self, creator: ThreadId, created: u32) -> ThreadId {
        let mut numbers = self.numbers.borrow_mut();
        let next = numbers.len() + 1;
        *numbers.entry((creator, created)).or_insert(next)
    }

    /// How many threads there are, in all executions together.
    pub fn threads(&self) -> usize {
        self.numbers.borrow().len() + 1
    }

    /// The contents of a location when main starts.
    pub fn initial(&self, at: Location) -> Initial {
        if at.is_outside() {
            return Initial::Value(0);
        }
        let memory = self.memory(match Memory::is_thread_local(at.address) {
            true => Memory::thread_of(at.address),
            false => 0,
        });
        let Ok(place) = memory.find(at.address, at.size.into()) else {
            return Initial::Outside;
        };
        let read = memory.read(place, at.size, |one, _| one);
        match read.undefined {
            0 => Initial::Value(read.bits),
            undefined => Initial::Indeterminate {
                value: read.bits,
                undefined,
            },
        }
    }

    /// The size of an object that exists from the beginning, and may end.
    pub fn extent(&self, base: u64) -> Option<u64> {
        let memory = self.memory(match Memory::is_thread_local(base) {
            true => Memory::thread_of(base),
            false => 0,
        });
        let mut objects = memory.objects().filter(|object| object.base == base);
        let ends = |named| !matches!(named, Named::Global(_) | Named::Nothing);
        objects.find(|o| ends(o.named) && !o.freed).map(|o| o.size)
    }

    /// Divides an access into locations.
    pub fn divide(
        &self,
        address: u64,
        size: u64,
        atomic: bool,
        site: SiteId,
    ) -> Done<Vec<Location>> {
        let unsupported = |message: &str| Interruption::Unsupported(message.to_owned(), site);
        let end = address.saturating_add(size);
        let mut bounds = vec![address];
        bounds.extend(self.cuts.borrow().range(address + 1..end.max(address + 1)));
        bounds.push(end);
        if atomic && size > 8 {
            return Err(unsupported(
                "the reference does not support atomic accesses of 16 bytes",
            ));
        }
        if atomic && bounds.len() > 2 && self.in_parts.get().is_none() {
            if !self.model.mixed_sizes {
                return Err(unsupported(
                    "the reference does not support atomic accesses that overlap others of another \
                     size under this model",
                ));
            }
            self.in_parts.set(Some(site));
            self.overlaps.set(true);
            return Err(Interruption::Restart);
        }
        let mut pieces = Vec::new();
        for bounds in bounds.windows(2) {
            for from in (bounds[0]..bounds[1]).step_by(8) {
                let to = (from + 8).min(bounds[1]);
                self.keep_apart(from, to)?;
                pieces.push(Location {
                    address: from,
                    size: (to - from) as u32,
                });
            }
        }
        Ok(pieces)
    }

    /// Records a location. If it overlaps another one, both are divided from now on.
    fn keep_apart(&self, from: u64, to: u64) -> Done<()> {
        let mut locations = self.locations.borrow_mut();
        if let Some((start, end)) = locations.range(..to).next_back() {
            if *end > from && (*start, *end) != (from, to) {
                self.cuts.borrow_mut().extend([*start, *end, from, to]);
                self.overlaps.set(true);
                return Err(Interruption::Restart);
            }
        }
        locations.insert(from, to);
        Ok(())
    }

    /// Forgets which locations there are, but not where they are divided.
    pub fn restart(&self) {
        self.locations.borrow_mut().clear();
        self.overlaps.set(false);
    }

    fn run(&self, run: &mut ReferenceThread) {
        run.next = self.next(run).unwrap_or_else(|site| Next::Unsupported {
            message: "a global constructor that starts threads is not supported".to_owned(),
            site: Some(run.thread.users_site(self.program, site)),
        });
    }

    /// Runs a thread to its next event. An error: the site where one that runs alone no longer does.
    fn next(&self, run: &mut ReferenceThread) -> Result<Next, SiteId> {
        Ok(loop {
            match run.thread.state {
                State::Done => break Next::Done(run.thread.result.bits),
                State::Spinning { site, from, .. } => {
                    run.thread.state = State::Running;
                    run.local.rounds += 1;
                    let reads = |step: &Step| matches!(step, Step::Read(..));
                    let round = run.local.steps.get(from..).unwrap_or_default();
                    if self.model.kernel && round.iter().all(reads) {
                        run.local.waits += 1;
                    }
                    if run.local.waits > 1 {
                        // see the head of this module
                        let wait = Wait::Redundant;
                        break Next::Blocked { wait, site };
                    }
                    if run.local.rounds > self.limits.loops {
                        let most = self.limits.loops;
                        break Next::Truncated {
                            message: format!("a thread waits for more than {most} rounds"),
                            site: Some(site),
                            limit: "loops",
                            because: String::new(),
                        };
                    }
                }
                _ => {}
            }
            run.local.instructions += 1;
            let line = run.thread.inst(self.program).map_or(0, |inst| inst.dbg);
            if run.local.instructions > self.limits.instructions {
                let most = self.limits.instructions;
                let message = format!("more than {most} instructions in one thread");
                let end = RunEnd::at_limit("instructions", message, None);
                break self.interrupted(&run.thread, end.into(), line);
            }
            let mut environment = EventEnvironment(ReferenceEnvironment {
                semantics: self,
                synchronised: run.local.synchronised,
                local: &mut run.local,
                asked: 0,
                in_library: false,
            });
            let done = interpreter::step(
                self.program,
                &self.limits,
                &mut run.thread,
                &mut environment,
            );
            let done = environment.leave_sections(&mut run.thread, done);
            let synchronised = environment.0.synchronised;
            let header = run.thread.header.take();
            if let (Some(header), false) = (header, run.local.alone) {
                run.reaches(self.program, header);
            }
            match done {
                Ok(()) => {
                    run.local.synchronised = synchronised;
                    run.local.events += run.local.answers.len();
                    run.local.answers.clear();
                }
                Err(Interruption::NotAlone(site)) => return Err(site),
                Err(why) => break self.interrupted(&run.thread, why, line),
            }
        })
    }

    fn interrupted(&self, thread: &Thread, why: Interruption, line: u32) -> Next {
        let next = why.next(self.program, thread, line, |_| String::new());
        next.unwrap_or_else(|_| Next::Unsupported {
            message: "locations overlap".to_owned(),
            site: None,
        })
    }
}

impl ReferenceThread {
    fn new(program: &Program, id: ThreadId, start: FuncId, memory: Arc<Memory>) -> ReferenceThread {
        let mut thread = Thread::new(id, start);
        thread.enter(program, start, &[], (0, 0), 0);
        ReferenceThread {
            thread,
            local: Local {
                memory,
                answers: Vec::new(),
                events: 0,
                synchronised: 0,
                calls: CallRecord::default(),
                steps: Vec::new(),
                headers: Vec::new(),
                alone: false,
                rounds: 0,
                waits: 0,
                instructions: 0,
            },
            next: Next::Done(0),
            round: None,
        }
    }

    /// The thread has reached the header of a loop.
    fn reaches(&mut self, program: &Program, header: u32) {
        let Some(frame) = self.thread.frames.last() else {
            return;
        };
        let info = &program.functions[frame.function as usize].loops[header as usize];
        let state = self.state(frame.registers, (header, info));
        let headers = &mut self.local.headers;
        let known = headers.iter().filter(|(known, _)| *known == state);
        let from: Vec<usize> = known.map(|(_, from)| *from).collect();
        let now = (state, self.local.steps.len());
        if headers.len() == MOST_HEADERS {
            headers.clear();
        }
        if !headers.contains(&now) {
            headers.push(now);
        }
        if !from.is_empty() {
            let site = info.site;
            self.round = Some(Round { site, from });
        }
    }

    /// A hash of all that what the thread does next depends on, at the header of a loop in its last frame,
    /// whose registers start at `registers`.
    fn state(&self, registers: usize, (number, header): (u32, &Loop)) -> u64 {
        let (thread, local) = (&self.thread, &self.local);
        let mut hash = FxHasher::default();
        for frame in &thread.frames {
            (frame.function, frame.pc, frame.registers, frame.mark).hash(&mut hash);
        }
        let outer = thread.registers[..registers].iter();
        let inner = header
            .live
            .iter()
            .map(|own| &thread.registers[registers + *own as usize]);
        for value in outer.chain(inner) {
            (value.bits, value.undefined).hash(&mut hash);
        }
        let raised = thread
            .raised
            .map(|raised| (raised.header, raised.frame, raised.selector));
        let private = header.memory(thread.private, thread.idle);
        let round = thread
            .frames
            .last()
            .map(|frame| frame.rounds + number as usize);
        let round = round.and_then(|round| thread.rounds[round].as_ref());
        // what repeats after the loop was left repeats a loop around it
        round.map(|round| round.entered).hash(&mut hash);
        (private, raised, thread.exits, thread.at_exit.len()).hash(&mut hash);
        let calls = &local.calls;
        (calls.spurious.len(), calls.srcu, &calls.sections).hash(&mut hash);
        local.memory.locals(thread.id).hash(&mut hash);
        hash.finish()
    }

    /// Whether its next event completes a read-modify-write, or decides whether there is one: after the
    /// read of one, a write, or the choice whether a weak compare-exchange fails.
    pub fn is_halfway(&self, after_rmw_read: bool) -> bool {
        match &self.next {
            Next::Event(label) => match label.action {
                Action::Write { rmw, .. } => rmw,
                Action::Read { .. } => label.continues && after_rmw_read,
                Action::Choose { .. } => after_rmw_read,
                _ => false,
            },
            _ => false,
        }
    }
}

impl ReferenceEnvironment<'_, '_> {
    /// The answer to an event, and whether it is new; interrupts the instruction if there is none yet.
    /// `addr`, `data`: what its location and value depend on. `continues`: see [`EventLabel`].
    pub fn answer_to(
        &mut self,
        t: &Thread,
        action: Action,
        site: SiteId,
        (addr, data): (Dep, Dep),
        continues: bool,
    ) -> Done<(Answer, bool)> {
        if self.local.alone {
            return Err(Interruption::NotAlone(site));
        }
        let now = self.asked;
        self.asked += 1;
        if action.may_synchronise() {
            self.synchronised = self.events();
        }
        match self.local.answers.get(now) {
            Some(answer) => Ok((*answer, now + 1 == self.local.answers.len())),
            None => Err(Interruption::Query(EventLabel {
                action,
                site,
                dependencies: self.semantics.sets.label(addr, data, t.ctrl),
                continues,
            })),
        }
    }

    /// Records a step. The interpreter counts as many reads as there are steps: a [`Round`] begins at
    /// one of them.
    pub fn record(&mut self, t: &mut Thread, step: Step) {
        let (address, size) = match step {
            Step::Read(at, _) | Step::Write(at, _) => (at.address, at.size),
            Step::Choice => (0, 0),
        };
        t.saw(address, size, None, false);
        if t.reads.len() == 1 {
            self.local.steps.clear();
            self.local.headers.clear();
        }
        self.local.steps.push(step);
    }

    /// What the value of the last answer depends on, which is that to a read. That of a plain read
    /// without a race was decided by the last event at which other threads' writes may have come to
    /// happen before it.
    pub fn answered(&self, t: &mut Thread, plain: bool) -> Dep {
        let decided = match plain {
            true => self.synchronised,
            false => self.events(),
        };
        let dep = self.semantics.sets.of_value(self.events() - 1, decided);
        if self.in_library {
            self.add_control(t, dep);
        }
        dep
    }
}
