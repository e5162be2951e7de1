//! Library calls: decoding, arguments, errors.
use super::mutex::Lock;
use super::operations::Library;
use super::threads::thread_handle;
use super::{bytes, exceptions};
use crate::interpreter::environment::{ExternCall, Flow};
use crate::interpreter::outcome::{Outcome, RunEnd};
use crate::interpreter::thread::Thread;
use crate::ir::instruction::{Extern, FuncId, SyncObject};
use crate::ir::program::Program;
use crate::memory::address_space::Memory;
use crate::memory::value::Val;

/// Performs a call.
pub fn call<'p, L: Library<'p>>(
    l: &mut L,
    t: &mut Thread,
    call: &ExternCall,
) -> Result<Flow, L::Interruption> {
    let arg = |k: usize| call.arg(k);
    let at = arg(0).bits;
    let result = |bits: u64| Ok(Flow::Value(Val::constant(bits)));
    match call.function {
        Extern::ThreadCreate => l.create(t, call),
        Extern::ThreadJoin => l.join(t, call),
        Extern::ThreadDetach => {
            l.detach(t, call)?;
            result(0)
        }
        Extern::MutexInit => {
            // the type of a mutex: given here, by C11, or in an attribute object
            let mutex_type = match arg(1).bits {
                0 => arg(2).bits & 1,
                attributes => l.field(t, call, attributes, 4)?,
            };
            l.begin_life(t, call, SyncObject::Mutex, mutex_type)?;
            result(0)
        }
        Extern::MutexLock => l.lock(t, call),
        Extern::MutexTrylock => {
            // what it returns where another thread, or the caller, holds the mutex
            let (lock, now) = l.try_lock(t, call)?;
            let bits = match lock {
                Lock::Acquire(_) | Lock::Again => 0,
                Lock::Busy => arg(1).bits,
                Lock::Deadlock => arg(2).bits,
            };
            Ok(Flow::Value(Val::new(bits, now.dep)))
        }
        Extern::MutexUnlock => result(l.unlock(t, call)?),
        Extern::CondWait | Extern::CondWaitFor => l.wait(t, call),
        Extern::CondSignal => {
            l.signal(t, call)?;
            result(0)
        }
        Extern::CondBroadcast => {
            l.broadcast(t, call)?;
            result(0)
        }
        Extern::SleepBegin => result(u64::from(l.begin_sleep(t, call)?)),
        Extern::Sleep => {
            l.sleep(t, call)?;
            result(0)
        }
        Extern::SleepEnd => result(u64::from(l.end_sleep(t, call)?)),
        Extern::Wake => result(l.wake(t, call)?),
        Extern::Sleepers => result(l.sleepers(t, call)?),
        Extern::Requeue => result(l.requeue(t, call)?),
        Extern::Srcu(annotation) => Ok(Flow::Value(l.srcu(t, call, annotation)?)),
        Extern::BarrierInit => {
            l.begin_life(t, call, SyncObject::Barrier, arg(1).bits)?;
            result(0)
        }
        Extern::CondInit => {
            l.begin_life(t, call, SyncObject::Condition, 0)?;
            result(0)
        }
        Extern::Destroy(object) => {
            l.end_life(t, call, object)?;
            result(0)
        }
        Extern::BarrierWait => l.wait_at_barrier(t, call),
        Extern::Once => l.once(t, call),
        Extern::Choose => match call.alternatives()? {
            1 => result(0),
            alternatives => {
                let choice = l.choose(t, call, alternatives)?;
                t.choices += 1;
                result(choice)
            }
        },
        Extern::Parameter => {
            let given = l.program().parameters.get(at as usize);
            result(given.copied().unwrap_or(0))
        }
        Extern::Called => {
            l.called(t, call)?;
            result(0)
        }
        Extern::Returned => {
            l.returned(t, call)?;
            result(0)
        }
        Extern::Discard => l.discard(call),
        Extern::Misuse => l.misuse(call),
        Extern::Refuse => l.refuse(call),
        Extern::Malloc | Extern::Calloc | Extern::AlignedAlloc => result(l.allocate(t, call)?),
        Extern::PosixMemalign => {
            l.posix_memalign(t, call)?;
            result(0)
        }
        Extern::Realloc => result(l.reallocate(t, call)?),
        Extern::Free => {
            if at != 0 {
                l.free(t, call.site, at)?;
            }
            result(0)
        }
        Extern::Memcpy | Extern::Memset => {
            match (call.copied()?, call.function) {
                (0, _) => {}
                (size, Extern::Memcpy) => l.copy(t, call, size)?,
                (size, _) => l.fill(t, call, size)?,
            }
            Ok(Flow::Value(arg(0)))
        }
        Extern::IsHandled => {
            let frame = exceptions::handler_of_any(l.program(), t);
            result(frame.is_some().into())
        }
        Extern::Raise => Ok(Flow::Raise(exceptions::raise(l, t, call)?)),
        Extern::AtThreadExit => {
            t.at_exit.push((at, arg(1)));
            result(0)
        }
        Extern::Either => {
            let second = l.either(t, call)?;
            let dep = l.chosen(t, call, second);
            let bits = arg(usize::from(second)).bits;
            Ok(Flow::Value(Val::new(bits, dep)))
        }
        Extern::Bytes(op) => Ok(Flow::Value(bytes::perform(l, t, call, op)?)),
        Extern::ThreadSelf
        | Extern::ThreadEqual
        | Extern::ThreadExit
        | Extern::AssertFail
        | Extern::Abort(_)
        | Extern::Trap
        | Extern::Exit
        | Extern::ExitNow
        | Extern::Random
        | Extern::Ignored(_) => Ok(call.alone(t.id, |at| l.text(at))?),
    }
}

