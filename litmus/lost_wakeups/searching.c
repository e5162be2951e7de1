/* A scheduler that wakes nobody while some worker searches. The last worker that stops to search looks
   at the queue once more before it parks. The queue has release and acquire; the number of searching
   workers is seq_cst, which orders it with nothing else. REPAIRED: it is read by a read-modify-write,
   which comes before or after the worker's. */

#include "waiting.h"

static atomic_int queue, searching = 1, token;

static int is_nobody_searching(void)
{
#ifdef REPAIRED
    return atomic_fetch_add_explicit(&searching, 0, memory_order_seq_cst) == 0;
#else
    return atomic_load_explicit(&searching, memory_order_seq_cst) == 0;
#endif
}

static void *schedule(void *unused)
{
    atomic_store_explicit(&queue, 1, memory_order_release);
    if (is_nobody_searching()) {
        atomic_store_explicit(&token, 1, memory_order_release);
        futex_wake(&token, 1);
    }
    return unused;
}

static void *worker(void *unused)
{
    atomic_fetch_sub_explicit(&searching, 1, memory_order_seq_cst);
    if (!atomic_load_explicit(&queue, memory_order_acquire))
        while (!atomic_load_explicit(&token, memory_order_acquire))
            futex_wait(&token, 0);
    return unused;
}

int main(void) { run(schedule, worker); }
