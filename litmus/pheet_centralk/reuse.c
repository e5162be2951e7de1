/* The last thread empties a block; its owner uses it again and finds it empty. */

#include <assert.h>
#include <pthread.h>

#include "centralk.h"

static struct ck_item item;
static struct ck_block last;
static struct ck_block block = {.data = {&item}, .active_threads = 1, .active = true};

static void *reader(void *unused)
{
    ck_deregister(&block);
    return unused;
}

static void *owner(void *unused)
{
    if (ck_is_reusable(&block)) {
        ck_add_block(&last, &block, 1);
        assert(atomic_load_explicit(&block.data[0], memory_order_relaxed) == NULL);
    }
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
