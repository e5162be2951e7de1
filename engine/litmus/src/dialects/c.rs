//! The dialect C: C11 atomics and plain accesses in functions. `crate::c` reads the threads.

use crate::annotation::{annotation, Annotations};
use crate::c::ast::{MemoryOrder, Tag};
use crate::c::statements;
use crate::dialect::{Dialect, Reservation};
use crate::program::Program;

pub static C: Dialect = Dialect {
    name: "C",
    program: |section, _| {
        let read = statements::program(section, None, &mut Vec::new());
        read.map(|(threads, _)| Program::C(threads))
    },
    register: |name| Some(name.to_string()),
    register_order: |_| (0, 0),
    annotations: &ANNOTATIONS,
    implied_annotations: &["A", "RMW", "LK", "LS", "UL", "annot", "CASF"],
    initial_write: PLAIN,
    empty_sets: &[],
    branch_events: false,
    reservation: Reservation::None,
    rmw_in_one_instruction: true,
    mixed_sizes: false,
};

const ANNOTATIONS: [&str; 20] = [
    "RLX", "CON", "ACQ", "REL", "ACQ_REL", "SC", "A", "NA", "RMW", "LK", "LS", "LF", "UL", "LKR",
    "LKW", "RL", "RU", "annot", "Rcu-lock", "CASF",
];

pub const ATOMIC: Annotations = annotation(&ANNOTATIONS, "A");
pub const PLAIN: Annotations = annotation(&ANNOTATIONS, "NA");
pub const RMW: Annotations = annotation(&ANNOTATIONS, "RMW");
/// The read of a compare-exchange that fails; a set of ours, which herd7 does not have.
pub const CASF: Annotations = annotation(&ANNOTATIONS, "CASF");
pub const LOCK: Annotations =
    PLAIN | annotation(&ANNOTATIONS, "LK") | annotation(&ANNOTATIONS, "LS");
pub const UNLOCK: Annotations = PLAIN | annotation(&ANNOTATIONS, "UL");

/// That of an annotation of the Linux kernel's model; all that have one are plain for C11.
pub const fn tag_annotation(tag: Tag) -> Annotations {
    1 << (ANNOTATIONS.len() + tag as usize) | ANNOT | PLAIN
}

/// An access or a fence with an annotation of the Linux kernel's model.
pub const ANNOT: Annotations = annotation(&ANNOTATIONS, "annot");

pub const LOCK_READ: Annotations =
    PLAIN | annotation(&ANNOTATIONS, "LK") | annotation(&ANNOTATIONS, "LKR");
pub const LOCK_WRITE: Annotations =
    PLAIN | annotation(&ANNOTATIONS, "LK") | annotation(&ANNOTATIONS, "LKW");
pub const LOCK_FAILURE: Annotations = PLAIN | annotation(&ANNOTATIONS, "LF");
/// `spin_is_locked` that is true, and one that is not.
pub const IS_LOCKED: Annotations = PLAIN | annotation(&ANNOTATIONS, "RL");
pub const IS_UNLOCKED: Annotations = PLAIN | annotation(&ANNOTATIONS, "RU");

pub fn order_annotation(order: MemoryOrder) -> Annotations {
    match order {
        MemoryOrder::Relaxed => annotation(&ANNOTATIONS, "RLX"),
        MemoryOrder::Consume => annotation(&ANNOTATIONS, "CON"),
        MemoryOrder::Acquire => annotation(&ANNOTATIONS, "ACQ"),
        MemoryOrder::Release => annotation(&ANNOTATIONS, "REL"),
        MemoryOrder::AcqRel => annotation(&ANNOTATIONS, "ACQ_REL"),
        MemoryOrder::SeqCst => annotation(&ANNOTATIONS, "SC"),
    }
}

/// Those of a load or a store; without an order it is plain.
pub fn access_annotations(order: Option<MemoryOrder>) -> Annotations {
    order.map_or(PLAIN, |order| order_annotation(order) | ATOMIC)
}
