//! Events: the accesses of shared memory by a thread, in program order.
use crate::ir::instruction::{FuncId, Order, RmwOp, SiteId};
use crate::memory::object::Named;
use crate::memory::value::Dep;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventKind {
    Read,
    Write,
    Rmw,
    CasFailed,
    Fence,
    SignalFence,
    Lock,
    Unlock,
    Create,
    Join,
}

impl EventKind {
    pub fn name(self) -> &'static str {
        match self {
            EventKind::Read => "R",
            EventKind::Write => "W",
            EventKind::Rmw => "RMW",
            EventKind::CasFailed => "CASF",
            EventKind::Fence => "F",
            EventKind::SignalFence => "SF",
            EventKind::Lock => "LOCK",
            EventKind::Unlock => "UNLOCK",
            EventKind::Create => "CREATE",
            EventKind::Join => "JOIN",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Update {
    None,
    Rmw(RmwOp),
    Cas,
    CasWeak,
}

impl Update {
    pub fn name(self) -> &'static str {
        match self {
            Update::None => "",
            Update::Rmw(op) => op.name(),
            Update::Cas => "cas",
            Update::CasWeak => "cas_weak",
        }
    }
}

/// The operation, a call from the start function, that an event belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// None: in the start function itself.
    Start,
    /// Inlined into it: index into `Program::calls`.
    Inlined(u32),
    Called(FuncId),
}

#[derive(Debug, Clone)]
pub struct Event {
    pub site: SiteId,
    pub kind: EventKind,
    pub order: Order,
    pub update: Update,
    pub volatile: bool,
    pub size: u32,
    pub address: u64,
    /// The base address of the object, which identifies it.
    pub object: u64,
    pub named: Named,
    pub read: Option<u64>,
    pub written: Option<u64>,
    pub operand: Option<u64>,
    pub call: u32,
    pub operation: Operation,
    pub addr: Dep,
    pub data: Dep,
    pub ctrl: Dep,
    /// For a read: the dependencies, in the writing thread, of the bytes read. They replace the
    /// read in later dependencies if only this thread uses the object.
    pub via: Dep,
    pub other: Option<u32>,
}

/// An append-only list that clones share.
#[derive(Debug, Clone, Default)]
pub struct Log {
    full: Vec<Arc<Vec<Event>>>,
    tail: Vec<Event>,
    /// Hash of everything that the thread has done and read: equal histories imply equal states.
    pub history: u64,
}

const PART: usize = 32;

impl Log {
    pub fn push(&mut self, event: Event) {
        let e = &event;
        let what = (e.site, e.kind, e.address, e.size, e.order, e.other);
        self.note((what, e.read, e.written));
        self.tail.push(event);
        if self.tail.len() == PART {
            self.full.push(Arc::new(std::mem::take(&mut self.tail)));
        }
    }

    /// Adds something to the history that is not an event.
    pub fn note(&mut self, what: impl Hash) {
        let mut hasher = FxHasher::default();
        (self.history, what).hash(&mut hasher);
        // FxHash leaves the low bits weak
        let x = hasher.finish();
        self.history = (x ^ (x >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    pub fn len(&self) -> usize {
        self.full.len() * PART + self.tail.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn iter(&self) -> impl Iterator<Item = &Event> {
        self.full.iter().flat_map(|p| p.iter()).chain(&self.tail)
    }
}
