/* Producers push EACH values, and consumers pop one each: every value comes out once. */

#include <assert.h>
#include <pthread.h>

#include "ms.h"

#ifndef PRODUCERS
#define PRODUCERS 2
#endif
#ifndef EACH
#define EACH 1
#endif
#ifndef CONSUMERS
#define CONSUMERS 1
#endif

static struct ms_node node[PRODUCERS][EACH], dummy;
static struct ms queue = {&dummy, &dummy};
static int popped[CONSUMERS];

static void *producer(void *own)
{
    struct ms_node *mine = own;
    for (int i = 0; i < EACH; i++)
        ms_push(&queue, &mine[i], 1 << (&mine[i] - node[0]));
    return NULL;
}

static void *consumer(void *value)
{
    while (!ms_pop(&queue, value)) {
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[PRODUCERS + CONSUMERS];
    int sum = 0, value;
#ifdef USED_NODES
    for (int i = 0; i < PRODUCERS * EACH; i++)
        atomic_init(&node[0][i].next, &dummy); /* links from an earlier use */
#endif
    for (int i = 0; i < PRODUCERS; i++)
        pthread_create(&threads[i], NULL, producer, node[i]);
    for (int i = 0; i < CONSUMERS; i++)
        pthread_create(&threads[PRODUCERS + i], NULL, consumer, &popped[i]);
    for (int i = 0; i < PRODUCERS + CONSUMERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < CONSUMERS; i++)
        sum += popped[i];
    while (ms_pop(&queue, &value))
        sum += value;
    assert(sum == (1 << PRODUCERS * EACH) - 1);
    return 0;
}
