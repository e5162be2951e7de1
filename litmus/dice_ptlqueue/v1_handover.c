/* What a producer wrote before its put is there for the consumer that takes the value. */

#include <pthread.h>

#include "ptlq.h"

static struct ptlq1 q = PTLQ_INIT;
static int message[2]; /* message[i] belongs to value i + 1 */

static void *producer(void *unused)
{
    message[0] = 42;
    ptlq1_put(&q, 1);
    return unused;
}

static void *consumer(void *unused)
{
    int value = ptlq1_take(&q);
    assert(value == 1);
    assert(message[value - 1] == 42);
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
