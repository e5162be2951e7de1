//! What a decision may cost before it ends without an answer.

use std::time::Duration;

/// At most so many paths of one thread.
pub const PATHS: usize = 20_000;

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Choices of reads-from and of final writes that are tried.
    pub candidates: u64,
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            candidates: 20_000_000,
            time: Duration::from_secs(60),
        }
    }
}

/// The limit that ended a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    Paths,
    Candidates,
    Seconds,
}

impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Limit::Paths => "paths through a thread",
            Limit::Candidates => "candidates",
            Limit::Seconds => "seconds",
        })
    }
}
