//! The sets of events that models name, by the tags of a view's events.

use crate::consistency::tag::{self, Tags};

/// The sets that events of C may be in, by their tags: an event with one of the tags is in the set.
/// The names are herd7's, but for CASF, the reads of compare-exchanges that fail, and for the two
/// sorts of asymmetric fences (P1202R5), of which a heavy one is also a seq_cst fence.
pub const SETS: [(&str, Tags); 18] = [
    ("M", tag::READ | tag::WRITE),
    ("Exp", tag::READ | tag::WRITE),
    ("R", tag::READ),
    ("W", tag::WRITE),
    ("F", tag::FENCE),
    ("IW", tag::INITIAL),
    ("AMO", tag::RMW),
    ("RMW", tag::RMW),
    ("A", tag::ATOMIC),
    ("NA", tag::PLAIN),
    ("RLX", tag::RLX),
    ("ACQ", tag::ACQ),
    ("REL", tag::REL),
    ("ACQ_REL", tag::ACQ_REL),
    ("SC", tag::SC),
    ("CASF", tag::CASF),
    ("LIGHT", tag::LIGHT),
    ("HEAVY", tag::HEAVY),
];

/// Sets of C to which no event of an exploration belongs: locks are read-modify-writes here, and
/// consume is acquire.
pub const EMPTY: [&str; 17] = [
    "CON", "LK", "LS", "LF", "UL", "LKR", "LKW", "RL", "RU", "annot", "Rcu-lock", "B", "BCC",
    "Rreg", "Wreg", "DATA", "FW",
];

/// The sets of asymmetric fences, for programs without any.
pub const ASYMMETRIC: [&str; 2] = ["LIGHT", "HEAVY"];

/// The sets of the Linux kernel's model, besides those of C that it has too. Accesses have the memory
/// orders relaxed, acquire and release alone, a full fence is seq_cst. Names in capitals are those of
/// annotations as they are written, which newer versions have.
pub const KERNEL_SETS: [(&str, Tags); 30] = [
    ("Once", tag::RLX),
    ("Acquire", tag::ACQ),
    ("Release", tag::REL),
    ("Mb", tag::SC),
    ("Noreturn", tag::NORETURN),
    ("ONCE", tag::RLX),
    ("ACQUIRE", tag::ACQ),
    ("RELEASE", tag::REL),
    ("MB", tag::SC),
    ("NORETURN", tag::NORETURN),
    ("Rmb", tag::RMB),
    ("Wmb", tag::WMB),
    ("Barrier", tag::BARRIER),
    ("Before-atomic", tag::BEFORE_ATOMIC),
    ("After-atomic", tag::AFTER_ATOMIC),
    ("After-spinlock", tag::AFTER_SPINLOCK),
    ("After-unlock-lock", tag::AFTER_UNLOCK_LOCK),
    ("After-srcu-read-unlock", tag::AFTER_SRCU_UNLOCK),
    ("Rcu-lock", tag::RCU_LOCK),
    ("Rcu-unlock", tag::RCU_UNLOCK),
    ("Sync-rcu", tag::SYNC_RCU),
    ("LKR", tag::LKR),
    ("LKW", tag::LKW),
    ("UL", tag::UL),
    ("LF", tag::LF),
    ("RL", tag::RL),
    ("RU", tag::RU),
    ("Srcu-lock", tag::SRCU_LOCK),
    ("Srcu-unlock", tag::SRCU_UNLOCK),
    ("Sync-srcu", tag::SYNC_SRCU),
];

/// What the Linux kernel's model lets reads of locks read from: this is a part of the graph here.
pub const KERNEL_EMPTY: [&str; 2] = ["rfe-lf", "rf-ru"];
