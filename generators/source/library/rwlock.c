// Reader-writer locks: the number of readers, or WRITER. Locking acquires, unlocking releases. A
// reader may overtake writers that wait: POSIX leaves that to the implementation. Initialising and
// destroying are plain accesses: they have to be ordered with every use.
#include "weakspot.h"
#include <errno.h>
#include <pthread.h>

#define WRITER 0xffffffffu
#define DESTROYED 0xfffffffeu

static unsigned *state_of(pthread_rwlock_t *lock) { return (unsigned *)lock; }

static unsigned used(unsigned state) {
  if (state == DESTROYED)
    weakspot_misuse("use of a destroyed reader-writer lock");
  return state;
}

static int read_locked(pthread_rwlock_t *lock) {
  unsigned now = __atomic_load_n(state_of(lock), __ATOMIC_RELAXED);
  while (used(now) != WRITER)
    if (__atomic_compare_exchange_n(state_of(lock), &now, now + 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
      return 1;
  return 0;
}

static int write_locked(pthread_rwlock_t *lock) {
  unsigned free = 0;
  return used(__atomic_load_n(state_of(lock), __ATOMIC_RELAXED)) == 0 &&
         __atomic_compare_exchange_n(state_of(lock), &free, WRITER, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

WEAKSPOT_LIBRARY int pthread_rwlock_init(pthread_rwlock_t *lock, const pthread_rwlockattr_t *attributes) {
  *state_of(lock) = 0;
  return 0;
}

WEAKSPOT_LIBRARY int pthread_rwlock_destroy(pthread_rwlock_t *lock) {
  if (*state_of(lock) == DESTROYED)
    weakspot_misuse("destruction of a destroyed reader-writer lock");
  if (*state_of(lock) != 0)
    weakspot_misuse("destruction of a reader-writer lock that is locked");
  *state_of(lock) = DESTROYED;
  return 0;
}

WEAKSPOT_LIBRARY int pthread_rwlockattr_init(pthread_rwlockattr_t *attributes) { return 0; }
WEAKSPOT_LIBRARY int pthread_rwlockattr_destroy(pthread_rwlockattr_t *attributes) { return 0; }
WEAKSPOT_LIBRARY int pthread_rwlockattr_setpshared(pthread_rwlockattr_t *attributes, int shared) { return 0; }

// Which waiting thread is preferred.
WEAKSPOT_LIBRARY int pthread_rwlockattr_setkind_np(pthread_rwlockattr_t *attributes, int kind) { return 0; }

WEAKSPOT_LIBRARY int pthread_rwlock_rdlock(pthread_rwlock_t *lock) {
  while (!read_locked(lock)) {
  }
  return 0;
}

WEAKSPOT_LIBRARY int pthread_rwlock_wrlock(pthread_rwlock_t *lock) {
  while (!write_locked(lock)) {
  }
  return 0;
}

WEAKSPOT_LIBRARY int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock) { return read_locked(lock) ? 0 : EBUSY; }
WEAKSPOT_LIBRARY int pthread_rwlock_trywrlock(pthread_rwlock_t *lock) { return write_locked(lock) ? 0 : EBUSY; }

// The time has expired whenever the lock is not free: to wait until it is is to come later.
WEAKSPOT_LIBRARY int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *time) {
  return read_locked(lock) ? 0 : ETIMEDOUT;
}

WEAKSPOT_LIBRARY int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *time) {
  return write_locked(lock) ? 0 : ETIMEDOUT;
}

WEAKSPOT_LIBRARY int pthread_rwlock_clockrdlock(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *time) {
  return pthread_rwlock_timedrdlock(lock, time);
}

WEAKSPOT_LIBRARY int pthread_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *time) {
  return pthread_rwlock_timedwrlock(lock, time);
}

// Whether the thread holds the lock is not known, only whether anybody does.
WEAKSPOT_LIBRARY int pthread_rwlock_unlock(pthread_rwlock_t *lock) {
  unsigned now = used(__atomic_load_n(state_of(lock), __ATOMIC_RELAXED));
  if (now == 0)
    weakspot_misuse("unlock of a reader-writer lock that is not locked");
  if (now == WRITER)
    __atomic_store_n(state_of(lock), 0, __ATOMIC_RELEASE);
  else
    __atomic_fetch_sub(state_of(lock), 1, __ATOMIC_RELEASE);
  return 0;
}
