//! Every execution of a program under a model, by stateless search over execution graphs.
//!
//! ```text
//! let found = explore(&source, &model, &Options { porf_acyclic: true, ..Options::default() })?;
//! ```
//!
//! Memory holds one graph for each nested revisit, never a set of graphs that were seen.

mod certain;
mod cycle;
mod ends;
mod execution;
mod graph;
mod judge;
mod library;
mod outcome;
mod own;
mod parallel;
pub mod program;
mod revisit;
mod search;
mod sharing;
mod slice;
mod source;
mod stale;
mod steps;
mod teller;
mod tree;
mod turns;
mod view;
mod waits;
pub mod witness;
mod world;

pub use execution::Ended;
pub use graph::{Event, Graph, Line, Place, Slot, NONE};
pub use outcome::*;
pub use source::*;

use cat::{CatError, Model};

/// Why programs cannot be explored under a model; none if they can.
pub fn unsuitable(model: &Model, porf_acyclic: bool) -> Result<Option<String>, CatError> {
    match judge::Judge::new(model, porf_acyclic) {
        Err(ExploreError::Model(error)) => Err(error),
        Err(error) => Ok(Some(error.to_string())),
        Ok(_) => Ok(None),
    }
}

/// Explores all executions of a program under a model.
pub fn explore<S: Source>(
    source: &S,
    model: &Model,
    options: &Options,
) -> Result<Exploration, ExploreError> {
    explore_each(source, model, options, |_, _| {})
}

/// [`explore`], calling `each` with every execution and how it ends.
pub fn explore_each<S: Source>(
    source: &S,
    model: &Model,
    options: &Options,
    each: impl Fn(&Ended<S::Thread>, End) + Sync,
) -> Result<Exploration, ExploreError> {
    let judge = judge::Judge::new(model, options.porf_acyclic)?;
    parallel::Shared::new(source, judge, options, each).run()
}
