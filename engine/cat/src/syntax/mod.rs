//! A model's text → its statements.
pub mod ast;
pub mod expressions;
pub mod files;
pub mod lexer;
pub mod names;
pub mod parser;
pub mod patterns;
pub mod statements;
