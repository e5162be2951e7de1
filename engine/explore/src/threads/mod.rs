//! A [`Program`](::program::Program) as a [`Source`](crate::Source): its threads run in the
//! interpreter, which stops at each event on shared memory.

mod accesses;
mod advance;
mod attempts;
mod barriers;
pub mod checkpoint;
pub mod environment;
mod events;
mod explorations;
mod failed_rounds;
mod later_writes;
pub mod ledger;
mod left_out_accesses;
mod local_state;
mod location_uses;
mod past_accesses;
mod ranges;
mod repetitions;
pub mod request;
mod retries;
pub mod shares;
pub mod sharing;
pub mod source;
pub mod thread_symmetry;
mod undone_rounds;
mod value_dependencies;

pub use checkpoint::Checkpoint;
pub use request::{request, ExploredProgram, Request};
pub use shares::join;
pub use source::ProgramSource;
