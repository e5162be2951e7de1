//! Threads that a limit has stopped, and whether they are in a state in which they were before.
use crate::source::{Next, Resumed};
use crate::threads::advance::{Runner, SuspendedThread, MAX_AHEAD};
use crate::threads::retries::{HeaderState, Run};
use program::interpreter::thread::Thread;
use program::ir::{FuncId, Register};
use program::Liveness;

impl Runner<'_> {
    /// How a thread continues past the limit that has stopped it, if that is known after a few rounds.
    pub(super) fn resumed(&self, stopped: &SuspendedThread) -> Option<Resumed<SuspendedThread>> {
        let mut run = stopped.clone();
        run.awaits_answer = false;
        run.thread.header = None;
        run.run = Some(Run::Records(Vec::new()));
        let next = self.advance(&mut run, MAX_AHEAD)?;
        match (next, run.run.take()) {
            (Next::Event(label), _) => Some(Resumed::Event(run, label)),
            (Next::Truncated { .. }, Some(Run::Records(headers))) => {
                let returns = (1..headers.len()).any(|at| headers[..at].contains(&headers[at]));
                returns.then_some(Resumed::Silent)
            }
            _ => None,
        }
    }

    /// Whether two states of a thread before the same event, or at its end, differ in nothing that
    /// what it does from then on depends on, limits apart. No read of it is postponed: a thread with such a
    /// read is not stopped by a limit, and rounds are undone only where none is postponed. How far it is
    /// from where it would be found to wait is not compared: it waits only where it would come back to
    /// the same state.
    pub(super) fn is_same_state(&self, one: &SuspendedThread, other: &SuspendedThread) -> bool {
        let (p, q) = (&one.local, &other.local);
        debug_assert_eq!(p.postponed, 0, "a read of it is postponed");
        let state = |run: &SuspendedThread| {
            let live = self.live(&run.thread)?.iter().copied();
            HeaderState::with(&run.thread, &run.local.memory, live)
        };
        p.calls.detached.len() == q.calls.detached.len()
            && p.answers == q.answers
            && state(one) == state(other)
    }

    /// The registers of a thread's last frame on which depends what it does next.
    pub(super) fn live(&self, thread: &Thread) -> Option<&[Register]> {
        let frame = thread.frames.last()?;
        Some(&self.liveness(frame.function).live[frame.pc as usize])
    }

    pub(super) fn liveness(&self, function: FuncId) -> &Liveness {
        let function = function as usize;
        self.liveness[function].get_or_init(|| Liveness::of(&self.program.functions[function]))
    }
}
