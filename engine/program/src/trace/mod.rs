//! [`Program`](crate::ir::Program) → [`Trace`]: the event sequences of its interleavings under
//! sequential consistency.

pub mod report;
mod search;

pub use search::*;
