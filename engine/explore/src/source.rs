//! The interface to what is explored: a program whose threads yield one event at a time.
//!
//! The explorer owns the execution graph: its events, reads-from and the coherence order. A
//! [`Source`] defines what a thread does: its next event as a function of the answers to its events
//! so far. Since it depends on these answers alone, the explorer may run a thread again, or resume
//! a copy of it, at any time.

use borsh::{BorshDeserialize, BorshSerialize};
use program::ir::{Annotation, Order, SiteId};
use program::memory::{is_wholly, Dep};

/// Main is thread 0; every other thread has the number given by the event that creates it.
pub type ThreadId = usize;

/// Two locations are equal or disjoint: a source whose accesses overlap otherwise splits them into
/// the same pieces every time, or reports a fault.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, BorshSerialize, BorshDeserialize,
)]
pub struct Location {
    pub address: u64,
    /// In bytes, at most 8, or 16 where all accesses are atomic ones or parts of them.
    pub size: u32,
}

/// Addresses of objects have fewer bits than this.
const ADDRESS_BITS: u32 = 46;
const IS_ROUND: u64 = 1 << 63;
const IS_CALL: u64 = 1 << 62;
const HAS_RETURNED: u64 = 1 << 3;
const IS_SLEEPERS: u64 = 1 << 61;
const IS_RESULT: u64 = 1 << 60;

impl Location {
    /// How often a thread may wait at a barrier whose threads arrive in a fixed order.
    pub const MAX_ROUNDS: u32 = 1 << 16;

    /// Where the threads that arrive at a barrier count themselves in a round, in a fixed order. It
    /// is in no object. Each write of it leaves one thread that may write next, and only the last
    /// write lets some thread continue.
    pub fn of_round(barrier: u64, round: u32) -> Location {
        Location {
            address: IS_ROUND | u64::from(round) << ADDRESS_BITS | barrier,
            size: 8,
        }
    }

    /// Where a thread writes that an operation call begins, or what it has returned. It is in no
    /// object, and no event reads it.
    pub fn of_call(number: u32, returned: bool) -> Location {
        let which = if returned { HAS_RETURNED } else { 0 };
        Location {
            address: IS_CALL | u64::from(number) << 4 | which,
            size: 8,
        }
    }

    /// The number of the call that begins or has returned here, and whether it has returned.
    pub fn call(self) -> Option<(u32, bool)> {
        let is_call = self.address & (IS_ROUND | IS_CALL) == IS_CALL;
        is_call.then_some(((self.address >> 4) as u32, self.address & HAS_RETURNED != 0))
    }

    /// The address of the barrier that this is a round of.
    pub fn barrier(self) -> Option<u64> {
        let mask = (1 << ADDRESS_BITS) - 1;
        (self.address & IS_ROUND != 0).then_some(self.address & mask)
    }

    /// The threads that sleep at an address. It is in no object.
    pub fn of_sleepers(address: u64) -> Location {
        Location {
            address: IS_SLEEPERS | address,
            size: 8,
        }
    }

    /// The address to which threads that sleep at this one, a multiple of four, are moved. It is in
    /// no object.
    pub fn of_target(address: u64) -> Location {
        Location::of_sleepers(address | 1)
    }

    /// Whether this is a set of sleeping threads.
    pub fn is_sleepers(self) -> bool {
        self.address & (IS_ROUND | IS_CALL | IS_SLEEPERS) == IS_SLEEPERS
    }

    /// What the threads return that may be exchanged with this one. It is in no object, and in no
    /// graph.
    pub fn of_result(class: ThreadId) -> Location {
        Location {
            address: IS_RESULT | class as u64,
            size: 0,
        }
    }

    /// Whether this begins in the object at `base`.
    pub fn is_in(self, base: u64, size: u64) -> bool {
        base <= self.address && self.address - base < size
    }

    /// Whether this is in no object.
    pub fn is_outside(self) -> bool {
        self.barrier().is_some() || self.call().is_some() || self.is_sleepers()
    }

