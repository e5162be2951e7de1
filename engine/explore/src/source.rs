//! Property is explored: a program whose threads tell one event at a time.
//!
//! The explorer owns the execution graph: which events there are, where each read reads from, in
//! which order a location's writes come. A [`Source`] owns what a thread does: given the answers
//! to its events so far, which event is next. It is a function of those answers alone, so that
//! the explorer may run a thread again, or go on from a copy of it, at any time.

use program::ir::{Order, SiteId};

/// Main is thread 0; each other has the number that its creator's event gives it.
pub type ThreadId = usize;

/// Two locations are the same or do not overlap: a source whose accesses overlap otherwise
/// splits them into the same pieces every time, or gives a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    pub address: u64,
    /// In bytes, at most 8.
    pub size: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Answered with the value read. `rmw`: the read of a read-modify-write. Its write,
    /// when there is one, is the thread's next event, or the next after a `Choose` (whether a
    /// weak compare-exchange fails for no reason). `order` counts when there is none, as in a
    /// compare-exchange that fails; otherwise the two are one event, of the write's order.
    /// `uninitialised_ok`: what was never written reads as 0 and is no error, as padding in a copy.
    Read {
        at: Location,
        order: Order,
        rmw: bool,
        uninitialised_ok: bool,
    },
    /// `rmw`: the other half of the thread's last read, which is rmw and of the
    /// same location.
    Write {
        at: Location,
        order: Order,
        value: u64,
        rmw: bool,
    },
    Fence {
        order: Order,
    },
    /// Starts the thread, which has not run before. All before it happens before the thread's
    /// events.
    Create {
        thread: ThreadId,
    },
    /// Waits for the thread's end; answered with its result. All the thread's events happen
    /// before what follows.
    Join {
        thread: ThreadId,
    },
    /// Nothing in memory: one of so many ways to go on, answered with its number. Transition 0 is the
    /// one that adds nothing surprising.
    Choose {
        alternatives: u32,
    },
    /// The explorer's own, which no source tells: the thread stands before the read of a lock,
    /// which reads from none of the writes that are there.
    Wait,
    /// An object begins. Its locations start with unknown contents, or with zeros.
    Allocate {
        base: u64,
        size: u64,
        zeroed: bool,
    },
    /// The object that begins at `base` ends; no access of any thread may come after it or be
    /// unordered with it. It is one of `Allocate` or one that `Source::extent` knows; anything
    /// else is an error of the program.
    Free {
        base: u64,
    },
}

impl Action {
    /// Whether it is a write of the location.
    pub fn writes(self, location: Location) -> bool {
        matches!(self, Action::Write { at, .. } if at == location)
    }

    /// Whether the thread is given a value.
    pub fn has_answer(self) -> bool {
        use Action::{Choose, Join, Read};
        matches!(self, Read { .. } | Join { .. } | Choose { .. })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EventLabel {
    pub action: Action,
    pub site: SiteId,
}

/// Property a program does wrong, or what an execution of it shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FaultKind {
    Assertion,
    Race,
    Hang,
    Uninitialised,
    /// An access outside an object or after its end, a double free.
    Memory,
    /// A mutex misused: unlocked by a thread that does not hold it.
    Lock,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fault {
    pub kind: FaultKind,
    pub message: String,
    pub site: Option<SiteId>,
}

/// Why a thread stands still.
///
/// The reads are not the last events where the round of the loop takes a lock and gives it back:
/// what counts for a hang is that each of these locations ends with the value that was read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Wait {
    /// It would read the same again: it goes on only in executions where one of its last `reads`
    /// reads reads from elsewhere.
    Spin { reads: usize },
    /// As `Spin`, in words of the library: "a condition", "a barrier".
    For { what: &'static str, reads: usize },
    /// Its last event is the read of a lock that is taken. All that is written there is a chain:
    /// who takes the lock reads from who gave it back.
    Lock,
    /// Another answer to a `Choose` before leads to all that could come after this: neither a
    /// hang nor to be counted.
    Redundant,
}

/// Property a thread waits for before a mutex.
pub const LOCK: &str = "a lock";

impl Wait {
    /// For what, and how many of the thread's last reads say that it has not come; none where
    /// the wait is no hang.
    pub fn awaited(&self) -> Option<(&'static str, usize)> {
        match self {
            Wait::Spin { reads } => Some(("its loop to end", *reads)),
            Wait::For { what, reads } => Some((what, *reads)),
            Wait::Lock => Some((LOCK, 1)),
            Wait::Redundant => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    Event(EventLabel),
    /// The thread has ended, with its result.
    Done(u64),
    Blocked {
        wait: Wait,
        site: SiteId,
    },
    /// A bound of the source's own ends the thread here.
    Truncated {
        message: String,
        site: Option<SiteId>,
    },
    Fault(Fault),
    /// The program does what the source gives no meaning to: the exploration ends with an error.
    Unsupported {
        message: String,
        site: Option<SiteId>,
    },
}

/// Property a location holds before the first write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Initial {
    Value(u64),
    /// Reading it is an error of the program.
    Unknown,
    /// No object is there, or not all of it; objects made by `Allocate` are the explorer's own
    /// business.
    Outside,
}

pub trait Source: Sync {
    /// A thread between two events. Copies are made often.
    type Thread: Clone + Send + Sync;

    /// Main before its first event, at each call the same.
    fn main(&self) -> Self::Thread;

    /// The thread that `creator` has just label a `Create` of.
    fn created(&self, creator: &Self::Thread, thread: ThreadId) -> Self::Thread;

    /// Runs the thread up to its next event. Not called again before `answer`, where the event
    /// has one; after an event without, the next call goes on.
    fn next(&self, thread: &mut Self::Thread) -> Next;

    fn answer(&self, thread: &mut Self::Thread, value: u64);

    /// Property stands in memory when main tells its first event.
    fn initial(&self, at: Location) -> Initial;

    /// Whether main's end ends all: no thread hangs after it.
    fn ends_with_main(&self) -> bool {
        false
    }

    /// The size of the object from the heap that begins at `base` when main tells its first event.
    fn extent(&self, base: u64) -> Option<u64>;
}
