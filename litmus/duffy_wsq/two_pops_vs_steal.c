/* The owner empties a queue of two elements while a thief steals: each element is taken once. */

#include <assert.h>

#include "wsq.h"

static struct wsq q = WSQ_INIT;
static int newest, oldest, stolen; /* 0: got nothing; the elements are 1 and 2 */

static void *owner(void *unused)
{
    wsq_pop(&q, &newest);
    wsq_pop(&q, &oldest);
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
    wsq_push(&q, 1);
    wsq_push(&q, 2);
    pthread_create(&a, NULL, owner, NULL);
    pthread_create(&b, NULL, thief, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(newest == 2);
    assert(oldest + stolen == 1);
    return 0;
}
