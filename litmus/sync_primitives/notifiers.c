/* The waiter continues when all notifiers have notified, and sees what each of them wrote before. */

#include <assert.h>

#include "sync.h"

static struct sync_notifiers notifiers = {.s = SYNC_INIT};
static int part[SYNC_THREADS];

static void *first(void *unused)
{
    part[0] = 1;
    sync_notifiers_notify(&notifiers);
    return unused;
}

static void *second(void *unused)
{
    part[1] = 2;
    sync_notifiers_notify(&notifiers);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    sync_notifiers_wait(&notifiers);
    assert(part[0] + part[1] == 3);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
