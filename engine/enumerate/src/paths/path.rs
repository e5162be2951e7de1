//! A path of one thread through its code: its events, the equations between their values, and the
//! causality inside each instruction, in herd7's terms.

use crate::term::{Equation, Term};
use litmus::Annotations;
use smallvec::SmallVec;

/// Index of an event in its path.
pub type PathEventId = usize;

pub type EventIds = SmallVec<[PathEventId; 2]>;

/// What an event does; `at` is the address.
#[derive(Clone, Copy, Debug)]
pub enum Action {
    RegisterRead,
    RegisterWrite,
    Read {
        at: Term,
        value: Term,
    },
    Write {
        at: Term,
        value: Term,
    },
    /// A read-modify-write that is one event, in RISC-V and, for most models, in C.
    Update {
        at: Term,
        read: Term,
        written: Term,
    },
    Fence,
    /// A branch; later events of the thread depend by control on what it depends on.
    Branch,
    /// A decision inside one instruction, on which some of its own events depend.
    Decision,
    Lock {
        at: Term,
    },
    Unlock {
        at: Term,
    },
    /// The Linux kernel's lock is found taken, or free, and is not taken.
    LockTest {
        at: Term,
    },
    /// An operation on a `srcu_struct` of the Linux kernel, with the index of the critical
    /// section.
    Srcu {
        at: Term,
        value: Option<Term>,
    },
}

impl Action {
    pub fn is_register(&self) -> bool {
        matches!(self, Action::RegisterRead | Action::RegisterWrite)
    }

    pub fn is_load(&self) -> bool {
        matches!(self, Action::Read { .. } | Action::Update { .. })
    }

    pub fn is_store(&self) -> bool {
        matches!(self, Action::Write { .. } | Action::Update { .. })
    }

    pub fn is_memory(&self) -> bool {
        self.is_load() || self.is_store()
    }

    pub fn is_lock(&self) -> bool {
        matches!(
            self,
            Action::Lock { .. } | Action::Unlock { .. } | Action::LockTest { .. }
        )
    }

    /// Dependencies may start with it.
    pub fn is_load_or_test(&self) -> bool {
        self.is_load() || matches!(self, Action::LockTest { .. })
    }

    /// Dependencies may pass through it.
    pub fn is_internal(&self) -> bool {
        self.is_register() || matches!(self, Action::Srcu { .. })
    }

    pub fn is_commit(&self) -> bool {
        matches!(self, Action::Branch | Action::Decision)
    }

    pub fn address(&self) -> Option<Term> {
        match *self {
            Action::Read { at, .. }
            | Action::Write { at, .. }
            | Action::Update { at, .. }
            | Action::Lock { at }
            | Action::Unlock { at }
            | Action::LockTest { at }
            | Action::Srcu { at, .. } => Some(at),
            _ => None,
        }
    }

    /// The index of a critical section.
    pub fn index(&self) -> Option<Term> {
        match *self {
            Action::Srcu { value, .. } => value,
            _ => None,
        }
    }

    pub fn read(&self) -> Option<Term> {
        match *self {
            Action::Read { value, .. } => Some(value),
            Action::Update { read, .. } => Some(read),
            _ => None,
        }
    }

    pub fn written(&self) -> Option<Term> {
        match *self {
            Action::Write { value, .. } => Some(value),
            Action::Update { written, .. } => Some(written),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct PathEvent {
    pub action: Action,
    /// The instruction instance; its events are ordered by causality, not by program order.
    pub instance: u32,
    pub annotations: Annotations,
    /// It reads the data, not the address, of its instruction's store.
    pub data_port: bool,
    /// The read or the write of an rmw pair.
    pub atomic: bool,
    /// The bits of a memory access, where the instruction determines them.
    pub size: Option<i64>,
    /// The first event of the access that this one is a part of, where it has several.
    pub access: Option<PathEventId>,
    /// Where accesses are split into pieces, it is the first one of an access of `size`.
    pub starts: bool,
}

pub type Pairs = Vec<(PathEventId, PathEventId)>;

/// The value of a register and the event that wrote it.
#[derive(Clone, Copy, Debug)]
pub struct RegisterState {
    pub value: Term,
    pub writer: Option<PathEventId>,
    /// Computed from initial values and constants alone.
    pub constant: bool,
}

impl RegisterState {
    pub fn initial(value: Term) -> RegisterState {
        RegisterState {
            value,
            writer: None,
            constant: true,
        }
    }
}

/// One path of one thread.
#[derive(Clone, Debug, Default)]
pub struct Path {
    pub events: Vec<PathEvent>,
    pub equations: Vec<Equation>,
    /// Terms that are equal if the path is taken.
    pub equal: Vec<(Term, Term)>,
    /// The number of unknowns.
    pub vars: u32,
    pub iico_data: Pairs,
    pub iico_ctrl: Pairs,
    /// Ordered inside an instruction without a causal dependency.
    pub iico_order: Pairs,
    /// From the events that decide a structured `if` to the events in its branches.
    pub control: Pairs,
    pub rf_reg: Pairs,
    /// Those of `rf_reg` that pass on a value that is chosen by what it depends on: by a comparison or
    /// a compare-exchange. Only where read-modify-writes are two events.
    pub chosen: Pairs,
    pub registers: Vec<RegisterState>,
    /// The path ends because a loop has reached its bound.
    pub loop_bound_reached: bool,
    /// The instructions are C statements: herd7 then includes their causality in `po`.
    pub structured: bool,
    /// An operation on addresses has no result.
    pub no_result: bool,
}
