//! The consistency of complete execution graphs. The graph also gives rf and what the model would
//! choose (co), so that there is no search: all operations of the model are computed once, in
//! order.
use super::graph_values::GraphValues;
use crate::analysis::extents::{self, Extent};
use crate::analysis::{cycles, growth, patterns, source_change};
use crate::error::CatError;
use crate::plan::fault::Fault;
use crate::plan::operation::{Op, OpId};
use crate::plan::steps::{CheckStep, Plan, Step};
use crate::syntax::ast::*;
use crate::syntax::files::Files;
use crate::types::inference::infer;
use crate::types::instruction::{Instruction, Slot};
use crate::types::typed::TypedPlan;
use crate::types::value_type::{InputType, Type};
use crate::values::value::Value;
use relation::rows;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The names of what the graphs of a [`Consistency`] give: those of [`crate::Input`], `rf`, and
/// what the model chooses (`co`). If a model calls its coherence order `mo`, the graph gives `mo`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Complete<'a> {
    pub sets: &'a [&'a str],
    pub relations: &'a [&'a str],
    /// Sets and relations that are empty in every graph; operations on them cost nothing.
    pub empty: &'a [&'a str],
    /// An access may consist of several events, which `si` relates: parts of memory that other
    /// accesses have alone.
    pub in_parts: bool,
}

/// A model compiled for graphs that give certain sets and relations; and one graph.
///
/// ```text
/// let mut consistency = model.consistency(&|_| false, &complete)?;
/// consistency.begin(n);
/// consistency.relation_mut(0)[from] |= 1 << to;   // up to 64 events: one word per row
/// consistency.consistent()?
/// ```
#[derive(Clone)]
pub struct Consistency {
    compiled: Arc<Compiled>,
    values: GraphValues,
    /// How many axioms have been checked, with their operations computed.
    done: usize,
    failing: Option<usize>,
}

struct Compiled {
    files: Arc<Files>,
    typed: TypedPlan,
    /// The axioms, cheapest first.
    axioms: Vec<DueCheck>,
    /// Flags, `undefined_unless` and assertions, in the model's order, with the operations that
    /// only they need.
    others: Vec<DueCheck>,
    /// The operations that both they and axioms need.
    shared: Vec<OpId>,
    /// For each set and relation that may be given: its slot and whether the model reads it.
    sets: Vec<Entry>,
    relations: Vec<Entry>,
    /// Whether an operation on values may depend on the locations of events.
    by_location: bool,
    /// The operations whose relation only grows when events are added.
    growing: Vec<bool>,
    /// Those whose relation only grows when events are added at the ends of threads.
    growing_at_ends: Vec<bool>,
}

/// A check, and the operations to compute before it, apart from those that an earlier check
/// computes.
struct DueCheck {
    check: CheckStep,
    operations: Vec<OpId>,
    /// The two relations whose sequence the check requires to be irreflexive, if only this check
    /// needs the sequence, which is then not computed.
    sequence: Option<(Slot, Slot)>,
}

#[derive(Clone, Copy)]
struct Entry {
    slot: u32,
    taken: bool,
}

/// A static description of an axiom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axiom {
    pub name: String,
    /// `acyclic`, `irreflexive` or `empty`; with `~` in front if it is negated.
    pub claim: String,
    /// A graph that violates the axiom still does so after it grows by events at the ends of
    /// threads.
    pub fails_for_good: bool,
}

/// The flags of a consistent graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// The flags raised, sorted by name.
    pub raised: Vec<RaisedFlag>,
    /// Whether an `undefined_unless` fails: the program has undefined behaviour.
    pub undefined: bool,
    /// The names of the failing `undefined_unless`, in the model's order.
    pub undefined_by: Vec<String>,
    /// A pair for which the first of them fails, if it requires a relation to be empty.
    pub conflict: Option<(usize, usize)>,
}

/// A flag, and a pair of the relation, or an element of the set twice, that it reports.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RaisedFlag {
    pub name: String,
    pub pair: Option<(usize, usize)>,
}

