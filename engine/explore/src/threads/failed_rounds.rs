//! Rounds of a loop that fail, by which a call of an operation precedes another one.
//!
//! A thread whose loop is in the same state after a round as before stops there. But a read of that
//! round may be what a call of another thread happens before a later call by, and an atomic write of it
//! what a call of the thread happens before a call of another one by: whether calls are
//! linearizable depends on that, and in executions without the round fewer of them may be ordered.
//!
//! So the thread continues after such rounds, if a call of another thread has returned in the causal
//! prefix of a read in them, or if they write what may order one, as often as calls of other threads may return
//! while it runs. (The search that postpones reads does not know their prefixes: any read counts there.)
//! More are not needed. Of the rounds that order a call before what follows, be it with a fence in
//! between, the one from which on this holds first suffices, as what follows the others follows it. Of
//! those that write, one suffices for each call that follows. So each call of another thread
//! needs one round, and without the rest the same calls are ordered. A call that returns before the
//! thread is created, or after it was joined, needs none.
//!
//! How many calls there are is learned while exploring. When a call returns that was not known, and
//! a thread has stopped that might have continued otherwise, exploration starts again.
use crate::source::ThreadId;
use crate::threads::ledger::{ThreadNumbers, User};
use borsh::{BorshDeserialize, BorshSerialize};
use std::collections::BTreeSet;

#[derive(Clone, Default, BorshSerialize, BorshDeserialize)]
pub struct FailedRounds {
    /// The calls that have returned, by their numbers, and when.
    returned: Vec<(u32, User)>,
    /// The threads that this exploration has stopped after as many rounds as calls were known.
    stopped: BTreeSet<ThreadId>,
}

impl FailedRounds {
    pub fn restart(&mut self) {
        self.stopped.clear();
    }

    /// Records that a call has returned; returns whether a thread has stopped that would continue
    /// with this call known.
    pub fn returns(&mut self, number: u32, by: User, threads: &ThreadNumbers) -> bool {
        let same = |(known, seen): &(u32, User)| *known == number && seen.is_then(&by);
        if self.returned.iter().any(same) {
            return false;
        }
        self.returned.push((number, by));
        let mut stopped = self.stopped.iter();
        stopped.any(|thread| threads.is_beside(by, *thread))
    }

    /// Adds what another exploration of the same tree assumes and has shown. Returns whether a thread
    /// has stopped in one of them that would continue with a call known that has returned in the other.
    pub fn join(&mut self, mut other: FailedRounds, threads: &ThreadNumbers) -> bool {
        let mut changed = false;
        for (number, by) in &self.returned {
            changed |= other.returns(*number, *by, threads);
        }
        for (number, by) in other.returned {
            changed |= self.returns(number, by, threads);
        }
        self.stopped.extend(other.stopped);
        changed
    }

    /// Whether a thread continues that has continued after so many rounds before.
    pub fn continues(&mut self, thread: ThreadId, rounds: u32, threads: &ThreadNumbers) -> bool {
        let returned = self.returned.iter();
        let calls = returned.filter(|(_, by)| threads.is_beside(*by, thread));
        let numbers: BTreeSet<u32> = calls.map(|(number, _)| *number).collect();
        let continues = (rounds as usize) < numbers.len();
        if !continues {
            self.stopped.insert(thread);
        }
        continues
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(thread: ThreadId, created: u32) -> User {
        User {
            thread,
            created,
            joined: 0,
            site: 0,
        }
    }

    #[test]
    fn a_thread_continues_as_often_as_calls_of_others_return_while_it_runs() {
        // main creates threads 1 and 2
        let threads = &ThreadNumbers::of_main(2);
        let mut rounds = FailedRounds::default();
        assert!(!rounds.returns(7, user(0, 0), threads));
        assert!(!rounds.continues(1, 0, threads), "main's call precedes it");
        assert!(!rounds.returns(4, user(1, 0), threads), "its own call");
        assert!(rounds.returns(4, user(2, 0), threads));
        assert!(!rounds.returns(4, user(2, 0), threads), "known");
        rounds.restart();
        assert!(rounds.continues(1, 0, threads));
        assert!(!rounds.returns(5, user(2, 0), threads), "none has stopped");
        assert!(rounds.continues(1, 1, threads) && !rounds.continues(1, 2, threads));
    }

    #[test]
    fn a_call_of_one_exploration_may_continue_a_thread_that_another_has_stopped() {
        let threads = &ThreadNumbers::of_main(2);
        let stopped = || {
            let mut rounds = FailedRounds::default();
            assert!(!rounds.continues(1, 0, threads));
            rounds
        };
        for (by, continues) in [(user(0, 0), false), (user(1, 0), false), (user(2, 0), true)] {
            let mut returned = FailedRounds::default();
            assert!(!returned.returns(3, by, threads));
            assert_eq!(stopped().join(returned.clone(), threads), continues);
            assert_eq!(returned.join(stopped(), threads), continues);
        }
    }
}
