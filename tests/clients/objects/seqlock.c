#include "seqlock.h"

static struct seqlock own;
static atomic_int first, second;

void write(int value)
{
    seqlock_write_begin(&own);
    atomic_store_explicit(&first, value, memory_order_relaxed);
    atomic_store_explicit(&second, value, memory_order_relaxed);
    seqlock_write_end(&own);
}

int read(void)
{
    unsigned number;
    int one, other;
    do {
        number = seqlock_begin(&own);
        one = atomic_load_explicit(&first, memory_order_relaxed);
        other = atomic_load_explicit(&second, memory_order_relaxed);
    } while (seqlock_retry(&own, number));
    return one == other ? one : -1;
}
