//! An execution graph in the form that a cat model is evaluated on.
//!
//! A read-modify-write is one event, or, for a model with the relation `rmw`, its read and its write
//! are two. An access has an event for each part of memory that other accesses have alone. Each
//! location has an initial write; for a model that says the same without, only if a read reads from it.
//! Creating a thread is a
//! release write to a location of its own, from which the thread's first event, an acquire read,
//! reads; the end of a thread and the join that waits for it likewise. Every model of C, and every
//! hardware model, orders the two sides by this, and it leaves no choice. These events are only
//! added where they order something. Choices, allocations, frees, and what operation calls return are
//! not events of a model.

use crate::consistency::tag::{self, Tags};
use crate::graph::execution_graph::{Event, EventId, Graph, NONE, PROMISED};
use crate::source::{Action, ThreadId};
use program::ir::{Annotation, Order};
use program::library::mutex::is_held;

/// The index of an event in the view.
pub type Index = u32;

#[derive(Clone, Copy, Debug)]
pub struct ViewEvent {
    /// None for an initial write.
    pub thread: Option<ThreadId>,
    /// The number of the location; none for a fence.
    pub location: Option<u32>,
    pub tags: Tags,
    /// For a read, the write that it reads from.
    pub source: Option<Index>,
    /// Of an access in parts: the first one, and the next one; `NONE` where the event is that.
    first: Index,
    next: Index,
}

impl ViewEvent {
    /// An event that is an access of its own, or none.
    pub fn new(
        thread: Option<ThreadId>,
        location: Option<u32>,
        tags: Tags,
        source: Option<Index>,
    ) -> ViewEvent {
        ViewEvent {
            thread,
            location,
            tags,
            source,
            first: NONE,
            next: NONE,
        }
    }

    /// Whether the event is a part of the access of an earlier one.
    pub fn continues(&self) -> bool {
        self.first != NONE
    }
}

#[derive(Clone, Default)]
pub struct View {
    /// The events of each thread are in program order.
    pub events: Vec<ViewEvent>,
    /// The writes of each location in coherence order, the initial one first; one location after
    /// the other.
    pub orders: Vec<Index>,
    /// Where each location starts in `orders`.
    pub starts: Vec<u32>,
    /// Pairs of the two halves of read-modify-writes, if these are two events.
    pub rmw: Vec<(Index, Index)>,
    /// Whether they are.
    pub in_halves: bool,
    /// Whether the model is the Linux kernel's.
    pub kernel: bool,
    /// Whether its locks are events of their own; else they are reads and writes that acquire and release,
    /// which order less.
    pub locks: bool,
    /// Whether both halves of its read-modify-writes have their annotation, and there are no fences around
    /// them.
    pub as_written: bool,
    /// Whether initial writes are left out from which no read reads.
    pub leaves_out_unread: bool,
    /// The initial write of each location; `NONE` where it is left out.
    initial: Vec<Index>,
    /// The events with an index, that of a critical section of SRCU.
    pub indices: Vec<(Index, u64)>,
    /// The addresses of the structures of SRCU, with their locations.
    srcu: Vec<(u64, u32)>,
    index: Vec<Index>,
    /// The plain writes that stand for allocations and frees, with their locations.
    lifetimes: Vec<(u32, Index, EventId)>,
    joins: Vec<EventId>,
    /// For each thread, the write that stands for its creation, as long as no event was added that follows
    /// it.
    begins: Vec<Option<Index>>,
    /// The number of the next location that is not the graph's.
    hidden: u32,
}

