/* Each of THREADS threads takes the lock ROUNDS times: no two are inside at once. */

#include <assert.h>
#include <pthread.h>

#ifndef THREADS
#define THREADS 3
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif

#include "clh.h"

static struct clh_node node[THREADS + 1]; /* the last one is free: the lock's at first */
static struct clh lock = {&node[THREADS]};
static int x, y; /* only for the thread inside */

static void *work(void *start)
{
    struct clh_node *own = start;
    for (int round = 0; round < ROUNDS; round++) {
        struct clh_node *before = clh_lock(&lock, own);
        assert(x == y);
        x++;
        y++;
        own = clh_unlock(own, before);
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
