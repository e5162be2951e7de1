//! The threads of C tests: functions with C11 atomics, plain accesses, `if` and `while`.

pub mod ast;
mod expressions;
mod parser;
pub mod statements;
