//! The interleavings of a program, and the event sequences that they produce.
//!
//! The search is depth first over the decisions of the machine, which are only where threads
//! conflict. When a run shows a conflict that earlier runs did not branch on, the search starts
//! again with it; at the fixed point every interleaving is equivalent to one that was run. If there
//! are too many interleavings, the search visits states instead; if there are too many states,
//! interleavings are sampled.
use crate::interpreter::event::Log;
use crate::interpreter::outcome::{Limits, Outcome};
use crate::ir::instruction::SiteId;
use crate::ir::program::Program;
use crate::memory::value::Deps;
use crate::sc::footprint::Footprint;
use crate::sc::machine::{Choice, Context, Machine};
use crate::trace::report::TraceBuilder;
use crate::trace::run::{sequence_key, Options, RawRun, Trace};
use rustc_hash::{FxHashMap, FxHashSet};
use std::time::Instant;

/// Splitmix64: a small seeded generator, good enough for sampling schedules.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) % n.max(1) as u64) as usize
    }
}

struct InterleavingSearch<'p> {
    context: Context<'p>,
    options: Options,
    base: Machine,
    runs: Vec<RawRun>,
    index: FxHashMap<u64, usize>,
    /// At least as many as the runs' events have dependencies.
    dependencies: usize,
    starts: Vec<String>,
    /// When the search ends, with what it has found.
    end: Option<Instant>,
    /// Decisions since the clock was last looked at.
    decisions: u32,
    reached: Option<Limit>,
}

/// Why a search ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Limit {
    Time,
    Dependencies,
}

/// Where the search branches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Branch {
    /// At every decision: all interleavings.
    Each,
    /// At every decision of a machine that was not visited before: the same state, reached by
    /// another order of independent steps, has the same runs before it.
    States,
    /// Only between whole operations.
    Operations,
}

/// Limit of states per run of the budget.
const STATES_PER_RUN: u64 = 25;

/// Limit of steps of a search, and again of sampling: seconds.
const MAX_TOTAL_STEPS: u64 = 100_000_000;

/// How many decisions pass between two looks at the clock.
const LOOKS: u32 = 16;

/// Limit of dependencies per trace, and of the words of their sets. A dependency is four bytes here, and
/// some ten in Python.
const MAX_DEPENDENCIES: usize = 20_000_000;

impl Program {
    pub fn trace(&self, options: &Options) -> Trace {
        self.search(options).run()
    }

    fn search(&self, options: &Options) -> InterleavingSearch<'_> {
        let mut search = InterleavingSearch {
            context: Context {
                program: self,
                limits: Limits {
                    loops: options.loops,
                    ..Limits::default()
                },
                spurious: options.spurious,
                deps: Deps::default(),
                footprint: Footprint::default(),
                variant: 0,
                steps: 0,
                events: 0,
                most_events: options.events,
            },
            options: options.clone(),
            base: Machine::new(self),
            runs: Vec::new(),
            index: FxHashMap::default(),
            dependencies: 0,
            starts: Vec::new(),
            end: options.time.map(|time| Instant::now() + time),
            decisions: 0,
            reached: None,
        };
        search.base.construct(&mut search.context);
        search
    }
}

