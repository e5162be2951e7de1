// Locks and condition variables with a time limit. A wait for a condition variable that has got a
// signal may be late all the same ("may consume a condition signal directed concurrently at the
// condition variable", POSIX).
#include "weakspot.h"
#include <errno.h>
#include <pthread.h>
#include <threads.h>
#include <time.h>

WEAKSPOT_LIBRARY int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *time) {
  return weakspot_timedlock(mutex);
}

WEAKSPOT_LIBRARY int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *time) {
  return weakspot_timedlock(mutex);
}

WEAKSPOT_LIBRARY int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *time) {
  int error = weakspot_wait_for(condition, mutex);
  if (error)
    return error;
  return weakspot_choose(2) ? ETIMEDOUT : 0;
}

WEAKSPOT_LIBRARY int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *time) {
  return pthread_cond_timedwait(condition, mutex, time);
}

WEAKSPOT_LIBRARY int mtx_timedlock(mtx_t *mutex, const struct timespec *time) {
  return mtx_trylock(mutex) == thrd_success ? thrd_success : thrd_timedout;
}

WEAKSPOT_LIBRARY int cnd_timedwait(cnd_t *condition, mtx_t *mutex, const struct timespec *time) {
  weakspot_wait_for(condition, mutex);
  return weakspot_choose(2) ? thrd_timedout : thrd_success;
}

WEAKSPOT_LIBRARY int pthread_condattr_init(pthread_condattr_t *attributes) { return 0; }
WEAKSPOT_LIBRARY int pthread_condattr_destroy(pthread_condattr_t *attributes) { return 0; }
WEAKSPOT_LIBRARY int pthread_condattr_setclock(pthread_condattr_t *attributes, clockid_t clock) { return 0; }
