/* Each of WAITERS threads waits until there is an item, and one thread provides it. */

#include "eventcount.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>

#ifndef WAITERS
#define WAITERS 1
#endif

static struct eventcount changed;
static atomic_bool there;
static int item;

static void await(void)
{
    while (!atomic_load_explicit(&there, memory_order_acquire)) {
        unsigned prepared = eventcount_prepare(&changed);
#ifndef NO_SECOND_LOOK
        if (atomic_load_explicit(&there, memory_order_acquire)) {
            eventcount_cancel(&changed);
            return;
        }
#endif
        eventcount_wait(&changed, prepared);
    }
}

static void *consumer(void *unused)
{
    await();
    assert(item == 1);
    return unused;
}

static void *producer(void *unused)
{
    item = 1;
#ifdef NOTIFIES_FIRST
    eventcount_notify(&changed);
    atomic_store_explicit(&there, true, memory_order_release);
#else
    atomic_store_explicit(&there, true, memory_order_release);
    eventcount_notify(&changed);
#endif
    return unused;
}

int main(void)
{
    pthread_t threads[1 + WAITERS];
    for (int i = 0; i < 1 + WAITERS; i++)
        pthread_create(&threads[i], NULL, i < WAITERS ? consumer : producer, NULL);
    for (int i = 0; i < 1 + WAITERS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
