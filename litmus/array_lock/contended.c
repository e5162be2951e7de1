/* Each of THREADS threads takes the lock ROUNDS times: no two are inside at once. */

#include <assert.h>
#include <pthread.h>

#ifndef THREADS
#define THREADS 3
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif

#include "array.h"

static struct array lock = ARRAY_INIT;
static int x, y; /* only for the thread inside */

static void *work(void *unused)
{
    for (int round = 0; round < ROUNDS; round++) {
        unsigned slot = array_lock(&lock);
        assert(x == y);
        x++;
        y++;
        array_unlock(&lock, slot);
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
