//! The search for models in which loads may wait for later stores.

mod coherence;
mod drawing;
mod execution;
mod symmetry;
mod waiting;
mod worker;

pub use worker::PostponingWorker;
