/* A consumer gets the value that was put, and sees what the producer wrote before. */

#include <pthread.h>

#include "ptlq.h"

static struct ptlq2 q = PTLQ_INIT;
static int message;

static void *producer(void *unused)
{
    message = 42;
    ptlq2_put(&q, 1);
    return unused;
}

static void *consumer(void *unused)
{
    int value = ptlq2_take(&q);
    assert(value == 1);
    assert(message == 42);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, producer, NULL);
    pthread_create(&b, NULL, consumer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
