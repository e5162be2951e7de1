//! What a model is evaluated on, and what comes of it.
use relation::{Relation, Set};
use std::ops::ControlFlow;
use std::sync::Arc;

/// A set or a relation that a model refers to by name.
#[derive(Clone, Debug)]
pub enum Given {
    Set(Set),
    Relation(Relation),
}

/// A graph of events: what the model may refer to and what no choice changes.
///
/// Names are herd7's. A set or relation that is absent is unbound in the model, which is
/// an error only when the model uses it (and not in `try`). These are computed here and
/// need not be given: `_`, `0`, `{}`, and what herd7's standard library defines: `emptyset`,
/// `po-loc`, `rfe`, `rfi`, `co0`, `fencerel`, `lxsx`, … `id` and `unv` too.
///
/// To be given where the model may use them: `loc`, `int`, `ext`, `po`, `addr`, `data`,
/// `ctrl`, `rmw`, `amo`, `sm`, … ; `M`, `R`, `W`, `F`, `B`, `IW`, `I` and the annotations and
/// fences of the dialect.
///
/// `rf` and `FW` are no part of it: they come with each candidate.
pub struct Input<'a> {
    /// How many events there are.
    pub n: usize,
    /// What a name stands for; asked at most once for each that the model uses.
    pub given: &'a dyn Fn(&str) -> Option<Given>,
    /// The location of each event that has one, for `classes-loc`.
    pub locations: &'a [Option<u32>],
    /// Whether a variant (`if "vmsa" then …`) is on.
    pub variants: &'a dyn Fn(&str) -> bool,
}

/// A way to make the model's choices (`with x from …`) such that all its axioms hold.
pub struct Solution<'a> {
    /// The coherence order: what the model binds to `co`, else to `mo`.
    pub co: Option<&'a Relation>,
    /// Each choice by name, in the model's order.
    pub choices: &'a [(&'a str, &'a Relation)],
    /// The names of the flags raised.
    pub flags: &'a [&'a str],
    /// Whether an `undefined_unless` fails: the program has no meaning.
    pub undefined: bool,
    /// How many solutions these are; see [`Prepared::tally`].
    pub count: u64,
    /// Of solutions told together, the last writes in their orders, as far as they matter.
    pub lasts: Option<&'a [usize]>,
}

/// What to do with each solution; `Break` ends the search.
pub type Visit<'v> = dyn FnMut(&Solution) -> ControlFlow<()> + 'v;

/// Whether it is time to end a search.
pub type Over = Arc<dyn Fn() -> bool + Send + Sync>;
