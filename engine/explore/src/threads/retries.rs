//! Rounds of a loop that a thread need not have done: a compare-exchange that fails and is retried
//! with the value that it has read.
//!
//! ```text
//! expected = load(x);
//! while (!compare_exchange(x, &expected, f(expected))) { }
//! ```
//!
//! The thread reads one value of x, and then, in a compare-exchange that fails, another one. Had the
//! first read read what the second one did, the thread would be at the header of its loop in the same
//! state, without the second read. So each execution that continues from there has a counterpart
//! without the first read, in which the second one stands for it, and the thread stops. A wait loop
//! that carries the value that it has read is such a loop too. (The failed rounds of a loop that
//! reads again in each of them leave it in the same state, and are those of a wait: Kokologiannakis,
//! Ren, Vafeiadis, "Dynamic partial order reductions for spinloops", FMCAD 2021.)
//!
//! Nothing is assumed of the program, since the state is compared: the thread is run again from
//! before the first read, with the value that the second one has read. It has to reach the same
//! header, before any other event, with the same frames, live registers, private memory and mutexes
//! held. No event is between the two reads, and they have the same location and memory order: the
//! second one then is to the model what the first one would be. They read different values: a thread
//! that reads the same again and again, and waits, would be left out each time, and its hang with it.
//! (What distinguishes a failed compare-exchange from a load is compared as well, if the model does.)
//! That the thread has a smaller number of rounds behind it in the counterpart can only mean that it
//! reaches a limit later.
//!
//! What is assumed of the model is asked of its text ([`holds_in_smaller`]): that an execution
//! without a read is consistent if the execution is. Nothing reads from a read, and it has no place
//! in coherence order, so what is left is an execution of the program. An error that a thread reports
//! itself is in the counterpart, too. So is a race between other accesses: fewer events order fewer
//! of them. If the first read races with an access of another thread, then either that access comes
//! before the second read, by po and rf, and the execution that ends here shows the race; or it does
//! not, and races with the second read in the counterpart, since whatever is ordered after the second
//! read is ordered after the first. Hence executions that end here count as blocked, and what they
//! show is reported, but for hangs: the thread does not wait.
//!
//! All rounds are explored under models that order by dependencies. The state has values, and not
//! what they depend on. A value that was computed from the first read alone, and that the second one
//! would have given too, depends on the second one in the counterpart: with `i = expected >> 8` before
//! the loop and a load of `a[i]` after it, that load waits there, on Armv8, for a write that it need
//! not wait for in the execution, and the counterpart may be inconsistent. The counterpart would have
//! to have no dependency, of registers, private memory or control, that the execution does not have.
//!
//! [`holds_in_smaller`]: cat::Consistency::holds_in_smaller
use crate::source::{Action, Answer, Location};
use program::interpreter::thread::{Frame, Raised, Thread};
use program::ir::{Order, Program, Register, SiteId};
use program::memory::{Dep, Memory};
use std::sync::Arc;

/// Which reads may stand for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retries {
    /// None: all rounds are explored.
    All,
    /// A read of the same kind; what is compared may be the read of a compare-exchange that fails.
    OfSameKind,
    /// Any read of the same location and memory order.
    OfAnyKind,
}

/// A read that a thread has performed, what it has read, and the thread before it.
#[derive(Clone)]
pub struct EarlierRead<T> {
    at: Location,
    order: Order,
    rmw: bool,
    answer: Answer,
    before: Arc<T>,
}

impl<T> EarlierRead<T> {
    /// `before`: the thread that is about to perform it. None for another event.
    pub fn new(action: Action, answer: Answer, before: &Arc<T>) -> Option<EarlierRead<T>> {
        let Action::Read { at, order, rmw, .. } = action else {
            return None;
        };
        Some(EarlierRead {
            at,
            order,
            rmw,
            answer,
            before: before.clone(),
        })
    }

    /// Whether another read may stand for this one.
    pub fn is_like(&self, other: &EarlierRead<T>, retries: Retries) -> bool {
        let same = self.at == other.at && self.order == other.order && self.answer != other.answer;
        match retries {
            Retries::All => false,
            Retries::OfSameKind => same && self.rmw == other.rmw,
            Retries::OfAnyKind => same,
        }
    }
}

/// What a thread does from a read on until its next event.
#[derive(Clone)]
pub enum Run<T> {
    /// After a read that may stand for the one before it.
    Compares(Counterpart<T>),
    /// In a counterpart: the headers reached so far.
    Records(Vec<HeaderState>),
}

