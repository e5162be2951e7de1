/* Owner and thief both want the only element: exactly one gets it. */

#include <assert.h>

#include "wsq.h"

static struct wsq q = WSQ_INIT;
static int popped, stolen; /* 0: got nothing */

static void *owner(void *unused)
{
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
    wsq_push(&q, 1);
    pthread_create(&a, NULL, owner, NULL);
    pthread_create(&b, NULL, thief, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(popped + stolen == 1);
    return 0;
}
