//! What calls of the C and C++ libraries mean in every environment.

pub mod calls;
