//! Statements → a plan: a graph of operations in which each value is computed once, and on it the
//! checks and choices of the model in order.
//!
//! - [`operation`], [`steps`]: the plan. [`builtin`], [`fault`]: what operations refer to.
//! - [`statements`] plans the statements of a model, [`expressions`] their expressions in an
//!   [`environment`], [`operators`] normalises operators, [`shapes`] recognises the functions that
//!   enumerate coherence orders, [`free_names`] finds what deferred code depends on.
//! - [`parts`] plans for graphs in which accesses of several sizes overlap.
//! - [`compact`] removes unneeded operations; [`final_writes`] and [`polarity`] analyse a plan.
pub mod builtin;
pub mod compact;
pub mod environment;
pub mod expressions;
pub mod fault;
pub mod final_writes;
pub mod free_names;
pub mod operation;
pub mod operators;
pub mod parts;
pub mod polarity;
pub mod shapes;
pub mod statements;
pub mod steps;
