//! What calls of the C and C++ libraries mean: a call enters, and is carried out by the environment
//! it is made in ([`operations::Library`]).
//!
//! Each synchronisation object has one definition, used on the sequentially consistent machine and by
//! the explorer alike: its state is one word in the object's own memory, and an operation maps the
//! state before to the state after, or has to wait. An environment reads and writes that word, at
//! the memory orders given here. Zeros, which every static initialiser consists of, are a free
//! mutex, a condition variable without waiters, and a once flag whose function was not called yet. A
//! destroyed object has a state of its own, in which every use is an error.
//!
//! Which events an operation leaves stands in each environment, since they are not the same events.
//! The machine records those of a litmus test: a lock and an unlock for a mutex, a condition variable
//! that releases it and a once flag, but nothing for a signal or a trylock that fails; it waits
//! between two steps. The explorer's events are the accesses of the state: a read-modify-write where
//! the machine has a lock, also of a condition variable, and a read alone where an operation has to
//! wait or finds that a once function has returned.
//!
//! | object             | state                                                                |
//! |--------------------|----------------------------------------------------------------------|
//! | mutex              | 4 bytes: its owner's number plus one, 0 when free; bits: recursive,  |
//! |                    | checks errors, initialised, destroyed                                |
//! | condition variable | 8 bytes: a bit per waiting thread                                    |
//! | barrier            | 8 bytes: how many threads it is for, how many have arrived, that it  |
//! |                    | was initialised, its round                                           |
//! | once flag          | 4 bytes: 0 not called, 1 running, 2 returned                         |
//!
//! The threads that sleep at an address ([`sleepers`]) are a set that is in no object; on the
//! sequentially consistent machine a thread that sleeps may wake at any time.

pub mod barrier;
mod bytes;
pub mod call;
pub mod condition;
mod exceptions;
pub mod lifetime;
pub mod mutex;
pub mod once;
pub mod operations;
pub mod sleepers;
pub mod threads;

/// A synchronisation object is used as its documentation forbids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Misuse(pub &'static str);
