//! An execution graph and a cat model → whether the graph is consistent, and what the model flags.

pub mod checker;
pub mod drawing;
pub mod extents;
pub mod guarantee;
pub mod ordering_accesses;
pub mod rows;
pub mod sets;
pub mod stale_access;
pub mod tag;
pub mod uses;
pub mod view;
