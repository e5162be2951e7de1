//! Litmus tests: each dialect is read and decided as herd7 does, and mistakes are placed.

mod answers;
mod errors;
mod growth;
