//! What `pthread_create` writes for a thread, its handle, and which thread a join or a detachment
//! names. A thread is joined or detached, and that once.
use super::Misuse;
use crate::memory::address_space::MAX_THREADS;

const HANDLE_BASE: u64 = 0x7468_0000;

pub fn thread_handle(thread: usize) -> u64 {
    HANDLE_BASE + thread as u64
}

pub fn thread_of_handle(handle: u64) -> Option<usize> {
    let thread = handle.checked_sub(HANDLE_BASE)?;
    (thread < MAX_THREADS as u64).then_some(thread as usize)
}

/// The value of `PTHREAD_CREATE_DETACHED`, in the first word of a thread's attributes.
pub const CREATE_DETACHED: u64 = 1;

pub const JOIN_OF_DETACHED: Misuse = Misuse("join of a detached thread");
pub const DETACHED_TWICE: Misuse = Misuse("thread detached twice");

/// The thread to join that has this handle, of `threads` threads, of which `joined` and `detached`
/// were before.
pub fn join(
    handle: u64,
    by: usize,
    threads: usize,
    joined: u64,
    detached: u64,
) -> Result<usize, Misuse> {
    match thread_of_handle(handle).filter(|other| *other != by && *other < threads) {
        None => Err(Misuse("join of something that is not a thread")),
        Some(other) if joined >> other & 1 == 1 => Err(Misuse("thread joined twice")),
        Some(other) if detached >> other & 1 == 1 => Err(JOIN_OF_DETACHED),
        Some(other) => Ok(other),
    }
}

/// The thread to detach.
pub fn detach(handle: u64, threads: usize, joined: u64, detached: u64) -> Result<usize, Misuse> {
    match thread_of_handle(handle).filter(|other| *other < threads) {
        None => Err(Misuse("detachment of something that is not a thread")),
        Some(other) if joined >> other & 1 == 1 => Err(Misuse("detachment of a joined thread")),
        Some(other) if detached >> other & 1 == 1 => Err(DETACHED_TWICE),
        Some(other) => Ok(other),
    }
}
