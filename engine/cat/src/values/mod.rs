//! values
pub mod builtins;
pub mod interpreter;
pub mod operators;
pub mod store;
pub mod value;
