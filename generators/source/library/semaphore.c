// POSIX semaphores: a counter. A post is a release, a successful wait an acquire operation, as in
// glibc and musl; POSIX asks for no more (4.12, memory synchronization). Destroying is an atomic
// access: the waiter may destroy a semaphore although the post that woke it has not returned.
#include "weakspot.h"
#include <errno.h>
#include <limits.h>
#include <semaphore.h>
#include <time.h>

#define DESTROYED 0xffffffffu

static unsigned *counter(sem_t *semaphore) { return (unsigned *)semaphore; }

static unsigned used(unsigned value) {
  if (value == DESTROYED)
    weakspot_misuse("use of a destroyed semaphore");
  return value;
}

static int taken(sem_t *semaphore) {
  unsigned now = __atomic_load_n(counter(semaphore), __ATOMIC_RELAXED);
  while (used(now) > 0)
    if (__atomic_compare_exchange_n(counter(semaphore), &now, now - 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
      return 1;
  return 0;
}

static int failed(int error) {
  errno = error;
  return -1;
}

WEAKSPOT_LIBRARY int sem_init(sem_t *semaphore, int shared, unsigned value) {
  if (value > SEM_VALUE_MAX)
    return failed(EINVAL);
  *counter(semaphore) = value;
  return 0;
}

WEAKSPOT_LIBRARY int sem_destroy(sem_t *semaphore) {
  if (__atomic_exchange_n(counter(semaphore), DESTROYED, __ATOMIC_RELAXED) == DESTROYED)
    weakspot_misuse("destruction of a destroyed semaphore");
  return 0;
}

WEAKSPOT_LIBRARY int sem_post(sem_t *semaphore) {
  used(__atomic_fetch_add(counter(semaphore), 1, __ATOMIC_RELEASE));
  return 0;
}

WEAKSPOT_LIBRARY int sem_wait(sem_t *semaphore) {
  while (!taken(semaphore)) {
  }
  return 0;
}

WEAKSPOT_LIBRARY int sem_trywait(sem_t *semaphore) { return taken(semaphore) ? 0 : failed(EAGAIN); }

// The time has expired whenever the counter is 0: to wait until it is not is to come later.
WEAKSPOT_LIBRARY int sem_timedwait(sem_t *semaphore, const struct timespec *time) {
  return taken(semaphore) ? 0 : failed(ETIMEDOUT);
}

WEAKSPOT_LIBRARY int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *time) {
  return sem_timedwait(semaphore, time);
}

WEAKSPOT_LIBRARY int sem_getvalue(sem_t *semaphore, int *value) {
  *value = (int)used(__atomic_load_n(counter(semaphore), __ATOMIC_RELAXED));
  return 0;
}
