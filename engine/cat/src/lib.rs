//! The cat language: models as axioms over relations between events.
//!
//! The language is that of Alglave, Cousot and Maranget, "Syntax and semantics of the
//! weak consistency model specification language cat", 2016, as herd7 7.58 reads it.
//!
//! A [`Model`] is read once, prepared once for each graph of events, and solved once for
//! each reads-from relation:
//!
//! ```text
//! let model = Model::load(path, folders)?;
//! let mut prepared = model.prepare(&input)?;          // a graph of events: what is fixed
//! prepared.solutions(&rf, None, &mut |solution| …)?;  // a reads-from relation
//! ```
mod analysis;
mod error;
mod evaluation;
mod model;
mod plan;
mod syntax;
mod types;
mod values;

pub use analysis::extents::{Extent, MAX_SORTS};
pub use error::CatError;
pub use evaluation::consistency::{Axiom, Complete, Consistency, Remarks};
pub use evaluation::input::{Given, Input, Over, Solution, Visit};
pub use evaluation::prepared::Prepared;
pub use model::Model;
