//! What an exploration that a limit has ended needs to be resumed by another process: what it has
//! found, what is left open of its search tree, and what it has learned of the program, since the
//! tree depends on that. A node of the tree is stored as the decisions that lead to it, a few bytes
//! each; graphs are stored of violations only.

use borsh::{BorshDeserialize, BorshSerialize};

use crate::exploration::{Counts, Exploration, Frontier, Truncation, Violation};
use crate::threads::sharing::stored::Learned;

/// Belongs to one program, model, version of the engine and set of options, limits of executions and
/// time excepted; none of them is stored with it.
#[derive(BorshSerialize, BorshDeserialize)]
pub struct Checkpoint {
    pub(super) learned: Learned,
    pub(super) open: Frontier,
    counts: Counts,
    violations: Vec<Violation>,
    warnings: Vec<Violation>,
    truncations: Vec<Truncation>,
    checks: u64,
    threads: usize,
    seconds: f64,
    loops: Option<u32>,
    pub(super) loop_bound: u32,
}

impl Checkpoint {
    /// `found`: an exploration that a limit has ended. `loops`: see [`Exploration::loops`].
    pub(super) fn new(learned: Learned, found: &Exploration, loops: Option<u32>) -> Checkpoint {
        Checkpoint {
            learned,
            open: found.open.clone(),
            counts: found.counts,
            violations: found.violations.clone(),
            warnings: found.warnings.clone(),
            truncations: found.truncations.clone(),
            checks: found.checks,
            threads: found.threads,
            seconds: found.seconds,
            loops,
            loop_bound: found.loop_bound,
        }
    }

    /// The greatest bound on the iterations of loops within which everything was explored.
    pub(super) fn loops(&self) -> Option<u32> {
        self.loops
    }

    /// The exploration that was ended.
    pub(super) fn exploration(self) -> Exploration {
        Exploration {
            earlier: self.counts.all(),
            counts: self.counts,
            violations: self.violations,
            warnings: self.warnings,
            truncations: self.truncations,
            checks: self.checks,
            threads: self.threads,
            open: self.open,
            seconds: self.seconds,
            loop_bound: self.loop_bound,
            ..Exploration::default()
        }
    }

    /// How many executions were explored.
    pub fn executions(&self) -> u64 {
        self.counts.all()
    }

    /// Whether nothing is left open.
    pub fn is_complete(&self) -> bool {
        self.open.branches.is_empty()
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        borsh::to_vec(self).expect("memory takes what is written")
    }

    /// None for what [`to_bytes`](Self::to_bytes) has not written.
    pub fn from_bytes(bytes: &[u8]) -> Option<Checkpoint> {
        borsh::from_slice(bytes).ok()
    }
}