fn order_tag(order: Order) -> Tags {
    match order {
        Order::Na => tag::PLAIN,
        Order::Rlx => tag::RLX | tag::ATOMIC,
        Order::Acq => tag::ACQ | tag::ATOMIC,
        Order::Rel => tag::REL | tag::ATOMIC,
        Order::AcqRel => tag::ACQ_REL | tag::ATOMIC,
        Order::Sc => tag::SC | tag::ATOMIC,
        Order::Light => tag::LIGHT,
        Order::Heavy => tag::HEAVY | tag::SC,
        Order::Kernel(annotation) => match annotation {
            Annotation::Noreturn => tag::NORETURN,
            Annotation::Lock => tag::LKR | tag::LKW,
            Annotation::Unlock => tag::UL,
            Annotation::TryLock => tag::LF,
            Annotation::IsLocked => tag::RL | tag::RU,
            Annotation::Rmb => tag::RMB,
            Annotation::Wmb => tag::WMB,
            Annotation::Barrier => tag::BARRIER,
            Annotation::BeforeAtomic => tag::BEFORE_ATOMIC,
            Annotation::AfterAtomic => tag::AFTER_ATOMIC,
            Annotation::AfterSpinlock => tag::AFTER_SPINLOCK,
            Annotation::AfterUnlockLock => tag::AFTER_UNLOCK_LOCK,
            Annotation::AfterSrcuUnlock => tag::AFTER_SRCU_UNLOCK,
            Annotation::RcuLock => tag::RCU_LOCK,
            Annotation::RcuUnlock => tag::RCU_UNLOCK,
            Annotation::SyncRcu => tag::SYNC_RCU,
            Annotation::SrcuLock => tag::SRCU_LOCK,
            Annotation::SrcuUnlock => tag::SRCU_UNLOCK,
            Annotation::SyncSrcu => tag::SYNC_SRCU,
        },
    }
}

/// Whether a read-modify-write that succeeds is fully ordered, so that full fences stand around it.
fn is_fenced(graph: &Graph, event: &Event) -> bool {
    let write = match event.is_read() {
        true if event.pair != NONE => graph.event(event.pair),
        _ => event,
    };
    let sc = Order::Sc;
    matches!(write.action, Action::Write { rmw: true, order, .. } if order == sc)
}

impl View {
    /// Sets this view to that of a graph. An allocation or a free listed with a location is the
    /// first or the last, plain write there. The number of a location may be greater than those of
    /// the graph's: it then stands for an object as a whole.
    pub fn fill(&mut self, graph: &Graph, lifetimes: &[(EventId, u32)]) {
        self.events.clear();
        self.rmw.clear();
        self.index.clear();
        self.lifetimes.clear();
        self.joins.clear();
        self.indices.clear();
        self.srcu.clear();
        self.begins.clear();
        self.begins.resize(graph.threads.len(), None);
        self.initial_writes(graph);
        let known = graph.locations.len() as u32;
        let whole = lifetimes.iter().map(|(_, location)| location + 1);
        self.hidden = whole.max().unwrap_or(0).max(known);
        let mut lifetimes = lifetimes.to_vec();
        lifetimes.sort_by_key(|(at, _)| *at);
        let mut lifetimes = lifetimes.into_iter().peekable();
        for (id, event) in (0..).zip(&graph.events) {
            let seen = self.see(graph, id, event);
            self.index.push(seen);
            while let Some((_, location)) = lifetimes.next_if(|(at, _)| *at == id) {
                self.begin_or_end(graph, id, location);
            }
        }
        for (id, event) in graph.events.iter().enumerate() {
            let shown = self.index[id] != NONE;
            if event.is_read() && event.source != PROMISED && shown {
                let source = match event.source {
                    NONE if self.kernel => self.first_write(graph, event.location),
                    NONE => self.initial[event.location as usize],
                    write => self.index[write as usize],
                };
                self.events[self.index[id] as usize].source = Some(source);
            }
        }
        self.orders.clear();
        self.starts.clear();
        self.lifetimes.sort_by_key(|(location, ..)| *location);
        let mut left = &self.lifetimes[..];
        for number in 0..graph.locations.len() as u32 {
            self.starts.push(self.orders.len() as u32);
            let initial = self.initial[number as usize];
            self.orders.extend((initial != NONE).then_some(initial));
            let count = left.iter().take_while(|(location, ..)| *location == number);
            let (here, others) = left.split_at(count.count());
            left = others;
            let begins = |id: EventId| matches!(graph.event(id).action, Action::Allocate { .. });
            let that = |begin: bool| {
                let that = here.iter().filter(move |(.., id)| begins(*id) == begin);
                that.map(|(_, index, _)| *index)
            };
            let shown = graph.writes(number).map(|id| self.index[id as usize]);
            let shown = shown.filter(|index| *index != NONE);
            // where the Linux kernel's model adds it to the order
            let ordered = |index: &Index| self.events[*index as usize].tags & tag::UL == 0;
            self.orders.extend(that(true));
            self.orders.extend(shown.filter(ordered));
            self.orders.extend(that(false));
        }
        self.starts.push(self.orders.len() as u32);
    }

