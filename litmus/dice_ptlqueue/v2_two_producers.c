/* Two producers and two consumers: each value is taken exactly once. */

#include <pthread.h>

#include "ptlq.h"

static struct ptlq2 q = PTLQ_INIT;
static int first, second;

static void *producer(void *value)
{
    ptlq2_put(&q, *(int *)value);
    return NULL;
}

static void *consumer(void *value)
{
    *(int *)value = ptlq2_take(&q);
    return NULL;
}

int main(void)
{
    static int values[] = {1, 2};
    pthread_t a, b, c, d;
    pthread_create(&a, NULL, producer, &values[0]);
    pthread_create(&b, NULL, producer, &values[1]);
    pthread_create(&c, NULL, consumer, &first);
    pthread_create(&d, NULL, consumer, &second);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    pthread_join(d, NULL);
    assert(first != second && first + second == 3);
    return 0;
}
