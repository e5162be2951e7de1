//! [`ast::Module`](crate::llvm::ast::Module) → [`Program`](crate::ir::Program): addresses are assigned, constants folded, SSA names become registers, calls of known library functions become operations. What the interpreter does not support is refused here, with its source position.

mod bounded_spins;
mod call;
mod cfg;
mod constants;
mod cxx;
mod deciding;
mod escape;
mod exchanges;
mod function;
mod instruction;
mod intrinsics;
mod kernel;
mod liveness;
mod memory_access;
mod module;
mod opcodes;
mod partial;
mod program;
mod random;
mod register_allocation;
mod registers;
mod relevance;
mod scopes;
mod values;
mod vectors;
mod wide;

pub use liveness::Liveness;
pub use program::lower;
