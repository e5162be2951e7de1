//! The search for models in which loads may wait for later stores.

mod execution;
mod worker;

pub use execution::PartialExecution;
pub use worker::PostponingWorker;
