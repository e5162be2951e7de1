/* Two notifications in a row: the waiter gets both. */

#include <assert.h>

#include "sync.h"

static struct sync_single single = {.s = SYNC_INIT};
static int rounds;

static void *waiter(void *unused)
{
    sync_single_wait(&single);
    sync_single_wait(&single);
    assert(rounds == 2);
    return unused;
}

static void *notifier(void *unused)
{
    rounds = 1;
    sync_single_notify(&single);
    rounds = 2;
    sync_single_notify(&single);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, waiter, NULL);
    pthread_create(&b, NULL, notifier, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
