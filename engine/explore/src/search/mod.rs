//! The search for all consistent executions: a [`Source`](crate::Source) and a model enter, an
//! [`Exploration`](crate::Exploration) leaves. TruSt's search ([`revisits`]) is for models in which po
//! and rf have no cycle; for others, and where several threads behave alike, reads are [`postponed`].
//! What the workers of both have in common is a [`worker`]. What either does with the alternatives
//! that it meets is in [`branching`], random [`descents`] included.

mod branching;
pub mod descents;
mod draws;
mod endless_loops;
mod equivariance;
pub mod execution;
pub mod findings;
mod halt;
mod postponed;
mod queue;
mod revisits;
pub mod run;
mod sampling;
mod symmetric_threads;
mod thread_states;
mod worker;

pub use execution::EndedExecution;
pub use run::{explore, explore_each, unsuitable};
