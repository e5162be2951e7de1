//! What library calls mean in every world: those that meet neither memory nor another thread, and
//! what the others ask of their arguments before they do.
use crate::interpreter::step::{End, ExternCall, Flow, Outcome};
use crate::ir::program::{Extern, FuncId, Program};
use crate::llvm::types::MAX_SIZE;
use crate::memory::value::Val;
use crate::sc::machine::{thread_handle, thread_index};

/// Longer copies are no concurrent test's business, and each byte carries its dependencies.
const MAX_COPY: u64 = 1 << 20;

/// An object that a call asks for.
pub struct Wanted {
    pub size: u64,
    pub align: u64,
    pub zeroed: bool,
}

impl ExternCall<'_> {
    /// An argument; nothing where the call has fewer.
    pub fn arg(&self, k: usize) -> Val {
        self.args.get(k).copied().unwrap_or_default()
    }

    fn error<T>(&self, outcome: Outcome, message: impl Into<String>) -> Result<T, End> {
        Err(End::new(outcome, message, Some(self.site)))
    }

    /// What a call comes to that needs to know only who makes it; `text` reads a text at an address.
    pub fn alone(&self, thread: usize, text: impl FnOnce(u64) -> String) -> Result<Flow, End> {
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
            Extern::Exit => match self.arg(0).bits as u32 {
                0 => self.error(Outcome::Complete, ""),
                code => self.error(Outcome::Assertion, format!("exit({code})")),
            },
            Extern::Ignored(value) => number(value),
            other => self.error(Outcome::Memory, format!("{other:?} has no meaning here")),
        }
    }

    /// The function that a thread is to start with, or that is to be called once.
    pub fn started(&self, program: &Program) -> Result<FuncId, End> {
        let message = match self.function {
            Extern::ThreadCreate => "a thread that starts at no function of the program",
            _ => "a call through a pointer to no function of the program",
        };
        match program.function_at(self.arg(1).bits) {
            Some(id) => Ok(id),
            None => self.error(Outcome::Memory, message),
        }
    }

    /// The thread that a thread joins, of so many that there are and those that it has joined.
    pub fn joined(&self, thread: usize, threads: usize, joined: u64) -> Result<usize, End> {
        let other = thread_index(self.arg(0).bits);
        match other.filter(|other| *other != thread && *other < threads) {
            None => self.error(Outcome::Memory, "a join of something that is no thread"),
            Some(other) if joined >> other & 1 == 1 => {
                self.error(Outcome::Memory, "a thread is joined twice")
            }
            Some(other) => Ok(other),
        }
    }

    /// What a call that allocates asks for.
    pub fn wanted(&self) -> Result<Wanted, End> {
        let arg = |k: usize| self.arg(k).bits;
        let (size, align, zeroed) = match self.function {
            Extern::Calloc => (arg(0).saturating_mul(arg(1)), 16, true),
            Extern::AlignedAlloc => (arg(1), arg(0), false),
            Extern::PosixMemalign => (arg(2), arg(1), false),
            Extern::Realloc => (arg(1), 16, false),
            _ => (arg(0), 16, false),
        };
        if size > MAX_SIZE || !align.is_power_of_two() || align > MAX_SIZE {
            let message = format!("an allocation of {size} bytes aligned to {align}");
            return self.error(Outcome::Memory, message);
        }
        Ok(Wanted {
            size,
            align,
            zeroed,
        })
    }

    /// How many bytes a call copies or sets.
    pub fn copied(&self) -> Result<u64, End> {
        match self.arg(2).bits {
            size if size <= MAX_COPY => Ok(size),
            size => {
                let message = format!("a copy of {size} bytes");
                Err(End::new(Outcome::Bound, message, Some(self.write_site)))
            }
        }
    }
}
