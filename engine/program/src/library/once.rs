//! Once flags: `pthread_once`, `call_once`.
use crate::ir::instruction::Order;

/// The size of the state, in bytes.
pub const SIZE: u32 = 4;
/// The read-modify-write of a caller.
pub const BEGIN: Order = Order::Acq;
/// The write when the function has returned.
pub const FINISH: Order = Order::Rel;
/// What a caller waits for while the function runs.
pub const AWAITED: &str = "a once call to return";

const RUNNING: u64 = 1;
/// The state when the function has returned.
pub const RETURNED: u64 = 2;

/// What a caller does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begin {
    /// It calls the function: the state while it runs.
    Call(u64),
    Wait,
    Return,
}

pub fn begin(state: u64) -> Begin {
    match state {
        0 => Begin::Call(RUNNING),
        RUNNING => Begin::Wait,
        _ => Begin::Return,
    }
}
