//! Decides a test under a model: collects the final states of the candidates that the model allows.

use std::ops::ControlFlow;

use super::answer::Answer;
use super::candidate::{Candidate, CandidateEvent, Chosen, EventId, SearchControl, Visitor};
use super::error::EnumerateError;
use super::final_state::{advance, last_in, possible_last_writes, FinalState};
use super::graph_input::{event_indices, event_locations, GraphInput};
use super::limits::{Limit, Limits, Meter, EVENTS};
use super::paths::prepared::PreparedPath;
use super::pieces::{holds, is_aligned};
use super::thread_paths::ThreadPaths;
use cat::{Input, Model, Prepared, Solution};
use litmus::value::{Address, Value};
use litmus::Test;
use relation::{Relation, Set};
use rustc_hash::FxHashMap;

/// The answer that herd7 gives in its default mode.
pub fn decide(test: &Test, model: &Model, limits: &Limits) -> Result<Answer, EnumerateError> {
    if test.has_regions && !model.tags().is_empty() {
        return Err(EnumerateError::Regions);
    }
    let meter = Meter::begin(limits);
    let mixed = test.mixed.then(|| "memory".to_owned());
    match decide_with(test, model, limits, &meter, mixed) {
        Err(EnumerateError::MixedSize(at)) => decide_with(test, model, limits, &meter, Some(at)),
        decided => decided,
    }
}

/// Decides, with accesses in pieces if those to the location `mixed_size` have mixed sizes.
fn decide_with(
    test: &Test,
    model: &Model,
    limits: &Limits,
    meter: &Meter,
    mixed_size: Option<String>,
) -> Result<Answer, EnumerateError> {
    let threads = ThreadPaths::new(test, model, mixed_size.as_deref())?;
    let mut answer = Answer::new(test);
    answer.mixed_size = mixed_size;
    let threads = match threads {
        Ok(threads) => threads,
        Err(limit) => {
            answer.limit = Some(limit);
            return Ok(answer);
        }
    };
    let mut decision = Decision {
        test,
        model,
        limits,
        meter: meter.clone(),
        answer,
        tried: 0,
        threads: &threads,
        error: None,
    };
    let mut choice = vec![0; threads.paths.len()];
    while threads.paths.iter().all(|p| !p.is_empty()) {
        let paths = threads.paths.iter().zip(&choice).map(|(p, i)| &p[*i]);
        decision.combination(paths.collect())?;
        let sizes = threads.paths.iter().map(Vec::len);
        if decision.answer.limit.is_some() || !advance(&mut choice, sizes) {
            break;
        }
    }
    let mut answer = decision.answer;
    let mut values = answer.states.iter().flatten();
    if values.any(|value| test.has_no_label(*value)) {
        return Err(EnumerateError::Code);
    }
    answer.conclude(test.condition.quantifier);
    answer.seconds = meter.seconds();
    Ok(answer)
}

/// A decision under way.
struct Decision<'t> {
    test: &'t Test,
    model: &'t Model,
    limits: &'t Limits,
    meter: Meter,
    answer: Answer,
    tried: u64,
    threads: &'t ThreadPaths,
    error: Option<EnumerateError>,
}

/// The model prepared for a choice of paths.
struct PreparedModel {
    /// By event, the location with which it was prepared.
    locations: Vec<Option<u32>>,
    /// By event, the index of its critical section of SRCU.
    indices: Vec<Option<Value>>,
    /// By observed location, the writes that can be its last.
    last_write_choices: Vec<Vec<EventId>>,
    model: Prepared,
}

/// Applies the model to the candidates of one choice of paths.
struct DecisionVisitor<'r, 't, 'c, 'p> {
    decision: &'r mut Decision<'t>,
    candidate: &'c Candidate<'p>,
    prepared: Option<PreparedModel>,
    /// A path ends at the bound of a loop: only whether the candidate exists matters.
    loop_bound_reached: bool,
}

impl DecisionVisitor<'_, '_, '_, '_> {
    fn control(&mut self, result: Result<SearchControl, EnumerateError>) -> SearchControl {
        result.unwrap_or_else(|e| {
            self.decision.fail(e);
            SearchControl::Stop
        })
    }

    fn prune(&mut self, chosen: &Chosen<'_>) -> Result<SearchControl, EnumerateError> {
        let c = self.candidate;
        if !all_addresses_known(c, chosen) {
            return Ok(SearchControl::Continue);
        }
        let prepared = self.decision.prepare(c, &mut self.prepared, chosen)?;
        let model = &mut prepared.model;
        if model.always_fails().is_some() {
            return Ok(SearchControl::Stop);
        }
        if chosen.rf.is_empty() || c.reads.len() < chosen.rf.len() + 2 {
            return Ok(SearchControl::Continue);
        }
        let rf = Relation::of(c.events.len(), chosen.rf.iter().copied());
        let possible = model
            .monotone_axioms_hold(&rf, None)
            .map_err(EnumerateError::Model)?;
        Ok(if possible {
            SearchControl::Continue
        } else {
            SearchControl::Prune
        })
    }
}

