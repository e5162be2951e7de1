//! Execution graphs: events in the order in which they were added, reads-from, coherence. Which
//! events a revisit keeps and which revisits are allowed; threads that wait for a lock; cycles.

mod coherence;
pub mod cycle;
pub mod execution_graph;
pub mod interleaving;
mod lock_waits;
mod revisit;

pub use execution_graph::*;
