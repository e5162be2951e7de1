/* The queue is full. A consumer empties a slot and a producer fills it again: the producer finds it
   empty, and the consumer's clearing does not wipe out the new value. */

#include <pthread.h>

#include "ptlq.h"

static struct ptlq1 q = PTLQ_INIT;

static void *producer(void *unused)
{
    ptlq1_put(&q, 3);
    return unused;
}

static void *consumer(void *unused)
{
    int value = ptlq1_take(&q);
    assert(value == 1);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    ptlq1_put(&q, 1);
    ptlq1_put(&q, 2);
    pthread_create(&a, NULL, producer, NULL);
    pthread_create(&b, NULL, consumer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(atomic_load_explicit(&q.slots[0].mailbox, memory_order_relaxed) == 3);
    return 0;
}
