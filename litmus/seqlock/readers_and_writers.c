/* What a reader reads belongs together, and no write is lost. */

#include <assert.h>
#include <pthread.h>

#include "seqlock.h"

#ifndef READERS
#define READERS 2
#endif
#ifndef WRITERS
#define WRITERS 1
#endif

static struct seqlock lock;
static atomic_int x, y;

static void *reader(void *unused)
{
    int a, b;
    unsigned number;
    do {
        number = seqlock_begin(&lock);
        a = atomic_load_explicit(&x, memory_order_relaxed);
        b = atomic_load_explicit(&y, memory_order_relaxed);
    } while (seqlock_retry(&lock, number));
    assert(a == b);
    return unused;
}

static void *writer(void *unused)
{
    seqlock_write_begin(&lock);
    int next = atomic_load_explicit(&x, memory_order_relaxed) + 1;
    atomic_store_explicit(&x, next, memory_order_relaxed);
    atomic_store_explicit(&y, next, memory_order_relaxed);
    seqlock_write_end(&lock);
    return unused;
}

int main(void)
{
    pthread_t threads[READERS + WRITERS];
    for (int i = 0; i < READERS + WRITERS; i++)
        pthread_create(&threads[i], NULL, i < WRITERS ? writer : reader, NULL);
    for (int i = 0; i < READERS + WRITERS; i++)
        pthread_join(threads[i], NULL);
    assert(atomic_load_explicit(&x, memory_order_relaxed) == WRITERS);
    assert(atomic_load_explicit(&y, memory_order_relaxed) == WRITERS);
    return 0;
}
