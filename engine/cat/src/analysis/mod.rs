//! analysis
pub mod coherence_axioms;
pub mod cycles;
pub mod extents;
pub mod growth;
