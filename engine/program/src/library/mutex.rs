//! Mutexes, with the types that POSIX gives them, and spin locks. How often a recursive mutex is locked is known to its
//! owner ([`Held`](crate::interpreter::thread::Held)), and is no part of the state.
use super::Misuse;
use crate::interpreter::ExternCall;
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

/// What locking returns to the owner of a mutex that checks errors, and what any other thread gets
/// that unlocks it.
pub const EDEADLK: u64 = 35;
pub const EPERM: u64 = 1;

// pthread.h of the front end has them in static initialisers
const RECURSIVE: u64 = 1 << 31;
const CHECKS_ERRORS: u64 = 1 << 29;
const TYPE: u64 = RECURSIVE | CHECKS_ERRORS;
/// In the state from an initialisation to the destruction; not in that of a static initialiser.
const INITIALISED: u64 = 0xb1e55 << 8;
/// The state of a destroyed mutex.
pub const DESTROYED: u64 = 1 << 30;

/// The state of a new mutex of a type: `PTHREAD_MUTEX_RECURSIVE`, `PTHREAD_MUTEX_ERRORCHECK`, or
/// another, which is normal.
pub fn initial(mutex_type: u64) -> u64 {
    let mutex_type = match mutex_type {
        1 => RECURSIVE,
        2 => CHECKS_ERRORS,
        _ => 0,
    };
    INITIALISED | mutex_type
}

/// What a thread may do that wants to lock a mutex.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lock {
    /// It was free: the state after.
    Acquire(u64),
    /// The thread holds this recursive mutex: the state stays.
    Again,
    /// The thread holds this mutex, which checks errors.
    Deadlock,
    Busy,
}

/// Whether some thread holds the mutex; not for memory that never was one.
pub fn is_held(state: u64) -> bool {
    (1..=MAX_THREADS as u64).contains(&(state ^ free(state)))
}

/// Whether the mutex was initialised by a call, and not destroyed since.
pub fn is_initialised(state: u64) -> bool {
    free(state) & !TYPE == INITIALISED && (state == free(state) || is_held(state))
}

/// Locking by a thread that holds the mutex `held` times. `pthread_cond_wait`, which has
/// unlocked it however often it was held, locks it as a thread that does not hold it.
pub fn lock(state: u64, thread: usize, held: u32) -> Result<Lock, Misuse> {
    let mutex_type = state & TYPE;
    if state == DESTROYED {
        return Err(Misuse("lock of a destroyed mutex"));
    }
    Ok(match (mutex_type, held) {
        _ if state == free(state) => Lock::Acquire(state | (thread as u64 + 1)),
        (RECURSIVE, 1..) => Lock::Again,
        (CHECKS_ERRORS, 1..) => Lock::Deadlock,
        _ => Lock::Busy,
    })
}

/// The state of the same mutex when it is free.
pub fn free(state: u64) -> u64 {
    state & (TYPE | INITIALISED)
}

/// A use of a mutex that only its owner may make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnersUse {
    /// As `mtx_unlock` of C11 and `unlock` of C++ do it: by another thread than the owner it is
    /// undefined, whatever the type.
    Unlock,
    PosixUnlock,
    Wait,
}

impl OwnersUse {
    /// The unlock of a call, whose second argument says whether the program calls POSIX itself.
    pub fn unlock(call: &ExternCall) -> OwnersUse {
        match call.args[1].bits {
            0 => OwnersUse::Unlock,
            _ => OwnersUse::PosixUnlock,
        }
    }
}

/// What another thread than the owner gets for it: an error number from a mutex that checks errors,
/// and for unlocking a recursive one (POSIX.1-2017, `pthread_mutex_lock`).
pub fn refuse(owners: OwnersUse, state: u64) -> Result<u64, Misuse> {
    match owners {
        _ if state & CHECKS_ERRORS != 0 => Ok(EPERM),
        OwnersUse::PosixUnlock if state & RECURSIVE != 0 => Ok(EPERM),
        OwnersUse::Unlock | OwnersUse::PosixUnlock => {
            Err(Misuse("unlock of a mutex that the thread does not hold"))
        }
        OwnersUse::Wait => Err(Misuse(
            "wait for a condition variable without holding its mutex",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mutex_is_locked_by_one_thread_and_again_only_if_recursive() {
        let again = [Lock::Busy, Lock::Again, Lock::Deadlock, Lock::Busy];
        for (mutex_type, again) in again.into_iter().enumerate() {
            let free_state = initial(mutex_type as u64);
            let Ok(Lock::Acquire(locked)) = lock(free_state, 3, 0) else {
                panic!("a new mutex is free");
            };
            assert_eq!(lock(locked, 2, 0), Ok(Lock::Busy));
            assert_eq!(lock(locked, 3, 1), Ok(again));
            assert!(is_held(locked) && !is_held(free_state));
            assert_eq!(free(locked), free_state);
        }
        assert!(lock(DESTROYED, 1, 0).is_err());
    }

    #[test]
    fn a_thread_that_does_not_own_a_mutex_gets_an_error_where_posix_says_so() {
        for owners in [OwnersUse::Unlock, OwnersUse::PosixUnlock, OwnersUse::Wait] {
            assert_eq!(refuse(owners, initial(2)), Ok(EPERM));
            for state in [initial(0), DESTROYED] {
                assert!(refuse(owners, state).is_err());
            }
        }
        assert_eq!(refuse(OwnersUse::PosixUnlock, initial(1)), Ok(EPERM));
        for owners in [OwnersUse::Unlock, OwnersUse::Wait] {
            assert!(refuse(owners, initial(1)).is_err());
        }
    }
}
