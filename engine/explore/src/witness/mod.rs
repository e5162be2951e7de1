//! A [`Violation`](crate::Violation) → a [`Witness`]: the events that explain it, without what it
//! does not need, with the names of the source.

mod explain;
mod independence;
mod minimise;
mod nodes;
mod render;
mod slice;
mod value;

pub use value::{WaitingThread, Witness, WitnessEvent};
