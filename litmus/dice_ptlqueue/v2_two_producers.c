/* Two producers and a consumer of both values: each value is taken exactly once. */

#include <pthread.h>

#include "ptlq.h"

static struct ptlq2 q = PTLQ_INIT;
static int first, second;

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

static void *consumer(void *unused)
{
    first = ptlq2_take(&q);
    second = ptlq2_take(&q);
    return unused;
}

int main(void)
{
    pthread_t a, b, c;
    pthread_create(&a, NULL, first_producer, NULL);
    pthread_create(&b, NULL, second_producer, NULL);
    pthread_create(&c, NULL, consumer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    assert(first != second && first + second == 3);
    return 0;
}
