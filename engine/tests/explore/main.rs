//! Exploration: it finds what enumeration finds, and each execution once.
mod litmus;
mod models;
