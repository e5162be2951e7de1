//! Litmus tests: short threads and a condition on their final state. The text of a test, in one
//! of herd7's dialects, comes in; a `Test` comes out, with C threads as syntax trees and assembly
//! threads as instructions in one form for all architectures. Syntax and defaults are those of
//! herd7 (Alglave, Maranget, Tautschnig: "Herding cats", TOPLAS 2014, and its manual); a text that
//! is not understood completely is an error, `unsupported` where herd7 may accept it.
//!
//! To add a dialect of assembly, write `dialects/NAME.rs` with a `Dialect` that follows its
//! neighbours (registers, how each instruction reads, the sets that its events are in) and enter
//! it in the table in `dialects/mod.rs`.

mod annotation;
pub mod assembly;
pub mod c;
mod condition;
mod declarations;
mod dialect;
pub mod dialects;
mod error;
mod final_condition;
pub mod herd_hash;
mod initial;
mod lexer;
mod location_names;
mod nzcv;
mod observable;
pub mod outline;
pub mod printed;
mod program;
mod sections;
mod state;
pub mod straight_line;
mod test;
mod types;
pub mod value;

pub use annotation::Annotations;
pub use c::macros::{Halves, Macros};
pub use condition::{Condition, FinalValues, Printer, Prop, Quantifier};
pub use dialect::{Dialect, Reservation};
pub use error::LitmusError;
pub use observable::Observable;
pub use program::Program;
pub use test::Test;
