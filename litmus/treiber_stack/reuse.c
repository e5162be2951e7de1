/* A thread pops a node, then another, and pushes the first one again, while another thread pops: with
   compare-exchange on an address alone the stack seems not to have changed. */

#include <assert.h>
#include <pthread.h>

#include "treiber.h"

static struct treiber_node node[2] = {{&node[1], 1}, {NULL, 1}};
static struct treiber stack = {&node[0]};

static void *popper(void *unused)
{
    struct treiber_node *mine = treiber_pop(&stack);
    if (mine)
        mine->value++;
    return unused;
}

static void *reuser(void *unused)
{
    struct treiber_node *first = treiber_pop(&stack), *second = treiber_pop(&stack);
    if (first && second) {
        second->value++;
        treiber_push(&stack, first);
    }
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, popper, NULL);
    pthread_create(&threads[1], NULL, reuser, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    for (struct treiber_node *left; (left = treiber_pop(&stack));)
        left->value++;
    assert(node[0].value == 2 && node[1].value == 2);
    return 0;
}
