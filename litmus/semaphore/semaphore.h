/* A counting semaphore that spins.

     SEMAPHORE_WAIT_ORDER  wait: the compare-exchange   (acquire)
     SEMAPHORE_POST_ORDER  post: the addition           (release)
     SEMAPHORE_TORN        if defined, wait subtracts without having compared */

#ifndef SEMAPHORE_H
#define SEMAPHORE_H

#include <stdatomic.h>

#ifndef SEMAPHORE_WAIT_ORDER
#define SEMAPHORE_WAIT_ORDER memory_order_acquire
#endif
#ifndef SEMAPHORE_POST_ORDER
#define SEMAPHORE_POST_ORDER memory_order_release
#endif

struct semaphore {
    atomic_int free;
};

static inline void semaphore_wait(struct semaphore *s)
{
    for (;;) {
        int free = atomic_load_explicit(&s->free, memory_order_relaxed);
        if (free <= 0)
            continue;
#ifdef SEMAPHORE_TORN
        atomic_fetch_sub_explicit(&s->free, 1, SEMAPHORE_WAIT_ORDER);
        return;
#else
        if (atomic_compare_exchange_strong_explicit(&s->free, &free, free - 1,
                                                    SEMAPHORE_WAIT_ORDER, memory_order_relaxed))
            return;
#endif
    }
}

static inline void semaphore_post(struct semaphore *s)
{
    atomic_fetch_add_explicit(&s->free, 1, SEMAPHORE_POST_ORDER);
}

#endif
