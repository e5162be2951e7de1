//! Rounds of a loop that are undone: a read-modify-write adds a number to a location, and the next
//! event of the thread subtracts it again.
//!
//! ```text
//! while (fetch_add(l, 1) & WRITER)
//!     fetch_sub(l, 1);
//! ```
//!
//! (The zero-net-effect loops of Kokologiannakis, Ren, Vafeiadis, "Dynamic partial order reductions for
//! spinloops", FMCAD 2021, and of Oberhauser et al., "VSync", ASPLOS 2021. There the reads of the
//! location are trusted not to look at the number; here that is checked.)
//!
//! Of such a round the thread performs the first read alone. It is then where the round has left it,
//! and either waits there, or returns to the head of its loop in the same state, and stops as in any
//! wait. If it does anything else first than read the location, all rounds are explored.
//!
//! **What is left out.** Let G be an execution with such rounds, and G' the execution without them,
//! which has fewer events: what has read from the last write of a round reads from the write before the
//! round. Between the two writes of a round the location holds what it held before plus the number;
//! several threads can be between these at once. So where a read of G has read v, the same read of G'
//! reads v - n a, for the number a that rounds add, and an n of at most the number of other threads that
//! run. By induction over po and rf, threads do in G' what they do in G, if none can tell v from v - n
//! a. This is checked while exploring, since G' is explored: at every read of the location, for every n.
//! The thread has to reach the same event in the same state with either value, except that what a
//! read-modify-write writes has to differ by n a. Or it has to end, with v, a round that is a wait
//! without effect: then that round is left out of G too, as it is anyway. It must not be one that is
//! undone, for two threads may undo their rounds for ever because of one another. The value that the
//! second read-modify-write reads must be unused. Hence threads that hang in G, or rounds that are done
//! over and over because the first read reads what the location holds in the end, are found.
//!
//! That the location is only accessed by atomic reads and read-modify-writes while other threads run
//! is checked too: a write that does not add would change how much rounds add to what follows it, and
//! a plain access may race with a round. One amount per location is left out.
//!
//! **What is added.** A thread that has left a round out performs nothing but reads of the location
//! from then on. So nothing depends on what it does, and without these reads the execution is one of
//! the program.
//!
//! **The model.** G' has to be consistent if G is, and order no more. It has fewer events; the explorer
//! reads from the model's text that this suffices
//! ([`holds_in_smaller`](cat::Consistency::holds_in_smaller)). But it has reads-from edges that G lacks,
//! from the write before a round to what has read from the round, where G has a path of reads-from edges
//! through read-modify-writes. Such a path has to order what the edge orders: read-modify-writes
//! continue release sequences. The explorer asks the model
//! ([`updates_continue`](crate::consistency::guarantee::updates_continue)). It also has to have an axiom
//! of coherence, so that no thread reads the number that a round of its own has added, and to order what
//! a thread does before what follows the join, so that who has joined all others needs no check.
//!
//! Which locations these are is learned while exploring, which then starts again.
use crate::source::{Action, Answer, EventLabel, Location, Next, Wait};
use crate::threads::advance::{Runner, SuspendedThread};
use crate::threads::ledger::User;
use crate::threads::sharing::SharingChanged;
use program::interpreter::thread::Thread;
use program::ir::bits::mask;
use program::ir::operators::RmwOp;
use program::ir::{Op, Register};
use std::sync::Arc;

/// Limit of instructions within a round.
const MAX_AHEAD: u64 = 10_000;

/// A read that might read more, in executions with rounds that are left out.
#[derive(Clone)]
pub struct Shift {
    pub at: Location,
    /// The thread that is about to perform it.
    before: Arc<SuspendedThread>,
    answer: Answer,
    /// What a round adds.
    amount: u64,
    /// How many rounds there may be at once.
    rounds: u64,
}

/// What a thread does after a read, and where it is then.
struct Settled {
    run: SuspendedThread,
    next: Next,
    /// What it has written in place of what it has read.
    written: Option<u64>,
}

