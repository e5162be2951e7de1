//! A `Program` as a `Source`: the interpreter, suspended at each event.
use crate::reductions::{Reduction, Reductions};
use crate::semantics::dependencies::DependencySets;
use crate::source::*;
use crate::threads::advance::{Runner, SuspendedThread};
use crate::threads::environment::Settings;
use crate::threads::retries::{Counterpart, EarlierRead, Retries, Run};
use crate::threads::sharing::stored::Learned;
use crate::threads::sharing::LearnedSharing;
use crate::threads::thread_symmetry::ThreadSymmetry;
use crate::threads::undone_rounds::Shift;
use program::interpreter::Limits;
use program::ir::{Extern, Op, Program, SiteId};
use program::memory::{Dep, Memory, Named, Visibility, MAX_THREADS};
use program::Liveness;
use std::sync::{Arc, OnceLock};

/// A thread of a program between two events. Copies share everything until they continue.
#[derive(Clone)]
pub struct ProgramThread {
    pub now: Arc<SuspendedThread>,
    /// Its next event, if that is one.
    next: Option<Action>,
    /// The read that was its last event.
    last: Option<EarlierRead<SuspendedThread>>,
    /// The read that it has performed since, if undone rounds change what it may read.
    shift: Option<Shift>,
}

impl ProgramThread {
    fn new(now: SuspendedThread) -> ProgramThread {
        ProgramThread {
            now: Arc::new(now),
            next: None,
            last: None,
            shift: None,
        }
    }
}

/// A program to be explored. Which objects its threads share is learned during exploration.
pub struct ProgramSource<'p> {
    pub program: &'p Program,
    pub sharing: LearnedSharing,
    sets: DependencySets,
    pub(super) limits: Limits,
    /// Main before its first event, and memory at that point.
    main: ProgramThread,
    initial: Arc<Memory>,
    /// The memory of each thread before its first instruction, while nothing new is learned about
    /// sharing.
    memories: Vec<OnceLock<Arc<Memory>>>,
    refused: Option<&'static str>,
    /// Threads may ask for their numbers.
    numbers_threads: bool,
    /// Threads may wait at barriers.
    pub(super) has_barriers: bool,
    pub(super) retries: Retries,
    /// Reads after which a thread in a loop waits are left out.
    pub(super) waits_in_place: bool,
    /// Of each function, as far as it has been asked for.
    liveness: Vec<OnceLock<Liveness>>,
    /// The order of operation calls is compared with a specification.
    pub(super) compares_calls: bool,
    pub(super) settings: Settings,
}

impl<'p> ProgramSource<'p> {
    /// Runs the global constructors, and main up to its first event: no other thread runs until
    /// then.
    pub fn new(program: &'p Program, limits: Limits) -> ProgramSource<'p> {
        let mut memory = Memory::new(program);
        memory.add_thread(program);
        let initial = Arc::new(memory);
        let main = SuspendedThread::new(program, 0, program.main, initial.clone());
        let mut source = ProgramSource {
            program,
            sharing: LearnedSharing::default(),
            sets: DependencySets::default(),
            limits,
            main: ProgramThread::new(main),
            initial,
            memories: Vec::new(),
            refused: None,
            numbers_threads: program.calls(Extern::ThreadSelf),
            has_barriers: program.calls(Extern::BarrierWait),
            retries: Retries::All,
            waits_in_place: false,
            liveness: program.functions.iter().map(|_| OnceLock::new()).collect(),
            compares_calls: false,
            settings: Settings::default(),
        };
        source.prologue();
        for object in source.initial.objects() {
            source.sharing.met(object.base, object.size, object.named);
        }
        source.settle();
        source
    }

    /// Sets whether events have dependencies, and whether reads may be postponed. `kernel`: those of the
    /// Linux kernel's model.
    pub fn track_dependencies(&mut self, tracked: bool, kernel: bool) {
        self.sets.tracked = tracked;
        if kernel != self.sets.branches_end {
            self.sets.branches_end = kernel;
            self.prologue();
            self.settle();
        }
    }

    /// Whether a thread's next event or its end depends on the event that is marked.
    pub fn is_marked(&self, run: &SuspendedThread) -> bool {
        [run.local.uses, run.thread.ctrl]
            .iter()
            .any(|set| self.sets.is_marked(*set))
    }

    fn runner(&self) -> Runner<'_> {
        Runner {
            program: self.program,
            sharing: &self.sharing,
            sets: &self.sets,
            limits: &self.limits,
            settings: self.settings,
            liveness: &self.liveness,
        }
    }

