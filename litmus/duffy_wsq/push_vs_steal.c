/* The owner pushes while a thief steals: a thief that gets something gets what was pushed. */

#include <assert.h>

#include "wsq.h"

static struct wsq q = WSQ_INIT;

static void *owner(void *unused)
{
    wsq_push(&q, 42);
    return unused;
}

static void *thief(void *unused)
{
    int value;
    if (wsq_try_steal(&q, &value))
        assert(value == 42);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, owner, NULL);
    pthread_create(&b, NULL, thief, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
