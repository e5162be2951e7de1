/* A notifier that notifies again at once, before the waiter has woken: with one notifier, two
   notifications for two waits. */

#define SYNC_THREADS 1

#include <assert.h>

#include "sync.h"

static struct sync_notifiers notifiers = {.s = SYNC_INIT};
static int answer;

static void *notifier(void *unused)
{
    answer = 2;
    sync_notifiers_notify(&notifiers);
    sync_notifiers_notify(&notifiers);
    return unused;
}

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, notifier, NULL);
    sync_notifiers_wait(&notifiers);
    sync_notifiers_wait(&notifiers);
    assert(answer == 2);
    pthread_join(a, NULL);
    return 0;
}
