/* A block is emptied by one thread, linked by its owner and read by a third thread. It sees the empty
   block: what one thread did before active is before what the other does after next. */

#include <assert.h>
#include <pthread.h>

#include "centralk.h"

static struct ck_item item;
static struct ck_block last;
static struct ck_block block = {.data = {&item}, .active_threads = 1, .active = true};

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

static void *reader(void *unused)
{
    struct ck_block *found = ck_next(&last);
    if (found != NULL)
        assert(ck_entry(found, 0) == NULL);
    return unused;
}

int main(void)
{
    pthread_t a, b, c;
    pthread_create(&a, NULL, leaver, NULL);
    pthread_create(&b, NULL, owner, NULL);
    pthread_create(&c, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    return 0;
}
