//! The engine of weakspot: programs read from LLVM IR, and their executions.
pub mod cat;
pub mod enumerate;
pub mod explore;
pub mod graph;
pub mod litmus;
pub mod memory;
pub mod program;
mod python;
