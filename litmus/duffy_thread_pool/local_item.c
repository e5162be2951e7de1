/* A worker enqueues an item into its own queue and stays busy with something else; another worker,
   who finds nothing or is asleep, must get the item. */

#include <assert.h>

#include "pool.h"

static struct pool pool = POOL_INIT;
static int task;

static void *busy(void *unused)
{
    task = 42;
    pool_enqueue_local(&pool, 0, 1);
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
    pthread_create(&a, NULL, busy, NULL);
    pthread_create(&b, NULL, idle, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
