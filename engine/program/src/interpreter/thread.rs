//! A thread: its call stack, its log, and what distinguishes a loop that waits from one that makes
//! progress.
use crate::interpreter::event::{Log, Operation};
use crate::ir::instruction::{
    Extern, FuncId, Inst, Op, Operand, Register, SiteId, NO_CALL, SAME_CALL,
};
use crate::ir::program::Program;
use crate::llvm::metadata::is_system;
use crate::memory::hash::mixed;
use crate::memory::value::{Dep, Val};

/// An exception on its way to its handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Raised {
    /// The address of its `_Unwind_Exception`.
    pub header: u64,
    /// The frame that handles it.
    pub frame: usize,
    pub selector: u64,
    /// Frames are being left; else a landing pad runs.
    pub unwinding: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    pub function: FuncId,
    pub pc: u32,
    /// Where the frame's registers and loops start in the thread's.
    pub registers: usize,
    pub rounds: usize,
    /// The caller's registers for the results.
    pub dst: Register,
    pub results: u32,
    /// The number of the thread's locals when the frame was entered.
    pub mark: usize,
    /// A `call_once` flag to be set when the frame returns.
    pub once: Option<(u64, SiteId)>,
    /// The site of the call, where the function is the library's.
    pub site: Option<SiteId>,
}

/// The state when a loop's header was last reached.
#[derive(Debug, Clone, Copy)]
pub struct Round {
    pub epoch: u64,
    pub doubts: u64,
    pub private: u64,
    /// Hash of the registers that are live at the header, without the loop's counter.
    pub live: u64,
    pub counter: u64,
    /// Hash of those of them that decide branches of the loop.
    pub deciding: u64,
    pub reads: usize,
    /// How many events the thread had performed; see `Environment::now`.
    pub events: u32,
    pub count: u32,
    /// In this iteration a branch could have left the loop, on a value that depends on no shared
    /// read.
    pub counted: bool,
    /// The same, on a value that depends on no shared read since the loop was entered.
    pub decided: bool,
    /// When the loop was entered; see `Environment::now`.
    pub entered: u32,
    /// The number of iterations that were decided, and not counted in `count`.
    pub waived: u32,
    /// How many choices the thread had made.
    pub choices: u64,
    /// How often it had failed for no reason.
    pub failures: u64,
}

/// A branch whose alternatives have not met again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenBranch {
    /// How many frames there were.
    pub frames: usize,
    /// The code where they meet; none: where the frame ends.
    pub join: Option<u32>,
    /// What branches before it depend on.
    pub ctrl: Dep,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadValue {
    pub address: u64,
    pub size: u32,
    /// None: it is not known yet.
    pub bits: Option<u64>,
    /// The access is not atomic.
    pub plain: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    Running,
    /// In a loop that would read the same values again; resumes when one of `reads[from..]`
    /// changes. `failed`: something failed for no reason since the state was the same.
    Spinning {
        site: SiteId,
        from: usize,
        failed: bool,
    },
    /// Waits for a condition variable, or was woken and waits for the mutex.
    Waiting {
        condition: u64,
        mutex: u64,
    },
    AtBarrier {
        address: u64,
        /// The barrier's state before the thread.
        arrived: u64,
    },
    /// Stopped by a limit; the other threads continue.
    Truncated,
    Done,
}

/// A mutex that a thread holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    pub mutex: u64,
    /// How often the thread has locked it; at least 1.
    pub count: u32,
    /// The mutex's state when it is free.
    pub free: u64,
}

