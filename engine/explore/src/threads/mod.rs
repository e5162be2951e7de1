//! A [`Program`](::program::Program) as a [`Source`](crate::Source): its threads run in the
//! interpreter, which stops at each event on shared memory.

mod allocation;
pub mod environment;
mod instructions;
mod local_state;
mod location_uses;
pub mod sharing;
pub mod source;
mod synchronisation;

pub use source::ProgramSource;
