/* The owner removes the newest element while a thief steals two: one of them gets it. */

#include <assert.h>

#include "wsq_remove.h"

static struct wsq q = WSQ_INIT;
static bool removed;
static int first, second; /* 0: got nothing; the elements are 1 and 2 */

static void *owner(void *unused)
{
    removed = wsq_remove(&q, 2);
    return unused;
}

static void *thief(void *unused)
{
    wsq_steal_element(&q, &first);
    wsq_steal_element(&q, &second);
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
    assert(first == 1);
    assert(removed != (second == 2));
    return 0;
}
