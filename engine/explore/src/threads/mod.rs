//! A [`Program`](::program::Program) as a [`Source`](crate::Source): its threads run in the
//! interpreter, which stops at each event on shared memory.

pub mod environment;
mod instructions;
mod library;
pub mod sharing;
pub mod source;
mod thread_state;

pub use source::ProgramSource;
