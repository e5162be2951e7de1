//! Statements → a plan.
pub mod builtin;
pub mod compact;
pub mod environment;
pub mod expressions;
pub mod fault;
pub mod final_writes;
pub mod free_names;
pub mod operation;
pub mod operators;
pub mod polarity;
pub mod shapes;
pub mod statements;
pub mod steps;
