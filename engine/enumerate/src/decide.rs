//! A test under a model: every candidate is put to the model, and the final states of those it
//! allows are collected.

use std::ops::ControlFlow;

use super::answer::Answer;
use super::candidate::{shift, Candidate, Chosen, Go, Index, Visitor};
use super::graph_input::{locations, GraphInput};
use super::limits::{Limit, Limits, Meter, EVENTS};
use super::prepared::Prepared;
use super::threads::{self, Threads};
use super::EngineError;
use cat::{Input, Model, Prepared as Stage, Solution};
use litmus::value::{Address, Value};
use litmus::{Observable, Test};
use relation::{Relation, Set};
use rustc_hash::FxHashMap;

/// The answer that herd7 gives in its default mode.
pub fn decide(test: &Test, model: &Model, limits: &Limits) -> Result<Answer, EngineError> {
    let meter = Meter::begin(limits);
    let mut answer = Answer::new(test);
    let threads = match threads::prepare(test, model.computes_dependencies) {
        Ok(threads) => threads,
        Err(limit) => {
            answer.limit = Some(limit);
            return Ok(answer);
        }
    };
    let mut run = Run {
        test,
        model,
        limits,
        meter: meter.clone(),
        answer,
        tried: 0,
        threads: &threads,
        fault: None,
    };
    let mut choice = vec![0; threads.paths.len()];
    while threads.paths.iter().all(|p| !p.is_empty()) {
        let paths = threads.paths.iter().zip(&choice).map(|(p, i)| &p[*i]);
        run.combination(paths.collect())?;
        let sizes = threads.paths.iter().map(Vec::len);
        if run.answer.limit.is_some() || !advance(&mut choice, sizes) {
            break;
        }
    }
    let mut answer = run.answer;
    answer.conclude(test.condition.quantifier);
    answer.seconds = meter.seconds();
    Ok(answer)
}

/// The next choice of one out of each; false after the last.
pub(super) fn advance(choice: &mut [usize], sizes: impl Iterator<Item = usize>) -> bool {
    for (at, size) in choice.iter_mut().zip(sizes) {
        *at += 1;
        if *at < size {
            return true;
        }
        *at = 0;
    }
    false
}

struct Run<'t> {
    test: &'t Test,
    model: &'t Model,
    limits: &'t Limits,
    meter: Meter,
    answer: Answer,
    tried: u64,
    threads: &'t Threads,
    fault: Option<EngineError>,
}

/// The model prepared for the choice of paths.
struct Staged {
    /// Where the events were then.
    places: Vec<Option<u32>>,
    /// The writes that may come last, of each observed location.
    lasts: Vec<Vec<Index>>,
    stage: Stage,
}

/// A choice of paths under the model.
struct Judging<'r, 't, 'c, 'p> {
    run: &'r mut Run<'t>,
    candidate: &'c Candidate<'p>,
    staged: Option<Staged>,
    cut: bool,
}

impl Judging<'_, '_, '_, '_> {
    fn go(&mut self, result: Result<Go, EngineError>) -> Go {
        result.unwrap_or_else(|e| {
            self.run.fail(e);
            Go::Stop
        })
    }

    fn prune(&mut self, chosen: &Chosen<'_>) -> Result<Go, EngineError> {
        let c = self.candidate;
        if !all_placed(c, chosen) {
            return Ok(Go::On);
        }
        let stage = &mut self.run.stage(c, &mut self.staged, chosen)?.stage;
        if stage.always_fails().is_some() {
            return Ok(Go::Stop);
        }
        if chosen.rf.is_empty() || c.reads.len() < chosen.rf.len() + 2 {
            return Ok(Go::On);
        }
        let rf = Relation::of(c.events.len(), chosen.rf.iter().copied());
        let hope = stage
            .monotone_axioms_hold(&rf, None)
            .map_err(EngineError::Model)?;
        Ok(if hope { Go::On } else { Go::Back })
    }
}

impl Visitor for Judging<'_, '_, '_, '_> {
    fn may_go_on(&mut self, chosen: Chosen<'_>) -> Go {
        if self.run.expired() {
            return Go::Stop;
        }
        match self.cut {
            true => Go::On,
            false => {
                let result = self.prune(&chosen);
                self.go(result)
            }
        }
    }

    fn complete(&mut self, chosen: Chosen<'_>) -> Go {
        if self.cut {
            self.run.answer.cut = true;
            return Go::Stop;
        }
        let result = self.run.judge(self.candidate, &mut self.staged, &chosen);
        self.go(result)
    }

    fn unmatched(&mut self, place: Value) -> Go {
        match place {
            Value::Address(at) => {
                let fault = self.run.mixed_size(at);
                self.go(Err(fault))
            }
            _ => Go::On,
        }
    }
}

