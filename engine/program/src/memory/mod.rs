//! Memory as a thread sees it: objects at fixed addresses, and bytes with the reads they depend on.

pub mod address_space;
pub mod value;

pub use address_space::*;
pub use value::{Dep, Deps, Val};
