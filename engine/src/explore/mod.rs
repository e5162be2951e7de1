//! Every execution of a program under a model, by stateless search over execution graphs.
//!
//! ```text
//! let found = explore(&source, &model, &Options { porf_acyclic: true, ..Options::default() })?;
//! ```
//!
//! Memory holds one graph for each nested revisit, never a set of graphs that were seen.

mod ends;
mod execution;
mod graph;
mod judge;
pub mod litmus;
mod outcome;
mod parallel;
mod search;
mod source;
mod view;

pub use execution::Execution;
pub use graph::{Event, Graph, Line, Place, Slot, NONE};
pub use outcome::*;
pub use source::*;

use crate::cat::Model;

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
    each: impl Fn(&Execution<S::Thread>, End) + Sync,
) -> Result<Exploration, ExploreError> {
    suitable(model, options)?;
    parallel::Shared::new(source, model, options, each).run()
}

/// Exploration adds a read after all that it depends on: executions in which po | rf has a cycle
/// are not found, and dependencies are not followed.
fn suitable(model: &Model, options: &Options) -> Result<(), ExploreError> {
    if !options.porf_acyclic {
        return Err(ExploreError::Unsuitable(format!(
            "{} may allow executions in which po | rf has a cycle, which exploration does not \
             find; a model whose axioms exclude them says porf_acyclic = true in its entry",
            model.name
        )));
    }
    let taken = model.takes(&|_| false)?;
    let dependency = ["addr", "data", "ctrl", "depend", "control"];
    match taken
        .iter()
        .find(|name| dependency.contains(&name.as_str()))
    {
        Some(name) => Err(ExploreError::Unsuitable(format!(
            "{} orders by dependencies ({name}), which exploration does not follow; \
             sc, tso and rc11 do without",
            model.name
        ))),
        None => Ok(()),
    }
}