    /// An address in the object that this is in, in the barrier that it is a round of, or at which
    /// its threads sleep.
    pub fn object_address(self) -> u64 {
        match self.is_sleepers() {
            true => self.address & !IS_SLEEPERS,
            false => self.barrier().unwrap_or(self.address),
        }
    }
}

/// The object of a fence of the Linux kernel's that is one of an `srcu_struct`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, BorshSerialize, BorshDeserialize)]
pub struct SrcuUse {
    pub address: u64,
    /// The index of the critical section that begins or ends.
    pub index: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, BorshSerialize, BorshDeserialize)]
pub enum Action {
    /// Answered with the value read. `rmw`: the read of a read-modify-write. Its write, if there is
    /// one, is the thread's next event, or the next after a `Compare` and a `Choose` (whether a weak
    /// compare-exchange fails spuriously). `order` applies if there is no write, as in a
    /// compare-exchange that fails; otherwise the two are one event with the order of the write. If
    /// accesses have parts, the reads of all parts come before the writes of all parts.
    /// `uninitialised_ok`: an indeterminate value is read without error, as it is copied. `ignored`:
    /// the value affects nothing, and no loop waits for another one.
    Read {
        at: Location,
        order: Order,
        rmw: bool,
        uninitialised_ok: bool,
        ignored: bool,
    },
    /// `rmw`: the write of a read-modify-write. The thread's last read of the same location is its
    /// read.
    Write {
        at: Location,
        order: Order,
        value: u64,
        rmw: bool,
        /// The bytes that are indeterminate, and 0 in `value`; see [`Answer`].
        undefined: u8,
    },
    Fence {
        order: Order,
        srcu: Option<SrcuUse>,
    },
    /// Starts the thread, which has not run before. Everything before it happens before the events
    /// of that thread.
    Create {
        thread: ThreadId,
    },
    /// Waits until the thread ends; answered with its result. All events of that thread happen
    /// before what follows.
    Join {
        thread: ThreadId,
    },
    /// A choice among so many alternatives, without an access of memory; answered with the number
    /// of one. Alternative 0 is the default: it adds no event that the others do not.
    Choose {
        alternatives: u32,
    },
    /// Whether a compare-exchange has read what it expects; answered with 1 if it has. `outcome`: that
    /// is known; else the explorer takes it to be either, and what is read decides in the end.
    Compare {
        outcome: Option<bool>,
    },
    /// Added by the explorer, never by a source: the thread is about to read what it waits for, and
    /// reads from none of the writes in the graph.
    Wait,
    /// An object is allocated. Its contents are indeterminate, or zeros.
    Allocate {
        base: u64,
        size: u64,
        zeroed: bool,
    },
    /// The object at `base` is freed; an access by any thread must happen before it. The object
    /// comes from an `Allocate`, or `Source::extent` knows it; anything else is an error of the
    /// program.
    Free {
        base: u64,
    },
}

impl Action {
    pub fn read(at: Location, order: Order, rmw: bool) -> Action {
        Action::Read {
            at,
            order,
            rmw,
            uninitialised_ok: false,
            ignored: false,
        }
    }

    pub fn write(at: Location, order: Order, value: u64, rmw: bool) -> Action {
        Action::Write {
            at,
            order,
            value,
            rmw,
            undefined: 0,
        }
    }

    /// The location that this reads or writes.
    pub fn at(self) -> Option<Location> {
        match self {
            Action::Read { at, .. } | Action::Write { at, .. } => Some(at),
            _ => None,
        }
    }

    /// The answer to a read that reads from this write.
    pub fn written(self) -> Answer {
        match self {
            Action::Write {
                value, undefined, ..
            } => Answer {
                undefined,
                ..Answer::new(value)
            },
            _ => Answer::default(),
        }
    }

    pub fn fence(order: Order) -> Action {
        Action::Fence { order, srcu: None }
    }

