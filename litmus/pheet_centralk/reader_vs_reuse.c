/* A thread reads a block and leaves it; the owner leaves it too and uses it again. The reader must be
   done with the block before it is emptied, and before its offset changes. */

#include <assert.h>
#include <pthread.h>

#include "centralk.h"

static struct ck_item item;
static struct ck_block last;
static struct ck_block block = {.data = {&item}, .active_threads = 2, .active = true};

static void *reader(void *unused)
{
    assert(ck_entry(&block, 0) != NULL);
    assert(block.offset == 0);
    ck_deregister(&block);
    return unused;
}

static void *owner(void *unused)
{
    ck_deregister(&block);
    if (ck_is_reusable(&block))
        ck_add_block(&last, &block, 2);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, reader, NULL);
    pthread_create(&b, NULL, owner, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
