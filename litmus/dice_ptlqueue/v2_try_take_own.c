/* A thread puts a value and tries to take. Nobody else takes, so the queue is not empty, and try_take
   must not say so. */

#include <pthread.h>

#include "ptlq.h"

static struct ptlq2 q = PTLQ_INIT;

static void *puts_and_tries(void *unused)
{
    int value;
    ptlq2_put(&q, 1);
    bool found = ptlq2_try_take(&q, &value);
    assert(found);
    return unused;
}

#ifdef OTHER_PRODUCER
static void *only_puts(void *unused)
{
    ptlq2_put(&q, 2);
    return unused;
}
#endif

int main(void)
{
    pthread_t a;
#ifdef OTHER_PRODUCER
    pthread_t b;
    pthread_create(&b, NULL, only_puts, NULL);
#endif
    pthread_create(&a, NULL, puts_and_tries, NULL);
    pthread_join(a, NULL);
#ifdef OTHER_PRODUCER
    pthread_join(b, NULL);
#endif
    return 0;
}