impl Compiled {
    fn new(files: Arc<Files>, typed: TypedPlan, complete: &Complete) -> Compiled {
        let plan = typed.plan.clone();
        let (mut axioms, mut others) = (Vec::new(), Vec::new());
        for step in &plan.steps {
            let Step::Check(check) = step else { continue };
            match check.role {
                Role::Axiom => axioms.push(*check),
                _ => others.push(*check),
            }
        }
        let cost = |check: &CheckStep| -> u32 {
            let operations = typed.needed(check.value, &mut HashSet::new());
            operations.iter().map(|id| typed.cost(*id)).sum()
        };
        axioms.sort_by_cached_key(cost);
        let mut seen = HashSet::new();
        let sequences = sequences_for_one_check(&typed, axioms.iter().chain(&others));
        let mut due = |check: CheckStep| {
            let sequence = sequences.get(&typed.root(check.value)).copied();
            let mut operations = typed.needed(check.value, &mut seen);
            operations.retain(|id| sequence.is_none() || *id != typed.root(check.value));
            DueCheck {
                check,
                operations,
                sequence,
            }
        };
        let axioms: Vec<DueCheck> = axioms.into_iter().map(&mut due).collect();
        let mut for_others = HashSet::new();
        let needed = others.iter();
        let shared: Vec<OpId> = needed
            .flat_map(|check| typed.needed(check.value, &mut for_others))
            .collect();
        let others: Vec<DueCheck> = others.into_iter().map(&mut due).collect();
        let own: HashSet<OpId> = others
            .iter()
            .flat_map(|due| due.operations.clone())
            .collect();
        let is_shared = |id: &OpId| !own.contains(id) && !sequences.contains_key(id);
        let shared = shared.into_iter().filter(is_shared).collect();
        let entry = |name: &&str, ty: Type| {
            let mut found = typed.inputs.iter();
            let found = found.find(|taken| taken.name == *name && taken.ty == ty);
            Entry {
                slot: found.map_or(0, |taken| taken.slot),
                taken: found.is_some_and(|taken| seen.contains(&taken.id)),
            }
        };
        let sets = complete.sets.iter().map(|name| entry(name, Type::Set));
        let relations = complete.relations.iter();
        let relations = relations.map(|name| entry(name, Type::Relation));
        Compiled {
            sets: sets.collect(),
            relations: relations.collect(),
            by_location: seen
                .iter()
                .any(|id| matches!(typed.instructions[*id as usize], Instruction::OnValues)),
            growing: growth::grows_with_more(&typed),
            growing_at_ends: growth::grows_at_ends(&typed),
            files,
            axioms,
            others,
            shared,
            typed,
        }
    }

    fn name(&self, check: &CheckStep) -> String {
        self.files
            .check_name(&self.typed.plan.names, check.name, check.at)
    }
}

impl Consistency {
    /// Compiles a plan for complete graphs. It is an error if the model makes a choice that the
    /// graphs do not give, or refers to a name that they do not give.
    pub fn new(
        files: &Arc<Files>,
        plan: &Arc<Plan>,
        complete: &Complete,
    ) -> Result<Consistency, CatError> {
        let typed = infer(
            plan,
            true,
            &|name| {
                let is = |names: &[&str]| names.contains(&name);
                match (is(complete.sets), is(complete.relations)) {
                    _ if is(complete.empty) => Some(InputType::Nothing),
                    (true, _) => Some(InputType::Set),
                    (_, true) => Some(InputType::Relation),
                    _ => None,
                }
            },
            &[],
        );
        let consistency = Consistency {
            values: GraphValues::new(&typed),
            compiled: Arc::new(Compiled::new(files.clone(), typed, complete)),
            done: 0,
            failing: None,
        };
        consistency.validate()?;
        Ok(consistency)
    }

    /// It is an error if a check has no value in any graph, or the model makes a choice.
    fn validate(&self) -> Result<(), CatError> {
        let compiled = &self.compiled;
        let (typed, plan) = (&compiled.typed, &compiled.typed.plan);
        for due in compiled.axioms.iter().chain(&compiled.others) {
            for id in due.operations.iter().chain([&due.check.value]) {
                let Op::Choice(index) = plan.operations.op(*id) else {
                    continue;
                };
                let given = typed.inputs.iter().any(|taken| taken.id == *id);
                if !given && typed.type_of(*id) != Type::Nothing {
                    let step = &plan.choices[*index as usize];
                    let name = plan.names.text(step.name);
                    let message = format!("the model chooses {name}, which the graphs do not give");
                    let advice = format!("give {name} with each graph");
                    return Err(compiled.files.error(step.at, message, advice));
                }
            }
            let root = typed.root(due.check.value) as usize;
            if let Some(fault) = &typed.faults[root] {
                return Err(self.error(&due.check, fault.clone()));
            }
        }
        Ok(())
    }

