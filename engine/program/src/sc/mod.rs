//! All threads of a program on one sequentially consistent memory: a machine that runs one step of
//! one thread at a time, and records events.

mod accesses;
mod allocation;
pub mod footprint;
pub mod machine;
mod synchronisation;