    #[inline]
    pub fn is_read(self) -> bool {
        matches!(self, Action::Read { .. })
    }

    #[inline]
    pub fn is_write(self) -> bool {
        matches!(self, Action::Write { .. })
    }

    /// Whether this is a part of a read-modify-write.
    #[inline]
    pub fn is_rmw(self) -> bool {
        use Action::{Read, Write};
        matches!(self, Read { rmw: true, .. } | Write { rmw: true, .. })
    }

    /// Whether this is the write of an unlock in the Linux kernel's model. There it directly follows that of
    /// the lock in coherence order, which the model does not ask of the graph: it adds unlocks to it.
    pub fn unlocks(self) -> bool {
        let unlock = Order::Kernel(Annotation::Unlock);
        matches!(self, Action::Write { order, .. } if order == unlock)
    }

    /// Whether this is a read whose value can affect what its thread does.
    pub fn matters(self) -> bool {
        matches!(self, Action::Read { ignored: false, .. })
    }

    /// Whether events of other threads may happen before what follows because of this.
    pub fn may_synchronise(self) -> bool {
        match self {
            Action::Read { order, rmw, .. } => !order.is_plain(rmw),
            Action::Fence { .. } | Action::Join { .. } | Action::Wait => true,
            Action::Write { .. } | Action::Create { .. } => false,
            Action::Choose { .. } | Action::Compare { .. } => false,
            Action::Allocate { .. } | Action::Free { .. } => false,
        }
    }

    /// Whether this and what precedes it may happen before events of other threads because of this.
    pub fn may_publish(self) -> bool {
        match self {
            Action::Write { order, rmw, .. } => !order.is_plain(rmw),
            Action::Fence { .. } | Action::Create { .. } => true,
            _ => false,
        }
    }

    /// Whether this may stand between the read and the write of a read-modify-write.
    pub fn is_decision(self) -> bool {
        matches!(self, Action::Choose { .. } | Action::Compare { .. })
    }

    /// Whether this is a write to the location.
    pub fn writes(self, location: Location) -> bool {
        matches!(self, Action::Write { at, .. } if at == location)
    }

    /// The initial contents of a location in the object that this allocates.
    pub fn allocates(self, at: Location) -> Option<Initial> {
        let Action::Allocate { base, size, zeroed } = self else {
            return None;
        };
        let end = at.address.saturating_add(u64::from(at.size));
        let inside = base <= at.address && end <= base.saturating_add(size);
        inside.then_some(match zeroed {
            true => Initial::Value(0),
            false => Initial::Indeterminate {
                value: 0,
                undefined: u8::MAX,
            },
        })
    }

    /// Whether the thread gets an answer.
    pub fn has_answer(self) -> bool {
        use Action::{Choose, Compare, Join, Read};
        matches!(
            self,
            Read { .. } | Join { .. } | Choose { .. } | Compare { .. }
        )
    }
}

/// The reads of its own thread that an event depends on: through registers, through memory that
/// only the thread uses, and through calls. Sets in the form of [`Source::reads`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Dependencies {
    /// The location is computed from them.
    pub addr: Dep,
    /// The value written is computed from them.
    pub data: Dep,
    /// A branch before the event depends on them.
    pub ctrl: Dep,
    /// The value written is one of several, which the reads in `data` decide.
    pub chosen: bool,
    /// Where branches end: the location or value is one that alternatives of a branch on them have left
    /// behind, on which it does not depend.
    pub left_behind: Dep,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EventLabel {
    pub action: Action,
    pub site: SiteId,
    /// Empty unless the source tracks dependencies.
    pub dependencies: Dependencies,
    /// The event is a part of the access that the thread's event before it is a part of: a read of an
    /// atomic read, a write of an atomic write, where accesses of several sizes overlap.
    pub continues: bool,
}

impl EventLabel {
    /// An event without dependencies.
    pub fn new(action: Action, site: SiteId) -> EventLabel {
        EventLabel {
            action,
            site,
            dependencies: Dependencies::default(),
            continues: false,
        }
    }
}

