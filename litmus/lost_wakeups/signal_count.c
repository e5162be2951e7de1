/* A parking lot that does not wake when it counts no waiters: the signal is published and the count
   read; the waiter counts itself and the futex compares the signal. */

#include "waiting.h"

static atomic_int pending, waiters;

static void *signal_(void *unused)
{
    atomic_fetch_add_explicit(&pending, 2, memory_order_release);
    FENCE();
    if (atomic_load_explicit(&waiters, memory_order_relaxed) != 0)
        futex_wake(&pending, 1);
    return unused;
}

static void *wait_(void *unused)
{
    int seen = atomic_load_explicit(&pending, memory_order_acquire);
    if (seen == 0) {
        atomic_fetch_add_explicit(&waiters, 1, memory_order_relaxed);
        FENCE();
        futex_wait(&pending, seen);
        atomic_fetch_sub_explicit(&waiters, 1, memory_order_relaxed);
    }
    return unused;
}

int main(void) { run(signal_, wait_); }
