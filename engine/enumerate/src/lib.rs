//! The executions of a litmus test that a cat model allows. A `litmus::Test` and a `cat::Model` come
//! in; states, observation and flags come out, equal to those of herd7 in its default mode, and on
//! request a witness: an execution with the outcome, or the axioms that forbid it.
//!
//! The steps are herd7's (Alglave, Maranget, Tautschnig: "Herding cats", TOPLAS 2014, section 8):
//! the paths of each thread as events with equations between their values (`paths`), all choices
//! of one path per thread and of reads-from that solve the equations (`candidate`), and the model
//! on each (`decide`). A search ends at a limit without an answer; nothing is approximated.

mod answer;
mod candidate;
mod configuration;
mod decide;
mod error;
mod explain;
mod final_state;
mod graph_input;
mod herd_log;
mod limits;
mod paths;
mod pieces;
mod solver;
mod term;
mod thread_paths;
mod witness;

pub use answer::{Answer, Observation};
pub use configuration::{Configuration, ConfigurationError};
pub use decide::decide;
pub use error::EnumerateError;
pub use explain::{explain, Explanation};
pub use herd_log::{herd, LogEntry};
pub use limits::{Limit, Limits};
pub use witness::{Witness, WitnessEvent};
