//! Runs one instruction of one [`thread::Thread`] at a time. Memory, the library and the other threads
//! are its [`environment`]: the same interpreter serves the sequentially consistent machine and the
//! explorer.

mod branch;
pub mod environment;
pub mod event;
mod indeterminate;
pub mod outcome;
mod returning;
pub mod step;
pub mod thread;
pub mod unwind;

pub use environment::{Cas, Environment, ExternCall, Flow};
pub use outcome::{Change, Limits, Outcome, RunEnd};
pub use step::step;
pub use thread::Thread;
