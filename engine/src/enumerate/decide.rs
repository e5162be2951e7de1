//! A test under a model: every candidate is put to the model, and the final states of those it
//! allows are collected.

use std::ops::ControlFlow;
use std::time::Instant;

use super::answer::Answer;
use super::candidate::{Candidate, Chosen, Go, Index};
use super::event::Operand;
use super::limits::{Limit, Limits};
use super::prepared::Prepared;
use super::threads::{self, Threads};
use super::EngineError;
use crate::litmus::value::{Address, Value};
use crate::litmus::{Observable, Test};

/// What a model says of one allowed execution of a candidate.
#[derive(Debug, Default)]
pub struct Allowed {
    pub flags: Vec<String>,
    pub undefined: bool,
}

/// A candidate execution, complete but for what the model itself chooses.
pub struct Execution<'c, 'p> {
    pub candidate: &'c Candidate<'p>,
    pub chosen: &'c Chosen<'c>,
    /// The last write of each observed location.
    pub finals: &'c [Index],
}

/// Decides executions.
pub trait Judge {
    /// What depends on the choice of paths only.
    type Stage<'p>;

    fn stage<'p>(&self, candidate: &Candidate<'p>) -> Result<Self::Stage<'p>, EngineError>;

    /// Visits what the model allows, once for each of its own choices.
    fn allowed(
        &self,
        stage: &Self::Stage<'_>,
        execution: &Execution<'_, '_>,
        visit: &mut dyn FnMut(Allowed) -> ControlFlow<()>,
    ) -> Result<(), EngineError>;
}

pub fn decide<J: Judge>(test: &Test, judge: &J, limits: &Limits) -> Result<Answer, EngineError> {
    let start = Instant::now();
    let mut answer = Answer::new(test);
    let threads = match threads::prepare(test) {
        Ok(threads) => threads,
        Err(limit) => {
            answer.limit = Some(limit);
            return Ok(answer);
        }
    };
    let mut run = Run {
        test,
        judge,
        limits,
        start,
        answer,
        tried: 0,
        threads: &threads,
        fault: None,
    };
    let mut choice = vec![0; threads.paths.len()];
    while threads.paths.iter().all(|p| !p.is_empty()) {
        let paths = threads.paths.iter().zip(&choice).map(|(p, i)| &p[*i]);
        run.combination(paths.collect())?;
        if run.answer.limit.is_some() || !advance(&mut choice, &threads) {
            break;
        }
    }
    let mut answer = run.answer;
    answer.conclude(test.condition.quantifier);
    answer.seconds = start.elapsed().as_secs_f64();
    Ok(answer)
}

/// The next choice of paths; false after the last.
fn advance(choice: &mut [usize], threads: &Threads) -> bool {
    for (at, paths) in choice.iter_mut().zip(&threads.paths) {
        *at += 1;
        if *at < paths.len() {
            return true;
        }
        *at = 0;
    }
    false
}

struct Run<'t, J> {
    test: &'t Test,
    judge: &'t J,
    limits: &'t Limits,
    start: Instant,
    answer: Answer,
    tried: u64,
    threads: &'t Threads,
    fault: Option<EngineError>,
}

