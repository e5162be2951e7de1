/* A pusher fills one entry, moves the tail and fills the next: no entry below the tail is empty. A put
   that fails for no reason would leave one. */

#include <assert.h>
#include <pthread.h>

#include "centralk.h"

static struct ck_block block;
static atomic_int tail;
static struct ck_item items[2];

static void *pusher(void *unused)
{
    ck_push(&block, &tail, &items[0]);
    ck_push(&block, &tail, &items[1]);
    return unused;
}

static void *reader(void *unused)
{
    int end = ck_tail(&tail);
    for (int i = 0; i < end; i++)
        assert(ck_entry(&block, i) != NULL);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, pusher, NULL);
    pthread_create(&b, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
