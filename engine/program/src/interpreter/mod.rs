//! Runs one instruction of one [`thread::Thread`] at a time. Memory, the library and the other threads are
//! the [`step::World`]'s: the same interpreter serves the sequentially consistent machine and the
//! explorer.

mod branch;
pub mod event;
pub mod step;
pub mod thread;

pub use step::*;
pub use thread::Thread;
