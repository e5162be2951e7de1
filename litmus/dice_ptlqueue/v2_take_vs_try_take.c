/* One value; a take and a try_take want it, and a second value comes later: nothing is taken twice. */

#include <pthread.h>

#include "ptlq.h"

static struct ptlq2 q = PTLQ_INIT;
static int taken, tried; /* tried: 0 when it found nothing */

static void *producer(void *unused)
{
    ptlq2_put(&q, 2);
    return unused;
}

static void *taker(void *unused)
{
    taken = ptlq2_take(&q);
    return unused;
}

static void *trier(void *unused)
{
    ptlq2_try_take(&q, &tried);
    return unused;
}

int main(void)
{
    pthread_t a, b, c;
    ptlq2_put(&q, 1);
    pthread_create(&a, NULL, producer, NULL);
    pthread_create(&b, NULL, taker, NULL);
    pthread_create(&c, NULL, trier, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    assert(taken == 1 || taken == 2);
    assert(tried != taken);
    return 0;
}
