//! types
pub mod inference;
pub mod instruction;
pub mod typed;
pub mod value_type;
