//! An execution graph and a cat model → whether the graph is consistent, and what the model flags.

pub mod judge;
pub mod stale;
pub mod view;
