/* Each of THREADS threads takes the mutex ROUNDS times: never are two inside, and none sleeps for ever. */

#include "mutex.h"

#include <assert.h>
#include <pthread.h>

#ifndef THREADS
#define THREADS 2
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif

static struct mutex own;
static int x; /* only for the thread inside */

static void *work(void *unused)
{
    for (int round = 0; round < ROUNDS; round++) {
        mutex_lock(&own);
        x++;
        mutex_unlock(&own);
    }
    return unused;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert(x == THREADS * ROUNDS);
    return 0;
}
