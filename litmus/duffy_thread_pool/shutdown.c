/* The pool is shut down while a worker looks for work, or sleeps: the worker must end. */

#include <assert.h>

#include "pool.h"

static struct pool pool = POOL_INIT;

static void *idle(void *unused)
{
    int item = pool_find(&pool, 1);
    assert(item == 0);
    return unused;
}

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, idle, NULL);
    pool_shut_down(&pool);
    pthread_join(a, NULL);
    return 0;
}
