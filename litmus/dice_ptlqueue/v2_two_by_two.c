/* Two producers and two consumers: each value is taken exactly once. */

#include <pthread.h>

#include "ptlq.h"

static struct ptlq2 q = PTLQ_INIT;
static int values[2];

static void *first_producer(void *unused)
{
    ptlq2_put(&q, 1);
    return unused;
}

static void *second_producer(void *unused)
{
    ptlq2_put(&q, 2);
    return unused;
}

static void *first_consumer(void *unused)
{
    values[0] = ptlq2_take(&q);
    return unused;
}

static void *second_consumer(void *unused)
{
    values[1] = ptlq2_take(&q);
    return unused;
}

int main(void)
{
    pthread_t a, b, c, d;
    pthread_create(&a, NULL, first_producer, NULL);
    pthread_create(&b, NULL, second_producer, NULL);
    pthread_create(&c, NULL, first_consumer, NULL);
    pthread_create(&d, NULL, second_consumer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    pthread_join(d, NULL);
    assert(values[0] != values[1] && values[0] + values[1] == 3);
    return 0;
}
