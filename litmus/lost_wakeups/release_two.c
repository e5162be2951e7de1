/* A semaphore that notifies one waiter when the count was 0. Two releases by one notify once, although
   two threads wait. REPAIRED: it notifies all. */

#include "waiting.h"

#include <limits.h>

static atomic_int count;

static void release(void)
{
    if (atomic_fetch_add_explicit(&count, 1, memory_order_release) == 0)
#ifdef REPAIRED
        futex_wake(&count, INT_MAX);
#else
        futex_wake(&count, 1);
#endif
}

static void *acquire(void *unused)
{
    for (;;) {
        int now = atomic_load_explicit(&count, memory_order_relaxed);
        if (now == 0)
            futex_wait(&count, 0);
        else if (atomic_compare_exchange_strong_explicit(&count, &now, now - 1, memory_order_acquire,
                                                         memory_order_relaxed))
            return unused;
    }
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], 0, acquire, 0);
    pthread_create(&threads[1], 0, acquire, 0);
    release();
    release();
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    assert(count == 0);
}
