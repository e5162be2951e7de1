//! Accesses that synchronisation makes too old.
//!
//! Main joins its threads and then reads what they wrote: it can only read the last write, whatever
//! else the graph contains. The same holds for a thread that has taken a lock. Four events show
//! this (a write, the end of the thread, the join, the access; or a release and an acquire instead
//! of the end and the join), together with the source of the access. The model is asked about these
//! few events once; if they violate an axiom whose relation only grows when events are added, every
//! graph that contains them violates it.

use crate::consistency::tag::{self, Tags};
use crate::consistency::view::{View, ViewEvent};
use crate::graph::execution_graph::{Event, EventId, Graph, NONE};
use crate::source::Action;
use program::ir::Order;

/// A write, a later access to its location that it is ordered before by `edge`, and that precedes
/// it in coherence order, or reads from a write that does. Events are given by their tags in a
/// [`View`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct StaleAccess {
    pub write: Tags,
    pub hop: SyncEdge,
    pub access: Tags,
    /// For a read, the write it reads from; none for the initial one.
    pub source: Option<Tags>,
    /// Whether the source is an earlier write of the same thread as `write`.
    pub earlier: bool,
}

/// A synchronizes-with edge: a write, and the event of another thread that reads from it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SyncEdge {
    pub from: Tags,
    pub to: Tags,
}

impl SyncEdge {
    /// The edge for creating or joining a thread.
    pub const THREAD: SyncEdge = SyncEdge {
        from: tag::WRITE | tag::REL | tag::ATOMIC,
        to: tag::READ | tag::ACQ | tag::ATOMIC,
    };
}

/// A write, and the edge that orders it before an access to its location.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct OrderedWrite {
    pub write: EventId,
    hop: Hop,
}

/// A synchronizes-with edge of a graph.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hop {
    /// The creation or the join of a thread.
    Thread,
    /// From a write to the event that reads from it.
    Message(EventId, EventId),
}

impl StaleAccess {
    /// A read from `source`, which precedes the ordered write in coherence order; none if four
    /// events do not suffice to decide.
    pub fn read(
        (view, graph): (&View, &Graph),
        read: EventId,
        source: EventId,
        ordered: OrderedWrite,
    ) -> Option<StaleAccess> {
        let stale = StaleAccess::write((view, graph), read, ordered);
        if let Hop::Message(_, to) = ordered.hop {
            let to = graph.event(to);
            if view.in_halves && to.is_rmw() && to.pair == NONE {
                // the tags of a read-modify-write's read depend on its write, which may follow
                return None;
            }
        }
        if source == NONE {
            return Some(stale);
        }
        let (event, write) = (graph.event(source), graph.event(ordered.write));
        let earlier = event.thread == write.thread;
        if event.thread == graph.event(read).thread || earlier && event.index > write.index {
            return None;
        }
        Some(StaleAccess {
            source: Some(view.tags(graph, source)),
            earlier,
            ..stale
        })
    }

    /// An access that would precede the ordered write in coherence order.
    pub fn write(
        (view, graph): (&View, &Graph),
        access: EventId,
        ordered: OrderedWrite,
    ) -> StaleAccess {
        StaleAccess {
            write: view.tags(graph, ordered.write),
            hop: match ordered.hop {
                Hop::Thread => SyncEdge::THREAD,
                Hop::Message(from, to) => SyncEdge {
                    from: view.tags(graph, from),
                    to: view.tags(graph, to),
                },
            },
            access: view.tags(graph, access),
            source: None,
            earlier: false,
        }
    }

    /// Fills a view with these events alone.
    pub fn show(&self, view: &mut View) {
        const X: u32 = 0;
        const HOP: u32 = 1;
        let seen =
            |thread, location, tags, source| ViewEvent::new(thread, Some(location), tags, source);
        let reads = self.access & tag::WRITE == 0;
        let initial = tag::INITIAL_WRITE;
        view.events.clear();
        view.rmw.clear();
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
    /// The last write of the event's location that is ordered before the event by the creation of
    /// its thread, by a join or by an earlier read of its thread, if that write follows `known` in
    /// coherence order.
    pub fn ordered_write(&self, id: EventId, known: EventId) -> Option<OrderedWrite> {
        let event = self.event(id);
        let writes = self.writes_after(event.location, known);
        let ordered = |write: EventId| {
            let hop = self.hop(self.event(write), event)?;
            Some(OrderedWrite { write, hop })
        };
        writes.filter_map(ordered).last()
    }

    /// The single edge that orders an event before one of another thread.
    fn hop(&self, event: &Event, later: &Event) -> Option<Hop> {
        let creator = self.threads[later.thread].creator;
        if creator != NONE {
            let create = self.event(creator);
            if event.thread == create.thread && event.index < create.index {
                return Some(Hop::Thread);
            }
        }
        self.po_predecessors(later.po_predecessor)
            .find_map(|before| {
                let met = self.event(before);
                match met.action {
                    Action::Join { thread } if thread == event.thread => Some(Hop::Thread),
                    Action::Read { order, .. } if order != Order::Na && met.source != NONE => {
                        let source = self.event(met.source);
                        let follows = source.thread == event.thread && event.index < source.index;
                        follows.then_some(Hop::Message(met.source, before))
                    }
                    _ => None,
                }
            })
    }
}
