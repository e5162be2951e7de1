/* A parking lot with a fence where it wakes, and where it parks only a seq_cst increment before the
   caller's own condition is read, in whatever order the caller chooses. */

#include "waiting.h"

static atomic_int state, count, token;

static void *unpark(void *unused)
{
    atomic_store_explicit(&state, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&count, memory_order_seq_cst) != 0) {
        atomic_store_explicit(&token, 1, memory_order_release);
        futex_wake(&token, 1);
    }
    return unused;
}

static void *park(void *unused)
{
    atomic_fetch_add_explicit(&count, 1, memory_order_seq_cst);
    FENCE();
    if (!atomic_load_explicit(&state, memory_order_relaxed))
        while (!atomic_load_explicit(&token, memory_order_acquire))
            futex_wait(&token, 0);
    return unused;
}

int main(void) { run(unpark, park); }
