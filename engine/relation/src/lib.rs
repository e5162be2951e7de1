//! Sets of events and relations over them, as rows of bits.
//!
//! An event is its number, from 0. A graph has few events (tens, at most a few hundred),
//! so that a set is a handful of words, and a relation a word or a few for each event.
pub mod cycle;
mod order;
mod relation;
pub mod rows;
mod set;

pub use order::LinearExtensions;
pub use relation::Relation;
pub use set::Set;
