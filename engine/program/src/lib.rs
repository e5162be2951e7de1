//! LLVM IR text → Program, its interpreter, its traces.
//!
//! The text is read by `parse` into `ast`, lowered by `lower` into `ir`, run by `interp` on
//! `memory`, and `trace` runs it in the interleavings of its threads.
mod ast;
mod bits;
pub mod calls;
mod cfg;
pub mod compute;
pub mod error;
mod escape;
pub mod event;
mod extern_calls;
mod fold;
mod footprint;
pub mod interp;
pub mod ir;
mod lexer;
mod loops;
mod lower;
mod lower_call;
mod lower_cxx;
mod lower_fn;
mod lower_inst;
pub mod machine;
pub mod memory;
mod metadata;
pub mod names;
pub mod orders;
mod parse;
mod parse_inst;
mod parse_meta;
mod parse_value;
mod sc;
pub mod sites;
pub mod tell;
pub mod thread;
pub mod trace;
pub mod types;
mod usage;
pub mod value;

use error::Result;
pub use ir::Program;

impl Program {
    /// Reads and lowers the text of an LLVM module.
    pub fn from_ir(text: &str) -> Result<Program> {
        parse::parse(text)?.lower()
    }
}
