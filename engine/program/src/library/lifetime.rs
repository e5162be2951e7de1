//! The beginning and the end of a synchronisation object: `pthread_mutex_init`,
//! `pthread_cond_destroy` and so on.
use super::{barrier, condition, mutex, Misuse};
use crate::ir::instruction::SyncObject;

impl SyncObject {
    /// The size of the state, in bytes.
    pub fn size(self) -> u32 {
        match self {
            SyncObject::Mutex => mutex::SIZE,
            SyncObject::Condition => condition::SIZE,
            SyncObject::Barrier => barrier::SIZE,
        }
    }

    /// Whether destroying the object is an atomic access, which races with no other. POSIX allows
    /// it although a thread that was woken, or that leaves the barrier, reads the state once more.
    pub fn ends_atomically(self) -> bool {
        self != SyncObject::Mutex
    }

    /// The state of an object in this state when it is initialised with a value: the type of a mutex,
    /// the number of threads of a barrier.
    pub fn initialise(self, state: u64, value: u64) -> Result<u64, Misuse> {
        self.check_init(state)?;
        Ok(match self {
            SyncObject::Mutex => mutex::initial(value),
            SyncObject::Condition => condition::NO_WAITERS,
            SyncObject::Barrier => barrier::initial(value, state),
        })
    }

    /// Whether an object in this state may be initialised: POSIX leaves a second initialisation
    /// undefined. Of a condition variable it is not known whether it was initialised.
    fn check_init(self, state: u64) -> Result<(), Misuse> {
        match self {
            SyncObject::Mutex if mutex::is_initialised(state) => {
                Err(Misuse("initialisation of a mutex that is initialised"))
            }
            SyncObject::Mutex if mutex::is_held(state) => {
                Err(Misuse("initialisation of a mutex that is held"))
            }
            SyncObject::Condition if condition::is_awaited(state) => Err(Misuse(
                "initialisation of a condition variable for which a thread waits",
            )),
            SyncObject::Barrier if barrier::is_initialised(state) => {
                Err(Misuse("initialisation of a barrier that is initialised"))
            }
            _ => Ok(()),
        }
    }

    /// The state of an object in this state when it is destroyed.
    pub fn destroy(self, state: u64) -> Result<u64, Misuse> {
        let (destroyed, in_use) = match self {
            SyncObject::Mutex => (mutex::DESTROYED, mutex::is_held(state)),
            SyncObject::Condition => (condition::DESTROYED, condition::is_awaited(state)),
            SyncObject::Barrier => (barrier::destroyed(state), barrier::is_awaited(state)),
        };
        if state == destroyed {
            return Err(Misuse(match self {
                SyncObject::Mutex => "destruction of a destroyed mutex",
                SyncObject::Condition => "destruction of a destroyed condition variable",
                SyncObject::Barrier => "destruction of a destroyed barrier",
            }));
        }
        if in_use {
            return Err(Misuse(match self {
                SyncObject::Mutex => "destruction of a mutex that is held",
                SyncObject::Condition => {
                    "destruction of a condition variable for which a thread waits"
                }
                SyncObject::Barrier => "destruction of a barrier at which a thread waits",
            }));
        }
        Ok(destroyed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use SyncObject::{Barrier, Condition, Mutex};

    #[test]
    fn an_object_is_destroyed_once_and_not_in_use_and_may_be_initialised_again() {
        let Ok(barrier::Arrival::Waits(met)) = barrier::arrive(barrier::initial(2, 0)) else {
            panic!("another thread is to come");
        };
        let waiting = condition::begin_wait(condition::NO_WAITERS, 2);
        for (object, idle, in_use) in [
            (Mutex, mutex::initial(0), 3),
            (Condition, condition::NO_WAITERS, waiting),
            (Barrier, barrier::initial(2, 0), met),
        ] {
            let gone = object.destroy(idle).expect("it is not in use");
            assert!(object.destroy(gone).is_err() && object.destroy(in_use).is_err());
            assert!(object.initialise(gone, 2).is_ok() && object.initialise(0, 2).is_ok());
            assert!(object.initialise(in_use, 2).is_err());
            assert_eq!(object.initialise(idle, 2).is_err(), object != Condition);
        }
    }
}
