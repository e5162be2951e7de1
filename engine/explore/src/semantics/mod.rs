//! What instructions and library calls mean, as events. A thread of the search and one of the
//! reference perform them alike; they differ in which accesses are events, and in what else they
//! learn from one ([`environment::Events`]). Nothing here knows a search or a reduction.

pub mod dependencies;
pub mod ends;
pub mod environment;
mod instructions;
mod library;
pub mod rounds;
