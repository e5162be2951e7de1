//! The text of a model → statements.
//!
//! - [`names`], [`ast`]: the syntax tree.
//! - [`lexer`] makes tokens of a text; [`parser`] is the cursor over them; [`patterns`],
//!   [`expressions`], [`conditions`], [`bindings`] and [`statements`] are the grammar.
//! - [`files`] parses a file and those it includes.
pub mod ast;
pub mod bindings;
pub mod conditions;
pub mod expressions;
pub mod files;
pub mod lexer;
pub mod names;
pub mod parser;
pub mod patterns;
pub mod statements;
