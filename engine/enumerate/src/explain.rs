//! Why an outcome is possible, or why it is not: an execution that has it, or the axioms that
//! kill the candidates that would have it.
//!
//! The outcome is what the condition asks about: its proposition, or, after `forall`, what the
//! proposition leaves out. This search is one of its own, since deciding need not look at what
//! cannot be allowed.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::candidate::{Candidate, Chosen, Go, Index, Visitor};
use super::decide::{advance, last_writes, State};
use super::graph_input::{locations, GraphInput};
use super::limits::{Limits, Meter};
use super::prepared::Prepared;
use super::threads::{self, Threads};
use super::witness::Witness;
use super::{Answer, EngineError};
use cat::{CatError, Input, Model, Solution};
use litmus::{Observable, Quantifier, Test};
use relation::{Relation, Set};

/// How many ways to make a model's choices may be looked at for one choice of reads-from.
const STEPS: u64 = 200_000;

#[derive(Clone, Debug, Default)]
pub struct Explanation {
    /// An allowed execution with the outcome (one without a defined meaning, when that is the
    /// answer); for a forbidden outcome a candidate that has it, and the axiom that forbids it.
    pub witness: Option<Witness>,
    /// For a forbidden outcome, how many candidates that have it each axiom is the first to kill.
    pub killed: BTreeMap<String, u64>,
    /// A limit was hit: there may be more.
    pub cut: bool,
}

