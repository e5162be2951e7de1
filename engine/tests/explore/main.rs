//! Exploration: it finds what enumeration finds, and each execution once.
mod agreement;
mod litmus;
mod models;
mod naive;
mod random;
mod speed;
mod violations;
