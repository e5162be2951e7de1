/* The mutexes of "Futexes Are Tricky", which sleep in the kernel.

   Ulrich Drepper, "Futexes Are Tricky", version 1.6, 2011. The word is 0 if the mutex is free, 1 if a
   thread holds it, 2 if a thread may sleep as well. MUTEX is 2 for the second take of the paper
   (section 5, compare-exchange), 3 for the third (section 6, exchange), which saves a
   compare-exchange. The paper's atomic operations are full barriers; taking needs acquire and leaving
   needs release.

     MUTEX_TAKE_ORDER    lock: each read-modify-write              (acquire)
     MUTEX_LEAVE_ORDER   unlock: the decrement                     (release)
     MUTEX_FREE_ORDER    unlock: the store, if threads may sleep   (release)
     MUTEX_FORGETS       if defined, a woken thread takes the mutex as if nobody else slept
     MUTEX_UNMARKED      if defined, a thread sleeps without marking the mutex
     MUTEX_WAKES_FIRST   if defined, unlock wakes before it frees
     MUTEX_ONE_TRY       if defined, a woken thread does not look at the mutex again */

#ifndef MUTEX_H
#define MUTEX_H

#define _GNU_SOURCE /* syscall */

#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MUTEX
#define MUTEX 3
#endif
#ifndef MUTEX_TAKE_ORDER
#define MUTEX_TAKE_ORDER memory_order_acquire
#endif
#ifndef MUTEX_LEAVE_ORDER
#define MUTEX_LEAVE_ORDER memory_order_release
#endif
#ifndef MUTEX_FREE_ORDER
#define MUTEX_FREE_ORDER memory_order_release
#endif

#ifdef MUTEX_FORGETS
#define MUTEX_AGAIN 1
#else
#define MUTEX_AGAIN 2
#endif

struct mutex {
    atomic_int word;
};

static inline void futex_wait(atomic_int *word, int value)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, 0, 0, 0);
}

static inline void futex_wake(atomic_int *word, int count)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, 0, 0, 0);
}

/* The value before; `wanted` is stored if that is `expected`. */
static inline int mutex_change(struct mutex *m, int expected, int wanted)
{
    atomic_compare_exchange_strong_explicit(&m->word, &expected, wanted, MUTEX_TAKE_ORDER,
                                            memory_order_relaxed);
    return expected;
}

static inline void mutex_lock(struct mutex *m)
{
    int before = mutex_change(m, 0, 1);
    if (before == 0)
        return;
#if MUTEX == 2
    do {
#ifdef MUTEX_UNMARKED
        futex_wait(&m->word, 1);
#else
        if (before == 2 || mutex_change(m, 1, 2) != 0)
            futex_wait(&m->word, 2);
#endif
#ifdef MUTEX_ONE_TRY
        break;
#endif
    } while ((before = mutex_change(m, 0, MUTEX_AGAIN)) != 0);
#else
    if (before != 2)
        before = atomic_exchange_explicit(&m->word, 2, MUTEX_TAKE_ORDER);
    while (before != 0) {
        futex_wait(&m->word, 2);
        before = atomic_exchange_explicit(&m->word, 2, MUTEX_TAKE_ORDER);
    }
#endif
}

static inline void mutex_unlock(struct mutex *m)
{
    if (atomic_fetch_sub_explicit(&m->word, 1, MUTEX_LEAVE_ORDER) == 1)
        return;
#ifdef MUTEX_WAKES_FIRST
    futex_wake(&m->word, 1);
    atomic_store_explicit(&m->word, 0, MUTEX_FREE_ORDER);
#else
    atomic_store_explicit(&m->word, 0, MUTEX_FREE_ORDER);
    futex_wake(&m->word, 1);
#endif
}

#endif
