//! Explains an answer: an execution with the outcome, or the axioms that forbid the candidates
//! with it.
//!
//! The outcome is the condition's proposition, or its negation after `forall`. The search is
//! separate from `decide`, which can skip candidates that are not allowed.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::answer::Answer;
use super::candidate::{Candidate, Chosen, EventId, SearchControl, Visitor};
use super::error::EnumerateError;
use super::final_state::{advance, last_in, possible_last_writes, FinalState};
use super::graph_input::{event_locations, GraphInput};
use super::limits::{Limits, Meter};
use super::paths::prepared::PreparedPath;
use super::thread_paths::ThreadPaths;
use super::witness::Witness;
use cat::{CatError, Input, Model, Solution};
use litmus::{Observable, Quantifier, Test};
use relation::{Relation, Set};

/// The maximum number of a model's own choices, such as coherence orders, per choice of reads-from.
const STEPS: u64 = 200_000;

#[derive(Clone, Debug, Default)]
pub struct Explanation {
    /// An allowed execution with the outcome, or one with undefined behaviour if the answer is
    /// Undefined; for a forbidden outcome a candidate with it, and the axiom that forbids it.
    pub witness: Option<Witness>,
    /// For a forbidden outcome, by axiom, the number of candidates with it that the axiom is the
    /// first to forbid.
    pub forbidden_by: BTreeMap<String, u64>,
    /// A limit was reached: not all candidates were examined.
    pub incomplete: bool,
}

/// Explains an answer to a test.
pub fn explain(
    test: &Test,
    model: &Model,
    answer: &Answer,
    limits: &Limits,
) -> Result<Explanation, EnumerateError> {
    let Ok(threads) = ThreadPaths::new(test, model, answer.mixed_size.as_deref())? else {
        return Ok(Explanation {
            incomplete: true,
            ..Explanation::default()
        });
    };
    let possible = match test.condition.quantifier {
        Quantifier::Forall => answer.negative > 0,
        _ => answer.positive > 0,
    };
    let goal = match (answer.undefined, possible) {
        (true, _) => Goal::Undefined,
        (false, true) => Goal::Allowed,
        (false, false) => Goal::Forbidden,
    };
    let mut search = Search {
        test,
        model,
        limits,
        meter: Meter::begin(limits),
        tried: 0,
        ended: false,
        threads: &threads,
        goal,
        found: Explanation::default(),
        error: None,
    };
    let mut choice = vec![0; threads.paths.len()];
    while threads.paths.iter().all(|p| !p.is_empty()) {
        let paths = threads.paths.iter().zip(&choice).map(|(p, i)| &p[*i]);
        let go = search.combination(paths.collect())?;
        let sizes = threads.paths.iter().map(Vec::len);
        if go == SearchControl::Stop || search.ended || !advance(&mut choice, sizes) {
            break;
        }
    }
    Ok(search.found)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Goal {
    Undefined,
    Allowed,
    Forbidden,
}

struct Search<'t> {
    test: &'t Test,
    model: &'t Model,
    limits: &'t Limits,
    meter: Meter,
    tried: u64,
    ended: bool,
    threads: &'t ThreadPaths,
    goal: Goal,
    found: Explanation,
    error: Option<EnumerateError>,
}

/// Examines every candidate of one choice of paths.
struct ExplanationVisitor<'s, 't, 'c, 'p> {
    search: &'s mut Search<'t>,
    candidate: &'c Candidate<'p>,
    last: SearchControl,
}

impl Visitor for ExplanationVisitor<'_, '_, '_, '_> {
    /// Does not prune: candidates that an axiom forbids early count too.
    fn partial(&mut self, _: Chosen<'_>) -> SearchControl {
        match self.search.expired() {
            true => SearchControl::Stop,
            false => SearchControl::Continue,
        }
    }

    fn complete(&mut self, chosen: Chosen<'_>) -> SearchControl {
        let judged = self.search.judge(self.candidate, &chosen);
        self.last = judged.unwrap_or_else(|error| {
            self.search.error = Some(error);
            SearchControl::Stop
        });
        self.last
    }
}

