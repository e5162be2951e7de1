//! Makes a witness of a violation: selects its events, then renders them.
use crate::exploration::Violation;
use crate::source::FaultKind;
use crate::threads::ProgramSource;
use crate::witness::minimise::{depended, race};
use crate::witness::nodes::Nodes;
use crate::witness::render::Renderer;
use crate::witness::setup::leave_out;
use crate::witness::slice::Slice;
use crate::witness::value::{ReturnedCalls, Witness};
use std::time::Instant;

impl Witness {
    /// After `end`, no more events are found not to matter.
    pub fn new(source: &ProgramSource, violation: &Violation, end: Option<Instant>) -> Witness {
        let graph = &violation.graph;
        let mut slice = Slice::new(source, graph, end);
        let nodes = Nodes::new(graph, &slice.by_thread);
        let mut selection = match (violation.fault.kind, violation.pair) {
            (FaultKind::Flag | FaultKind::Memory, _) | (_, None) => {
                depended(&mut slice, &nodes, violation)
            }
            (_, Some(pair)) => race(&mut slice, &nodes, pair),
        };
        leave_out(source, graph, &mut selection);
        let mut witness = Renderer::new(source, &slice, &nodes, selection).render();
        witness.calls = violation
            .calls
            .as_ref()
            .map(|calls| ReturnedCalls::new(source, calls));
        witness
    }
}