    fn initial_writes(&mut self, graph: &Graph) {
        let unread = if self.leaves_out_unread { NONE } else { 0 };
        self.initial.clear();
        self.initial.resize(graph.locations.len(), unread);
        if self.leaves_out_unread {
            let accesses = graph.events.iter().filter(|event| event.location != NONE);
            for read in accesses.filter(|event| event.is_read() && event.source == NONE) {
                self.initial[read.location as usize] = 0;
            }
        }
        for (number, initial) in self.initial.iter_mut().enumerate() {
            if *initial != NONE {
                *initial = self.events.len() as Index;
                let location = Some(number as u32);
                self.events
                    .push(ViewEvent::new(None, location, tag::INITIAL_WRITE, None));
            }
        }
    }

    /// The write of an allocation that is the first of a location, or else the initial one.
    fn first_write(&self, graph: &Graph, location: u32) -> Index {
        let mut lifetimes = self.lifetimes.iter();
        let begins = |id: EventId| matches!(graph.event(id).action, Action::Allocate { .. });
        let first = lifetimes.find(|(at, _, id)| *at == location && begins(*id));
        first.map_or(self.initial[location as usize], |(_, index, _)| *index)
    }

    /// The pairs of the graph's events as pairs of the view's.
    pub fn pairs<'v>(
        &'v self,
        pairs: &'v [(EventId, EventId)],
    ) -> impl Iterator<Item = (Index, Index)> + 'v {
        let shown = |id: &EventId| self.index[*id as usize];
        let pairs = pairs.iter().map(move |(from, to)| (shown(from), shown(to)));
        pairs.filter(|(from, to)| *from != NONE && *to != NONE && from != to)
    }

    /// The graph's event for an event of the view.
    pub fn id(&self, event: usize) -> Option<EventId> {
        let found = self.index.iter().position(|index| *index as usize == event);
        let mut lifetimes = self.lifetimes.iter();
        found.map(|id| id as EventId).or_else(|| {
            let found = lifetimes.find(|(_, index, _)| *index as usize == event);
            found.map(|(.., id)| *id)
        })
    }

    /// The tags of an access; for one half of a read-modify-write that is one event, those of the whole.
    pub fn tags(&self, graph: &Graph, id: EventId) -> Tags {
        let event = graph.event(id);
        if self.kernel {
            return self.kernel_tags(graph, event);
        }
        let (whole, kind) = match (event.is_read(), event.pair) {
            (true, write) if write != NONE && self.in_halves => {
                (graph.event(write), tag::READ | tag::RMW)
            }
            (false, read) if read != NONE && self.in_halves => (event, tag::WRITE | tag::RMW),
            (true, NONE) => match event.action {
                Action::Read { rmw: true, .. } => (event, tag::READ | tag::CASF),
                _ => (event, tag::READ),
            },
            (false, NONE) => (event, tag::WRITE),
            (true, write) => (graph.event(write), tag::READ | tag::WRITE | tag::RMW),
            (false, _) => (event, tag::READ | tag::WRITE | tag::RMW),
        };
        match whole.action {
            Action::Read { order, .. } | Action::Write { order, .. } => kind | order_tag(order),
            _ => kind,
        }
    }

    /// The tags of an access in the Linux kernel's model. One half of a read-modify-write has the memory
    /// order of the whole, if it can have it or the model shows it as it is written, and else is relaxed.
    fn kernel_tags(&self, graph: &Graph, event: &Event) -> Tags {
        let whole = match event.is_read() && event.pair != NONE {
            true => graph.event(event.pair),
            false => event,
        };
        let rmw = if event.is_rmw() { tag::RMW } else { 0 };
        let order = match whole.action {
            Action::Read { order, .. } | Action::Write { order, .. } => order,
            _ => Order::Na,
        };
        if let (false, Order::Kernel(annotation)) = (self.locks, order) {
            match (annotation, event.is_read()) {
                (Annotation::Lock, true) => return tag::READ | tag::ACQ,
                (Annotation::Lock, false) => return tag::WRITE | tag::RLX,
                (Annotation::Unlock, _) => return tag::WRITE | tag::REL,
                (Annotation::TryLock | Annotation::IsLocked, _) => return tag::READ | tag::RLX,
                _ => {}
            }
        }
        match (event.is_read(), event.is_rmw()) {
            (read, _) if order == Order::Kernel(Annotation::Lock) => match read {
                true => tag::LKR,
                false => tag::LKW,
            },
            _ if order == Order::Kernel(Annotation::Unlock) => tag::UL,
            _ if order == Order::Kernel(Annotation::TryLock) => tag::LF,
            _ if order == Order::Kernel(Annotation::IsLocked) => match is_held(event.value) {
                true => tag::RL,
                false => tag::RU,
            },
            (true, false) => tag::READ | order_tag(order),
            (false, false) => tag::WRITE | order_tag(order),
            (true, true) if self.as_written => tag::READ | rmw | order_tag(order),
            (false, true) if self.as_written => tag::WRITE | rmw | order_tag(order),
            (true, true) => match order {
                Order::Acq | Order::Kernel(_) => tag::READ | rmw | order_tag(order),
                _ => tag::READ | rmw | tag::RLX,
            },
            (false, true) => match order {
                Order::Rel => tag::WRITE | rmw | tag::REL,
                _ => tag::WRITE | rmw | tag::RLX,
            },
        }
    }

    fn add(
        &mut self,
        thread: ThreadId,
        location: Option<u32>,
        tags: Tags,
        source: Option<Index>,
    ) -> Index {
        self.events
            .push(ViewEvent::new(Some(thread), location, tags, source));
        self.events.len() as Index - 1
    }

    /// Adds what the model sees of an event. Returns its index; `NONE` for nothing.
    fn see(&mut self, graph: &Graph, id: EventId, event: &Event) -> Index {
        match event.action {
            Action::Write { at, .. } if at.call().is_some() => return NONE,
            // a thread that waits for a lock, or has not taken yet one that it found free
            Action::Read { order, .. }
                if event.pair == NONE
                    && (order == Order::Kernel(Annotation::Lock)
                        || order == Order::Kernel(Annotation::TryLock)
                            && !is_held(event.value)) =>
            {
                return NONE;
            }
            Action::Read { .. } | Action::Write { .. } => {}
            Action::Fence { order, srcu } => {
                self.order_before(graph, event.thread);
                let mut tags = tag::FENCE | tag::PLAIN | order_tag(order) & !tag::ATOMIC;
                if srcu.is_some() {
                    tags &= !(tag::FENCE | tag::PLAIN);
                }
                let location = srcu.map(|of| self.srcu_location(graph, of.address));
                let seen = self.add(event.thread, location, tags, None);
                let index = srcu.and_then(|of| of.index);
                self.indices.extend(index.map(|index| (seen, index)));
                return seen;
            }
            Action::Create { thread } => return self.create(graph, event, thread),
            Action::Join { .. } => {
                self.joins.push(id);
                return NONE;
            }
            Action::Choose { .. }
            | Action::Compare { .. }
            | Action::Wait
            | Action::Allocate { .. }
            | Action::Free { .. } => return NONE,
        }
        let is_second_half = event.is_write() && event.pair != NONE;
        if is_second_half && !self.in_halves {
            return self.index[event.pair as usize];
        }
        self.order_before(graph, event.thread);
        let tags = self.tags(graph, id);
        let fenced = self.kernel && !self.as_written && is_fenced(graph, event);
        if fenced && event.is_read() {
            self.full_fence(event.thread);
        }
        let seen = self.add(event.thread, Some(event.location), tags, None);
        if tags & (tag::SRCU_LOCK | tag::SRCU_UNLOCK) != 0 {
            let index = match event.action {
                Action::Write { value, .. } => value,
                _ => event.value,
            };
            self.indices.push((seen, index));
        }
        if is_second_half && self.index[event.pair as usize] != NONE {
            self.rmw.push((self.index[event.pair as usize], seen));
        }
        if event.continues {
            self.join_access(graph, event, seen);
        }
        if fenced && event.is_write() {
            self.full_fence(event.thread);
        }
        seen
    }

    /// The number of a location that is not the graph's.
    fn hidden_location(&mut self) -> u32 {
        self.hidden += 1;
        self.hidden - 1
    }

    /// The number of the location that is an `srcu_struct`, or stands for one that is not accessed.
    fn srcu_location(&mut self, graph: &Graph, address: u64) -> u32 {
        let mut accessed = graph.locations.iter();
        if let Some(at) = accessed.position(|of| of.at.address == address && !of.at.is_outside()) {
            return at as u32;
        }
        let known = self.srcu.iter().find(|(known, _)| *known == address);
        known.map(|(_, location)| *location).unwrap_or_else(|| {
            let location = self.hidden_location();
            self.srcu.push((address, location));
            location
        })
    }

    /// Makes an event a part of the access that the event before it in its thread is a part of.
    fn join_access(&mut self, graph: &Graph, event: &Event, seen: Index) {
        let mut continues = true;
        let before = graph.po_predecessors(event.po_predecessor);
        let parts =
            before.take_while(|id| std::mem::replace(&mut continues, graph.event(*id).continues));
        let mut parts = parts.map(|id| self.index[id as usize]);
        if let Some(last) = parts.find(|index| *index != NONE) {
            let last_part = &mut self.events[last as usize];
            last_part.next = seen;
            self.events[seen as usize].first = match last_part.first {
                NONE => last,
                first => first,
            };
        }
    }

    /// The events of the access that an event is a part of.
    pub fn access(&self, event: Index) -> impl Iterator<Item = Index> + '_ {
        let first = match self.events[event as usize].first {
            NONE => event,
            first => first,
        };
        std::iter::successors(Some(first), |part| {
            let next = self.events[*part as usize].next;
            (next != NONE).then_some(next)
        })
    }

    fn full_fence(&mut self, thread: ThreadId) {
        self.add(thread, None, tag::FENCE | tag::SC, None);
    }

    fn begin_or_end(&mut self, graph: &Graph, id: EventId, location: u32) {
        let thread = graph.event(id).thread;
        self.order_before(graph, thread);
        let seen = self.add(thread, Some(location), tag::WRITE | tag::PLAIN, None);
        self.lifetimes.push((location, seen, id));
    }

    /// The write that stands for creating a thread; consecutive creations share one. `NONE` if no
    /// event precedes it.
    fn create(&mut self, graph: &Graph, event: &Event, thread: ThreadId) -> Index {
        let written = match graph.events.get(event.po_predecessor as usize) {
            Some(before) if matches!(before.action, Action::Create { .. }) => {
                self.index[event.po_predecessor as usize]
            }
            _ => {
                self.order_before(graph, event.thread);
                match self.nothing_before(event.thread) {
                    true => NONE,
                    false => self.hidden_write(event.thread),
                }
            }
        };
        self.begins[thread] = (written != NONE).then_some(written);
        written
    }

    fn nothing_before(&self, thread: ThreadId) -> bool {
        !self.events.iter().any(|seen| seen.thread == Some(thread))
    }

    fn hidden_write(&mut self, thread: ThreadId) -> Index {
        let location = self.hidden_location();
        let tags = tag::WRITE | tag::REL | tag::ATOMIC;
        self.add(thread, Some(location), tags, None)
    }

    fn hidden_read(&mut self, thread: ThreadId, write: Index) {
        let location = self.events[write as usize].location;
        let tags = tag::READ | tag::ACQ | tag::ATOMIC;
        self.add(thread, location, tags, Some(write));
    }

    /// Adds, before a thread's event, the events that order it after its creator and after the
    /// threads that it has joined.
    fn order_before(&mut self, graph: &Graph, thread: ThreadId) {
        if let Some(write) = self.begins[thread].take() {
            self.hidden_read(thread, write);
        }
        let is_own = |id: &EventId| graph.event(*id).thread == thread;
        while let Some(at) = self.joins.iter().position(is_own) {
            let join = self.joins.remove(at);
            if let Action::Join { thread: joined } = graph.event(join).action {
                // the threads joined by the joined thread precede its end
                self.order_before(graph, joined);
                if !self.nothing_before(joined) {
                    let end = self.hidden_write(joined);
                    self.hidden_read(thread, end);
                }
            }
        }
    }
}