/// The counterpart of a thread.
#[derive(Clone)]
pub struct Counterpart<T> {
    /// Before the read that is left out there.
    pub from: Arc<T>,
    /// What is read instead.
    pub answer: Answer,
    /// The headers that it reaches before its next event, once they are known.
    pub headers: Option<Arc<Vec<HeaderState>>>,
}

impl<T> Counterpart<T> {
    pub fn new(first: EarlierRead<T>, answer: Answer) -> Counterpart<T> {
        Counterpart {
            from: first.before,
            answer,
            headers: None,
        }
    }
}

/// How many headers of a counterpart are compared.
pub const MAX_HEADERS: usize = 16;

/// A thread at the header of a loop: everything that what it does next depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct HeaderState {
    frames: Vec<Frame>,
    /// The value of each register that is live, and which of its bytes are indeterminate.
    registers: Vec<(u64, u8)>,
    /// Hashes of private memory and the mutexes held.
    private: u64,
    locals: usize,
    raised: Option<Raised>,
    at_exit: Vec<(u64, u64)>,
    exits: usize,
    ending: Option<u64>,
    exited: bool,
    returned: bool,
}

impl HeaderState {
    /// `header`: the number of the loop in the function of the last frame, at whose header the thread
    /// is.
    pub fn new(
        program: &Program,
        thread: &Thread,
        memory: &Memory,
        header: u32,
    ) -> Option<HeaderState> {
        let frame = thread.frames.last()?;
        let info = &program.functions[frame.function as usize].loops[header as usize];
        let state = HeaderState::with(thread, memory, info.live.iter().copied())?;
        Some(HeaderState {
            private: info.memory(thread.private, thread.idle),
            ..state
        })
    }

    /// The state of a thread anywhere, where these registers of its last frame are live.
    pub fn with(
        thread: &Thread,
        memory: &Memory,
        live: impl Iterator<Item = Register>,
    ) -> Option<HeaderState> {
        let frame = thread.frames.last()?;
        let outer = thread.registers[..frame.registers].iter();
        let live = live.map(|register| &thread.registers[frame.registers + register as usize]);
        Some(HeaderState {
            frames: thread.frames.clone(),
            registers: outer
                .chain(live)
                .map(|value| (value.bits, value.undefined))
                .collect(),
            private: thread.private,
            locals: memory.locals(thread.id),
            raised: thread.raised,
            at_exit: thread.at_exit.iter().map(|(f, v)| (*f, v.bits)).collect(),
            exits: thread.exits,
            ending: thread.ending.map(|value| value.bits),
            exited: thread.exited,
            returned: thread.returned,
        })
    }
}

/// A thread at a compare-exchange that then failed for no reason.
#[derive(Debug, PartialEq)]
pub struct Attempt {
    pub state: HeaderState,
    /// What the live values depend on.
    pub dependencies: Vec<Dep>,
    /// The thread's progress so far.
    pub epoch: u64,
    /// The number of reads in this epoch.
    pub reads: usize,
    pub site: SiteId,
}

#[cfg(test)]
mod tests {
    use super::*;
    use program::memory::NewLocal;

    #[test]
    fn states_differ_in_locals_and_in_what_happens_when_a_thread_ends_or_handles_an_exception() {
        let text = "define i32 @main() {\n  ret i32 0\n}\n";
        let program = Program::from_ir(text).expect("a program");
        let mut memory = Memory::new(&program);
        memory.add_thread(&program);
        let mut thread = Thread::new(0, program.main);
        thread.enter(&program, program.main, &[], (0, 0), 0);
        let with = |memory, thread: &Thread| HeaderState::with(thread, memory, [].into_iter());
        let state = |thread: &Thread| with(&memory, thread);
        let differs = |change: &dyn Fn(&mut Thread)| {
            let mut other = thread.clone();
            change(&mut other);
            state(&other) != state(&thread)
        };
        let raised = Raised {
            header: 64,
            frame: 0,
            selector: 1,
            unwinding: false,
        };
        assert!(!differs(&|_| {}));
        assert!(differs(&|thread| thread.raised = Some(raised)));
        assert!(differs(&|thread| thread.exits = 1));
        assert!(differs(&|thread| thread.exited = true));
        assert!(differs(&|thread| thread.returned = true));
        let local = NewLocal {
            size: 4,
            align: 4,
            local: 0,
            private: true,
            idle: false,
            site: 0,
        };
        let mut more = memory.clone();
        more.push_local(0, &local);
        assert!(with(&more, &thread) != state(&thread));
    }
}
