//! What a thread does between two events: its instructions, one after another.
use crate::semantics::dependencies::DependencySets;
use crate::semantics::environment::{EventEnvironment, Interruption};
use crate::source::*;
use crate::threads::environment::{Settings, ThreadEnvironment};
use crate::threads::left_out_accesses::{AccessKind, LeftOutAccess};
use crate::threads::local_state::LocalState;
use crate::threads::retries::{Attempt, Counterpart, HeaderState, Run, MAX_HEADERS};
use crate::threads::sharing::LearnedSharing;
use program::interpreter::thread::{State, Thread};
use program::interpreter::{self, Change, Limits, Outcome, RunEnd};
use program::ir::{FuncId, Program, SiteId};
use program::memory::{Memory, Val};
use program::Liveness;
use std::sync::{Arc, OnceLock};

/// Limit of instructions from a write back to the header of its loop, when checking that the loop
/// waits.
pub(super) const MAX_AHEAD: u64 = 10_000;

#[derive(Clone)]
pub struct SuspendedThread {
    pub thread: Thread,
    pub local: LocalState,
    /// The last event has no answer yet.
    pub awaits_answer: bool,
    pub steps: u64,
    /// From a read to the next event, if rounds of loops are compared.
    pub run: Option<Run<SuspendedThread>>,
    /// The compare-exchanges that have failed for no reason since the thread made progress.
    pub attempts: Vec<Arc<Attempt>>,
}

impl SuspendedThread {
    pub fn new(
        program: &Program,
        id: ThreadId,
        start: FuncId,
        memory: Arc<Memory>,
    ) -> SuspendedThread {
        let mut thread = Thread::new(id, start);
        thread.enter(program, start, &[], (0, 0), 0);
        SuspendedThread {
            thread,
            local: LocalState::new(memory),
            awaits_answer: false,
            steps: 0,
            run: None,
            attempts: Vec::new(),
        }
    }
}

/// What runs the threads of a program.
pub struct Runner<'s> {
    pub program: &'s Program,
    pub sharing: &'s LearnedSharing,
    pub sets: &'s DependencySets,
    pub limits: &'s Limits,
    pub settings: Settings,
    /// Of each function, as far as it has been asked for.
    pub liveness: &'s [OnceLock<Liveness>],
}

