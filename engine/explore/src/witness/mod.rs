//! A [`Violation`](crate::Violation) → a [`Witness`]: the events that explain it, without what it
//! does not need, with the names of the source.

mod independence;
mod minimise;
mod render;
mod slice;

pub use minimise::*;