/// Explains an answer to a test.
pub fn explain(
    test: &Test,
    model: &Model,
    answer: &Answer,
    limits: &Limits,
) -> Result<Explanation, EngineError> {
    let Ok(threads) = threads::prepare(test, model.computes_dependencies) else {
        return Ok(Explanation {
            cut: true,
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
        fault: None,
    };
    let mut choice = vec![0; threads.paths.len()];
    while threads.paths.iter().all(|p| !p.is_empty()) {
        let paths = threads.paths.iter().zip(&choice).map(|(p, i)| &p[*i]);
        let go = search.combination(paths.collect())?;
        let sizes = threads.paths.iter().map(Vec::len);
        if go == Go::Stop || search.ended || !advance(&mut choice, sizes) {
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
    threads: &'t Threads,
    goal: Goal,
    found: Explanation,
    fault: Option<EngineError>,
}

/// A choice of paths, every candidate of which is looked at.
struct Looking<'s, 't, 'c, 'p> {
    search: &'s mut Search<'t>,
    candidate: &'c Candidate<'p>,
    last: Go,
}

impl Visitor for Looking<'_, '_, '_, '_> {
    /// What an axiom kills early counts too.
    fn may_go_on(&mut self, _: Chosen<'_>) -> Go {
        match self.search.expired() {
            true => Go::Stop,
            false => Go::On,
        }
    }

    fn complete(&mut self, chosen: Chosen<'_>) -> Go {
        let judged = self.search.judge(self.candidate, &chosen);
        self.last = judged.unwrap_or_else(|fault| {
            self.search.fault = Some(fault);
            Go::Stop
        });
        self.last
    }
}

impl Search<'_> {
    fn combination(&mut self, paths: Vec<&Prepared>) -> Result<Go, EngineError> {
        if paths.iter().any(|p| p.path.cut) {
            return Ok(Go::On);
        }
        let memory = self.test.memory.iter().map(|(a, v)| (*a, *v));
        let candidate = Candidate::new(memory, self.threads.initial_tags, paths);
        let mut looking = Looking {
            search: self,
            candidate: &candidate,
            last: Go::On,
        };
        candidate.choices(&mut looking);
        let last = looking.last;
        match self.fault.take() {
            Some(fault) => Err(fault),
            None => Ok(last),
        }
    }

    /// Counts a step; true when a limit is hit.
    fn expired(&mut self) -> bool {
        self.tried += 1;
        let over = self.tried % 64 == 0 && self.meter.over().is_some();
        self.ended |= over || self.tried > self.limits.candidates;
        self.found.cut |= self.ended;
        self.ended
    }

    fn judge(&mut self, c: &Candidate<'_>, chosen: &Chosen<'_>) -> Result<Go, EngineError> {
        if self.expired() {
            return Ok(Go::Stop);
        }
        let options: Vec<Vec<Index>> = self
            .threads
            .observed
            .iter()
            .map(|a| last_writes(c, chosen, *a))
            .collect();
        let matching = self.matching(c, chosen, &options);
        if matching.is_empty() {
            return Ok(Go::On);
        }
        let n = c.events.len();
        let places = locations(c, chosen);
        let graph = GraphInput::new(c, chosen, self.threads, &places);
        let input = Input {
            n,
            given: &|name| graph.given(name),
            locations: &places,
            variants: &|_| false,
        };
        let mut stage = self.model.prepare(&input).map_err(EngineError::Model)?;
        let po = graph.relation("po");
        stage.set_interrupt(self.meter.watch());
        let rf = Relation::of(n, chosen.rf.iter().copied());
        let rounds: Vec<Option<&Vec<Index>>> = match stage.needs_final_writes() {
            true => matching.iter().map(Some).collect(),
            false => vec![None],
        };
        let goal = self.goal;
        for finals in rounds {
            stage.set_limit(Some(STEPS));
            let set = finals.map(|f| Set::of(n, f.iter().copied()));
            let mut look = |axiom: Option<&str>, solution: &Solution<'_>| {
                let by_order = || by_order(&options, solution.co?);
                let finals = finals.cloned().or_else(by_order);
                let finals = finals.unwrap_or_else(|| matching[0].clone());
                if !matching.contains(&finals) {
                    return ControlFlow::Continue(());
                }
                if let Some(axiom) = axiom {
                    *self.found.killed.entry(axiom.to_owned()).or_default() += 1;
                } else if goal == Goal::Undefined && !solution.undefined {
                    return ControlFlow::Continue(());
                }
                if self.found.witness.is_none() {
                    let mut witness =
                        Witness::new(self.test, self.threads, c, chosen, po.as_ref(), solution.co);
                    witness.state = self.shown(c, chosen, &finals);
                    witness.axiom = axiom.map(str::to_owned);
                    self.found.witness = Some(witness);
                }
                ControlFlow::Break(())
            };
            let searched = match goal {
                Goal::Forbidden => stage.failures(&rf, set.as_ref(), &mut |axiom, solution| {
                    // every candidate counts: there is no end before the last
                    let _ = look(Some(axiom), solution);
                }),
                _ => stage.solutions(&rf, set.as_ref(), &mut |solution| look(None, solution)),
            };
            self.after(searched)?;
            if goal != Goal::Forbidden && self.found.witness.is_some() {
                return Ok(Go::Stop);
            }
        }
        Ok(Go::On)
    }

    /// The last writes that give the outcome asked about; any, when that is not the question.
    fn matching(
        &self,
        c: &Candidate<'_>,
        chosen: &Chosen<'_>,
        options: &[Vec<Index>],
    ) -> Vec<Vec<Index>> {
        let forall = self.test.condition.quantifier == Quantifier::Forall;
        let mut found = Vec::new();
        let mut at = vec![0; options.len()];
        loop {
            let finals = options.iter().zip(&at);
            let finals: Vec<Index> = finals.filter_map(|(o, i)| o.get(*i).copied()).collect();
            let state = self.state(c, chosen, &finals);
            let holds = self.test.condition.prop.holds(&|o| state.value(o));
            if state.passes() && (self.goal == Goal::Undefined || holds != forall) {
                found.push(finals);
            }
            if !advance(&mut at, options.iter().map(Vec::len)) {
                return found;
            }
        }
    }

    fn state<'s, 'p>(
        &'s self,
        c: &'s Candidate<'p>,
        chosen: &'s Chosen<'s>,
        finals: &'s [Index],
    ) -> State<'s, 'p> {
        State {
            test: self.test,
            threads: self.threads,
            c,
            chosen,
            finals,
        }
    }

    fn shown(
        &self,
        c: &Candidate<'_>,
        chosen: &Chosen<'_>,
        finals: &[Index],
    ) -> Vec<(String, String)> {
        let printer = self.test.printer();
        let state = self.state(c, chosen, finals);
        let displayed = self.test.displayed();
        let pair = |o: &Observable| (printer.observable(o), printer.value(state.value(o)));
        displayed.iter().map(pair).collect()
    }

    fn after(&mut self, searched: Result<(), CatError>) -> Result<(), EngineError> {
        match searched {
            Err(error) if error.limit => {
                self.found.cut = true;
                Ok(())
            }
            other => other.map_err(EngineError::Model),
        }
    }
}

/// The last of each list in a coherence order.
fn by_order(options: &[Vec<Index>], co: &Relation) -> Option<Vec<Index>> {
    let last = |writes: &Vec<Index>| {
        let is_last = |w: &Index| !writes.iter().any(|v| co.contains(*w, *v));
        writes.iter().copied().find(is_last)
    };
    Some(options.iter().filter_map(last).collect())
}
