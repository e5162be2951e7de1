//! What the engine knows about a dialect: how its tests are read, and which events its
//! instructions have. Each dialect is one value of this type, in a file of its own in `dialects/`.

use super::annotation::Annotations;
use super::error::ParseError;
use super::location_names::LocationNames;
use super::program::Program;
use super::sections::SourceSpan;

pub struct Dialect {
    /// The first word of a test.
    pub name: &'static str,
    /// Reads the section of the threads.
    pub program: fn(SourceSpan<'_>, &mut LocationNames) -> Result<Program, ParseError>,
    pub register: RegisterName,
    /// The key by which herd7 sorts the registers of a thread in final states.
    pub register_order: fn(&str) -> (usize, u32),
    /// By bit, the sets that an event can be in, besides those of all dialects.
    pub annotations: &'static [&'static str],
    /// Annotations that repeat what the kind of the event says; witnesses do not show them.
    pub implied_annotations: &'static [&'static str],
    /// Those of the writes of the initial state.
    pub initial_write: Annotations,
    /// Sets that models of the architecture name and that litmus tests leave empty.
    pub empty_sets: &'static [&'static str],
    /// Branches are events, on which later events of the thread depend.
    pub branch_events: bool,
    pub reservation: Reservation,
    /// The read and the write of an rmw pair belong to one instruction: there is no LL/SC.
    pub rmw_in_one_instruction: bool,
    /// Accesses of a test can have mixed sizes. Memory is then little-endian.
    pub mixed_sizes: bool,
}

/// The name of a register in the form in which programs have it, or none when it is not one.
pub type RegisterName = fn(&str) -> Option<String>;

/// How a store-conditional depends on its load-reserve, and how it reports success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reservation {
    None,
    Power,
    RiscV,
    AArch64,
}

impl std::fmt::Debug for Dialect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// Registers that end in a number are sorted by it.
pub fn by_number(register: &str) -> (usize, u32) {
    let digits = register.trim_start_matches(|c: char| !c.is_ascii_digit());
    (0, digits.parse().unwrap_or(u32::MAX))
}
