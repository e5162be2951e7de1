/* Some threads push a node each, and others pop one each: every node is popped once. */

#include <assert.h>
#include <pthread.h>

#include "treiber.h"

#ifndef PUSHERS
#define PUSHERS 2
#endif
#ifndef POPPERS
#define POPPERS 1
#endif

static struct treiber stack;
static struct treiber_node node[PUSHERS];
static int pops;

static void *pusher(void *own)
{
    struct treiber_node *mine = own;
    mine->value = 1;
    treiber_push(&stack, mine);
    return NULL;
}

static void *popper(void *unused)
{
    struct treiber_node *mine;
    while (!(mine = treiber_pop(&stack))) {
    }
    assert(mine->value == 1);
    mine->value = 2; /* it is this thread's now */
    return unused;
}

int main(void)
{
    pthread_t threads[PUSHERS + POPPERS];
    for (int i = 0; i < PUSHERS; i++)
        pthread_create(&threads[i], NULL, pusher, &node[i]);
    for (int i = 0; i < POPPERS; i++)
        pthread_create(&threads[PUSHERS + i], NULL, popper, NULL);
    for (int i = 0; i < PUSHERS + POPPERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < PUSHERS; i++)
        pops += node[i].value - 1;
    assert(pops == POPPERS);
    return 0;
}
