/* PRODUCERS threads push two values each: the consumer gets each once, in the order of its producer. */

#include <assert.h>
#include <pthread.h>

#include "mpsc.h"

#ifndef PRODUCERS
#define PRODUCERS 2
#endif
#ifndef EACH
#define EACH 2
#endif

static struct mpsc_node node[PRODUCERS][EACH], dummy;
static struct mpsc queue = {&dummy, &dummy};

static void *producer(void *own)
{
    struct mpsc_node *mine = own;
    for (int i = 0; i < EACH; i++)
        mpsc_push(&queue, &mine[i], (int)(mine - node[0]) + i);
    return NULL;
}

static void *consumer(void *unused)
{
    int seen[PRODUCERS] = {0};
    for (int i = 0; i < PRODUCERS * EACH; i++) {
        int value;
        while (!mpsc_pop(&queue, &value)) {
        }
        assert(value % EACH == seen[value / EACH]);
        seen[value / EACH]++;
    }
    return unused;
}

int main(void)
{
    pthread_t threads[PRODUCERS + 1];
    pthread_create(&threads[PRODUCERS], NULL, consumer, NULL);
    for (int i = 0; i < PRODUCERS; i++)
        pthread_create(&threads[i], NULL, producer, node[i]);
    for (int i = 0; i <= PRODUCERS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
