/* A thread outside the pool enqueues an item; a worker, who finds nothing or is asleep, must get it. */

#include <assert.h>

#include "pool.h"

static struct pool pool = POOL_INIT;
static int task;

static void *outside(void *unused)
{
    task = 42;
    pool_enqueue_global(&pool, 1);
    return unused;
}

static void *idle(void *unused)
{
    int item = pool_find(&pool, 1);
    assert(item == 1);
    assert(task == 42);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, outside, NULL);
    pthread_create(&b, NULL, idle, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
