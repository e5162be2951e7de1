//! The threads of C tests: functions with C11 atomics, plain accesses, `if` and `while`.

pub mod ast;
mod expansion;
mod expressions;
pub mod kernel;
pub mod macros;
mod parser;
pub mod statements;
