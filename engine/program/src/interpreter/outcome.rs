//! How a run ends, and the limits that end it.
use crate::ir::instruction::SiteId;
use crate::ir::program::Program;

/// How a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    Complete,
    Assertion,
    Deadlock,
    Bound,
    Memory,
    /// The use of an indeterminate value.
    Uninitialised,
    /// The run needs something that the engine does not model.
    Unsupported,
}

impl Outcome {
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Complete => "complete",
            Outcome::Assertion => "assertion",
            Outcome::Deadlock => "deadlock",
            Outcome::Bound => "bound",
            Outcome::Memory => "memory",
            Outcome::Uninitialised => "uninitialised",
            Outcome::Unsupported => "unsupported",
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
    /// The limit that ends it, if the user can change it: a field of [`Limits`].
    pub limit: &'static str,
    /// For a loop that iterates too often.
    pub change: Change,
}

/// Why a loop does not wait: what is different after an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    None,
    /// A local variable that is in a register.
    Register,
    /// What the value of a local variable depends on.
    Reads,
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
            limit: "",
            change: Change::None,
        }
    }

    /// The program calls a function at an address at which none of its own is; `message` is for one
    /// that it does not even declare.
    pub fn call_of_none(
        program: &Program,
        address: u64,
        message: &str,
        site: Option<SiteId>,
    ) -> RunEnd {
        match program.externals.get(&address) {
            Some(name) => {
                let message = format!("the function {name} is called through a pointer");
                let message = format!("{message}, but not defined");
                RunEnd::new(Outcome::Unsupported, message, site)
            }
            None => RunEnd::new(Outcome::Memory, message, site),
        }
    }

    /// A limit that the user can change was reached.
    pub fn at_limit(
        limit: &'static str,
        message: impl Into<String>,
        site: Option<SiteId>,
    ) -> RunEnd {
        RunEnd {
            limit,
            ..RunEnd::new(Outcome::Bound, message, site)
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Iterations of a loop that only a shared value can end.
    pub loops: u32,
    /// Instructions of one thread in one execution.
    pub instructions: u64,
    /// Nested calls.
    pub calls: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            loops: 4,
            instructions: 2_000_000,
            calls: 200,
        }
    }
}
