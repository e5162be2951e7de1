//! A [`Program`](::program::Program) as a [`Source`](crate::Source): its threads run in the
//! interpreter, which stops at each event on shared memory.

mod accesses;
mod advance;
mod allocation;
mod attempts;
mod calls;
pub mod checkpoint;
pub mod dependencies;
pub mod environment;
mod explorations;
mod failed_rounds;
mod instructions;
mod left_out_reads;
pub mod likeness;
mod local_state;
mod location_uses;
mod meetings;
mod repetitions;
pub mod request;
mod retries;
pub mod shares;
pub mod sharing;
mod sleepers;
pub mod source;
mod synchronisation;
mod undone_rounds;
mod value_dependencies;

pub use checkpoint::Checkpoint;
pub use request::{request, ExploredProgram, Request};
pub use shares::join;
pub use source::ProgramSource;
