/* A thread pool with a queue of jobs and a list of parked workers, each published with release and
   read with acquire. A worker enters the list, looks at the jobs once more, and parks. */

#include "waiting.h"

static atomic_int jobs, parked, token;

static void *spawn(void *unused)
{
    atomic_store_explicit(&jobs, 1, memory_order_release);
    FENCE();
    if (atomic_load_explicit(&parked, memory_order_acquire)) {
        atomic_store_explicit(&token, 1, memory_order_release);
        futex_wake(&token, 1);
    }
    return unused;
}

static void *worker(void *unused)
{
    atomic_store_explicit(&parked, 1, memory_order_release);
    FENCE();
    if (!atomic_load_explicit(&jobs, memory_order_acquire))
        while (!atomic_load_explicit(&token, memory_order_acquire))
            futex_wait(&token, 0);
    return unused;
}

int main(void) { run(spawn, worker); }
