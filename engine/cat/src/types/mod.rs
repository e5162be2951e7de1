//! types
pub mod form;
pub mod inference;
pub mod instruction;
pub mod typed;
