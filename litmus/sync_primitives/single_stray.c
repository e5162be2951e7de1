/* A waiter may wake without a notification: here somebody signals who has nothing to say. */

#include <assert.h>

#include "sync.h"

static struct sync_single single = {.s = SYNC_INIT};
static int answer;

static void *waiter(void *unused)
{
    sync_single_wait(&single);
    assert(answer == 2);
    return unused;
}

static void *notifier(void *unused)
{
    answer = 2;
    sync_single_notify(&single);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, waiter, NULL);
    pthread_create(&b, NULL, notifier, NULL);
    pthread_cond_signal(&single.s.wake);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
