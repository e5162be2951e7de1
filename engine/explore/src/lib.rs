//! Every execution of a program under a model, by stateless search over execution graphs.
//!
//! ```text
//! let found = explore(&source, &model, &Options::default())?;
//! ```
//!
//! | folder        | what enters → what leaves                                                  |
//! |---------------|----------------------------------------------------------------------------|
//! | `source`      | the interface to what is explored: threads that yield one event at a time  |
//! | `graph`       | events → execution graph; which revisits it allows                         |
//! | `history`     | execution graph → the calls of operations; whether a specification allows them |
//! | `exchanges`   | which exchanges of threads, locations and values an exploration relies on  |
//! | `reductions`  | what makes a search visit fewer executions, by name                         |
//! | `evidence`    | what a search that finds no violation rests on                              |
//! | `exploration` | options, limits; counts, violations                                        |
//! | `safe`        | exploration → whether the program is safe                                  |
//! | `consistency` | execution graph × cat model → is it consistent, what does the model flag   |
//! | `search`      | [`Source`] × model → all executions: by TruSt, or by postponing reads      |
//! | `semantics`   | instructions and library calls → events                                      |
//! | `threads`     | [`Program`](::program::Program) → [`Source`]: the interpreter, suspended   |
//! | `reference`   | program × model → all executions, with no reduction: what the search must find |
//! | `witness`     | violation → the events that explain it, with names of the source           |
//!
//! A folder uses those above it only. Memory holds one graph per nested revisit, never a set of
//! graphs seen so far.

mod consistency;
mod evidence;
mod exchanges;
mod exploration;
mod graph;
mod history;
mod reductions;
mod reference;
mod safe;
mod search;
mod semantics;
mod source;
mod threads;
pub mod witness;

pub use evidence::{Audit, Exhausted, Guarantee};
pub use exploration::*;
pub use graph::{Event, EventId, Graph, GraphLocation, ThreadEvents, NONE};
pub use history::{Call, History, Nearest, Specification, UnexplainedCalls};
pub use reductions::{Reduction, Reductions};
pub use reference::{explore_reference, ReferenceExploration};
pub use safe::{Doubt, Safe};
pub use search::{explore, explore_each, unsuitable, EndedExecution};
pub use source::*;
pub use threads::{join, request, Checkpoint, ExploredProgram, ProgramSource, Request};
