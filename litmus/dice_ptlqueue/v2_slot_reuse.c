/* The queue is full. A slow consumer of the oldest value must not get the value that a producer puts
   into the slot after it. */

#include <pthread.h>

#include "ptlq.h"

static struct ptlq2 q = PTLQ_INIT;

static void *producer(void *unused)
{
    ptlq2_put(&q, 3);
    return unused;
}

static void *consumer(void *unused)
{
    int value = ptlq2_take(&q);
    assert(value == 1);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    ptlq2_put(&q, 1);
    ptlq2_put(&q, 2);
    pthread_create(&a, NULL, producer, NULL);
    pthread_create(&b, NULL, consumer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
