//! The C dialect: C11 atomics and plain accesses in short functions, one a thread.

pub mod ast;
mod expressions;
mod parser;

pub use parser::program;