    /// Discards what was learned while running a thread with answers that no execution gives.
    pub fn forget(&self) {
        self.sharing.forget_change();
    }

    /// Sets which reductions explorations use.
    pub(super) fn reduce(&mut self, reductions: Reductions) {
        if reductions != self.sharing.reductions {
            self.sharing.reductions = reductions;
            self.prologue();
            self.settle();
        }
    }

    fn prologue(&mut self) {
        let alone = self.sharing.reductions.has(Reduction::MainAlone);
        let mut memory = Memory::new(self.program);
        memory.add_thread(self.program);
        let (mut memory, mut at_exit) = (Arc::new(memory), Vec::new());
        for start in self.program.constructors.iter().chain([&self.program.main]) {
            let mut run = SuspendedThread::new(self.program, 0, *start, memory.clone());
            run.thread.at_exit = at_exit;
            let main = *start == self.program.main;
            if main && !alone {
                self.main = ProgramThread::new(run);
                break;
            }
            run.local.alone = true;
            let end = self.runner().advance(&mut run, self.limits.instructions);
            memory = run.local.memory.clone();
            at_exit = run.thread.at_exit.clone();
            if end.is_none() && !main {
                self.refused = Some(match run.thread.inst(self.program).map(|inst| &inst.op) {
                    Some(Op::Cas { .. }) => "a global constructor that does something else if a weak compare-exchange fails is not supported",
                    _ => "a global constructor that starts threads is not supported",
                });
            }
            if main || !matches!(end, Some(Next::Done(_))) {
                run.steps = 0;
                self.main = ProgramThread::new(run);
                break;
            }
        }
        self.initial = memory;
    }

    /// Adopts what the last exploration has learned of sharing.
    pub(super) fn settle(&mut self) {
        self.sharing.restart(self.initial.objects().count());
        self.share_objects();
    }

    /// What the last exploration has learned.
    pub(super) fn learned(&self) -> Learned {
        self.sharing.learned()
    }

    /// Continues with what an earlier exploration has learned. Returns whether it may have been one
    /// of this program with the same reductions.
    pub(super) fn resume(&mut self, learned: Learned) -> bool {
        if learned.reductions != self.sharing.reductions {
            return false;
        }
        let count = self.initial.objects().count();
        let Some(sharing) = LearnedSharing::resumed(learned, count) else {
            return false;
        };
        self.sharing = sharing;
        self.share_objects();
        true
    }

    /// The objects of the initial memory, from and to.
    pub(super) fn initial_objects(&self) -> Vec<(u64, u64)> {
        let objects = self.initial.objects();
        objects.map(|o| (o.base, o.base + o.size)).collect()
    }

    /// Sets, for each object of the initial memory, which threads may use it, as far as known.
    fn share_objects(&mut self) {
        let mut memory = (*self.initial).clone();
        let objects: Vec<_> = memory
            .objects()
            .map(|o| (o.base, o.size, o.constant || o.private))
            .collect();
        for (k, (base, size, own)) in objects.into_iter().enumerate() {
            let now = match own {
                true => Visibility::ThisThread,
                false if self.sharing.is_shared(base, base + size) => Visibility::Shared,
                false => Visibility::OneThread(k as u32),
            };
            memory.share(base, now);
        }
        self.initial = Arc::new(memory);
        Arc::make_mut(&mut self.main.now).local.memory = self.initial.clone();
        self.memories = (0..MAX_THREADS).map(|_| OnceLock::new()).collect();
    }

    /// The memory of a thread before its first instruction.
    fn memory(&self, thread: ThreadId) -> &Arc<Memory> {
        self.memories[thread].get_or_init(|| Arc::new(self.laid_out(thread)))
    }

    fn laid_out(&self, thread: ThreadId) -> Memory {
        let mut memory = (*self.initial).clone();
        while memory.threads() <= thread {
            memory.add_thread(self.program);
        }
        let own = memory
            .objects()
            .filter(|o| matches!(o.named, Named::ThreadLocal(_)));
        let mut shared = Vec::new();
        for object in own {
            self.sharing.met(object.base, object.size, object.named);
            if self
                .sharing
                .is_shared(object.base, object.base + object.size)
            {
                shared.push(object.base);
            }
        }
        for base in shared {
            memory.share(base, Visibility::Shared);
        }
        memory
    }
}