/// Whether the addresses of all events are known.
fn all_placed(c: &Candidate<'_>, chosen: &Chosen<'_>) -> bool {
    let mut addresses = c.events.iter().filter_map(|e| e.act.address());
    c.placed || addresses.all(|at| chosen.solver.known(at).is_some())
}

impl Run<'_> {
    fn combination(&mut self, paths: Vec<&Prepared>) -> Result<(), EngineError> {
        let cut = paths.iter().any(|p| p.path.cut);
        if cut && self.answer.cut || self.expired() {
            return Ok(());
        }
        let memory = self.test.memory.iter().map(|(a, v)| (*a, *v));
        let candidate = Candidate::new(memory, self.threads.initial_tags, paths);
        if candidate.events.len() > EVENTS {
            self.answer.limit = Some(Limit::Events);
            return Ok(());
        }
        let illegal = candidate.choices(&mut Judging {
            run: self,
            candidate: &candidate,
            staged: None,
            cut,
        });
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        match illegal {
            true => Err(EngineError::Illegal),
            false => Ok(()),
        }
    }

    fn fail(&mut self, e: EngineError) {
        match e {
            EngineError::Model(e) if e.limit => {
                self.answer.limit = Some(self.meter.over().unwrap_or(Limit::Candidates));
            }
            other => self.fault = Some(other),
        }
    }

    /// Counts a step; true when a limit is hit.
    fn expired(&mut self) -> bool {
        self.tried += 1;
        if self.tried > self.limits.candidates {
            self.answer.limit = Some(Limit::Candidates);
        } else if self.tried % 64 == 0 {
            self.answer.limit = self.meter.over();
        }
        self.answer.limit.is_some()
    }

    fn judge(
        &mut self,
        c: &Candidate<'_>,
        staged: &mut Option<Staged>,
        chosen: &Chosen<'_>,
    ) -> Result<Go, EngineError> {
        if self.expired() {
            return Ok(Go::Stop);
        }
        let Staged { lasts, stage, .. } = self.stage(c, staged, chosen)?;
        let (stage, options) = (stage, &*lasts);
        let rf = Relation::of(c.events.len(), chosen.rf.iter().copied());
        if !stage.needs_final_writes() {
            return self.solutions(c, chosen, stage, &rf, options, None);
        }
        let mut at = vec![0; options.len()];
        loop {
            let finals: Vec<Index> = options
                .iter()
                .zip(&at)
                .filter_map(|(o, i)| o.get(*i).copied())
                .collect();
            if self.solutions(c, chosen, stage, &rf, options, Some(&finals))? == Go::Stop {
                return Ok(Go::Stop);
            }
            if self.expired() {
                return Ok(Go::Stop);
            }
            if !advance(&mut at, options.iter().map(Vec::len)) {
                return Ok(Go::On);
            }
        }
    }

    /// What has a size has one size, and every access is of a place with an initial value.
    fn check_sizes(
        &self,
        c: &Candidate<'_>,
        chosen: &Chosen<'_>,
        places: &[Option<u32>],
    ) -> Result<(), EngineError> {
        let mut sizes: FxHashMap<u32, i64> = FxHashMap::default();
        for (event, place) in c.events.iter().zip(places).skip(c.initial) {
            let (Some(at), Some(place)) = (event.act.address(), place) else {
                continue;
            };
            let Some(Value::Address(at)) = chosen.solver.known(at) else {
                continue;
            };
            let mixed = event
                .size
                .is_some_and(|size| *sizes.entry(*place).or_insert(size) != size);
            if mixed || !self.test.memory.contains_key(&at) {
                return Err(self.mixed_size(at));
            }
        }
        Ok(())
    }

    fn mixed_size(&self, at: Address) -> EngineError {
        EngineError::MixedSize(self.test.printer().address(at))
    }

    /// The model prepared for this candidate; again when the addresses changed.
    fn stage<'s>(
        &self,
        c: &Candidate<'_>,
        staged: &'s mut Option<Staged>,
        chosen: &Chosen<'_>,
    ) -> Result<&'s mut Staged, EngineError> {
        let moved = match &*staged {
            None => Some(locations(c, chosen)),
            Some(_) if c.placed => None,
            Some(Staged { places: old, .. }) => {
                Some(locations(c, chosen)).filter(|places| places != old)
            }
        };
        if let Some(places) = moved {
            self.check_sizes(c, chosen, &places)?;
            let graph = GraphInput::new(c, chosen, self.threads, &places);
            let input = Input {
                n: c.events.len(),
                given: &|name| graph.given(name),
                locations: &places,
                variants: &|_| false,
            };
            let mut stage = self.model.prepare(&input).map_err(EngineError::Model)?;
            stage.set_interrupt(self.meter.watch());
            stage.set_limit(Some(self.limits.candidates));
            let observed = self.threads.observed.iter();
            *staged = Some(Staged {
                places,
                lasts: observed.map(|at| last_writes(c, chosen, *at)).collect(),
                stage,
            });
        }
        staged.as_mut().ok_or(EngineError::Illegal)
    }

    /// Adds what the model allows. `finals` are the last writes of the observed locations;
    /// without them the coherence order says.
    fn solutions(
        &mut self,
        c: &Candidate<'_>,
        chosen: &Chosen<'_>,
        stage: &mut Stage,
        rf: &Relation,
        options: &[Vec<Index>],
        finals: Option<&[Index]>,
    ) -> Result<Go, EngineError> {
        let (test, threads) = (self.test, self.threads);
        let answer = &mut self.answer;
        let open = State {
            test,
            threads,
            c,
            chosen,
            finals: &[],
        };
        let mut conclude = |finals: &[Index], solution: &Solution<'_>| {
            State { finals, ..open }.conclude(answer, solution);
        };
        let set = finals.map(|f| Set::of(c.events.len(), f.iter().copied()));
        if let Some(finals) = finals {
            if !(State { finals, ..open }).passes() {
                return Ok(Go::On);
            }
        }
        let observed = options.iter().flatten().copied();
        let observed = Set::of(c.events.len(), observed);
        let result = stage.tally(rf, set.as_ref(), &observed, &mut |solution| {
            match (finals, solution.co) {
                (Some(finals), _) => conclude(finals, solution),
                (None, _) if solution.last_writes.is_some() => {
                    let lasts = solution.last_writes.unwrap_or_default();
                    let is_last = |w: &Index| lasts.contains(w);
                    let last = |writes: &Vec<Index>| writes.iter().copied().find(is_last);
                    let finals: Vec<Index> = options.iter().filter_map(last).collect();
                    conclude(&finals, solution);
                }
                (None, Some(co)) => {
                    let last = |writes: &Vec<Index>| {
                        let is_last = |w: &Index| !writes.iter().any(|v| co.contains(*w, *v));
                        writes.iter().copied().find(is_last)
                    };
                    let finals: Vec<Index> = options.iter().filter_map(last).collect();
                    conclude(&finals, solution);
                }
                (None, None) => {
                    let mut at = vec![0; options.len()];
                    loop {
                        let finals = options.iter().zip(&at);
                        let finals = finals.filter_map(|(o, i)| o.get(*i).copied());
                        conclude(&finals.collect::<Vec<Index>>(), solution);
                        if !advance(&mut at, options.iter().map(Vec::len)) {
                            break;
                        }
                    }
                }
            }
            ControlFlow::Continue(())
        });
        result.map(|()| Go::On).map_err(EngineError::Model)
    }
}