/// The kind of an error that an execution shows.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, BorshSerialize, BorshDeserialize,
)]
pub enum FaultKind {
    Assertion,
    Race,
    Hang,
    Uninitialised,
    /// An access outside an object or after it was freed; a double free.
    Memory,
    /// Misuse of a synchronisation object: unlocking a mutex that the thread does not hold, for
    /// example.
    Lock,
    /// The process may end while a thread still runs; not an error by itself.
    Unjoined,
    /// The results of operation calls are those of no sequential order of them.
    Linearizability,
    /// The model raises a flag of its own, which does not mean a data race.
    Flag,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, BorshSerialize, BorshDeserialize)]
pub struct Fault {
    pub kind: FaultKind,
    pub message: String,
    pub site: Option<SiteId>,
}

impl Fault {
    pub fn new(
        kind: FaultKind,
        message: impl Into<String>,
        site: impl Into<Option<SiteId>>,
    ) -> Fault {
        Fault {
            kind,
            message: message.into(),
            site: site.into(),
        }
    }

    /// A thread waits forever.
    pub fn hang(thread: ThreadId, what: &str, site: impl Into<Option<SiteId>>) -> Fault {
        let message = format!("thread {thread} waits forever for {what}");
        Fault::new(FaultKind::Hang, message, site)
    }
}

/// Why a thread does not make progress.
///
/// The reads need not be the thread's last events: the loop may also lock and unlock a mutex. For a
/// hang, each location that they read must hold in the end the value that was read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Wait {
    /// A loop that would read the same values again: the thread only continues in executions in
    /// which one of its last `reads` reads reads from another write.
    Spin { reads: usize },
    /// As `Spin`, for a wait inside a library function: "a condition variable", "a barrier".
    For { what: &'static str, reads: usize },
    /// The last event is the read of a lock that is taken, or of a barrier's round in which it is
    /// another thread's turn. The writes to it form a chain: a thread that takes the lock reads from
    /// the thread that released it.
    Handover { what: &'static str },
    /// The execution is neither a hang nor counted: another answer to an earlier `Choose` leads to
    /// everything that could follow, or what the program assumes does not hold.
    Redundant,
    /// Everything that could follow does in executions without one of the thread's reads; nothing
    /// is waited for. What the execution shows so far counts.
    Retried,
}

impl Wait {
    /// What the thread waits for, and how many of its last reads show that it has not happened;
    /// none if the wait is not a hang.
    pub fn awaited(&self) -> Option<(&'static str, usize)> {
        match self {
            Wait::Spin { reads } => Some(("its loop to end", *reads)),
            Wait::For { what, reads } => Some((what, *reads)),
            Wait::Handover { what } => Some((what, 1)),
            Wait::Redundant | Wait::Retried => None,
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
    /// The thread branches on, or computes a location from, reads that were postponed: it continues
    /// when these are answered.
    Needs(Dep),
    /// A limit of the source stops the thread here.
    Truncated {
        message: String,
        site: Option<SiteId>,
        /// The limit, if the user can change it.
        limit: &'static str,
        /// Why it is reached, if that is known.
        because: String,
    },
    Fault(Fault),
    /// The program does something that the source does not support: the exploration fails, unless the
    /// execution violates something else.
    Unsupported {
        message: String,
        site: Option<SiteId>,
    },
    /// What the source has assumed of the program is refuted: the exploration starts again.
    Refuted,
}

impl Next {
    /// Whether an execution that ends so is not counted; see [`Wait::Redundant`].
    pub fn is_redundant(&self) -> bool {
        let wait = Wait::Redundant;
        matches!(self, Next::Blocked { wait: found, .. } if *found == wait)
    }

    /// Whether that holds of all executions in which the thread has come here by this event: a choice of
    /// another alternative than the first. No search takes such a choice back, and nothing follows it that
    /// others could change.
    pub fn is_redundant_after(&self, last: Action, value: u64) -> bool {
        matches!(last, Action::Choose { .. }) && value != 0 && self.is_redundant()
    }

    /// Whether the thread waits for another to hand a lock, or the turn at a barrier, over.
    pub fn is_handover(&self) -> bool {
        matches!(
            self,
            Next::Blocked {
                wait: Wait::Handover { .. },
                ..
            }
        )
    }
}

/// The contents of a location before the first write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub enum Initial {
    Value(u64),
    /// Some bytes are indeterminate, and 0 in `value`; see [`Answer`].
    Indeterminate {
        value: u64,
        undefined: u8,
    },
    /// The location is not, or only partly, in an object that exists when main performs its first
    /// event; the explorer knows the objects of `Allocate` itself.
    Outside,
}

impl Initial {
    pub fn answer(self) -> Answer {
        match self {
            Initial::Value(value) => Answer::new(value),
            Initial::Indeterminate { value, undefined } => Answer {
                undefined,
                ..Answer::new(value)
            },
            Initial::Outside => Answer::default(),
        }
    }
}

/// The answer to an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Answer {
    pub value: u64,
    /// The bytes of a value read that are indeterminate: a bit for each, the lowest first. Of a value
    /// of 16 bytes, all or none.
    pub undefined: u8,
    /// Where the source compares calls: whether no operation call of another thread precedes the read.
    pub before_calls: bool,
    /// Where the source tracks dependencies, for a read: the number of its thread's event, counted from
    /// 1, that shows where it reads from. That is the write, if it is one of the thread, or else the
    /// first read from the same write; 0 if there is none before it.
    pub event: u32,
}

impl Answer {
    pub fn new(value: u64) -> Answer {
        Answer {
            value,
            ..Answer::default()
        }
    }

    /// Whether all bytes of a value of this size are indeterminate.
    pub fn is_undefined(self, size: u32) -> bool {
        is_wholly(self.undefined, 8 * size)
    }
}

/// Writes of one location by one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Writes {
    pub count: u32,
    /// Each is added to a graph after all events before it.
    pub last: bool,
}

