/* Each of THREADS threads takes the lock ROUNDS times: no two are inside at once. */

#include <assert.h>
#include <pthread.h>
#include <stdint.h>

#ifndef THREADS
#define THREADS 3
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif

#include "qspinlock.h"

static struct qspin lock;
static int x, y; /* only for the thread inside */

static void *work(void *own)
{
    for (int round = 0; round < ROUNDS; round++) {
        qspin_lock(&lock, (unsigned)(uintptr_t)own);
        assert(x == y);
        x++;
        y++;
        qspin_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert(x == THREADS * ROUNDS);
    return 0;
}