impl ProgramSource<'_> {
    /// Whether two threads, each with its creator, start with one function, with arguments that are
    /// alike, and nothing has shown yet that they differ.
    fn start_symmetric(
        &self,
        one: (&ProgramThread, ThreadId),
        other: (&ProgramThread, ThreadId),
        arguments: impl Fn(u64, u64) -> bool,
    ) -> bool {
        let started = |creator: &ProgramThread| creator.now.thread.creates(self.program);
        match (started(one.0), started(other.0)) {
            (Some((start, argument)), Some((same, given)))
                if start == same && arguments(argument.bits, given.bits) =>
            {
                let threads = [one.1, other.1];
                let take =
                    |symmetry: &mut ThreadSymmetry| symmetry.assume_symmetric(start, threads);
                !self.numbers_threads && self.sharing.with_symmetry(take)
            }
            _ => false,
        }
    }

    /// Gives a thread the answer to its next event.
    fn proceed(&self, thread: &mut ProgramThread, answer: Answer) {
        let last = thread.last.take();
        let runner = self.runner();
        thread.shift = thread
            .next
            .and_then(|next| runner.shift(&thread.now, next, answer));
        if self.retries != Retries::All {
            let (next, now) = (thread.next.take(), &thread.now);
            thread.last = next.and_then(|next| EarlierRead::new(next, answer, now));
        }
        let run = Arc::make_mut(&mut thread.now);
        run.awaits_answer = false;
        run.local.answers.push(Some(answer));
        if let (Some(first), Some(second)) = (last, &thread.last) {
            if first.is_like(second, self.retries) {
                run.thread.header = None;
                run.run = Some(Run::Compares(Counterpart::new(first, answer)));
            }
        }
    }
}