impl Default for Writes {
    /// None.
    fn default() -> Writes {
        Writes {
            count: 0,
            last: true,
        }
    }
}

impl Writes {
    /// What includes these and others.
    pub fn and(self, other: Writes) -> Writes {
        Writes {
            count: self.count.max(other.count),
            last: self.last && other.last,
        }
    }

    pub fn include(self, other: Writes) -> bool {
        self.and(other) == self
    }
}

/// A write of the value that its thread has written there last.
#[derive(Clone, Copy)]
pub struct Rewrite {
    pub at: Location,
    /// Its position among the events of its thread.
    pub index: u32,
    pub site: SiteId,
}

/// How a thread would continue that a limit has stopped.
pub enum Resumed<T> {
    /// With an event, before which it is in this state.
    Event(T, EventLabel),
    /// In a loop that never ends, without any event.
    Silent,
}

pub trait Source: Sync {
    /// A thread between two events. It is copied often.
    type Thread: Clone + Send + Sync;

    /// Main before its first event; the same at each call.
    fn main(&self) -> Self::Thread;

    /// The thread started by the `Create` that is the next event of `creator`.
    fn created(&self, creator: &Self::Thread, thread: ThreadId) -> Self::Thread;

    /// Whether two threads, each started by the `Create` that is the next event of its creator,
    /// behave alike: what one does is what the other does that gets the same answers, so an
    /// execution in which they are exchanged is another execution. Then what they read and write
    /// does not tell them apart, they create no threads, and who joins one of them joins all, without
    /// other events between, and does not look at different results.
    fn are_symmetric(
        &self,
        _one: (&Self::Thread, ThreadId),
        _other: (&Self::Thread, ThreadId),
    ) -> bool {
        false
    }

