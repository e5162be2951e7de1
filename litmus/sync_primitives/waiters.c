/* One notification lets all waiters go, and they see what was written before it. */

#include <assert.h>

#include "sync.h"

static struct sync_waiters waiters = {.s = SYNC_INIT};
static int work;

static void wait_and_work(int me)
{
    sync_waiters_wait(&waiters, me);
    assert(work == 42);
}

static void *first(void *unused)
{
    wait_and_work(0);
    return unused;
}

static void *second(void *unused)
{
    wait_and_work(1);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    work = 42;
    sync_waiters_notify(&waiters);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
