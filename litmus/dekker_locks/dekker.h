/* What locks order besides what they guard: Dekker's question with weak atomics and with locks.

   Hans-J. Boehm, "Performance implications of fence-based memory models", MSPC 2011.

   In C11, as in Java, a lock orders what is done under the same lock, and an access may move into a
   critical section from outside ("roach motel"). In OpenMP 3.0 as Boehm reads it, lock and unlock are
   flushes, and all flushes are in one order: a lock that nobody else takes orders too.

   Weak atomics are relaxed here.

     DEKKER_STORE_ORDER  order of the store                                      (relaxed)
     DEKKER_LOAD_ORDER   order of the load                                       (relaxed)
     DEKKER_LOCKED       if defined, the store is in a critical section
     DEKKER_LOAD_INSIDE  if defined, the load has moved into the critical section
     DEKKER_RMW_LOCKED   if defined, an empty critical section stands between the updates */

#ifndef DEKKER_H
#define DEKKER_H

#include <pthread.h>
#include <stdatomic.h>

#ifndef DEKKER_STORE_ORDER
#define DEKKER_STORE_ORDER memory_order_relaxed
#endif
#ifndef DEKKER_LOAD_ORDER
#define DEKKER_LOAD_ORDER memory_order_relaxed
#endif

static inline void dekker_lock(pthread_mutex_t *lock)
{
#ifdef DEKKER_LOCKED
    pthread_mutex_lock(lock);
#else
    (void)lock;
#endif
}

static inline void dekker_unlock(pthread_mutex_t *lock)
{
#ifdef DEKKER_LOCKED
    pthread_mutex_unlock(lock);
#else
    (void)lock;
#endif
}

static inline int dekker_announce_and_look(pthread_mutex_t *lock, atomic_int *mine, atomic_int *other)
{
    dekker_lock(lock);
    atomic_store_explicit(mine, 1, DEKKER_STORE_ORDER);
#ifdef DEKKER_LOAD_INSIDE
    int seen = atomic_load_explicit(other, DEKKER_LOAD_ORDER);
    dekker_unlock(lock);
#else
    dekker_unlock(lock);
    int seen = atomic_load_explicit(other, DEKKER_LOAD_ORDER);
#endif
    return seen;
}

/* OpenMP 3.0 knows atomic updates only: mine *= 0, other++. */
static inline void dekker_update(pthread_mutex_t *lock, atomic_int *mine, atomic_int *other)
{
    atomic_fetch_and_explicit(mine, 0, DEKKER_STORE_ORDER);
#ifdef DEKKER_RMW_LOCKED
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
#else
    (void)lock;
#endif
    atomic_fetch_add_explicit(other, 1, DEKKER_STORE_ORDER);
}

#endif
