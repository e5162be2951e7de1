/* Each of THREADS threads takes the lock ROUNDS times: no two are inside at once. */

#include <assert.h>
#include <pthread.h>

#ifndef THREADS
#define THREADS 3
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif

#include "ticket.h"

static struct ticket lock;
static int x, y; /* only for the thread inside */

static void *work(void *unused)
{
    for (int round = 0; round < ROUNDS; round++) {
        ticket_lock(&lock);
        assert(x == y);
        x++;
        y++;
        ticket_unlock(&lock);
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
