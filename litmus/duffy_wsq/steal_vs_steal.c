/* Two thieves want the only element: exactly one gets it. */

#include <assert.h>

#include "wsq.h"

static struct wsq q = WSQ_INIT;
static int first, second; /* 0: got nothing */

static void *thief(void *value)
{
    wsq_try_steal(&q, value);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    wsq_push(&q, 1);
    pthread_create(&a, NULL, thief, &first);
    pthread_create(&b, NULL, thief, &second);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(first + second == 1);
    return 0;
}
