/* The waiter continues after the notification, and each thread sees what the other wrote before. */

#include <assert.h>

#include "sync.h"

static struct sync_single single = {.s = SYNC_INIT};
static int request, answer;

static void *waiter(void *unused)
{
    request = 1;
    sync_single_wait(&single);
    assert(answer == 2);
    return unused;
}

static void *notifier(void *unused)
{
    answer = 2;
    sync_single_notify(&single);
#ifndef SYNC_NO_WAITING
    assert(request == 1);
#endif
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
