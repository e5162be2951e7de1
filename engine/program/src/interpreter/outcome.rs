//! How a run ends, and the limits that end it.
use crate::ir::instruction::SiteId;

/// How a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    Complete,
    Assertion,
    Deadlock,
    Bound,
    Memory,
}

impl Outcome {
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Complete => "complete",
            Outcome::Assertion => "assertion",
            Outcome::Deadlock => "deadlock",
            Outcome::Bound => "bound",
            Outcome::Memory => "memory",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunEnd {
    pub outcome: Outcome,
    pub message: String,
    pub site: Option<SiteId>,
    /// For errors without a site of their own: the `DILocation` of the instruction.
    pub dbg: u32,
    /// For a loop that iterates too often.
    pub change: Change,
}

/// Why a loop does not wait: what is different after an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    None,
    /// A local variable that is in a register.
    Register,
    /// What this access wrote.
    Access(SiteId),
}

impl RunEnd {
    pub fn new(outcome: Outcome, message: impl Into<String>, site: Option<SiteId>) -> RunEnd {
        RunEnd {
            outcome,
            message: message.into(),
            site,
            dbg: 0,
            change: Change::None,
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Iterations of a loop that only a shared value can end.
    pub loops: u32,
    pub frames: usize,
}
