/* What the programs of this folder share: futexes, two threads, and where the memory order that the
   repair adds stands. FENCE is the fence of a repair; without REPAIRED it is none. */

#ifndef WAITING_H
#define WAITING_H

#define _GNU_SOURCE

#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef REPAIRED
#define FENCE() atomic_thread_fence(memory_order_seq_cst)
#else
#define FENCE() ((void)0)
#endif

static inline void futex_wait(atomic_int *word, int value)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, 0, 0, 0);
}

static inline void futex_wake(atomic_int *word, int count)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, 0, 0, 0);
}

static inline void run(void *(*one)(void *), void *(*other)(void *))
{
    pthread_t threads[2];
    pthread_create(&threads[0], 0, one, 0);
    pthread_create(&threads[1], 0, other, 0);
    int failed = pthread_join(threads[0], 0) || pthread_join(threads[1], 0);
    assert(!failed);
}

#endif
