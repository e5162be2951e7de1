//! LLVM assembly text → [`ast::Module`]: what clang and LLVM's passes print, as a syntax tree whose
//! names are not resolved yet, with the layout of its types and its debug information.

pub mod ast;
pub mod lexer;
pub mod metadata;
mod parse_function;
mod parse_metadata;
mod parse_value;
pub mod parser;
pub mod types;
