//! The [`Program`] that is interpreted: flat code over numbered registers, the sites of its memory
//! operations, their memory orders, the names of variables and their members.

pub mod allocation;
pub mod annotation;
pub mod arithmetic;
pub mod bits;
pub mod exceptions;
pub mod floats;
pub mod instruction;
pub mod library_function;
pub mod operators;
pub mod orders;
pub mod program;
pub mod shapes;
pub mod signals;
pub mod sites;
pub mod wide;

pub use instruction::*;
pub use program::*;
