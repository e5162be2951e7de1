/* A block is emptied by one thread, linked by its owner, and a third thread puts an item into it: the
   entry must be empty for it. */

#define CK_SIZE 1

#include <assert.h>
#include <pthread.h>

#include "centralk.h"

static struct ck_item old, new;
static struct ck_block last;
static struct ck_block block = {.data = {&old}, .active_threads = 1, .active = true};

static void *leaver(void *unused)
{
    ck_deregister(&block);
    return unused;
}

static void *owner(void *unused)
{
    if (ck_is_reusable(&block))
        ck_add_block(&last, &block, 1);
    return unused;
}

static void *pusher(void *unused)
{
    struct ck_block *found = ck_next(&last);
    if (found != NULL) {
        assert(found->offset == CK_SIZE);
        bool put = ck_put(found, 0, &new);
        assert(put);
    }
    return unused;
}

int main(void)
{
    pthread_t a, b, c;
    pthread_create(&a, NULL, leaver, NULL);
    pthread_create(&b, NULL, owner, NULL);
    pthread_create(&c, NULL, pusher, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    return 0;
}
