//! The engine of weakspot: programs read from LLVM IR, and their executions.
pub mod enumerate;
pub mod litmus;
pub mod program;
mod python;
