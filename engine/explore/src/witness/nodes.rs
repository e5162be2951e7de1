//! The relations of an execution graph whose accesses are one event each.
use crate::graph::execution_graph::{EventId, Graph, NONE};
use crate::graph::interleaving::node;
use crate::source::Action;
use program::ir::Order;
use relation::cycle::{cycle, Edge};
use relation::Relation;

/// An access is one node: that of its first part; a read-modify-write, that of its read. Nodes are numbered as their events.
pub struct Nodes<'g> {
    graph: &'g Graph,
    pub po: Relation,
    pub rf: Relation,
    pub co: Relation,
    pub fr: Relation,
}

impl<'g> Nodes<'g> {
    pub fn new(graph: &'g Graph, by_thread: &[Vec<EventId>]) -> Nodes<'g> {
        let n = graph.len();
        let at = |id: EventId| node_of(graph, id);
        let mut all = Nodes {
            graph,
            po: Relation::new(n),
            rf: Relation::new(n),
            co: Relation::new(n),
            fr: Relation::new(n),
        };
        for thread_events in by_thread {
            let memory = |s: &&EventId| graph.event(**s).at().is_some();
            let nodes: Vec<usize> = thread_events
                .iter()
                .filter(memory)
                .map(|s| at(*s))
                .collect();
            for (k, a) in nodes.iter().enumerate() {
                for b in nodes[k + 1..].iter().filter(|b| *b != a) {
                    all.po.insert(*a, *b);
                }
            }
        }
        for location in 0..graph.locations.len() as u32 {
            let writes: Vec<EventId> = graph.writes(location).collect();
            for (k, a) in writes.iter().enumerate() {
                for b in &writes[k + 1..] {
                    all.co.insert(at(*a), at(*b));
                }
            }
            let reads = (0..n as EventId)
                .filter(|s| graph.event(*s).is_read() && graph.event(*s).location == location);
            for read in reads {
                let source = graph.event(read).source;
                let from = match source {
                    NONE => 0,
                    source => {
                        all.rf.insert(at(source), at(read));
                        writes
                            .iter()
                            .position(|w| *w == source)
                            .map_or(0, |k| k + 1)
                    }
                };
                for later in writes[from..].iter().filter(|w| at(**w) != at(read)) {
                    all.fr.insert(at(read), at(*later));
                }
            }
        }
        all
    }

    pub fn cycle(&self) -> Vec<Edge> {
        let relations = [
            ("rf", &self.rf),
            ("fr", &self.fr),
            ("co", &self.co),
            ("po", &self.po),
        ];
        cycle(&relations, self.graph.len())
    }
}

/// The node of an event.
pub fn node_of(graph: &Graph, event: EventId) -> usize {
    let mut id = node(graph, event);
    while graph.event(id).continues {
        id = graph.event(id).po_predecessor;
    }
    id as usize
}

pub fn order(graph: &Graph, id: EventId) -> Order {
    let event = graph.event(id);
    let half = match event.is_read() && event.pair != NONE {
        true => graph.event(event.pair),
        false => event,
    };
    match half.action {
        Action::Read { order, .. } | Action::Write { order, .. } | Action::Fence { order } => order,
        _ => Order::Na,
    }
}
