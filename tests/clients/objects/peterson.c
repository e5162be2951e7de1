#include "peterson.h"

static struct peterson own;
static atomic_int threads;
static _Thread_local int number; /* from 1; two threads at a time have one odd and one even */

void lock(void)
{
    if (!number)
        number = 1 + atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed);
    peterson_lock(&own, number % 2);
}

void unlock(void) { peterson_unlock(&own, number % 2); }
