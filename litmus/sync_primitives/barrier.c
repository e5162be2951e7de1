/* What a thread did before the barrier is there for the other after it, and nothing of what it does
   after the barrier is seen before: store buffering, message passing and load buffering are gone. */

#include <assert.h>

#include "sync.h"

static struct sync_barrier barrier = SYNC_BARRIER_INIT;
static int before[SYNC_THREADS], after[SYNC_THREADS];

static void work(int me)
{
    int other = 1 - me;
    assert(after[other] == 0);
    before[me] = 1;
    sync_barrier(&barrier, me);
    assert(before[other] == 1);
    after[me] = 1;
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
