/* A ring that holds FILLED elements at first; the producer pushes PUSHES more, and the consumer tries to
   pop POPS: what comes out comes in order, and nothing is overwritten. */

#include <assert.h>
#include <pthread.h>

#include "ring.h"

#ifndef FILLED
#define FILLED 0
#endif
#ifndef PUSHES
#define PUSHES 2
#endif
#ifndef POPS
#define POPS 2
#endif

static struct ring ring;

static void *producer(void *unused)
{
    int next = FILLED + 1;
    for (int i = 0; i < PUSHES; i++)
        if (ring_push(&ring, next))
            next++;
    return unused;
}

static void *consumer(void *unused)
{
    int expected = 1, value;
    for (int i = 0; i < POPS; i++) {
        if (ring_pop(&ring, &value)) {
            assert(value == expected);
            expected++;
        }
    }
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 1; i <= FILLED; i++)
        ring_push(&ring, i);
    pthread_create(&threads[0], NULL, producer, NULL);
    pthread_create(&threads[1], NULL, consumer, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
