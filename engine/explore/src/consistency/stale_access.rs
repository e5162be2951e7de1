//! Property an access cannot come before, since something that its thread has met orders it.
//!
//! Main joins its threads and then reads what they wrote: all but the last of it is too old,
//! whatever else there is. So is what a thread reads that has taken a lock. Four events show that
//! (a write, the thread's end, the join, the access; or for the end and the join a release and an
//! acquire) and what the access reads from. A model is asked about these once; where they fail an
//! axiom whose value only grows when events are added anywhere, every graph with them fails it.

use crate::consistency::view::{tag, View, ViewEvent};
use crate::graph::execution_graph::{Event, EventId, Graph, NONE};
use crate::source::Action;
use program::ir::Order;

/// A write that is ordered before an access to its location that comes before it in coherence
/// order, or reads from what does. The tags of the events, in a view.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct StaleAccess {
    pub write: u32,
    pub hop: SyncEdge,
    pub access: u32,
    /// Of a read, the write that it reads from; none for the initial one.
    pub source: Option<u32>,
    /// Whether that is one of the thread that writes, before it does.
    pub earlier: bool,
}

/// Property orders what is before it in one thread before what is after it in another: a write, and
/// what reads from it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SyncEdge {
    pub from: u32,
    pub to: u32,
}

impl SyncEdge {
    /// The start of a thread, and its end.
    pub const THREAD: SyncEdge = SyncEdge {
        from: tag::WRITE | tag::REL | tag::ATOMIC,
        to: tag::READ | tag::ACQ | tag::ATOMIC,
    };
}

/// A write, and what orders it before an access to its location.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct OrderedWrite {
    pub write: EventId,
    hop: SyncEdge,
}

impl StaleAccess {
    /// A read that is to read from `source`, which comes before the write that is ordered before
    /// it; none where a few events do not tell.
    pub fn read(
        graph: &Graph,
        read: EventId,
        source: EventId,
        ordered: OrderedWrite,
    ) -> Option<StaleAccess> {
        let stale = StaleAccess::write(graph, read, ordered);
        if source == NONE {
            return Some(stale);
        }
        let (event, write) = (graph.event(source), graph.event(ordered.write));
        let earlier = event.thread == write.thread;
        if event.thread == graph.event(read).thread || earlier && event.index > write.index {
            return None;
        }
        Some(StaleAccess {
            source: Some(View::tags(graph, source)),
            earlier,
            ..stale
        })
    }

    /// An access that is to come before the write that is ordered before it.
    pub fn write(graph: &Graph, access: EventId, ordered: OrderedWrite) -> StaleAccess {
        StaleAccess {
            write: View::tags(graph, ordered.write),
            hop: ordered.hop,
            access: View::tags(graph, access),
            source: None,
            earlier: false,
        }
    }

    /// The events that show it.
    pub fn show(&self, view: &mut View) {
        const X: u32 = 0;
        const HOP: u32 = 1;
        let seen = |thread, location, tags, source| ViewEvent {
            thread,
            location: Some(location),
            tags,
            source,
        };
        let reads = self.access & tag::WRITE == 0;
        let initial = tag::WRITE | tag::INITIAL | tag::PLAIN;
        view.events.clear();
        view.events.push(seen(None, X, initial, None));
        view.orders.clear();
        view.orders.push(0);
        let source = self.source.map(|tags| {
            let thread = if self.earlier { 1 } else { 2 };
            view.events.push(seen(Some(thread), X, tags, None));
            view.orders.push(1);
            1
        });
        let write = view.events.len() as u32;
        view.events.extend([
            seen(Some(1), X, self.write, None),
            seen(Some(1), HOP, self.hop.from, None),
            seen(Some(0), HOP, self.hop.to, Some(write + 1)),
            seen(
                Some(0),
                X,
                self.access,
                reads.then_some(source.unwrap_or(0)),
            ),
        ]);
        if !reads {
            view.orders.push(write + 3);
        }
        view.orders.push(write);
        view.starts.clear();
        view.starts.extend([0, view.orders.len() as u32]);
        view.orders.push(write + 1);
        if self.hop.to & tag::WRITE != 0 {
            view.orders.push(write + 2);
        }
        view.starts.push(view.orders.len() as u32);
    }
}

impl Graph {
    /// The last write of the event's location that the start of its thread, the join of another,
    /// or what an event before it has read from orders before it, if that comes after `known` in
    /// coherence order.
    pub fn ordered_write(&self, id: EventId, known: EventId) -> Option<OrderedWrite> {
        let event = self.event(id);
        let mut found = None;
        let mut write = self.following(event.location, known);
        while write != NONE {
            if let Some(hop) = self.hop(self.event(write), event) {
                found = Some(OrderedWrite { write, hop });
            }
            write = self.following(event.location, write);
        }
        found
    }

    /// Property orders an event before one of another thread, in one step.
    fn hop(&self, event: &Event, later: &Event) -> Option<SyncEdge> {
        let creator = self.threads[later.thread].creator;
        if creator != NONE {
            let create = self.event(creator);
            if event.thread == create.thread && event.index < create.index {
                return Some(SyncEdge::THREAD);
            }
        }
        let mut before = later.before;
        while before != NONE {
            let met = self.event(before);
            match met.action {
                Action::Join { thread } if thread == event.thread => return Some(SyncEdge::THREAD),
                Action::Read { order, .. } if order != Order::Na && met.source != NONE => {
                    let source = self.event(met.source);
                    if source.thread == event.thread && event.index < source.index {
                        return Some(SyncEdge {
                            from: View::tags(self, met.source),
                            to: View::tags(self, before),
                        });
                    }
                }
                _ => {}
            }
            before = met.before;
        }
        None
    }
}
