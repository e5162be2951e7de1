//! The interface of evaluation: the graph that a model is evaluated on, and the solutions.
use relation::{Relation, Set};
use std::ops::ControlFlow;
use std::sync::Arc;

/// A set or a relation that a model refers to by name.
#[derive(Clone, Debug)]
pub enum Given {
    Set(Set),
    Relation(Relation),
}

/// A graph of events, without rf and the model's choices.
///
/// Names are herd7's. A set or relation that is absent is unbound, which is an error only if the
/// model uses it outside `try`. The following are computed and need not be given: `_`, `0`, `{}`,
/// `id`, `unv`, and what herd7's standard library defines (`emptyset`, `po-loc`, `rfe`, `rfi`,
/// `co0`, `fencerel`, `lxsx`, …).
///
/// To be given if the model may use them: `loc`, `int`, `ext`, `po`, `addr`, `data`, `ctrl`, `rmw`,
/// `amo`, `sm`, … ; `M`, `R`, `W`, `F`, `B`, `IW`, `I` and the annotations and fences of the
/// dialect.
///
/// `rf` and `FW` are given for each candidate, see [`crate::Prepared::solutions`].
pub struct Input<'a> {
    /// The number of events.
    pub n: usize,
    /// The set or relation that a name stands for; called at most once per name.
    pub given: &'a dyn Fn(&str) -> Option<Given>,
    /// The location of each event that has one, for `classes-loc`.
    pub locations: &'a [Option<u32>],
    /// Whether a variant is on, as in `if "vmsa" then …`.
    pub variants: &'a dyn Fn(&str) -> bool,
}

/// An assignment of the model's choices (`with x from …`) that satisfies every axiom.
pub struct Solution<'a> {
    /// The coherence order: the choice named `co`, or `mo` if there is none.
    pub co: Option<&'a Relation>,
    /// Each choice by name, in the model's order.
    pub choices: &'a [(&'a str, &'a Relation)],
    /// The names of the flags raised.
    pub flags: &'a [&'a str],
    /// Whether an `undefined_unless` fails: the program has undefined behaviour.
    pub undefined: bool,
    /// How many solutions this one stands for; see [`crate::Prepared::tally`].
    pub count: u64,
    /// If the solution stands for several: the observed writes that are last in their coherence
    /// orders.
    pub last_writes: Option<&'a [usize]>,
}

/// The callback for each solution; `Break` ends the search.
pub type Visit<'v> = dyn FnMut(&Solution) -> ControlFlow<()> + 'v;

/// Polled during a search; true ends it.
pub type Interrupt = Arc<dyn Fn() -> bool + Send + Sync>;