impl InterleavingSearch<'_> {
    fn run(mut self) -> Trace {
        let budget = self.options.interleavings.max(1);
        if let Some(count) = self.every(budget, Branch::Each) {
            return self.trace(count, true, String::new());
        }
        if let Some(limit) = self.reached {
            return self.interrupted(limit);
        }
        if let Some(count) = self.every(budget, Branch::States) {
            let how = format!(
                "{count} interleavings that reach every state, of more than {budget} in total"
            );
            return self.trace(count, true, how);
        }
        if let Some(limit) = self.reached {
            return self.interrupted(limit);
        }
        let mut random = Random(self.options.seed);
        let half = budget / 2;
        let (orders, drawn) = match (self.every(half, Branch::Operations), self.reached) {
            (Some(count), _) => (count, "all"),
            (None, Some(limit)) => return self.interrupted(limit),
            (None, None) => {
                self.clear();
                (self.sample(half, true, &mut random), "drawn:")
            }
        };
        let more = self.sample(budget - orders, false, &mut random);
        if let Some(limit) = self.reached {
            return self.interrupted(limit);
        }
        let how = format!(
            "{drawn} {orders} orders of whole operations and {more} drawn interleavings, of more \
             than {budget} in total"
        );
        self.trace(orders + more, false, how)
    }

    /// The runs so far, at least one.
    fn interrupted(mut self, limit: Limit) -> Trace {
        let mut count = self.runs.iter().map(|run| run.count).sum();
        if count == 0 {
            count = self.sample(1, false, &mut Random(self.options.seed));
        }
        let what = match limit {
            Limit::Time => "the time limit".to_string(),
            Limit::Dependencies => format!("they had {MAX_DEPENDENCIES} dependencies"),
        };
        self.trace(count, false, format!("{count} interleavings until {what}"))
    }

    /// Whether the search has to end early.
    fn is_over(&mut self) -> bool {
        self.decisions += 1;
        if self.decisions >= LOOKS {
            self.decisions = 0;
            if self.end.is_some_and(|end| Instant::now() >= end) {
                self.reached = Some(Limit::Time);
            }
        }
        if self.dependencies.max(self.context.deps.words()) > MAX_DEPENDENCIES {
            self.reached = Some(Limit::Dependencies);
        }
        self.reached.is_some()
    }

    fn clear(&mut self) {
        self.runs.clear();
        self.index.clear();
        self.dependencies = 0;
    }

    /// Searches all decisions depth first. None if there are more than `budget` runs.
    fn every(&mut self, budget: u64, branch: Branch) -> Option<u64> {
        loop {
            self.context.footprint.grown = false;
            self.clear();
            let mut count = 0;
            let mut met: FxHashSet<u64> = FxHashSet::default();
            let mut work: Vec<(Machine, Option<Choice>)> = vec![(self.base.clone(), None)];
            'runs: while let Some((mut machine, mut next)) = work.pop() {
                let mut last = next.map(|c| c.thread);
                loop {
                    if let Some(choice) = next {
                        self.apply(&mut machine, choice);
                        last = Some(choice.thread);
                    }
                    let whole = branch == Branch::Operations;
                    let choices = self.choices(&mut machine, whole, last);
                    let Some((first, rest)) = choices.split_first() else {
                        break;
                    };
                    if branch == Branch::States && !met.insert(machine.key()) {
                        continue 'runs;
                    }
                    for choice in rest.iter().rev() {
                        work.push((machine.clone(), Some(*choice)));
                    }
                    // each open branch is at least one run, unless it leads to known states
                    let least = match branch {
                        Branch::States => count + 1,
                        _ => count + 1 + work.len() as u64,
                    };
                    let many = met.len() as u64 > STATES_PER_RUN.saturating_mul(budget);
                    let steps = self.context.steps > MAX_TOTAL_STEPS;
                    if least > budget || many || steps || self.is_over() {
                        return None;
                    }
                    next = Some(*first);
                }
                count += 1;
                self.record(machine);
            }
            if !self.context.footprint.grown {
                return Some(count);
            }
        }
    }

    fn sample(&mut self, budget: u64, whole: bool, random: &mut Random) -> u64 {
        for drawn in 0..budget {
            let steps = self.context.steps > 2 * MAX_TOTAL_STEPS;
            if (steps || self.is_over()) && drawn > 0 {
                return drawn;
            }
            let mut machine = self.base.clone();
            let mut last = None;
            loop {
                let choices = self.choices(&mut machine, whole, last);
                if choices.is_empty() {
                    break;
                }
                let choice = choices[random.below(choices.len())];
                self.apply(&mut machine, choice);
                last = Some(choice.thread);
            }
            self.record(machine);
        }
        budget
    }

    fn apply(&mut self, machine: &mut Machine, choice: Choice) {
        if machine.end.is_none() {
            machine.mark_call(&self.context, choice.thread);
            machine.step(&mut self.context, choice);
        }
    }

    /// The open decisions. Within an operation the same thread continues if it can.
    fn choices(&mut self, machine: &mut Machine, whole: bool, last: Option<usize>) -> Vec<Choice> {
        if machine.end.is_some() {
            return Vec::new();
        }
        let mut choices = machine.settle(&mut self.context);
        if let (true, Some(last)) = (whole, last) {
            if machine.inside(&self.context, last) && choices.iter().any(|c| c.thread == last) {
                choices.retain(|c| c.thread == last);
            }
        }
        choices
    }

    fn record(&mut self, mut machine: Machine) {
        let end = machine.finish(&self.context);
        let logs = machine.threads.iter().map(|t| t.log.iter());
        let key = sequence_key(logs, &end);
        if let Some(index) = self.index.get(&key) {
            self.runs[*index].count += 1;
            return;
        }
        self.index.insert(key, self.runs.len());
        self.dependencies += self.dependencies_of(&machine);
        for thread in machine.threads.iter().skip(self.starts.len()) {
            let function = &self.context.program.functions[thread.start as usize];
            self.starts.push(function.name.clone());
        }
        self.runs.push(RawRun {
            threads: machine
                .threads
                .iter()
                .map(|t| t.log.iter().cloned().collect())
                .collect(),
            bounded: end.outcome == Outcome::Bound || !machine.truncated.is_empty(),
            end,
            truncated: machine.truncated.iter().filter_map(|c| c.site).collect(),
            count: 1,
        });
    }

    /// At least as many as the events of a run have dependencies: later ones depend on more branches.
    fn dependencies_of(&self, machine: &Machine) -> usize {
        let of_thread = |log: &Log| {
            let last = log.iter().last().map_or(0, |event| event.ctrl);
            log.len() * (1 + self.context.deps.get(last).count())
        };
        let threads = machine.threads.iter();
        threads.map(|thread| of_thread(&thread.log)).sum()
    }

    fn trace(self, count: u64, all: bool, how: String) -> Trace {
        let mut builder =
            TraceBuilder::new(self.context.program, &self.runs, self.options.shared_only);
        let runs = builder.runs(&self.runs, &self.context.deps);
        let mut bound_sites: Vec<SiteId> =
            self.runs.iter().flat_map(|r| r.truncated.clone()).collect();
        bound_sites.sort_unstable();
        bound_sites.dedup();
        let truncated = self.runs.iter().any(|r| r.bounded);
        Trace {
            runs,
            interleavings: count,
            exhaustive: all && !truncated,
            interrupted: self.reached == Some(Limit::Time),
            how: match (how.is_empty(), truncated) {
                (true, true) => format!("all {count} interleavings, some truncated by a limit"),
                (false, true) => format!("{how}; some truncated by a limit"),
                _ => how,
            },
            bound_sites,
            functions: self.starts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn keys(runs: &[RawRun]) -> BTreeSet<u64> {
        let key = |r: &RawRun| sequence_key(r.threads.iter().map(|t| t.iter()), &r.end);
        runs.iter().map(key).collect()
    }

    /// Branching only where threads conflict finds what branching everywhere finds.
    #[test]
    fn the_reduction_loses_no_sequence() {
        for text in [
            include_str!("../../tests/fixtures/sb.ll"),
            include_str!("../../tests/fixtures/deps.ll"),
            include_str!("../../tests/fixtures/locks.ll"),
            include_str!("../../tests/fixtures/stack.ll"),
            include_str!("../../tests/fixtures/ticket.ll"),
            include_str!("../../tests/fixtures/waiting.ll"),
        ] {
            let program = Program::from_ir(text).expect("a fixture");
            let options = Options::default();
            let mut reduced = program.search(&options);
            assert!(reduced.every(10_000, Branch::States).is_some());
            let mut whole = program.search(&options);
            whole.context.footprint.everything = true;
            assert!(whole.every(100_000, Branch::States).is_some());
            assert_eq!(keys(&reduced.runs), keys(&whole.runs));
        }
    }
}
