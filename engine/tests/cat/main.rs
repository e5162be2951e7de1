//! The cat language, construct by construct.
mod graphs;
mod herd;
mod models;
mod speed;