    /// Whether the model reads set number `index` of [`Complete::sets`].
    pub fn takes_set(&self, index: usize) -> bool {
        self.compiled.sets[index].taken
    }

    /// Whether the model reads relation number `index` of [`Complete::relations`].
    pub fn takes_relation(&self, index: usize) -> bool {
        self.compiled.relations[index].taken
    }

    /// Starts a graph of `n` events in which everything given is empty.
    pub fn begin(&mut self, n: usize) {
        self.values.begin(&self.compiled.typed, n);
        self.done = 0;
        self.failing = None;
    }

    /// The number of words in a row: 1 for up to 64 events.
    pub fn stride(&self) -> usize {
        self.values.rows.stride
    }

    /// The row of set number `index`; event `e` is bit `e % 64` of word `e / 64`. Only for a set
    /// that the model reads.
    pub fn set_mut(&mut self, index: usize) -> &mut [u64] {
        debug_assert!(self.takes_set(index), "the model takes the set");
        self.done = 0;
        self.values.rows.set_mut(self.compiled.sets[index].slot)
    }

    /// The rows of relation number `index`: one per event, with the events it leads to.
    pub fn relation_mut(&mut self, index: usize) -> &mut [u64] {
        debug_assert!(self.takes_relation(index), "the model takes the relation");
        self.done = 0;
        self.values
            .rows
            .relation_mut(self.compiled.relations[index].slot)
    }

    /// Whether the graph satisfies every axiom.
    pub fn consistent(&mut self) -> Result<bool, CatError> {
        let compiled = self.compiled.clone();
        self.start(&compiled);
        for (index, due) in compiled.axioms.iter().enumerate() {
            if !self.check(&compiled, due)? {
                self.failing = Some(index);
                return Ok(false);
            }
            self.done = index + 1;
        }
        Ok(true)
    }

    /// The name of the axiom that the graph violated in the last call of
    /// [`Consistency::consistent`].
    pub fn failing(&self) -> Option<String> {
        let index = self.failing?;
        Some(self.compiled.name(&self.compiled.axioms[index].check))
    }

    /// Whether every larger graph that contains this one violates the axiom that this one violated.
    pub fn fails_in_larger(&self) -> bool {
        self.fails_for_good(&self.compiled.growing)
    }

    /// As [`Consistency::fails_in_larger`], for graphs that have more events at the ends of threads alone.
    /// A read of this graph that has no source may read from one of them. No graph contains one half of
    /// a read-modify-write alone.
    pub fn fails_with_later_events(&self) -> bool {
        self.fails_for_good(&self.compiled.growing_at_ends)
    }

    fn fails_for_good(&self, growing: &[bool]) -> bool {
        let failing = self.failing.map(|index| &self.compiled.axioms[index].check);
        failing.is_some_and(|check| !check.negated && growing[check.value as usize])
    }

    /// Whether a consistent graph stays consistent when events that no event reads from are removed,
    /// and what the model flags is that a relation is not empty, which does not depend on coherence
    /// order and loses no pair of events that are left.
    pub fn holds_in_smaller(&self) -> bool {
        let compiled = &self.compiled;
        let typed = &compiled.typed;
        let shrinking = growth::shrinks_with_more(typed);
        let is_co = |id: &OpId| patterns::is_coherence(typed, typed.plan.operations.op(*id));
        let holds = |check: &CheckStep| !check.negated && compiled.growing[check.value as usize];
        let persists = |check: &CheckStep| {
            let needed = typed.needed(check.value, &mut HashSet::new());
            check.claim == Claim::Empty
                && check.negated == (check.role == Role::Flag)
                && check.role != Role::Assert
                && shrinking[check.value as usize]
                && !needed.iter().any(is_co)
        };
        compiled.axioms.iter().all(|due| holds(&due.check))
            && compiled.others.iter().all(|due| persists(&due.check))
    }