impl Search<'_> {
    fn combination(&mut self, paths: Vec<&PreparedPath>) -> Result<SearchControl, EnumerateError> {
        if paths.iter().any(|p| p.path.loop_bound_reached) {
            return Ok(SearchControl::Continue);
        }
        let candidate = Candidate::new(self.threads, paths);
        let mut visitor = ExplanationVisitor {
            search: self,
            candidate: &candidate,
            last: SearchControl::Continue,
        };
        candidate.choices(&mut visitor);
        let last = visitor.last;
        match self.error.take() {
            Some(error) => Err(error),
            None => Ok(last),
        }
    }

    /// Counts a step; true when a limit is reached.
    fn expired(&mut self) -> bool {
        self.tried += 1;
        let over = self.tried % 64 == 0 && self.meter.over().is_some();
        self.ended |= over || self.tried > self.limits.candidates;
        self.found.incomplete |= self.ended;
        self.ended
    }

    fn judge(
        &mut self,
        c: &Candidate<'_>,
        chosen: &Chosen<'_>,
    ) -> Result<SearchControl, EnumerateError> {
        if self.expired() {
            return Ok(SearchControl::Stop);
        }
        let choices: Vec<Vec<EventId>> = self
            .threads
            .observed
            .iter()
            .map(|a| possible_last_writes(c, chosen, *a))
            .collect();
        let matching = self.matching(c, chosen, &choices);
        if matching.is_empty() {
            return Ok(SearchControl::Continue);
        }
        let n = c.events.len();
        let locations = event_locations(c, chosen);
        let graph = GraphInput::new(c, chosen, self.threads, &locations);
        let input = Input {
            n,
            given: &|name| graph.given(name),
            locations: &locations,
            variants: &|name| self.threads.is_on(name),
        };
        let mut model = self.model.prepare(&input).map_err(EnumerateError::Model)?;
        let po = graph.relation("po");
        let sm = self.threads.pieces.and_then(|_| graph.relation("sm"));
        model.set_interrupt(self.meter.watch());
        let rf = Relation::of(n, chosen.rf.iter().copied());
        let restrictions: Vec<Option<&Vec<EventId>>> = match model.needs_final_writes() {
            true => matching.iter().map(Some).collect(),
            false => vec![None],
        };
        let goal = self.goal;
        for last_writes in restrictions {
            model.set_limit(Some(STEPS));
            let set = last_writes.map(|f| Set::of(n, f.iter().copied()));
            let mut look = |axiom: Option<&str>, solution: &Solution<'_>| {
                let by_order = || Some(last_in(solution.co?, &choices));
                let last_writes = last_writes.cloned().or_else(by_order);
                let last_writes = last_writes.unwrap_or_else(|| matching[0].clone());
                if !matching.contains(&last_writes) {
                    return ControlFlow::Continue(());
                }
                if let Some(axiom) = axiom {
                    *self.found.forbidden_by.entry(axiom.to_owned()).or_default() += 1;
                } else if goal == Goal::Undefined && !solution.undefined {
                    return ControlFlow::Continue(());
                }
                if self.found.witness.is_none() {
                    let mut witness =
                        Witness::new(self.test, c, chosen, po.as_ref(), solution.co, sm.as_ref());
                    witness.state = self.shown(c, chosen, &last_writes);
                    witness.axiom = axiom.map(str::to_owned);
                    self.found.witness = Some(witness);
                }
                ControlFlow::Break(())
            };
            let searched = match goal {
                Goal::Forbidden => model.failures(&rf, set.as_ref(), &mut |axiom, solution| {
                    // every candidate counts, so the search does not stop early
                    let _ = look(Some(axiom), solution);
                }),
                _ => model.solutions(&rf, set.as_ref(), &mut |solution| look(None, solution)),
            };
            self.after(searched)?;
            if goal != Goal::Forbidden && self.found.witness.is_some() {
                return Ok(SearchControl::Stop);
            }
        }
        Ok(SearchControl::Continue)
    }

    /// The choices of last writes that give the outcome; all of them when the goal is Undefined.
    fn matching(
        &self,
        c: &Candidate<'_>,
        chosen: &Chosen<'_>,
        choices: &[Vec<EventId>],
    ) -> Vec<Vec<EventId>> {
        let forall = self.test.condition.quantifier == Quantifier::Forall;
        let mut found = Vec::new();
        let mut at = vec![0; choices.len()];
        loop {
            let last_writes = choices.iter().zip(&at);
            let last_writes: Vec<EventId> = last_writes
                .filter_map(|(o, i)| o.get(*i).copied())
                .collect();
            let state = self.state(c, chosen, &last_writes);
            let holds = self.test.condition.prop.holds(&state);
            if state.passes_filter() && (self.goal == Goal::Undefined || holds != forall) {
                found.push(last_writes);
            }
            if !advance(&mut at, choices.iter().map(Vec::len)) {
                return found;
            }
        }
    }

    fn state<'s, 'p>(
        &'s self,
        c: &'s Candidate<'p>,
        chosen: &'s Chosen<'s>,
        last_writes: &'s [EventId],
    ) -> FinalState<'s, 'p> {
        FinalState {
            test: self.test,
            threads: self.threads,
            c,
            chosen,
            last_writes,
        }
    }

    fn shown(
        &self,
        c: &Candidate<'_>,
        chosen: &Chosen<'_>,
        last_writes: &[EventId],
    ) -> Vec<(String, String)> {
        let printer = self.test.printer();
        let state = self.state(c, chosen, last_writes);
        let displayed = self.test.displayed();
        let pair = |o: &Observable| {
            let values = state.values(std::slice::from_ref(o));
            (printer.observable(o), printer.values(o, &values))
        };
        displayed.iter().map(pair).collect()
    }

    fn after(&mut self, searched: Result<(), CatError>) -> Result<(), EnumerateError> {
        match searched {
            Err(error) if error.limit => {
                self.found.incomplete = true;
                Ok(())
            }
            other => other.map_err(EnumerateError::Model),
        }
    }
}
