/* Two threads write, two others look after the barrier, in opposite orders: both see both. */

#define SYNC_THREADS 4

#include <assert.h>

#include "sync.h"

static struct sync_barrier barrier = SYNC_BARRIER_INIT;
static int x, y;

static void *first(void *unused)
{
    x = 1;
    sync_barrier(&barrier, 0);
    return unused;
}

static void *second(void *unused)
{
    y = 1;
    sync_barrier(&barrier, 1);
    return unused;
}

static void *third(void *unused)
{
    sync_barrier(&barrier, 2);
    assert(x == 1);
    assert(y == 1);
    return unused;
}

int main(void)
{
    pthread_t a, b, c;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_create(&c, NULL, third, NULL);
    sync_barrier(&barrier, 3);
    assert(y == 1);
    assert(x == 1);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    return 0;
}
