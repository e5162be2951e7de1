//! Weak compare-exchanges that fail for no reason, and are tried again.
//!
//! A weak compare-exchange may fail each time that it is executed, also where one thread alone uses the
//! location. In a loop that tries it again, a failure often shows nothing new:
//!
//! ```text
//! do node->next = head;
//! while (!compare_exchange_weak(&top, &head, node));
//! ```
//!
//! A thread stops, before it executes a compare-exchange, if it was there before in the same state (call
//! stack, live registers, own memory, mutexes), and the exchange failed for no reason then, and the
//! thread has made no progress since. That is the rule for loops that wait ([`take`]), with the
//! compare-exchange in the place of the loop's header: what the rest of the loop's round overwrites is
//! no part of the state there. What values depend on is compared too ([`past_accesses`]). Where a round ends in
//! the same state at the header, that rule applies.
//!
//! **What is left out.** Let G be an execution in which a thread reads by a compare-exchange that fails
//! for no reason, performs the events S, and is then before this compare-exchange in the same state. G'
//! is G without that read and without S: the thread does at once what it does after S in G. No progress
//! means that S has no other effect than to write values that are there already, so that what reads
//! from such a write in G reads from the one before it in G'. All threads read the same values in G' as
//! in G, fail the same assertions, wait for the same, and leave the same values behind. G' orders no
//! more than G, so that what is left races in G' if it does in G; an access of S that may race with what
//! another thread does later is explored ([`left_out_accesses`]), and one by which a call of another
//! thread precedes a later one is too ([`failed_rounds`]). G' has fewer events than G, as every
//! execution by which another reduction represents one has; so no chain of representatives is endless.
//!
//! Where nothing follows the failure, not even an event of S, each execution that extends the graph is
//! left out, and the search leaves it there ([`Next::is_redundant_after`]).
//!
//! [`location_uses`] says which values are there already.
//!
//! **Before threads are started**, main and the constructors of global objects run without events, and
//! cannot choose. A compare-exchange of theirs does not fail if the thread would come back to it in
//! the same state: what follows is the same. Otherwise events begin there.
//!
//! [`take`]: program::interpreter
//! [`past_accesses`]: crate::threads::past_accesses
//! [`left_out_accesses`]: crate::threads::left_out_accesses
//! [`failed_rounds`]: crate::threads::failed_rounds
//! [`location_uses`]: crate::threads::location_uses
use crate::reductions::Reduction;
use crate::source::{Answer, Next, Wait};
use crate::threads::advance::{Runner, SuspendedThread, MAX_AHEAD};
use crate::threads::retries::{Attempt, HeaderState};
use program::interpreter::thread::State;
use program::ir::Op;
use program::memory::Dep;
use std::sync::Arc;

/// How many attempts are compared.
const MAX_ATTEMPTS: usize = 16;

impl SuspendedThread {
    /// A compare-exchange has failed for no reason.
    pub(super) fn fails(&mut self, attempt: Option<Attempt>) {
        let Some(attempt) = attempt else {
            return;
        };
        let epoch = attempt.epoch;
        self.attempts.retain(|known| known.epoch == epoch);
        if self.attempts.len() < MAX_ATTEMPTS {
            self.attempts.push(Arc::new(attempt));
        }
    }
}

impl Runner<'_> {
    /// A thread that is about to learn that its compare-exchange fails.
    pub(super) fn attempt(&self, run: &SuspendedThread) -> Option<Attempt> {
        let (read, fails) = match run.local.answers[..] {
            [Some(fails)] => (0, fails),
            [_, Some(fails)] | [_, Some(_), Some(fails)] => (1, fails),
            _ => return None,
        };
        match fails.value {
            1 => self.at_exchange(run, read),
            _ => None,
        }
    }

    /// A thread at a compare-exchange, `read`: whose read is among its last.
    fn at_exchange(&self, run: &SuspendedThread, read: usize) -> Option<Attempt> {
        let thread = &run.thread;
        let Op::Cas { access, .. } = &thread.inst(self.program)?.op else {
            return None;
        };
        let frame = thread.frames.last()?;
        let live = self.live(thread)?;
        let outer = thread.registers[..frame.registers].iter();
        let live_values = live
            .iter()
            .map(|register| &thread.registers[frame.registers + *register as usize]);
        let values = outer.chain(live_values);
        Some(Attempt {
            dependencies: values.map(|value| value.dep).collect(),
            state: HeaderState::with(thread, &run.local.memory, live.iter().copied())?,
            epoch: thread.epoch,
            reads: thread.reads.len().saturating_sub(read),
            site: access.site,
        })
    }

    /// How a thread stops that is about to try a compare-exchange again, in the state in which it has
    /// failed for no reason.
    pub(super) fn attempts_again(&self, run: &mut SuspendedThread) -> Option<State> {
        let on = self.sharing.reductions.has(Reduction::SpuriousFailures);
        if !on || run.attempts.is_empty() || !run.local.answers.is_empty() {
            return None;
        }
        let now = self.at_exchange(run, 0)?;
        let is_known = |dep: &Dep| self.sets.are_disjoint(*dep, run.local.postponed);
        if !now.dependencies.iter().all(is_known) {
            run.thread.undecided = true;
            return None;
        }
        let covers =
            |(before, after): (&Dep, &Dep)| run.local.past.covers(self.sets, *before, *after);
        let same = |known: &&Arc<Attempt>| {
            known.state == now.state
                && known.epoch == now.epoch
                && known.dependencies.iter().zip(&now.dependencies).all(covers)
        };
        let first = run.attempts.iter().find(same)?;
        Some(State::Spinning {
            site: now.site,
            from: first.reads,
            failed: true,
        })
    }

    /// Whether a thread that runs alone is back at its compare-exchange in the same state if that
    /// fails.
    pub(super) fn fails_in_vain(&self, run: &SuspendedThread) -> bool {
        if run.local.quiet || self.at_exchange(run, 0).is_none() {
            return false;
        }
        let mut ahead = run.clone();
        ahead.local.quiet = true;
        ahead.local.answers.push(Some(Answer::new(1)));
        matches!(
            self.advance(&mut ahead, MAX_AHEAD),
            Some(Next::Blocked {
                wait: Wait::Redundant,
                ..
            })
        )
    }
}
