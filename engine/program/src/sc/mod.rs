//! All threads of a program on one sequentially consistent memory: a machine that takes one step of
//! one thread at a time, and the events that these steps leave.

mod accesses;
mod allocation;
pub mod footprint;
pub mod machine;
mod synchronisation;