impl Runner<'_> {
    /// Runs a thread up to its next event, for at most `steps` instructions. None: the thread ran
    /// alone, and no longer does.
    pub fn advance(&self, run: &mut SuspendedThread, steps: u64) -> Option<Next> {
        let last = run.steps + steps;
        loop {
            match run.thread.state {
                State::Done => {
                    let Val { bits, dep, .. } = run.thread.result;
                    let unknown = match run.local.postponed {
                        0 => 0,
                        postponed => self.sets.intersection(dep, postponed),
                    };
                    return Some(match unknown {
                        0 => Next::Done(bits),
                        reads => Next::Needs(reads),
                    });
                }
                State::Spinning { from, .. } if self.continues(run, from) => {
                    run.local.continued += 1;
                    run.attempts.clear();
                    run.thread.state = State::Running;
                }
                State::Spinning { site, from, failed } => {
                    let wait = match failed {
                        true => Wait::Redundant,
                        false => Wait::Spin {
                            reads: run.thread.reads.len() - from,
                        },
                    };
                    return Some(Next::Blocked { wait, site });
                }
                _ => {}
            }
            if let Some(state) = self.attempts_again(run) {
                run.thread.state = state;
                continue;
            }
            run.steps += 1;
            let dbg = run.thread.inst(self.program).map_or(0, |i| i.dbg);
            if run.steps > last {
                let most = self.limits.instructions;
                let message = format!("more than {most} instructions in one thread");
                let end = RunEnd::at_limit("instructions", message, None);
                return Some(self.interrupted(run, end.into(), dbg));
            }
            let (attempt, failures) = (self.attempt(run), run.thread.failures);
            let mut environment = EventEnvironment(ThreadEnvironment::new(
                self.program,
                self.sharing,
                self.sets,
                &mut run.local,
                self.settings,
            ));
            let done =
                interpreter::step(self.program, self.limits, &mut run.thread, &mut environment);
            match environment.leave_sections(&mut run.thread, done) {
                Ok(()) => {
                    run.local.synchronised = environment.0.synchronised;
                    if !run.local.alone {
                        run.local.events_before += run.local.answers.len();
                    }
                    run.local.answers.clear();
                    if run.thread.failures != failures {
                        run.fails(attempt);
                    }
                    if run.run.is_some() {
                        if let Some(next) = self.is_retried(run) {
                            return Some(next);
                        }
                    }
                }
                Err(Interruption::Restart) => return Some(Next::Refuted),
                Err(Interruption::NotAlone(_)) if self.fails_in_vain(run) => {
                    run.local.answers.push(Some(Answer::default()));
                }
                Err(Interruption::NotAlone(_)) => {
                    run.local.alone = false;
                    run.local.answers.clear();
                    return None;
                }
                Err(why) => return Some(self.interrupted(run, why, dbg)),
            }
        }
    }

    fn interrupted(&self, run: &SuspendedThread, why: Interruption, dbg: u32) -> Next {
        match &why {
            // with their values, a loop may be found to wait
            Interruption::RunEnd(end)
                if end.outcome == Outcome::Bound && run.local.postponed != 0 =>
            {
                return Next::Needs(run.local.postponed);
            }
            _ => {}
        }
        let progress = run.local.progress;
        let because = |change| self.why(&run.thread, progress, change);
        let next = why.next(self.program, &run.thread, dbg, because);
        next.unwrap_or(Next::Refuted)
    }

    /// Why a loop that iterates too often is not one that waits.
    fn why(&self, thread: &Thread, progress: Option<Location>, change: Change) -> String {
        let place = |site: SiteId| self.program.sites[site as usize].place();
        match change {
            Change::None => String::new(),
            Change::Register => "each iteration changes a local variable".to_string(),
            Change::Reads => {
                "after each iteration, a local variable depends on other reads".to_string()
            }
            Change::Access(site) => {
                let obstacle = progress.and_then(|at| self.sharing.obstacle(at, thread.id));
                let other = obstacle.map_or(String::new(), |by| {
                    let (thread, place) = (by.thread, place(by.site));
                    format!(", which thread {thread} accesses at {place}")
                });
                format!("each iteration changes what {} writes{other}", place(site))
            }
        }
    }

    /// Whether a thread continues after a round of its loop that could be left out.
    fn continues(&self, run: &SuspendedThread, from: usize) -> bool {
        let (thread, rounds) = (&run.thread, run.local.continued);
        let after_calls = run.local.after_calls;
        let mut unnoticed = run.local.unnoticed(thread.epoch).iter();
        let orders_calls = after_calls
            .is_some_and(|(epoch, at)| epoch == thread.epoch && at >= from)
            || unnoticed.any(|write| write.orders);
        self.settings.every_round
            || rounds == 0 && self.may_race(run, from)
            || orders_calls && self.sharing.continues(thread.id, rounds)
    }

    /// Whether an access in the last round of a thread's loop may race with what other threads do only
    /// if the thread continues; see [`left_out_accesses`](crate::threads::left_out_accesses).
    fn may_race(&self, run: &SuspendedThread, from: usize) -> bool {
        let thread = &run.thread;
        let flags_races = self.sharing.flags_races;
        let kind = |plain, writes, again| AccessKind {
            plain: plain && flags_races,
            writes,
            again,
        };
        let reads = thread.reads[from..].iter().map(|read| {
            let (address, size) = (read.address, read.size);
            (Location { address, size }, kind(read.plain, false, false))
        });
        let rewrites = &run.local.rewrites;
        let writes = run.local.unnoticed(thread.epoch).iter().map(|write| {
            let again = rewrites.iter().any(|rewrite| rewrite.at == write.at);
            (write.at, kind(write.plain, true, again))
        });
        reads.chain(writes).any(|(at, kind)| {
            let thread = thread.id;
            self.sharing.may_race(LeftOutAccess { at, thread, kind })
        })
    }

    /// Whether a thread that is about to write the value it has just read then reaches the header
    /// of its loop in the same state: it waits, as in a test-and-set lock, and the write is left
    /// out. A read from that write could read from the write before it.
    pub fn waits(&self, run: &SuspendedThread) -> Option<Next> {
        let (next, _) = self.past_write(run)?;
        is_spin(&next).then_some(next)
    }

    /// The same, of a thread whose read is postponed: it may have read the value that it writes.
    pub fn may_wait(&self, run: &SuspendedThread) -> bool {
        let after = self.past_write(run);
        after.is_some_and(|(next, undecided)| match next {
            Next::Event(_) => undecided,
            next => is_spin(&next),
        })
    }

    /// What a thread does after a write, which does not count as progress, and whether it may have
    /// waited before that.
    fn past_write(&self, run: &SuspendedThread) -> Option<(Next, bool)> {
        let mut ahead = run.clone();
        ahead.local.answers.push(Some(Answer::default()));
        ahead.local.quiet = true;
        let next = self.advance(&mut ahead, MAX_AHEAD)?;
        Some((next, ahead.thread.undecided))
    }

    /// Whether a thread that has reached the header of a loop would be there without the read before
    /// its last one.
    fn is_retried(&self, run: &mut SuspendedThread) -> Option<Next> {
        let header = run.thread.header.take()?;
        let state = HeaderState::new(self.program, &run.thread, &run.local.memory, header)?;
        let counterpart = match run.run.as_mut()? {
            Run::Records(headers) => {
                if headers.len() < MAX_HEADERS {
                    headers.push(state);
                }
                return None;
            }
            Run::Compares(_) if run.thread.state != State::Running => return None,
            Run::Compares(counterpart) => counterpart,
        };
        let headers = match &counterpart.headers {
            Some(known) => known.clone(),
            None => Arc::new(self.headers(counterpart)),
        };
        counterpart.headers = Some(headers.clone());
        let frame = run.thread.frames.last()?;
        let function = &self.program.functions[frame.function as usize];
        headers.contains(&state).then(|| Next::Blocked {
            wait: Wait::Retried,
            site: function.loops[header as usize].site,
        })
    }

    /// The headers that a thread reaches before its next event in the counterpart of what it does.
    fn headers(&self, counterpart: &Counterpart<SuspendedThread>) -> Vec<HeaderState> {
        let mut ahead = (*counterpart.from).clone();
        ahead.awaits_answer = false;
        ahead.local.answers.push(Some(counterpart.answer));
        ahead.thread.header = None;
        ahead.run = Some(Run::Records(Vec::new()));
        self.advance(&mut ahead, MAX_AHEAD);
        match ahead.run {
            Some(Run::Records(headers)) => headers,
            _ => Vec::new(),
        }
    }
}

fn is_spin(next: &Next) -> bool {
    matches!(
        next,
        Next::Blocked {
            wait: Wait::Spin { .. },
            ..
        }
    )
}
