//! [`Program`](crate::ir::Program) → [`Trace`]: the event sequences of its interleavings under
//! sequential consistency.

pub mod report;
mod run;
mod search;

pub use run::{Options, Run, Trace, TracedEvent};
