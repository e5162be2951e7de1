//! Dependencies between the events of a graph, for models that order by them.

use super::execution_graph::EventId;

/// Pairs of a read and a later event of its thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DependencyPairs {
    pub addr: Vec<(EventId, EventId)>,
    pub data: Vec<(EventId, EventId)>,
    pub ctrl: Vec<(EventId, EventId)>,
}

impl DependencyPairs {
    pub fn clear(&mut self) {
        self.addr.clear();
        self.data.clear();
        self.ctrl.clear();
    }
}
