//! The paths of one thread: its events, the equations between their values, and dependencies.

pub mod assembly;
mod builder;
pub mod c;
mod dependencies;
mod evaluated;
mod instructions;
mod kernel;
mod operands;
pub mod path;
pub mod prepared;
mod rmw;
mod transform;
