//! The threads of assembly tests: instructions in one form for all architectures, and the reader
//! of the columns in which litmus files write them.

mod code_addresses;
pub mod columns;
pub mod formula;
pub mod instruction;
