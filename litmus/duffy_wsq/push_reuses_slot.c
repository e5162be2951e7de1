/* With two slots, the second element pushed goes where the thief's first one was: it must not be
   written before the thief has read it. */

#define WSQ_SIZE 2

#include <assert.h>

#include "wsq.h"

static struct wsq q = WSQ_INIT;

static void *owner(void *unused)
{
    wsq_push(&q, 2);
    wsq_push(&q, 3);
    return unused;
}

static void *thief(void *unused)
{
    int first, second;
    bool taken = wsq_try_steal(&q, &first);
    assert(taken && first == 1);
    if (wsq_try_steal(&q, &second))
        assert(second == 2 || second == 3); /* 3: the push of 2 found the queue full */
    return unused;
}

int main(void)
{
    pthread_t a, b;
    wsq_push(&q, 1);
    pthread_create(&a, NULL, owner, NULL);
    pthread_create(&b, NULL, thief, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
