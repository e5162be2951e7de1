/* The owner removes the element in the middle while a thief steals; then the queue is emptied. Each
   element is taken once. */

#include <assert.h>

#include "wsq_remove.h"

static struct wsq q = WSQ_INIT;
static bool removed;
static int stolen; /* 0: got nothing; the elements are 1, 2 and 3 */

static void *owner(void *unused)
{
    removed = wsq_remove(&q, 2);
    return unused;
}

static void *thief(void *unused)
{
    wsq_steal_element(&q, &stolen);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    int value, taken[4] = {0};
    wsq_push(&q, 1);
    wsq_push(&q, 2);
    wsq_push(&q, 3);
    pthread_create(&a, NULL, owner, NULL);
    pthread_create(&b, NULL, thief, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    taken[2] += removed;
    taken[stolen]++;
    while (wsq_pop_element(&q, &value))
        taken[value]++;
    assert(taken[0] == 0);
    assert(taken[1] == 1 && taken[2] == 1 && taken[3] == 1);
    return 0;
}