    /// The flags that the model raises on the graph. A failing assertion is an error.
    pub fn flags(&mut self) -> Result<Flags, CatError> {
        let compiled = self.compiled.clone();
        if self.done == 0 {
            self.start(&compiled);
        }
        if self.done < compiled.axioms.len() {
            compiled
                .shared
                .iter()
                .for_each(|id| self.values.compute(&compiled.typed, *id));
        }
        let mut flags = Flags::default();
        for due in &compiled.others {
            let holds = self.check(&compiled, due)?;
            match (due.check.role, due.check.name) {
                (Role::UndefinedUnless, _) if !holds => {
                    flags.undefined = true;
                    flags.undefined_by.push(compiled.name(&due.check));
                    flags.conflict = flags.conflict.or_else(|| self.pair(&compiled, &due.check));
                }
                (Role::Flag, Some(_)) if holds => flags.raised.push(RaisedFlag {
                    name: compiled.name(&due.check),
                    pair: self.pair(&compiled, &due.check),
                }),
                (Role::Assert, _) if !holds => {
                    return Err(compiled.files.assertion(
                        &compiled.typed.plan.names,
                        due.check.name,
                        due.check.at,
                    ));
                }
                _ => {}
            }
        }
        flags.raised.sort_unstable();
        flags.raised.dedup_by(|one, other| one.name == other.name);
        Ok(flags)
    }

    /// The least pair of a relation, or element of a set, if a check reports that it is not empty.
    fn pair(&self, compiled: &Compiled, check: &CheckStep) -> Option<(usize, usize)> {
        if check.claim != Claim::Empty || check.negated != (check.role == Role::Flag) {
            return None;
        }
        match self.values.value(&compiled.typed, check.value) {
            Value::Set(set) => set.iter().min().map(|event| (event, event)),
            Value::Relation(pairs) => pairs.iter().min(),
            _ => None,
        }
    }

    /// The axioms, in the order in which they are checked.
    pub fn axioms(&self) -> Vec<Axiom> {
        let grows = &self.compiled.growing_at_ends;
        let axiom = |due: &DueCheck| Axiom {
            name: self.compiled.name(&due.check),
            claim: due.check.claim_text(),
            fails_for_good: !due.check.negated && grows[due.check.value as usize],
        };
        self.compiled.axioms.iter().map(axiom).collect()
    }

    /// Whether one axiom alone implies that `po | rf` is acyclic. It may also follow from several
    /// axioms together, which is not examined.
    pub fn shows_porf_acyclic(&self) -> bool {
        let typed = &self.compiled.typed;
        let names = &typed.plan.names;
        self.compiled.axioms.iter().any(|due| {
            let check = &due.check;
            let value = typed.plan.operations.op(typed.root(check.value));
            let no_cycle = match check.claim {
                Claim::Acyclic => true,
                Claim::Irreflexive => matches!(value, Op::Unary(Unary::Plus, _)),
                Claim::Empty => false,
            };
            let is_po = |op: &Op| matches!(op, Op::Given(name) if names.text(*name) == "po");
            let covers = |part: &dyn Fn(&Op) -> bool| patterns::covers(typed, check.value, part);
            !check.negated
                && no_cycle
                && covers(&is_po)
                && covers(&|op| matches!(op, Op::ReadsFrom))
        })
    }

    /// Whether the model has flags, `undefined_unless` or assertions.
    pub fn has_flags(&self) -> bool {
        !self.compiled.others.is_empty()
    }

    /// Whether no flag can be raised, and no other check beside the axioms can fail, on any graph
    /// that is as `given` describes it.
    pub fn raises_no_flags(&self, given: &dyn Fn(&str) -> Extent) -> bool {
        let never_reported = extents::never_reported(&self.compiled.typed, given);
        self.compiled
            .others
            .iter()
            .all(|due| never_reported(&due.check))
    }

    /// Whether all that the model says of a graph that is as `given` describes it, it also says of the
    /// graph without the events of a class.
    pub fn ignores(&self, given: &dyn Fn(&str) -> Extent, class: usize) -> bool {
        let ignores = extents::ignores(&self.compiled.typed, given, class);
        let mut checks = self.compiled.axioms.iter().chain(&self.compiled.others);
        checks.all(|due| ignores(&due.check))
    }

    /// Whether a consistent graph stays consistent when it grows by an event at the end of a thread
    /// that reads from the last write of its location, or is the last in coherence order.
    pub fn keeps_maximal(&self) -> bool {
        let axioms = &self.compiled.axioms;
        let mut checks = axioms.iter().map(|due| &due.check);
        let keeps = growth::keeps_maximal(&self.compiled.typed);
        checks.all(keeps)
    }

