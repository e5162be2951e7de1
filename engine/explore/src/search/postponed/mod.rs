//! The search that postpones reads: for models in which loads may wait for later stores, and for
//! programs in which several threads behave alike.

mod alternatives;
mod coherence;
mod completion;
mod drawing;
mod execution;
mod later_writes;
mod progress;
mod symmetry;
mod waiting;
mod worker;

pub use worker::Postpones;
