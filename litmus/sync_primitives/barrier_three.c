/* Two threads write, and each looks at the other's variable after the barrier, as does a third: all
   agree that both were written. */

#define SYNC_THREADS 3

#include <assert.h>

#include "sync.h"

static struct sync_barrier barrier = SYNC_BARRIER_INIT;
static int x, y;

static void *first(void *unused)
{
    x = 1;
    sync_barrier(&barrier, 0);
    assert(y == 1);
    return unused;
}

static void *second(void *unused)
{
    y = 1;
    sync_barrier(&barrier, 1);
    assert(x == 1);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    sync_barrier(&barrier, 2);
    assert(x == 1 && y == 1);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
