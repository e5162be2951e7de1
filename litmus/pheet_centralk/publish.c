/* A thread that finds an item in the array finds its members initialised. */

#include <assert.h>
#include <pthread.h>

#include "centralk.h"

static struct ck_block block;
static struct ck_item item;

static void *pusher(void *unused)
{
    item.task = 42;
    ck_put(&block, 0, &item);
    return unused;
}

static void *reader(void *unused)
{
    struct ck_item *found = ck_entry(&block, 0);
    if (found != NULL)
        assert(found->task == 42);
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
