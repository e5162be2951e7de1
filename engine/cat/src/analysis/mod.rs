//! A typed plan → what holds for every graph, without evaluating any.
//!
//! - [`growth`]: how values change when a graph grows by an event.
//! - [`source_change`]: whether a graph stays consistent when a read reads from an earlier write.
//! - [`cycles`]: whether the model forbids nothing but cycles of po, rf, co and fr.
//! - [`extents`]: whether flags can be raised on graphs with few classes of events.
//! - [`coherence_axioms`]: axioms that restrict a coherence order to a partial order.
//! - [`patterns`]: what these have in common.
pub mod coherence_axioms;
pub mod cycles;
pub mod extents;
pub mod growth;
pub mod patterns;
pub mod source_change;