    /// Whether two threads, each started by the `Create` that is the next event of its creator, may
    /// behave alike if what they get differs, such as the address of an element of an array, and is
    /// exchanged along with them. The explorer checks that they do, event by event; what it asks of
    /// their creation and of who joins them is asked here too.
    fn exchangeable(
        &self,
        _one: (&Self::Thread, ThreadId),
        _other: (&Self::Thread, ThreadId),
    ) -> bool {
        false
    }

    /// A thread that was found to be exchangeable with others is not. What is explored is void: an
    /// exploration in which it is not taken to be follows.
    fn distinguish(&self, _thread: ThreadId) {
        unreachable!("threads are not exchangeable")
    }

    /// Runs the thread up to its next event. If that event has an answer, `answer` is called before
    /// the next call.
    fn next(&self, thread: &mut Self::Thread) -> Next;

    fn answer(&self, thread: &mut Self::Thread, answer: Answer);

    /// Whether accesses may have parts ([`EventLabel::continues`]).
    fn has_parts(&self) -> bool {
        false
    }

    /// Whether a thread that waits in a loop may wait before its last read instead, so that this read
    /// is in no execution: it races with nothing, or the model flags no races.
    fn waits_in_place(&self) -> bool {
        false
    }

    /// Whether what a thread does depends on which of its reads no operation call of another thread
    /// precedes.
    fn compares_calls(&self) -> bool {
        false
    }

    /// Whether events have dependencies, and reads may be postponed.
    fn tracks_dependencies(&self) -> bool {
        false
    }

    /// Instead of `answer`, for a read: its value is not known yet, and the thread continues
    /// without it. A write whose data depends on it has an arbitrary value.
    fn postpone(&self, _thread: &mut Self::Thread) {
        unreachable!("dependencies are not tracked");
    }

    /// Whether it depends on postponed reads if the thread waits before its next event, rather than
    /// performs it.
    fn is_undecided(&self, _thread: &Self::Thread) -> bool {
        false
    }

    /// The positions, among the events of a thread, of the reads in a set of dependencies, in
    /// ascending order.
    fn reads(&self, _set: Dep) -> Vec<u32> {
        Vec::new()
    }

    /// The writes of a location that are expected of a thread and those that behave like it, if that
    /// is known. From then on the exploration assumes that there are no more.
    fn expected_writes(&self, _thread: ThreadId, _at: Location) -> Option<Writes> {
        None
    }

    /// Records how a thread has written a location. Returns whether that was expected. If not, what is
    /// explored is void, and an exploration that expects it follows.
    fn wrote(&self, _thread: ThreadId, _at: Location, _writes: Writes) -> bool {
        true
    }

    /// Ends an exploration with writes that were not expected.
    fn look_at_writes(&self) {}

    /// The writes of a thread that are taken to directly follow its last write of their location in
    /// coherence order.
    fn rewrites<'t>(&self, _thread: &'t Self::Thread) -> &'t [Rewrite] {
        &[]
    }

    /// In an execution, such a write at this site follows another thread's. What is explored is void.
    fn separate_rewrite(&self, _site: SiteId) {
        unreachable!("no write is taken to follow another one");
    }

    /// How a thread continues that a limit has stopped, if that is known.
    fn resumed(&self, _thread: &Self::Thread) -> Option<Resumed<Self::Thread>> {
        None
    }

    /// Whether two threads before the same event do the same from then on, given the same answers;
    /// limits apart.
    fn is_same_state(&self, _one: &Self::Thread, _other: &Self::Thread) -> bool {
        false
    }

    /// The contents of a location when main performs its first event.
    fn initial(&self, at: Location) -> Initial;

    /// Whether the process ends when main, which has ended in this state, does.
    fn ends_process(&self, _main: &Self::Thread) -> bool {
        false
    }

    /// The threads that a thread in this state has detached, and where.
    fn detached<'t>(&self, _thread: &'t Self::Thread) -> &'t [(ThreadId, SiteId)] {
        &[]
    }

    /// The size of the heap object at `base` when main performs its first event.
    fn extent(&self, base: u64) -> Option<u64>;
}
