//! Waiting at a barrier whose threads arrive in a fixed order ([`sharing`](super::sharing)).
use crate::semantics::environment::{AccessTarget, Accesses, Done, Interruption, ReadMode};
use crate::source::{FaultKind, Location, ThreadId, Wait};
use crate::threads::environment::ThreadEnvironment;
use program::interpreter::thread::Thread;
use program::interpreter::{ExternCall, Flow};
use program::ir::{Op, Order, Program, SiteId};
use program::library::barrier;
use program::memory::Val;

/// It is another thread's turn to arrive at a barrier.
fn not_yet(site: SiteId) -> Interruption {
    let what = barrier::AWAITED;
    Interruption::Blocked(Wait::Handover { what }, site)
}

/// Whether the result of the call that a thread is about to make is used.
pub(super) fn is_result_used(program: &Program, t: &Thread) -> bool {
    let call = t.inst(program).map(|inst| &inst.op);
    !matches!(call, Some(Op::Extern { dst: None, .. }))
}

impl ThreadEnvironment<'_> {
    /// The thread whose turn it is increments the number of arrivals, and then waits for the last one.
    pub(super) fn wait_in_fixed_order(
        &mut self,
        t: &mut Thread,
        call: &ExternCall,
        order: &[ThreadId],
    ) -> Done<Flow> {
        let at = call.args[0];
        let state = AccessTarget::new(at, barrier::SIZE, call.write_site);
        let how = ReadMode {
            order: Order::Rlx,
            ..ReadMode::PLAIN
        };
        self.at_barrier = true;
        let now = self.read(t, state, how)?.bits;
        barrier::arrive(now).map_err(|misuse| {
            Interruption::Fault(FaultKind::Lock, misuse.0.to_owned(), call.site)
        })?;
        let number = self
            .local
            .rounds
            .iter()
            .position(|(known, _)| *known == at.bits);
        let round = number.map_or(0, |number| self.local.rounds[number].1);
        let fits = barrier::threads(now) == order.len() as u64
            && round < Location::MAX_ROUNDS
            && !is_result_used(self.program, t);
        let turn = order.iter().position(|thread| *thread == t.id);
        let Some(turn) = turn.filter(|_| fits) else {
            return Err(self.sharing.order_matters(at.bits).into());
        };
        let here = Location::of_round(at.bits, round);
        let arrived = self.read_outside(t, (state, here), barrier::ARRIVE, true)?;
        if arrived != turn as u64 {
            return Err(not_yet(call.site));
        }
        let arrivals = (arrived, arrived + 1);
        self.write_outside(t, (state, here), barrier::ARRIVE, arrivals)?;
        let leaving = AccessTarget::new(at, barrier::SIZE, call.site);
        let left = self.read_outside(t, (leaving, here), barrier::LEAVE, false)?;
        if left != order.len() as u64 {
            return Err(not_yet(call.site));
        }
        match number {
            Some(number) => self.local.rounds[number].1 += 1,
            None => self.local.rounds.push((at.bits, 1)),
        }
        Ok(Flow::Value(Val::constant(0)))
    }
}
