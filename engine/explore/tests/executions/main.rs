//! Exploration: it finds what enumeration finds, and each execution once.
mod agreement;
#[path = "../dice/mod.rs"]
mod dice;
mod elements;
mod exchanged;
mod litmus_states;
mod litmus_threads;
mod models;
mod naive;
mod parts;
mod random;
mod random_litmus;
#[path = "../seeds/mod.rs"]
mod seeds;
mod symmetry;
mod violations;
