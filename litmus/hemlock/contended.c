/* Each of THREADS threads takes the lock ROUNDS times: no two are inside at once. */

#include <assert.h>
#include <pthread.h>

#ifndef THREADS
#define THREADS 3
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif

#include "hemlock.h"

static struct hemlock lock;
static struct hemlock_thread node[THREADS];
static int x, y; /* only for the thread inside */

static void *work(void *own)
{
    for (int round = 0; round < ROUNDS; round++) {
        hemlock_lock(&lock, own);
        assert(x == y);
        x++;
        y++;
        hemlock_unlock(&lock, own);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, &node[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert(x == THREADS * ROUNDS);
    return 0;
}
