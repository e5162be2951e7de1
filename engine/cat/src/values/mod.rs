//! The operators of the language on values: exact for every type of value, and the reference for
//! the instructions on rows of bits.
//!
//! - [`value`]: what expressions evaluate to.
//! - [`operators`] and [`builtins`] are applied by the [`interpreter`] and by the [`store`], which
//!   holds the values of a plan's operations.
pub mod builtins;
pub mod interpreter;
pub mod operators;
pub mod store;
pub mod value;
