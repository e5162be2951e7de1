//! The cat language, construct by construct.
mod choices;
mod consistency;
mod deep;
mod errors;
mod graphs;
mod herd;
mod language;
mod models;
mod tally;
