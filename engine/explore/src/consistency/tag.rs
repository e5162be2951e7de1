//! Sets of events of a view, a bit each.

/// The sets that an event is in, a bit each.
pub type Tags = u64;

pub const READ: Tags = 1;
pub const WRITE: Tags = 1 << 1;
pub const FENCE: Tags = 1 << 2;
pub const INITIAL: Tags = 1 << 3;
pub const RMW: Tags = 1 << 4;
pub const ATOMIC: Tags = 1 << 5;
pub const PLAIN: Tags = 1 << 6;
pub const RLX: Tags = 1 << 7;
pub const ACQ: Tags = 1 << 8;
pub const REL: Tags = 1 << 9;
pub const ACQ_REL: Tags = 1 << 10;
pub const SC: Tags = 1 << 11;
pub const CASF: Tags = 1 << 12;
pub const LIGHT: Tags = 1 << 13;
pub const HEAVY: Tags = 1 << 14;
pub const NORETURN: Tags = 1 << 15;
pub const RMB: Tags = 1 << 16;
pub const WMB: Tags = 1 << 17;
pub const BARRIER: Tags = 1 << 18;
pub const BEFORE_ATOMIC: Tags = 1 << 19;
pub const AFTER_ATOMIC: Tags = 1 << 20;
pub const AFTER_SPINLOCK: Tags = 1 << 21;
pub const AFTER_UNLOCK_LOCK: Tags = 1 << 22;
pub const RCU_LOCK: Tags = 1 << 23;
pub const RCU_UNLOCK: Tags = 1 << 24;
pub const SYNC_RCU: Tags = 1 << 25;
pub const LKR: Tags = 1 << 26;
pub const LKW: Tags = 1 << 27;
pub const UL: Tags = 1 << 28;
pub const LF: Tags = 1 << 29;
pub const RL: Tags = 1 << 30;
pub const RU: Tags = 1 << 31;
pub const SRCU_LOCK: Tags = 1 << 32;
pub const SRCU_UNLOCK: Tags = 1 << 33;
pub const SYNC_SRCU: Tags = 1 << 34;
pub const AFTER_SRCU_UNLOCK: Tags = 1 << 35;

/// The tags of an initial write.
pub const INITIAL_WRITE: Tags = WRITE | INITIAL | PLAIN;

/// How many tags there are.
pub const COUNT: usize = AFTER_SRCU_UNLOCK.trailing_zeros() as usize + 1;