#[derive(Debug, Clone)]
pub struct Thread {
    pub id: usize,
    /// Its start function, or the first of the user's that a start function of the library calls.
    pub start: FuncId,
    pub frames: Vec<Frame>,
    /// Registers and loops of all frames, in one vector each so that a thread is copied quickly.
    pub registers: Vec<Val>,
    pub rounds: Vec<Option<Round>>,
    pub log: Log,
    /// The reads that branches depend on so far.
    pub ctrl: Dep,
    /// The branches whose alternatives have not met again, where dependencies end there.
    pub branches: Vec<OpenBranch>,
    pub state: State,
    /// How many choices between values the thread has made.
    pub choices: u64,
    /// How often an operation of the thread has failed, or ended, for no reason; and how often it has
    /// chosen a value other than the last one.
    pub failures: u64,
    /// How many of `Program::thread_exits`, or `Program::process_exits` if main has returned, have
    /// been entered.
    pub exits: usize,
    pub result: Val,
    /// It has ended by `pthread_exit`, which ends the process only with the last thread.
    pub exited: bool,
    /// Counts progress: writes of new values, allocations, creation of threads.
    pub epoch: u64,
    /// How much of it may be none: that depends on reads whose values are not known yet.
    pub doubts: u64,
    /// The thread may wait at the header of a loop that it has reached since its last event: that
    /// depends on reads whose values are not known yet.
    pub undecided: bool,
    /// Hash of the thread's private memory and of the locks that it holds.
    pub private: u64,
    /// Hash of the private memory that nothing depends on.
    pub idle: u64,
    /// The last access that made progress, or changed private memory.
    pub changed: Option<SiteId>,
    pub held: Vec<Held>,
    /// Values read from shared memory in this epoch.
    pub reads: Vec<ReadValue>,
    pub operation: Operation,
    /// The number of the operation; 0 in the start function.
    pub call: u32,
    pub calls: u32,
    /// An exception that the thread has thrown, until it is handled.
    pub raised: Option<Raised>,
    /// Functions to call when the thread ends, with their arguments.
    pub at_exit: Vec<(u64, Val)>,
    /// The result of a thread that is ending, while such functions run.
    pub ending: Option<Val>,
    /// Main has returned, or has called `exit`.
    pub returned: bool,
    /// The number of the operation at the last scheduling point.
    pub last_call: u32,
    /// The header that the last jump led to, by the number of its loop.
    pub header: Option<u32>,
}

/// An iteration with more reads than this is not considered a wait.
const MAX_READS: usize = 512;

impl Thread {
    pub fn new(id: usize, start: FuncId) -> Thread {
        Thread {
            id,
            start,
            frames: Vec::new(),
            registers: Vec::new(),
            rounds: Vec::new(),
            log: Log::default(),
            ctrl: 0,
            branches: Vec::new(),
            state: State::Running,
            result: Val::default(),
            choices: 0,
            failures: 0,
            exits: 0,
            exited: false,
            epoch: 0,
            doubts: 0,
            undecided: false,
            private: 0,
            idle: 0,
            changed: None,
            held: Vec::new(),
            reads: Vec::new(),
            operation: Operation::Start,
            call: 0,
            calls: 0,
            raised: None,
            at_exit: Vec::new(),
            ending: None,
            returned: false,
            last_call: 0,
            header: None,
        }
    }

    pub fn enter(
        &mut self,
        program: &Program,
        function: FuncId,
        args: &[Val],
        dst: (Register, u32),
        mark: usize,
    ) {
        let target = &program.functions[function as usize];
        if program.functions[self.start as usize].library && !target.library {
            self.start = function;
        }
        let (registers, rounds) = (self.registers.len(), self.rounds.len());
        let count = args.len().min(target.params as usize);
        self.registers.extend_from_slice(&args[..count]);
        self.registers
            .resize(registers + target.registers as usize, Val::default());
        self.rounds.resize(rounds + target.loops.len(), None);
        self.frames.push(Frame {
            function,
            pc: 0,
            registers,
            rounds,
            dst: dst.0,
            results: dst.1,
            mark,
            once: None,
            site: None,
        });
    }

    /// The site that an error in the last frame is reported at: in code of a library, or of no file,
    /// that of the call through which the user's code got there.
    pub fn users_site(&self, program: &Program, site: SiteId) -> SiteId {
        let library = |site: &SiteId| {
            let file = &program.sites[*site as usize].file;
            file.is_empty() || is_system(file)
        };
        if !library(&site) {
            return site;
        }
        let calls = self.frames.iter().rev().filter_map(|f| f.site);
        calls
            .into_iter()
            .find(|site| !library(site))
            .unwrap_or(site)
    }

    /// Drops the last frame.
    pub fn pop(&mut self) {
        if let Some(frame) = self.frames.pop() {
            self.registers.truncate(frame.registers);
            self.rounds.truncate(frame.rounds);
        }
    }

    /// The thread ends with this result.
    pub fn end(&mut self, result: Val) {
        self.frames.clear();
        self.registers.clear();
        self.rounds.clear();
        self.result = result;
        self.state = State::Done;
    }

