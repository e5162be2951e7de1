//! A litmus test under any cat model, as herd7 decides it.

mod answer;
mod bits;
mod builder;
mod c;
mod candidate;
mod decide;
mod dependencies;
mod event;
mod format;
mod free;
mod limits;
mod prepared;
mod solver;
mod threads;

pub use answer::{Answer, Observation};
pub use decide::{decide, Allowed, Execution, Judge};
pub use format::herd;
pub use free::Free;
pub use limits::{Limit, Limits};

/// What keeps a test from being decided.
#[derive(Debug)]
pub enum EngineError {
    /// An operation on addresses that has no result.
    Illegal,
    /// The model cannot be applied: its own words.
    Model(String),
}

impl std::fmt::Display for EngineError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            EngineError::Illegal => f.write_str("an operation on addresses that has no result"),
            EngineError::Model(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for EngineError {}
