//! A plan → a typed plan: for each operation its type, the slot of its value, and the instruction
//! that computes it from rows of bits.
//!
//! - [`value_type`]: the types. [`instruction`]: instructions and slots.
//! - [`typed`]: the typed plan.
//! - [`inference`] computes it.
pub mod inference;
pub mod instruction;
pub mod typed;
pub mod value_type;