impl Runner<'_> {
    /// Runs a thread up to its next event, or to where it stops.
    pub fn until_event(&self, run: &mut SuspendedThread) -> Next {
        let mut reached = None;
        loop {
            let left = self.limits.instructions.saturating_sub(run.steps);
            let next = reached.take();
            match next.or_else(|| self.advance(run, left)) {
                None => {}
                Some(Next::Event(label)) => {
                    run.run = None;
                    if self.settings.updates_continue {
                        if run.local.unchanged {
                            if let Some(wait) = self.waits(run) {
                                return wait;
                            }
                        }
                        run.thread.undecided |=
                            run.local.answers.contains(&None) && self.may_wait(run);
                    }
                    if self.settings.undoes {
                        match self.leave_out(run, &label) {
                            Ok(None) => {}
                            Ok(after) => {
                                reached = after;
                                continue;
                            }
                            Err(_) => return Next::Refuted,
                        }
                    }
                    return Next::Event(label);
                }
                Some(next) => return self.after_rounds(run, next),
            }
        }
    }

    /// If a thread is about to perform the first write of a round that is undone: the thread after the
    /// round, in its place, and what it does next.
    fn leave_out(
        &self,
        run: &mut SuspendedThread,
        label: &EventLabel,
    ) -> Result<Option<Next>, SharingChanged> {
        if let Some((after, next, at, amount)) = self.undone(run, label) {
            if self.sharing.leaves_out(at, amount)? {
                *run = after;
                return Ok(Some(next));
            }
        }
        match run.local.undone {
            Some(at) if !is_read_of(label, at) => Err(self.sharing.explore_rounds(at)),
            _ => Ok(None),
        }
    }

    /// Where a thread stops, or that it must not have left out a round.
    fn after_rounds(&self, run: &SuspendedThread, next: Next) -> Next {
        match (run.local.undone, &next) {
            (None, _) | (_, Next::Blocked { .. } | Next::Needs(_)) => next,
            _ if self.sharing.has_changed() => next,
            (Some(at), _) => {
                self.sharing.explore_rounds(at);
                Next::Refuted
            }
        }
    }

    /// A thread after the round whose first write it is about to perform, what it does next, the
    /// location, and what the round adds there.
    fn undone(
        &self,
        run: &SuspendedThread,
        label: &EventLabel,
    ) -> Option<(SuspendedThread, Next, Location, u64)> {
        let (at, amount) = self.addition(run, label)?;
        let bits = 8 * at.size;
        let [Some(read)] = run.local.answers[..] else {
            return None;
        };
        let mut ahead = run.clone();
        ahead.local.quiet = true;
        ahead.local.answers.push(Some(Answer::default()));
        let Next::Event(_) = self.advance(&mut ahead, MAX_AHEAD)? else {
            return None;
        };
        if self.is_result_live(&ahead.thread) {
            return None;
        }
        let value = mask(read.value.wrapping_add(amount), bits);
        let reads = ahead.thread.reads.len();
        ahead.local.answers.push(Some(Answer::new(value)));
        let Next::Event(second) = self.advance(&mut ahead, MAX_AHEAD)? else {
            return None;
        };
        let (same, subtracted) = self.addition(&ahead, &second)?;
        if same != at || mask(subtracted.wrapping_add(amount), bits) != 0 {
            return None;
        }
        // that read is not performed
        ahead.thread.reads.truncate(reads);
        ahead.local.answers.push(Some(Answer::default()));
        let next = self.advance(&mut ahead, MAX_AHEAD)?;
        let waits = match &next {
            Next::Blocked { .. } => true,
            Next::Event(label) => is_read_of(label, at),
            _ => false,
        };
        if !waits {
            return None;
        }
        ahead.local.quiet = false;
        ahead.local.undone = Some(at);
        Some((ahead, next, at, amount))
    }

    /// The location, and the number that a read-modify-write is about to add there.
    fn addition(&self, run: &SuspendedThread, label: &EventLabel) -> Option<(Location, u64)> {
        let (at, value) = updates(label)?;
        let op = &run.thread.inst(self.program)?.op;
        let adds = matches!(
            op,
            Op::Rmw {
                op: RmwOp::Add | RmwOp::Sub,
                ..
            }
        );
        let [Some(read)] = run.local.answers[..] else {
            return None;
        };
        let amount = mask(value.wrapping_sub(read.value), 8 * at.size);
        adds.then_some((at, amount))
    }

    /// Whether the value that a read-modify-write reads is used, in its function or by one that it is
    /// returned to.
    fn is_result_live(&self, thread: &Thread) -> bool {
        let Some(Op::Rmw { dst, .. }) = thread.inst(self.program).map(|inst| &inst.op) else {
            return true;
        };
        let mut results = *dst..*dst + 1;
        for frame in thread.frames.iter().rev() {
            let next = frame.pc as usize + 1;
            let of = self.liveness(frame.function);
            let is_in = |live: &[Register]| live.iter().any(|register| results.contains(register));
            if !is_in(&of.live[next]) {
                return false;
            }
            if is_in(&of.used_inside[next]) {
                return true;
            }
            results = frame.dst..frame.dst + frame.results;
        }
        true
    }

    /// The event that a thread is about to perform, if undone rounds change what it may read.
    pub fn shift(
        &self,
        before: &Arc<SuspendedThread>,
        event: Action,
        answer: Answer,
    ) -> Option<Shift> {
        let Action::Read { at, .. } = event else {
            return None;
        };
        let amount = self.sharing.undone(at).filter(|_| self.settings.undoes)?;
        let rounds = self.sharing.concurrent(User {
            thread: before.thread.id,
            created: before.local.calls.created,
            joined: before.local.calls.joined,
            site: 0,
        });
        Some(Shift {
            at,
            before: before.clone(),
            answer,
            amount,
            rounds,
        })
    }

    /// Whether a thread can tell, after a read, whether rounds were left out.
    pub fn shows(&self, shift: &Shift, run: &SuspendedThread, next: &Next) -> bool {
        let bits = 8 * shift.at.size;
        let ours = self.settled(run.clone(), next.clone());
        (1..=shift.rounds).any(|rounds| {
            let more =
                |value: u64| mask(value.wrapping_add(rounds.wrapping_mul(shift.amount)), bits);
            let value = more(shift.answer.value);
            let mut run = (*shift.before).clone();
            run.awaits_answer = false;
            run.local.answers.push(Some(Answer {
                value,
                ..shift.answer
            }));
            let next = self.until_event(&mut run);
            let theirs = self.settled(run, next);
            !self.is_same(&ours, &theirs, more)
        })
    }

    /// A thread at its next event or end, past the write of a read-modify-write.
    fn settled(&self, mut run: SuspendedThread, mut next: Next) -> Settled {
        let written = match &next {
            Next::Event(label) => updates(label).map(|(_, value)| value),
            _ => None,
        };
        if written.is_some() {
            run.awaits_answer = false;
            run.local.answers.push(Some(Answer::default()));
            next = self.until_event(&mut run);
        }
        Settled { run, next, written }
    }

    /// Whether a thread does the same after reading a value (ours), and more (theirs), and a
    /// read-modify-write writes as much more.
    fn is_same(&self, ours: &Settled, theirs: &Settled, more: impl Fn(u64) -> u64) -> bool {
        let stops = |of: &Settled| {
            matches!(
                of.next,
                Next::Blocked {
                    wait: Wait::Spin { .. } | Wait::Retried | Wait::Redundant,
                    ..
                }
            )
        };
        stops(theirs) && theirs.run.local.undone.is_none()
            || ours.written.map(more) == theirs.written
                && ours.next == theirs.next
                && self.is_same_state(&ours.run, &theirs.run)
    }
}

/// Where a read-modify-write is about to write, and what.
fn updates(label: &EventLabel) -> Option<(Location, u64)> {
    match label.action {
        Action::Write {
            at,
            value,
            rmw: true,
            undefined: 0,
            ..
        } => Some((at, value)),
        _ => None,
    }
}

fn is_read_of(label: &EventLabel, at: Location) -> bool {
    matches!(label.action, Action::Read { at: read, .. } if read == at)
}
