//! A litmus test under any cat model, as herd7 decides it.

mod answer;
mod builder;
mod c;
mod candidate;
mod decide;
mod dependencies;
mod event;
mod exclusive;
mod explain;
mod format;
mod graph_input;
mod instructions;
mod limits;
mod machine;
mod prepared;
mod solver;
mod threads;
mod witness;

pub use answer::{Answer, Observation};
pub use decide::decide;
pub use explain::{explain, Explanation};
pub use format::herd;
pub use limits::{Limit, Limits};
pub use witness::{Shown, Witness};

use cat::CatError;

/// What keeps a test from being decided.
#[derive(Debug)]
pub enum EngineError {
    /// An operation on addresses that has no result.
    Illegal,
    /// Accesses of different sizes to this location, or of a part of one that has no value of
    /// its own.
    MixedSize(String),
    /// The model cannot be applied.
    Model(CatError),
}

impl std::fmt::Display for EngineError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            EngineError::Illegal => f.write_str("an operation on addresses that has no result"),
            EngineError::MixedSize(place) => write!(
                f,
                "the accesses to {place} are of mixed sizes, which is not supported"
            ),
            EngineError::Model(e) => e.fmt(f),
        }
    }
}

impl std::error::Error for EngineError {}