    /// Whether a part of a consistent graph is consistent in which a read that nothing needs reads from an
    /// earlier write ([`source_change`]). `releases_last`: whether a write that releases needs everything
    /// before it; `forwarded`: whether the earlier write may be in the thread of the read.
    pub fn allows_earlier_source(&self, releases_last: bool, forwarded: bool) -> bool {
        let typed = &self.compiled.typed;
        let coherent = self.states_coherence();
        let allows =
            source_change::allows_earlier_source(typed, (releases_last, forwarded), coherent);
        let mut axioms = self.compiled.axioms.iter();
        axioms.all(|due| allows(&due.check))
    }

    /// Whether a consistent graph stays consistent when it grows by events at the ends of threads
    /// and by initial writes, as long as none of the new events is on a cycle of po, rf, co and fr;
    /// and whether every part of it that is closed under po and rf predecessors is consistent.
    pub fn forbids_cycles_alone(&self) -> bool {
        let axioms = &self.compiled.axioms;
        let mut checks = axioms.iter().map(|due| &due.check);
        let are_cycles = cycles::are_cycles(&self.compiled.typed);
        checks.all(are_cycles)
    }

    /// Whether one axiom states coherence explicitly: an access does not precede an earlier access
    /// of its thread in the coherence order of their location.
    pub fn states_coherence(&self) -> bool {
        let axioms = &self.compiled.axioms;
        let mut checks = axioms.iter().map(|due| &due.check);
        checks.any(|check| growth::states_coherence(&self.compiled.typed, check))
    }

    fn start(&mut self, compiled: &Compiled) {
        self.done = 0;
        self.failing = None;
        self.values.rows.given(&compiled.typed);
        if compiled.by_location {
            self.values.store.refuel();
            self.values.store.locations = self.locations(compiled);
        }
    }

    /// The location of each event, derived from the relation `loc`.
    fn locations(&self, compiled: &Compiled) -> Vec<Option<u32>> {
        let mut taken = compiled.typed.inputs.iter();
        let loc = taken.find(|taken| taken.name == "loc");
        let Some(loc) = loc.map(|loc| self.values.rows.relation(loc.slot)) else {
            return vec![None; self.values.rows.n];
        };
        let first = |row: &[u64]| (0..self.values.rows.n).find(|event| rows::has(row, *event));
        let row = |event: usize| &loc[event * self.values.rows.stride..][..self.values.rows.stride];
        (0..self.values.rows.n)
            .map(|event| first(row(event)).map(|first| first as u32))
            .collect()
    }

    fn check(&mut self, compiled: &Compiled, due: &DueCheck) -> Result<bool, CatError> {
        for id in &due.operations {
            self.values.compute(&compiled.typed, *id);
        }
        if let Some(sequence) = due.sequence {
            return Ok(self.values.rows.is_sequence_irreflexive(sequence) != due.check.negated);
        }
        let holds = self.values.holds(&compiled.typed, &due.check);
        holds.map_err(|fault| self.error(&due.check, fault))
    }

    fn error(&self, check: &CheckStep, fault: Fault) -> CatError {
        let files = &self.compiled.files;
        self.values.error(files, check.value, check.value_at, fault)
    }
}

/// The sequences of relations that one check requires to be irreflexive and nothing else needs,
/// with the slots of the two relations.
fn sequences_for_one_check<'c>(
    typed: &TypedPlan,
    checks: impl Iterator<Item = &'c CheckStep> + Clone,
) -> HashMap<OpId, (Slot, Slot)> {
    let operations = &typed.plan.operations;
    let mut uses: HashMap<OpId, usize> = HashMap::new();
    let mut seen = HashSet::new();
    for check in checks.clone() {
        typed.needed(check.value, &mut seen);
        *uses.entry(typed.root(check.value)).or_default() += 1;
    }
    for id in &seen {
        operations.operands(operations.op(*id), &mut |operand| {
            *uses.entry(typed.root(operand)).or_default() += 1;
        });
    }
    let found = checks.filter_map(|check| {
        let root = typed.root(check.value);
        match typed.instructions[root as usize] {
            Instruction::Sequence(a, b, _) if check.claim == Claim::Irreflexive => {
                (uses[&root] == 1).then_some((root, (a, b)))
            }
            _ => None,
        }
    });
    found.collect()
}
