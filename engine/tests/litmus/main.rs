//! Litmus tests: each dialect is read and decided as herd7 does, mistakes are placed, and no
//! text brings the engine down.

mod answers;
mod errors;
mod mutations;
