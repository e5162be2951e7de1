//! A witness from a violation: its events are chosen, then written down.
use crate::exploration::Violation;
use crate::source::Kind;
use crate::threads::ProgramSource;
use crate::witness::minimise::{depended, race};
use crate::witness::nodes::Nodes;
use crate::witness::render::Teller;
use crate::witness::slice::Slice;
use crate::witness::value::Witness;

impl Witness {
    pub fn new(source: &ProgramSource, violation: &Violation) -> Witness {
        let graph = &violation.graph;
        let mut slice = Slice::new(source, graph);
        let nodes = Nodes::new(graph, &slice.lines);
        let kept = match violation.fault.kind {
            Kind::Race => race(&slice, &nodes, violation.conflict),
            _ => depended(&mut slice, &nodes, &violation.fault),
        };
        Teller::new(source, &slice, &nodes, kept).tell()
    }
}
