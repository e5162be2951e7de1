/* The owner pushes into a full queue, which grows, and pops; a thief steals. Each element is taken
   once, and nobody touches the old array any more. */

#define WSQ_SIZE 2

#include <assert.h>

#include "wsq_grow.h"

static struct wsq q = WSQ_INIT;
static int popped, stolen; /* 0: got nothing; the elements are 1 and 2 */

static void *owner(void *unused)
{
    wsq_push_growing(&q, 2);
    wsq_pop(&q, &popped);
    return unused;
}

static void *thief(void *unused)
{
    wsq_try_steal(&q, &stolen);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    int left = 0;
    if (!wsq_allocate(&q))
        return 1;
    wsq_push(&q, 1);
    pthread_create(&a, NULL, owner, NULL);
    pthread_create(&b, NULL, thief, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    wsq_pop(&q, &left);
    free(q.slot);
    assert(popped == 2);
    assert(stolen + left == 1);
    return 0;
}
