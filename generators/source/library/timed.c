// Locks and condition variables with a time limit. A condition variable may wake a thread for no
// reason, so that whether it was signalled makes no difference here.
#include "weakspot.h"
#include <errno.h>
#include <pthread.h>
#include <threads.h>
#include <time.h>

WEAKSPOT_LIBRARY int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *time) {
  return pthread_mutex_trylock(mutex) ? ETIMEDOUT : 0;
}

WEAKSPOT_LIBRARY int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *time) {
  return pthread_mutex_trylock(mutex) ? ETIMEDOUT : 0;
}

WEAKSPOT_LIBRARY int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *time) {
  pthread_mutex_unlock(mutex);
  pthread_mutex_lock(mutex);
  return weakspot_choose(2) ? ETIMEDOUT : 0;
}

WEAKSPOT_LIBRARY int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *time) {
  return pthread_cond_timedwait(condition, mutex, time);
}

WEAKSPOT_LIBRARY int mtx_timedlock(mtx_t *mutex, const struct timespec *time) {
  return mtx_trylock(mutex) == thrd_success ? thrd_success : thrd_timedout;
}

WEAKSPOT_LIBRARY int cnd_timedwait(cnd_t *condition, mtx_t *mutex, const struct timespec *time) {
  mtx_unlock(mutex);
  mtx_lock(mutex);
  return weakspot_choose(2) ? thrd_timedout : thrd_success;
}

WEAKSPOT_LIBRARY int pthread_condattr_init(pthread_condattr_t *attributes) { return 0; }
WEAKSPOT_LIBRARY int pthread_condattr_destroy(pthread_condattr_t *attributes) { return 0; }
WEAKSPOT_LIBRARY int pthread_condattr_setclock(pthread_condattr_t *attributes, clockid_t clock) { return 0; }
