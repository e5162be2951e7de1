//! LLVM IR text → Program, its interpreter, its traces.
//!
//! | folder        | what enters → what leaves                                                   |
//! |---------------|-----------------------------------------------------------------------------|
//! | `llvm`        | LLVM assembly text → its syntax tree, types and debug information           |
//! | `ir`          | the [`Program`]: flat code over numbered registers, sites, memory orders    |
//! | `lower`       | syntax tree → [`Program`]                                                   |
//! | `memory`      | objects at fixed addresses; values with the reads they depend on            |
//! | `interpreter` | one instruction of one thread, in any environment                           |
//! | `library`     | what calls of the C and C++ libraries mean in every environment             |
//! | `sc`          | all threads on one sequentially consistent memory                           |
//! | `trace`       | [`Program`] → its interleavings under sequential consistency                |
//!
//! A folder uses those above it only.

pub mod error;
pub mod interpreter;
pub mod ir;
pub mod library;
mod llvm;
mod lower;
pub mod memory;
pub mod sc;
pub mod trace;

use error::Result;
pub use ir::Program;
pub use lower::Liveness;

impl Program {
    /// Reads and lowers the text of an LLVM module.
    pub fn from_ir(text: &str) -> Result<Program> {
        lower::lower(&llvm::parser::parse(text)?)
    }
}
