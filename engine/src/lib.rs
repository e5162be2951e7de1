//! The engine of weakspot: programs read from LLVM IR, and their executions.
pub mod program;
mod python;
