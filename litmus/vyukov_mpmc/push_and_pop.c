/* A queue that holds FILLED items at first; some threads push an item each, and others pop one each. */

#include <assert.h>
#include <pthread.h>

#include "mpmc.h"

#ifndef PUSHERS
#define PUSHERS 1
#endif
#ifndef POPPERS
#define POPPERS 1
#endif
#ifndef FILLED
#define FILLED 1
#endif

static struct mpmc queue;
static int popped[POPPERS];
static atomic_int pushes;

static void *pusher(void *unused)
{
    if (mpmc_push(&queue, 10))
        atomic_fetch_add_explicit(&pushes, 1, memory_order_relaxed);
    return unused;
}

static void *popper(void *own)
{
    mpmc_pop(&queue, own);
    return NULL;
}

int main(void)
{
    pthread_t threads[PUSHERS + POPPERS];
    int sum = 0, expected = 0, value;
    mpmc_init(&queue);
    for (int i = 0; i < FILLED; i++)
        mpmc_push(&queue, 1);
    for (int i = 0; i < PUSHERS + POPPERS; i++)
        pthread_create(&threads[i], NULL, i < POPPERS ? popper : pusher, i < POPPERS ? &popped[i] : NULL);
    for (int i = 0; i < PUSHERS + POPPERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < POPPERS; i++)
        sum += popped[i];
    for (int i = 0; i < MPMC_SIZE && mpmc_pop(&queue, &value); i++)
        sum += value;
    expected = FILLED + 10 * atomic_load_explicit(&pushes, memory_order_relaxed);
    assert(sum == expected);
    return 0;
}