impl Source for ProgramSource<'_> {
    type Thread = ProgramThread;

    fn main(&self) -> ProgramThread {
        self.main.clone()
    }

    fn created(&self, creator: &ProgramThread, thread: ThreadId) -> ProgramThread {
        let memory = self.memory(thread).clone();
        let (start, argument) = creator
            .now
            .thread
            .creates(self.program)
            .unwrap_or((self.program.main, Default::default()));
        self.sharing
            .with_symmetry(|symmetry| symmetry.starts(thread, start));
        let mut run = SuspendedThread::new(self.program, thread, start, memory);
        if let Some(slot) = run.thread.registers.first_mut() {
            slot.bits = argument.bits;
        }
        ProgramThread::new(run)
    }

    fn are_symmetric(
        &self,
        one: (&ProgramThread, ThreadId),
        other: (&ProgramThread, ThreadId),
    ) -> bool {
        self.start_symmetric(one, other, |one, other| one == other)
    }

    fn exchangeable(
        &self,
        one: (&ProgramThread, ThreadId),
        other: (&ProgramThread, ThreadId),
    ) -> bool {
        self.start_symmetric(one, other, |_, _| true)
    }

    fn distinguish(&self, thread: ThreadId) {
        // what the threads of an exploration do that has to start again is not comparable
        if !self.sharing.has_changed() {
            let _ = self.sharing.distinguish(thread);
        }
    }

    fn next(&self, thread: &mut ProgramThread) -> Next {
        if self.sharing.has_changed() {
            return Next::Refuted;
        }
        if let Some(why) = self.refused {
            return Next::Unsupported {
                message: why.to_string(),
                site: None,
            };
        }
        if thread.now.awaits_answer {
            thread.last = None;
        }
        let run = Arc::make_mut(&mut thread.now);
        run.thread.undecided = false;
        if std::mem::take(&mut run.awaits_answer) {
            run.local.answers.push(Some(Answer::default()));
        }
        let next = self.runner().until_event(run);
        if let Some(shift) = thread.shift.take() {
            if !self.sharing.has_changed() && self.runner().shows(&shift, run, &next) {
                self.sharing.explore_rounds(shift.at);
                return Next::Refuted;
            }
        }
        if let Next::Event(label) = &next {
            run.awaits_answer = true;
            thread.next = Some(label.action);
        }
        next
    }

    fn answer(&self, thread: &mut ProgramThread, answer: Answer) {
        if self.compares_calls && !answer.before_calls {
            let run = Arc::make_mut(&mut thread.now);
            run.local.after_calls = Some((run.thread.epoch, run.thread.reads.len()));
        }
        self.proceed(thread, answer);
    }

    fn has_parts(&self) -> bool {
        self.sharing.mixed().is_some()
    }

    fn waits_in_place(&self) -> bool {
        self.waits_in_place
    }

    fn compares_calls(&self) -> bool {
        self.compares_calls
    }

    fn tracks_dependencies(&self) -> bool {
        self.sets.tracked
    }

    fn postpone(&self, thread: &mut ProgramThread) {
        thread.last = None;
        let run = Arc::make_mut(&mut thread.now);
        run.awaits_answer = false;
        if self.compares_calls {
            run.local.after_calls = Some((run.thread.epoch, run.thread.reads.len()));
        }
        let position = run.local.events_before + run.local.answers.len();
        let read = self.sets.of_read(position);
        run.local.postponed = self.sets.union(run.local.postponed, read);
        run.local.answers.push(None);
    }

    fn is_undecided(&self, thread: &ProgramThread) -> bool {
        thread.now.thread.undecided
    }

    fn reads(&self, set: Dep) -> Vec<u32> {
        self.sets.reads(set)
    }

    fn expected_writes(&self, thread: ThreadId, at: Location) -> Option<Writes> {
        self.sharing.expected_writes(thread, at)
    }

    fn wrote(&self, thread: ThreadId, at: Location, writes: Writes) -> bool {
        self.sharing.wrote(thread, at, writes)
    }

    fn look_at_writes(&self) {
        self.sharing.look_at_writes();
    }

    fn rewrites<'t>(&self, thread: &'t ProgramThread) -> &'t [Rewrite] {
        &thread.now.local.rewrites
    }

    fn separate_rewrite(&self, site: SiteId) {
        self.sharing.separate_rewrite(site);
    }

    fn resumed(&self, thread: &ProgramThread) -> Option<Resumed<ProgramThread>> {
        let limits = Limits {
            loops: u32::MAX,
            ..self.limits
        };
        let mut runner = self.runner();
        runner.limits = &limits;
        Some(match runner.resumed(&thread.now)? {
            Resumed::Event(run, label) => Resumed::Event(ProgramThread::new(run), label),
            Resumed::Silent => Resumed::Silent,
        })
    }

    fn is_same_state(&self, one: &ProgramThread, other: &ProgramThread) -> bool {
        // where an undone round was left out, some of its events are missing
        let complete = |of: &ProgramThread| of.now.local.undone.is_none();
        complete(one) && complete(other) && self.runner().is_same_state(&one.now, &other.now)
    }

    fn initial(&self, at: Location) -> Initial {
        if at.is_outside() {
            return Initial::Value(0);
        }
        let memory = match self.initial.find(at.address, at.size.into()) {
            Err(_) => match Memory::thread_of(at.address) {
                thread @ 1..MAX_THREADS => self.memory(thread),
                _ => &self.initial,
            },
            _ => &self.initial,
        };
        match memory.find(at.address, at.size.into()) {
            Ok(place) => {
                let read = memory.read(place, at.size, |a, _| a);
                let (value, undefined) = (read.bits, read.undefined);
                match undefined {
                    0 => Initial::Value(value),
                    _ => Initial::Indeterminate { value, undefined },
                }
            }
            Err(_) => Initial::Outside,
        }
    }

    fn detached<'t>(&self, thread: &'t ProgramThread) -> &'t [(ThreadId, SiteId)] {
        &thread.now.local.calls.detached
    }

    fn ends_process(&self, main: &ProgramThread) -> bool {
        !main.now.thread.exited
    }

    fn extent(&self, base: u64) -> Option<u64> {
        if Memory::is_thread_local(base) {
            let mut own = self
                .memory(Memory::thread_of(base))
                .thread_locals(Memory::thread_of(base));
            return own.find(|o| o.base == base).map(|o| o.size);
        }
        let found = self.initial.objects().find(|o| o.base == base);
        found
            .filter(|o| matches!(o.named, Named::Heap(..) | Named::Local(_)) && !o.freed)
            .map(|o| o.size)
    }
}
