//! The cat language: memory models as axioms on relations between events.
//!
//! The language is that of Alglave, Cousot and Maranget, "Syntax and semantics of the weak
//! consistency model specification language cat", 2016, as herd7 7.58 implements it.
//!
//! The modules, each of which uses only those before it:
//!
//! - `syntax`: text → statements
//! - `plan`: statements → a plan, a graph of operations with checks and choices
//! - `values`: the operators of the language on values
//! - `types`: a plan → a typed plan, with instructions on rows of bits
//! - `analysis`: a typed plan → properties that hold for every graph
//! - `evaluation`: a typed plan and a graph of events → solutions, or consistency
//! - `model`: the entry point
//!
//! A [`Model`] is read once, prepared once per graph of events, and solved once per reads-from
//! relation:
//!
//! ```text
//! let model = Model::load(path, folders)?;
//! let mut prepared = model.prepare(&input)?;          // a graph of events: what is fixed
//! prepared.solutions(&rf, None, &mut |solution| …)?;  // for a reads-from relation
//! ```
mod analysis;
mod error;
mod evaluation;
mod model;
mod plan;
mod syntax;
mod types;
mod values;

pub use analysis::extents::{Extent, MAX_CLASSES};
pub use error::CatError;
pub use evaluation::consistency::{Axiom, Complete, Consistency, Flags, RaisedFlag};
pub use evaluation::input::{Given, Input, Interrupt, Solution, Visit};
pub use evaluation::prepared::Prepared;
pub use model::{Model, LKMMV2, MIXED};
