//! What `pthread_create` writes for a thread: its handle.
use crate::memory::address_space::MAX_THREADS;

const HANDLE_BASE: u64 = 0x7468_0000;

pub fn thread_handle(thread: usize) -> u64 {
    HANDLE_BASE + thread as u64
}

pub fn thread_of_handle(handle: u64) -> Option<usize> {
    let thread = handle.checked_sub(HANDLE_BASE)?;
    (thread < MAX_THREADS as u64).then_some(thread as usize)
}