impl Visitor for DecisionVisitor<'_, '_, '_, '_> {
    fn partial(&mut self, chosen: Chosen<'_>) -> SearchControl {
        if self.decision.expired() {
            return SearchControl::Stop;
        }
        match self.loop_bound_reached {
            true => SearchControl::Continue,
            false => {
                let result = self.prune(&chosen);
                self.control(result)
            }
        }
    }

    fn complete(&mut self, chosen: Chosen<'_>) -> SearchControl {
        if self.loop_bound_reached {
            self.decision.answer.loop_bound_reached = true;
            return SearchControl::Stop;
        }
        let result = self
            .decision
            .judge(self.candidate, &mut self.prepared, &chosen);
        self.control(result)
    }

    fn unmatched(&mut self, address: Value) -> SearchControl {
        match address {
            Value::Address(at) => {
                let error = self.decision.mixed_size(at);
                self.control(Err(error))
            }
            Value::Code(_) => self.control(Err(EnumerateError::Code)),
            _ => SearchControl::Continue,
        }
    }
}

/// Whether the addresses of all events, and the indices of critical sections, are known.
fn all_addresses_known(c: &Candidate<'_>, chosen: &Chosen<'_>) -> bool {
    let terms = |e: &CandidateEvent| [e.action.address(), e.index];
    let mut terms = c.events.iter().flat_map(terms).flatten();
    c.addresses_known || terms.all(|term| chosen.solver.known(term).is_some())
}