    /// The value of an operand in the last frame.
    pub fn get(&self, operand: Operand) -> Val {
        match (operand, self.frames.last()) {
            (Operand::Const(bits), _) => Val::constant(bits),
            (Operand::Undefined, _) => Val::undefined(),
            (Operand::Register(register), Some(frame)) => {
                self.registers[frame.registers + register as usize]
            }
            (Operand::Register(_), None) => Val::default(),
        }
    }

    pub fn set(&mut self, register: Register, value: Val) {
        if let Some(frame) = self.frames.last() {
            self.registers[frame.registers + register as usize] = value;
        }
    }

    pub fn inst<'p>(&self, program: &'p Program) -> Option<&'p Inst> {
        let frame = self.frames.last()?;
        program.functions[frame.function as usize]
            .code
            .get(frame.pc as usize)
    }

    /// The start function and the argument of the thread that this one is about to create.
    pub fn creates(&self, program: &Program) -> Option<(FuncId, Val)> {
        match &self.inst(program)?.op {
            Op::Extern {
                function: Extern::ThreadCreate,
                args,
                ..
            } => {
                let start = program.function_at(self.get(args[1]).bits)?;
                Some((start, self.get(args[2])))
            }
            _ => None,
        }
    }

    /// The thread made progress: none of its loops waits for a change of what it has read so far.
    pub fn progress(&mut self) {
        self.epoch += 1;
        self.reads.clear();
        for round in self.rounds.iter_mut().flatten() {
            round.reads = 0;
        }
    }

    /// The thread made progress, unless reads whose values are not known yet show that it did not.
    pub fn progress_in_doubt(&mut self) {
        self.doubts += 1;
        self.progress();
    }

    pub fn saw(&mut self, address: u64, size: u32, bits: Option<u64>, plain: bool) {
        if self.reads.len() >= MAX_READS {
            self.progress();
        }
        self.reads.push(ReadValue {
            address,
            size,
            bits,
            plain,
        });
    }

    /// Adds a byte of private memory, or a mutex held, to a hash, or removes it.
    pub fn mix(&mut self, idle: bool, address: u64, byte: u8) {
        match idle {
            true => self.idle ^= mixed(address, byte),
            false => self.private ^= mixed(address, byte),
        }
    }

    /// Sets the hashes of private memory; the mutexes held are added to the first.
    pub fn settle(&mut self, private: u64, idle: u64) {
        self.private = self.held.iter().fold(private, |hash, held| {
            hash ^ mixed(held.mutex, held.count as u8)
        });
        self.idle = idle;
    }

    /// How often the thread holds a mutex.
    pub fn holds(&self, mutex: u64) -> u32 {
        let held = self.held.iter().find(|h| h.mutex == mutex);
        held.map_or(0, |h| h.count)
    }

    /// The state that a mutex held by the thread has when it is free.
    pub fn free_state(&self, mutex: u64) -> u64 {
        let held = self.held.iter().find(|h| h.mutex == mutex);
        held.map_or(0, |h| h.free)
    }

    /// Sets how often the thread holds a mutex.
    pub fn hold(&mut self, mutex: u64, count: u32, free: u64) {
        let before = self.holds(mutex);
        self.mix(false, mutex, before as u8);
        self.mix(false, mutex, count as u8);
        self.held.retain(|h| h.mutex != mutex);
        if count > 0 {
            self.held.push(Held { mutex, count, free });
        }
    }

    /// The number of the operation that an instruction's events belong to.
    pub fn call_of(&self, inst: &Inst) -> u32 {
        if self.frames.len() > 1 || inst.call == SAME_CALL {
            return self.call;
        }
        match (inst.call, self.operation) {
            (NO_CALL, _) => 0,
            (call, Operation::Inlined(now)) if call == now => self.call,
            _ => self.calls + 1,
        }
    }

    /// Keeps track of the operation that the thread is in. Only calls from the start function
    /// count; a call directly followed by the same call is taken for one.
    pub fn follow(&mut self, inst: &Inst) {
        if self.frames.len() > 1 || inst.call == SAME_CALL {
            return;
        }
        if inst.call == NO_CALL {
            self.operation = Operation::Start;
            self.call = 0;
        } else if self.operation != Operation::Inlined(inst.call) {
            self.operation = Operation::Inlined(inst.call);
            self.calls += 1;
            self.call = self.calls;
        }
    }
}
