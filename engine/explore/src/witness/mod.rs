//! A [`Violation`](crate::Violation) enters, a [`Witness`] leaves: the events that explain it and
//! no others, with the names of the source.

mod calls;
mod explain;
mod independence;
mod minimise;
mod nodes;
mod render;
mod setup;
mod slice;
mod value;

pub use value::{ReturnedCall, ReturnedCalls, WaitingThread, Witness, WitnessEvent};