impl Decision<'_> {
    fn combination(&mut self, paths: Vec<&PreparedPath>) -> Result<(), EnumerateError> {
        let loop_bound_reached = paths.iter().any(|p| p.path.loop_bound_reached);
        if loop_bound_reached && self.answer.loop_bound_reached || self.expired() {
            return Ok(());
        }
        let mut candidate = Candidate::new(self.threads, paths);
        candidate.own_writes = self.threads.pieces.is_some();
        if candidate.events.len() > EVENTS {
            self.answer.limit = Some(Limit::Events);
            return Ok(());
        }
        let no_result = candidate.choices(&mut DecisionVisitor {
            decision: self,
            candidate: &candidate,
            prepared: None,
            loop_bound_reached,
        });
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        match no_result {
            true => Err(EnumerateError::NoResult),
            false => Ok(()),
        }
    }

    fn fail(&mut self, e: EnumerateError) {
        match e {
            EnumerateError::Model(e) if e.limit => {
                self.answer.limit = Some(self.meter.over().unwrap_or(Limit::Candidates));
            }
            other => self.error = Some(other),
        }
    }

    /// Counts a step; true when a limit is reached.
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
        prepared: &mut Option<PreparedModel>,
        chosen: &Chosen<'_>,
    ) -> Result<SearchControl, EnumerateError> {
        if self.expired() {
            return Ok(SearchControl::Stop);
        }
        let prepared = self.prepare(c, prepared, chosen)?;
        let (model, choices) = (&mut prepared.model, &prepared.last_write_choices);
        let rf = Relation::of(c.events.len(), chosen.rf.iter().copied());
        if !model.needs_final_writes() {
            return self.solutions(c, chosen, model, &rf, choices, None);
        }
        let mut at = vec![0; choices.len()];
        loop {
            let last_writes: Vec<EventId> = choices
                .iter()
                .zip(&at)
                .filter_map(|(o, i)| o.get(*i).copied())
                .collect();
            let last_writes = Some(&last_writes[..]);
            let control = self.solutions(c, chosen, model, &rf, choices, last_writes)?;
            if control == SearchControl::Stop {
                return Ok(SearchControl::Stop);
            }
            if self.expired() {
                return Ok(SearchControl::Stop);
            }
            if !advance(&mut at, choices.iter().map(Vec::len)) {
                return Ok(SearchControl::Continue);
            }
        }
    }

    /// Checks that all accesses to a location have one size, in which its initial value has a place;
    /// where they are split, that they are aligned.
    fn check_sizes(
        &self,
        c: &Candidate<'_>,
        chosen: &Chosen<'_>,
        locations: &[Option<u32>],
    ) -> Result<(), EnumerateError> {
        let mut sizes: FxHashMap<u32, i64> = FxHashMap::default();
        for (event, location) in c.events.iter().zip(locations).skip(c.initial) {
            let (Some(at), Some(location)) = (event.action.address(), location) else {
                continue;
            };
            let Some(Value::Address(at)) = chosen.solver.known(at) else {
                continue;
            };
            if self.threads.pieces.is_some() {
                let bits = event.size.unwrap_or_default();
                if event.starts && !is_aligned(self.test, at, bits) {
                    return Err(self.mixed_size(at));
                }
                continue;
            }
            let element = self.test.types.array(at.name).map(|array| array.element);
            let mixed = event.size.is_some_and(|size| {
                let other = *sizes.entry(*location).or_insert(size) != size;
                // 16 bytes are two pieces
                let halves = size > 64;
                halves || other || element.is_some_and(|element| size > i64::from(element.bits))
            });
            let held = |value| {
                event
                    .size
                    .is_none_or(|size| holds(self.test, at, value, size))
            };
            if mixed || !self.test.memory.get(&at).copied().is_some_and(held) {
                return Err(self.mixed_size(at));
            }
        }
        Ok(())
    }

    fn mixed_size(&self, at: Address) -> EnumerateError {
        let address = self.test.printer().address(at);
        match self.threads.pieces {
            None => EnumerateError::MixedSize(address),
            Some(_) => EnumerateError::Unaligned(address),
        }
    }

    /// The model prepared for this candidate, again if the locations of its events have changed.
    fn prepare<'s>(
        &self,
        c: &Candidate<'_>,
        prepared: &'s mut Option<PreparedModel>,
        chosen: &Chosen<'_>,
    ) -> Result<&'s mut PreparedModel, EnumerateError> {
        let current = || (event_locations(c, chosen), event_indices(c, chosen));
        let changed = match &*prepared {
            None => Some(current()),
            Some(_) if c.addresses_known => None,
            Some(old) => Some(current()).filter(|(locations, indices)| {
                (locations, indices) != (&old.locations, &old.indices)
            }),
        };
        if let Some((locations, indices)) = changed {
            self.check_sizes(c, chosen, &locations)?;
            let graph = GraphInput::new(c, chosen, self.threads, &locations);
            let input = Input {
                n: c.events.len(),
                given: &|name| graph.given(name),
                locations: &locations,
                variants: &|name| self.threads.is_on(name),
            };
            let mut model = self.model.prepare(&input).map_err(EnumerateError::Model)?;
            model.set_interrupt(self.meter.watch());
            model.set_limit(Some(self.limits.candidates));
            let observed = self.threads.observed.iter();
            let last_writes = observed.map(|at| possible_last_writes(c, chosen, *at));
            *prepared = Some(PreparedModel {
                locations,
                indices,
                last_write_choices: last_writes.collect(),
                model,
            });
        }
        prepared.as_mut().ok_or(EnumerateError::NoResult)
    }

    /// Adds the executions that the model allows. `last_writes` are those of the observed locations;
    /// without them the coherence order determines them.
    fn solutions(
        &mut self,
        c: &Candidate<'_>,
        chosen: &Chosen<'_>,
        model: &mut Prepared,
        rf: &Relation,
        choices: &[Vec<EventId>],
        last_writes: Option<&[EventId]>,
    ) -> Result<SearchControl, EnumerateError> {
        let (test, threads) = (self.test, self.threads);
        let answer = &mut self.answer;
        let initial = FinalState {
            test,
            threads,
            c,
            chosen,
            last_writes: &[],
        };
        let n = c.events.len();
        let set = last_writes.map(|writes| Set::of(n, writes.iter().copied()));
        if let Some(last_writes) = last_writes {
            if !initial.with(last_writes).passes_filter() {
                return Ok(SearchControl::Continue);
            }
        }
        let observed = Set::of(n, choices.iter().flatten().copied());
        let own_write = chosen.rf.iter().any(|(w, r)| c.self_caused(*r, *w));
        let mut allowed = false;
        let mut allow = |last_writes: &[EventId], solution: &Solution<'_>| {
            allowed = true;
            add(answer, &initial.with(last_writes), solution);
        };
        let result = model.tally(rf, set.as_ref(), &observed, &mut |solution| {
            match (last_writes, solution.co) {
                (Some(last_writes), _) => allow(last_writes, solution),
                (None, _) if solution.last_writes.is_some() => {
                    let lasts = solution.last_writes.unwrap_or_default();
                    let is_last = |w: &EventId| lasts.contains(w);
                    let last = |writes: &Vec<EventId>| writes.iter().copied().find(is_last);
                    let last_writes: Vec<EventId> = choices.iter().filter_map(last).collect();
                    allow(&last_writes, solution);
                }
                (None, Some(co)) => allow(&last_in(co, choices), solution),
                (None, None) => {
                    let mut at = vec![0; choices.len()];
                    loop {
                        let writes = choices.iter().zip(&at);
                        let writes = writes.filter_map(|(o, i)| o.get(*i).copied());
                        allow(&writes.collect::<Vec<EventId>>(), solution);
                        if !advance(&mut at, choices.iter().map(Vec::len)) {
                            break;
                        }
                    }
                }
            }
            ControlFlow::Continue(())
        });
        if allowed && own_write {
            return Err(EnumerateError::OwnWrite);
        }
        result
            .map(|()| SearchControl::Continue)
            .map_err(EnumerateError::Model)
    }
}

/// Adds allowed executions with this final state to the answer.
fn add(answer: &mut Answer, state: &FinalState<'_, '_>, solution: &Solution<'_>) {
    if !state.passes_filter() {
        return;
    }
    let values = state.values(&answer.observables);
    let holds = state.test.condition.prop.holds(state);
    answer.add(values, holds, solution.count);
    answer.undefined |= solution.undefined;
    for flag in solution.flags {
        if !answer.flags.contains(*flag) {
            answer.flags.insert((*flag).to_string());
        }
    }
}
