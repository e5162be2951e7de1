//! The definition of an exploration's answer: all consistent execution graphs of a program under a
//! model, each once, built from nothing by one event at a time, with no reduction of any kind.
//!
//! | module          | what enters → what leaves                                              |
//! |-----------------|------------------------------------------------------------------------|
//! | [`semantics`]   | a thread and the answers to its events → its next event                |
//! | `memory`        | accesses of memory → events                                            |
//! | `events`        | what else instructions and library calls are made of                   |
//! | `node`          | a graph → what can be added to it                                      |
//! | [`explorer`]    | program × model → all graphs                                           |
//! | `promises`      | the same, for models that allow cycles of po and rf                    |
//! | `values`        | a program → the values that its writes may have                        |
//! | [`audit`]       | program × model → what random descents show that a search must have found |
//! | `judgement`     | a graph that ends → what it shows                                      |
//!
//! It is slow, and short, so that it can be read against the papers. It shares with the search the
//! interpreter of instructions, what library calls mean as events, and what values depend on
//! ([`crate::semantics`]), the graph, the evaluation of a cat model on a whole graph, and what counts as
//! misuse of an object in a graph; nothing of what the search does to explore less. Every access of
//! memory is an event, except of constants and of local variables whose address does not escape their
//! function.
//!
//! What it explores is what the search claims to explore: a weak compare-exchange fails once per site
//! and thread, a loop that a shared value ends has a bounded number of rounds. A round that leaves
//! everything as it was counts towards the same bound: no round is left out here because nothing comes
//! of it.

mod audit;
mod events;
mod explorer;
mod judgement;
mod memory;
mod node;
mod origins;
mod promises;
mod semantics;
mod values;

pub use audit::audit;
pub use explorer::{explore_reference, ReferenceExploration};
