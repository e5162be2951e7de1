//! Mutexes, recursive or not, and spin locks. How often a recursive mutex is locked is known to its
//! owner ([`Held`](crate::interpreter::thread::Held)), and is no part of the state.
use super::Misuse;
use crate::ir::instruction::Order;
use crate::memory::address_space::MAX_THREADS;

/// The size of the state, in bytes.
pub const SIZE: u32 = 4;
/// The read-modify-write of a lock.
pub const LOCK: Order = Order::Acq;
/// The write of an unlock.
pub const UNLOCK: Order = Order::Rel;
/// What a thread waits for that finds the mutex locked.
pub const AWAITED: &str = "a lock";

const RECURSIVE: u64 = 1 << 31;
/// The state of a destroyed mutex.
pub const DESTROYED: u64 = 1 << 30;

/// The state of a new mutex.
pub fn initial(recursive: bool) -> u64 {
    if recursive {
        RECURSIVE
    } else {
        0
    }
}

/// What a thread may do that wants to lock a mutex.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lock {
    /// It was free: the state after.
    Acquire(u64),
    /// The thread holds this recursive mutex: the state stays.
    Again,
    Busy,
}

/// Whether some thread holds the mutex; not for memory that never was one.
pub fn is_held(state: u64) -> bool {
    (1..=MAX_THREADS as u64).contains(&(state & !RECURSIVE))
}

/// Locking by a thread that holds the mutex `held` times. `pthread_cond_wait`, which has
/// unlocked it however often it was held, locks it as a thread that does not hold it.
pub fn lock(state: u64, thread: usize, held: u32) -> Result<Lock, Misuse> {
    let recursive = state & RECURSIVE;
    if state == DESTROYED {
        Err(Misuse("lock of a destroyed mutex"))
    } else if state == recursive {
        Ok(Lock::Acquire(recursive | (thread as u64 + 1)))
    } else if held > 0 && recursive != 0 {
        Ok(Lock::Again)
    } else {
        Ok(Lock::Busy)
    }
}

/// The state of the same mutex when it is free.
pub fn free(state: u64) -> u64 {
    state & RECURSIVE
}

/// Unlocking by a thread that holds the mutex `held` times: whether the mutex becomes free.
pub fn unlock(held: u32) -> Result<bool, Misuse> {
    match held {
        0 => Err(Misuse("unlock of a mutex that the thread does not hold")),
        held => Ok(held == 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mutex_is_locked_by_one_thread_and_again_only_if_recursive() {
        for recursive in [false, true] {
            let free_state = initial(recursive);
            let Ok(Lock::Acquire(locked)) = lock(free_state, 3, 0) else {
                panic!("a new mutex is free");
            };
            assert_eq!(lock(locked, 2, 0), Ok(Lock::Busy));
            let again = if recursive { Lock::Again } else { Lock::Busy };
            assert_eq!(lock(locked, 3, 1), Ok(again));
            assert!(is_held(locked) && !is_held(free_state));
            assert_eq!(free(locked), free_state);
        }
        assert_eq!((unlock(1), unlock(2)), (Ok(true), Ok(false)));
        assert!(unlock(0).is_err());
        assert!(lock(DESTROYED, 1, 0).is_err());
    }
}
