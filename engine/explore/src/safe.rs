//! Whether a program is safe. A value of [`Safe`] is made here alone, of what a search has shown; what
//! is outside this crate can read it and not make it.

use crate::evidence::Guarantee;
use crate::exploration::{Exploration, Limit};

/// Why an exploration does not show that a program is safe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubt {
    Violated,
    /// Limits have ended executions.
    Truncated,
    /// A limit has ended the search.
    Limit(Limit),
    /// Only a part of the executions was asked for, or explored.
    Part,
    /// Nothing is called safe of which nothing was seen.
    NoExecution,
    /// It is not known that the model guarantees what the search relies on.
    Model,
    /// The reference finds a violation that the search has not found.
    Missed,
}

/// All executions were explored that are not represented by others, and none violates anything.
#[derive(Clone, Copy, Debug)]
pub struct Safe<'e>(&'e Exploration);

impl Safe<'_> {
    /// What shows it.
    pub fn exploration(&self) -> &Exploration {
        self.0
    }
}

impl Exploration {
    /// That the program is safe under the model, or each reason why this is not known.
    pub fn safe(&self) -> Result<Safe<'_>, Vec<Doubt>> {
        let missed = self
            .audit
            .as_ref()
            .is_some_and(|audit| !audit.missed.is_empty());
        let unproved = matches!(self.guarantee, Some(Guarantee::Asked | Guarantee::Refuted));
        let found = [
            (!self.violations.is_empty(), Doubt::Violated),
            (!self.truncations.is_empty(), Doubt::Truncated),
            (missed, Doubt::Missed),
            (unproved, Doubt::Model),
        ];
        let mut doubts: Vec<Doubt> = found
            .into_iter()
            .filter_map(|(is, doubt)| is.then_some(doubt))
            .collect();
        doubts.extend(self.limit.map(Doubt::Limit));
        if self.exhausted.is_none() && self.limit.is_none() {
            doubts.push(Doubt::Part);
        }
        if doubts.is_empty() && self.counts.all() == 0 {
            doubts.push(Doubt::NoExecution);
        }
        match doubts.is_empty() {
            true => Ok(Safe(self)),
            false => Err(doubts),
        }
    }
}
