//! Execution graphs: events in the order in which they were added, reads-from and coherence enter;
//! which events a revisit preserves, which revisits are allowed, and whether there are cycles
//! leave.

mod coherence;
pub mod cycle;
pub mod execution_graph;
pub mod interleaving;
mod revisit;
mod waits;

pub use execution_graph::*;
