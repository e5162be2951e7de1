//! Sets of events and relations over them, as rows of bits.
//!
//! An event is its number, from 0. An execution graph has few events (tens, at most a few
//! hundred), so that a set is a few words, and a relation one or a few words per event.
//!
//! - [`Set`], [`Relation`]: owned values; [`LinearExtensions`] enumerates total orders.
//! - [`rows`]: the same operations in memory that the caller provides.
//! - [`cycle`]: a shortest cycle of several relations, for witnesses.
pub mod cycle;
mod order;
mod relation;
pub mod rows;
mod set;

pub use order::LinearExtensions;
pub use relation::Relation;
pub use set::Set;
