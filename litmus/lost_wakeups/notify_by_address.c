/* A lock whose unlock is an exchange, after which it reads whether the set of waiters is empty. The
   waiter has its fence; an exchange, although seq_cst, is none for the load after it. */

#include "waiting.h"

static atomic_int locked = 1, waiters, token;

static void *unlock(void *unused)
{
    atomic_exchange_explicit(&locked, 0, memory_order_seq_cst);
    FENCE();
    if (atomic_load_explicit(&waiters, memory_order_relaxed) != 0) {
        atomic_store_explicit(&token, 1, memory_order_release);
        futex_wake(&token, 1);
    }
    return unused;
}

static void *lock(void *unused)
{
    atomic_store_explicit(&waiters, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&locked, memory_order_relaxed))
        while (!atomic_load_explicit(&token, memory_order_acquire))
            futex_wait(&token, 0);
    return unused;
}

int main(void) { run(unlock, lock); }
