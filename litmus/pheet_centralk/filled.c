/* Two pushers want the same entry; the one that loses moves the tail over the other's item. A reader
   finds all entries below the tail filled. */

#include <assert.h>
#include <pthread.h>

#include "centralk.h"

static struct ck_block block;
static atomic_int tail;
static struct ck_item items[2];

static void *pusher(void *item)
{
    ck_push(&block, &tail, item);
    return NULL;
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
    pthread_t a, b, c;
    pthread_create(&a, NULL, pusher, &items[0]);
    pthread_create(&b, NULL, pusher, &items[1]);
    pthread_create(&c, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    return 0;
}
