/* The barrier is used twice in succession: nobody passes it the second time before all have come. */

#include <assert.h>

#include "sync.h"

static struct sync_barrier barrier = SYNC_BARRIER_INIT;
static int step[SYNC_THREADS];

static void work(int me)
{
    sync_barrier(&barrier, me);
    step[me] = 1;
    sync_barrier(&barrier, me);
    assert(step[1 - me] == 1);
}

static void *first(void *unused)
{
    work(0);
    return unused;
}

static void *second(void *unused)
{
    work(1);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
