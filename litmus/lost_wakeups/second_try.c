/* A lock word with its owner and a bit for waiters. An unlock that finds the bit set tries again with
   it, and returns an error if that has succeeded, instead of if it has failed: nobody is woken.
   REPAIRED: the test is the right way round. */

#include "waiting.h"

#include <stdbool.h>

enum { FREE, OWNED, OTHER = 2, HAS_WAITER = 4 };

static atomic_int word = OWNED;

static bool changed(int from, int to)
{
    return atomic_compare_exchange_strong_explicit(&word, &from, to, memory_order_acq_rel,
                                                   memory_order_relaxed);
}

static void *unlock(void *unused)
{
    if (!changed(OWNED, FREE)) {
        bool freed = changed(OWNED | HAS_WAITER, FREE);
#ifdef REPAIRED
        freed = !freed;
#endif
        if (freed)
            return unused;
        futex_wake(&word, 1);
    }
    return unused;
}

static void *lock(void *unused)
{
    while (!changed(FREE, OTHER)) {
        changed(OWNED, OWNED | HAS_WAITER);
        futex_wait(&word, OWNED | HAS_WAITER);
    }
    return unused;
}

int main(void) { run(unlock, lock); }
