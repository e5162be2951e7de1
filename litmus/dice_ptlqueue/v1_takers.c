/* Two consumers in succession at one slot: the second does not take again what the first took. */

#define PTLQ_SIZE 1

#include <pthread.h>

#include "ptlq.h"

static struct ptlq1 q = PTLQ_INIT;
static int first, second;

static void *producer(void *unused)
{
    ptlq1_put(&q, 2);
    return unused;
}

static void *consumer(void *value)
{
    *(int *)value = ptlq1_take(&q);
    return NULL;
}

int main(void)
{
    pthread_t a, b, c;
    ptlq1_put(&q, 1);
    pthread_create(&a, NULL, producer, NULL);
    pthread_create(&b, NULL, consumer, &first);
    pthread_create(&c, NULL, consumer, &second);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    assert(first != second && first + second == 3);
    return 0;
}