/// The final state of a candidate.
pub(super) struct State<'s, 'p> {
    pub test: &'s Test,
    pub threads: &'s Threads,
    pub c: &'s Candidate<'p>,
    pub chosen: &'s Chosen<'s>,
    /// The last write of each observed location.
    pub finals: &'s [Index],
}

impl State<'_, '_> {
    pub fn value(&self, o: &Observable) -> Value {
        match o {
            Observable::Memory(a) => self
                .threads
                .observed
                .iter()
                .position(|b| a == b)
                .and_then(|i| self.c.events[*self.finals.get(i)?].act.written())
                .map_or(Value::ZERO, |w| self.chosen.solver.value(w)),
            Observable::Register { thread, name } => self.register(*thread, name),
        }
    }

    fn register(&self, thread: usize, name: &str) -> Value {
        let index = self.test.register(thread, name);
        let held = index.and_then(|i| self.c.paths.get(thread)?.path.registers.get(i));
        match held {
            Some(held) => {
                let by = self.c.shifts.get(thread).copied().unwrap_or(0);
                self.chosen.solver.value(shift(held.value, by))
            }
            None => {
                let initial = self.test.registers.get(&(thread, name.to_string()));
                initial.copied().unwrap_or(Value::ZERO)
            }
        }
    }

    pub fn passes(&self) -> bool {
        let filter = self.test.filter.as_ref();
        filter.map_or(true, |f| f.holds(&|o| self.value(o)))
    }

    fn conclude(&self, answer: &mut Answer, solution: &Solution<'_>) {
        if !self.passes() {
            return;
        }
        let mut state: Vec<Value> = answer.observables.iter().map(|o| self.value(o)).collect();
        name_open(&mut state);
        let holds = self.test.condition.prop.holds(&|o| self.value(o));
        answer.add(state, holds, solution.count);
        answer.undefined |= solution.undefined;
        for flag in solution.flags {
            if !answer.flags.contains(*flag) {
                answer.flags.insert((*flag).to_string());
            }
        }
    }
}

/// Writes that may come last: all but the initial one, or that one alone.
pub(super) fn last_writes(c: &Candidate<'_>, chosen: &Chosen<'_>, address: Address) -> Vec<Index> {
    let to = |i: &Index| {
        let at = c.events[*i].act.address();
        at.and_then(|at| chosen.solver.known(at)) == Some(Value::Address(address))
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
