//! Every execution of a program under a model, by stateless search over execution graphs.

mod source;

pub use source::*;
