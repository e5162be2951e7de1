//! Rounds of a loop that fail, by which a call of an operation precedes another one.
//!
//! A thread whose loop is in the same state after a round as before stops there. But a read of that
//! round may be what a call of another thread happens before a later call by: whether calls are
//! linearizable depends on that, and in executions without the round fewer of them may be ordered.
//!
//! So the thread continues after such rounds, if a call of another thread has returned in the causal
//! prefix of a read in them, as often as calls of other threads may return while it runs. (The search
//! that postpones reads does not know their prefixes: any read counts there.) More are not needed. Of
//! the rounds that order a call before what follows, be it with a fence in between, the one from which
//! on this holds first suffices, as what follows the others follows it. So each call of another thread
//! needs one round, and without the rest the same calls are ordered. A call that returns before the
//! thread is created, or after it was joined, needs none.
//!
//! How many calls there are is learned while exploring. When a call returns that was not known, and
//! a thread has stopped that might have continued otherwise, exploration starts again.
use crate::source::ThreadId;
use crate::threads::location_uses::{is_ordered, User};
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
    /// with this call known. `creator` gives the thread that creates a thread, and how many it created
    /// before.
    pub fn returns(
        &mut self,
        number: u32,
        by: User,
        creator: impl Fn(ThreadId) -> Option<(ThreadId, u32)>,
    ) -> bool {
        let when = |by: &User| (by.thread, by.created, by.joined);
        let same = |(known, seen): &(u32, User)| *known == number && when(seen) == when(&by);
        if self.returned.iter().any(same) {
            return false;
        }
        self.returned.push((number, by));
        let mut stopped = self.stopped.iter();
        stopped.any(|thread| may_precede(by, *thread, &creator))
    }

    /// Adds what another exploration of the same tree assumes and has shown. Returns whether a thread
    /// has stopped in one of them that would continue with a call known that has returned in the other.
    pub fn join(
        &mut self,
        mut other: FailedRounds,
        creator: impl Fn(ThreadId) -> Option<(ThreadId, u32)>,
    ) -> bool {
        let mut changed = false;
        for (number, by) in &self.returned {
            changed |= other.returns(*number, *by, &creator);
        }
        for (number, by) in other.returned {
            changed |= self.returns(number, by, &creator);
        }
        self.stopped.extend(other.stopped);
        changed
    }

    /// Whether a thread continues that has continued after so many rounds before.
    pub fn continues(
        &mut self,
        thread: ThreadId,
        rounds: u32,
        creator: impl Fn(ThreadId) -> Option<(ThreadId, u32)>,
    ) -> bool {
        let returned = self.returned.iter();
        let calls = returned.filter(|(_, by)| may_precede(*by, thread, &creator));
        let numbers: BTreeSet<u32> = calls.map(|(number, _)| *number).collect();
        let continues = (rounds as usize) < numbers.len();
        if !continues {
            self.stopped.insert(thread);
        }
        continues
    }
}

/// Whether a call that returns there may precede what a thread does by a read of that thread alone.
fn may_precede(
    by: User,
    thread: ThreadId,
    creator: impl Fn(ThreadId) -> Option<(ThreadId, u32)>,
) -> bool {
    by.thread != thread && !is_ordered(by, thread, creator)
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
        let creator = |thread: ThreadId| (thread > 0).then(|| (0, thread as u32 - 1));
        let mut rounds = FailedRounds::default();
        assert!(!rounds.returns(7, user(0, 0), creator));
        assert!(!rounds.continues(1, 0, creator), "main's call precedes it");
        assert!(!rounds.returns(3, user(1, 0), creator), "its own call");
        assert!(rounds.returns(4, user(2, 0), creator));
        assert!(!rounds.returns(4, user(2, 0), creator), "known");
        rounds.restart();
        assert!(rounds.continues(1, 0, creator));
        assert!(!rounds.returns(5, user(2, 0), creator), "none has stopped");
        assert!(rounds.continues(1, 1, creator) && !rounds.continues(1, 2, creator));
    }

    #[test]
    fn a_call_of_one_exploration_may_continue_a_thread_that_another_has_stopped() {
        let creator = |thread: ThreadId| (thread > 0).then(|| (0, thread as u32 - 1));
        let stopped = || {
            let mut rounds = FailedRounds::default();
            assert!(!rounds.continues(1, 0, creator));
            rounds
        };
        for (by, continues) in [(user(0, 0), false), (user(1, 0), false), (user(2, 0), true)] {
            let mut returned = FailedRounds::default();
            assert!(!returned.returns(3, by, creator));
            assert_eq!(stopped().join(returned.clone(), creator), continues);
            assert_eq!(returned.join(stopped(), creator), continues);
        }
    }
}
