/* The pusher moves the tail over its first item with release and then once more with a relaxed store.
   In C++11 that store continues the release sequence, in C++20 it does not. */

#include <assert.h>
#include <pthread.h>

#include "centralk.h"

static struct ck_block block;
static atomic_int tail;
static struct ck_item items[2];

static void *pusher(void *unused)
{
    ck_put(&block, 0, &items[0]);
    atomic_store_explicit(&tail, 1, CK_TAIL_ORDER);
    ck_put(&block, 1, &items[1]);
    atomic_store_explicit(&tail, 2, memory_order_relaxed);
    return unused;
}

static void *reader(void *unused)
{
    if (ck_tail(&tail) == 2)
        assert(ck_entry(&block, 0) != NULL);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, pusher, NULL);
    pthread_create(&b, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