/// More alternatives are refused: each doubles, at least, what there is to explore.
const MAX_ALTERNATIVES: u64 = 1024;

/// Longer copies are refused: each byte has its dependencies.
const MAX_COPY: u64 = 1 << 20;

/// The object that a call allocates.
pub struct Wanted {
    pub size: u64,
    pub align: u64,
    pub zeroed: bool,
}

impl ExternCall<'_> {
    /// An argument; 0 if the call has fewer.
    pub fn arg(&self, k: usize) -> Val {
        self.args.get(k).copied().unwrap_or_default()
    }

    fn error<T>(&self, outcome: Outcome, message: impl Into<String>) -> Result<T, RunEnd> {
        Err(RunEnd::new(outcome, message, Some(self.site)))
    }

    /// The effect of a call that accesses neither memory nor other threads; `text` reads a text at
    /// an address.
    pub fn alone(&self, thread: usize, text: impl FnOnce(u64) -> String) -> Result<Flow, RunEnd> {
        let number = |bits: u64| Ok(Flow::Value(Val::constant(bits)));
        match self.function {
            Extern::ThreadSelf => number(thread_handle(thread)),
            Extern::ThreadEqual => number(u64::from(self.arg(0).bits == self.arg(1).bits)),
            Extern::ThreadExit => Ok(Flow::ExitThread(self.arg(0))),
            Extern::AssertFail => {
                let message = format!("assertion failed: {}", text(self.arg(0).bits));
                self.error(Outcome::Assertion, message)
            }
            Extern::Abort(words) => self.error(Outcome::Assertion, words),
            Extern::Trap => self.error(Outcome::Assertion, "trap"),
            Extern::Exit | Extern::ExitNow => match (self.arg(0).bits as u32, thread) {
                (0, 0) if self.function == Extern::Exit => Ok(Flow::ExitProcess),
                (0, _) => self.error(Outcome::Complete, ""),
                (code, _) => self.error(Outcome::Assertion, format!("exit({code})")),
            },
            Extern::Ignored(value) => number(value),
            other => self.error(Outcome::Memory, format!("{other:?} is not supported here")),
        }
    }

    /// The start function of a thread, or the function of a once call.
    pub fn started(&self, program: &Program) -> Result<FuncId, RunEnd> {
        let message = match self.function {
            Extern::ThreadCreate => {
                "thread started at an address that is no function of the program"
            }
            _ => "call through a pointer that points to no function of the program",
        };
        let address = self.arg(1).bits;
        let site = Some(self.site);
        let found = program.function_at(address);
        found.ok_or_else(|| RunEnd::call_of_none(program, address, message, site))
    }

    /// The object that a call of the thread allocates.
    pub fn wanted(&self, memory: &Memory, thread: usize) -> Result<Wanted, RunEnd> {
        let arg = |k: usize| self.arg(k).bits;
        let (size, align, zeroed) = match self.function {
            Extern::Calloc => (arg(0).saturating_mul(arg(1)), 16, true),
            Extern::AlignedAlloc => (arg(1), arg(0), arg(2) != 0),
            Extern::PosixMemalign => (arg(2), arg(1), false),
            Extern::Realloc => (arg(1), 16, false),
            _ => (arg(0), 16, false),
        };
        let message = format!("allocation of {size} bytes aligned to {align}");
        if size > i64::MAX as u64 || !align.is_power_of_two() {
            return self.error(Outcome::Memory, message);
        }
        if !memory.has_room(thread, size, align) {
            return self.error(Outcome::Bound, message);
        }
        Ok(Wanted {
            size,
            align,
            zeroed,
        })
    }

    /// Between how many values a call chooses.
    pub fn alternatives(&self) -> Result<u32, RunEnd> {
        match self.arg(0).bits {
            count @ 1..=MAX_ALTERNATIVES => Ok(count as u32),
            count => {
                let message = format!(
                    "a choice between {count} values, not between 1 and {MAX_ALTERNATIVES}"
                );
                Err(RunEnd::new(Outcome::Bound, message, Some(self.site)))
            }
        }
    }

    /// How many bytes a call copies or sets.
    pub fn copied(&self) -> Result<u64, RunEnd> {
        match self.arg(2).bits {
            size if size <= MAX_COPY => Ok(size),
            size => {
                let message = format!("a copy of {size} bytes, more than {MAX_COPY}");
                Err(RunEnd::new(Outcome::Bound, message, Some(self.write_site)))
            }
        }
    }
}