impl<J: Judge> Run<'_, J> {
    fn combination(&mut self, paths: Vec<&Prepared>) -> Result<(), EngineError> {
        let cut = paths.iter().any(|p| p.path.cut);
        if cut && self.answer.cut {
            return Ok(());
        }
        let memory = self.test.memory.iter().map(|(a, v)| (*a, *v));
        let candidate = Candidate::new(memory, self.threads.initial_tags, paths);
        let mut stage = None;
        let illegal = candidate.choices(&mut |chosen| {
            if cut {
                self.answer.cut = true;
                return Go::Stop;
            }
            if stage.is_none() {
                match self.judge.stage(&candidate) {
                    Ok(s) => stage = Some(s),
                    Err(e) => {
                        self.fault = Some(e);
                        return Go::Stop;
                    }
                }
            }
            match &stage {
                Some(stage) => self.finals(&candidate, stage, &chosen),
                None => Go::Stop,
            }
        });
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        match illegal {
            true => Err(EngineError::Illegal),
            false => Ok(()),
        }
    }

    /// All choices of the last write to each observed location.
    fn finals(&mut self, c: &Candidate<'_>, stage: &J::Stage<'_>, chosen: &Chosen<'_>) -> Go {
        let observed: Vec<Address> = self
            .threads
            .observed
            .iter()
            .filter_map(|o| match o {
                Observable::Memory(a) => Some(*a),
                Observable::Register { .. } => None,
            })
            .collect();
        let choices: Vec<Vec<Index>> = observed
            .iter()
            .map(|a| last_writes(c, chosen, *a))
            .collect();
        let mut at = vec![0; choices.len()];
        if choices.iter().any(Vec::is_empty) {
            return Go::On;
        }
        loop {
            let finals: Vec<Index> = choices.iter().zip(&at).map(|(c, i)| c[*i]).collect();
            if self.execution(c, stage, chosen, &observed, &finals) == Go::Stop {
                return Go::Stop;
            }
            let mut more = false;
            for (i, options) in at.iter_mut().zip(&choices) {
                *i += 1;
                more = *i < options.len();
                if more {
                    break;
                }
                *i = 0;
            }
            if !more {
                return Go::On;
            }
        }
    }

    fn execution(
        &mut self,
        c: &Candidate<'_>,
        stage: &J::Stage<'_>,
        chosen: &Chosen<'_>,
        observed: &[Address],
        finals: &[Index],
    ) -> Go {
        self.tried += 1;
        if self.tried > self.limits.candidates {
            self.answer.limit = Some(Limit::Candidates);
            return Go::Stop;
        }
        if self.tried % 64 == 0 && self.start.elapsed() > self.limits.time {
            self.answer.limit = Some(Limit::Seconds);
            return Go::Stop;
        }
        let value = |o: &Observable| -> Value {
            match o {
                Observable::Memory(a) => observed
                    .iter()
                    .position(|b| a == b)
                    .and_then(|i| c.events[finals[i]].act.written())
                    .map_or(Value::ZERO, |w| chosen.solver.value(w)),
                Observable::Register { thread, name } => self.register(c, chosen, *thread, name),
            }
        };
        if self.test.filter.as_ref().is_some_and(|f| !f.holds(&value)) {
            return Go::On;
        }
        let mut state: Vec<Value> = self.answer.observables.iter().map(&value).collect();
        name_open(&mut state);
        let holds = self.test.condition.prop.holds(&value);
        let execution = Execution {
            candidate: c,
            chosen,
            finals,
        };
        let answer = &mut self.answer;
        let result = self.judge.allowed(stage, &execution, &mut |allowed| {
            answer.add(&state, holds);
            answer.undefined |= allowed.undefined;
            answer.flags.extend(allowed.flags);
            ControlFlow::Continue(())
        });
        match result {
            Ok(()) => Go::On,
            Err(e) => {
                self.fault = Some(e);
                Go::Stop
            }
        }
    }

    fn register(&self, c: &Candidate<'_>, chosen: &Chosen<'_>, thread: usize, name: &str) -> Value {
        let index = self.threads.register(thread, name);
        let held = index.and_then(|i| c.paths.get(thread)?.path.registers.get(i));
        match held {
            Some(held) => {
                let by = c.shifts.get(thread).copied().unwrap_or(0);
                chosen.solver.value(super::candidate::shift(held.value, by))
            }
            None => self
                .test
                .registers
                .get(&(thread, name.to_string()))
                .copied()
                .unwrap_or(Value::ZERO),
        }
    }
}

/// Writes that may come last: all but the initial one, or that one alone.
fn last_writes(c: &Candidate<'_>, chosen: &Chosen<'_>, address: Address) -> Vec<Index> {
    let to = |i: &Index| {
        c.events[*i].act.address().and_then(|at| chosen.solver.known(at))
            == Some(Value::Address(address))
    };
    let writes: Vec<Index> = c.writes.iter().copied().filter(to).collect();
    match writes.iter().any(|w| *w >= c.initial) {
        true => writes.into_iter().filter(|w| *w >= c.initial).collect(),
        false => writes,
    }
}

/// Open values are named in the order they appear.
fn name_open(state: &mut [Value]) {
    let mut seen: Vec<u32> = Vec::new();
    for value in state {
        if let Value::Open(root) = value {
            let at = seen.iter().position(|s| s == root).unwrap_or_else(|| {
                seen.push(*root);
                seen.len() - 1
            });
            *value = Value::Open(at as u32 + 1);
        }
    }
}

/// An operand of a thread as the candidate's solver knows it.
pub fn resolve(chosen: &Chosen<'_>, by: u32, o: Operand) -> Operand {
    chosen.solver.find(super::candidate::shift(o, by))
}
