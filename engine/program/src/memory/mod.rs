//! Memory as a thread sees it: objects at fixed addresses, and bytes with the reads they depend on.

pub mod address_space;
mod contents;
pub mod hash;
pub mod object;
pub mod value;

pub use address_space::*;
pub use hash::{mixed, scatter};
pub use object::{Named, NewLocal, Object, Visibility};
pub use value::{
    bytes_of, direct_intersection, direct_single, direct_union, is_wholly, Byte, Dep, Deps, Val,
};
