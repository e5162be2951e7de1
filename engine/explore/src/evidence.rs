//! What an exploration that finds no violation rests on.

use crate::source::Fault;

/// A search, or the reference, has explored its whole tree. It is made in this crate alone.
#[derive(Debug)]
pub struct Exhausted(());

impl Exhausted {
    /// None if a limit has ended the search, some branch is open, or executions were left out that
    /// were not to be explored.
    pub(crate) fn new(limited: bool, open: bool, part: bool) -> Option<Exhausted> {
        (!limited && !open && !part).then_some(Exhausted(()))
    }
}

/// How it is known that the axioms of a model keep [`Acyclic`](crate::Acyclic).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guarantee {
    /// An axiom implies it.
    Proved,
    /// Who has chosen the model says so ([`Options::acyclic`](crate::Options::acyclic)).
    Stated,
    /// The model was asked about cycles that pass through two and three threads. It may allow longer
    /// ones, and executions that the search does not find.
    Asked,
    /// The model allows such cycles, and executions that the search does not find.
    Refuted,
    /// The reference has explored executions with such cycles too.
    Unneeded,
}

impl Guarantee {
    pub fn name(self) -> &'static str {
        match self {
            Guarantee::Proved => "proved",
            Guarantee::Stated => "stated",
            Guarantee::Asked => "asked",
            Guarantee::Refuted => "refuted",
            Guarantee::Unneeded => "unneeded",
        }
    }
}

/// What random descents of the reference have shown, compared with what a search claims.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Audit {
    /// How many descents were completed.
    pub descents: u64,
    pub seconds: f64,
    /// Why there was none: the reference does not explore the program under the model.
    pub refused: Option<String>,
    /// Violations that the search has not found.
    pub missed: Vec<Fault>,
}
