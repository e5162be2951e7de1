/* Two threads read a block and leave it; the last one frees it. The other must be done with it. */

#define CK_FREE

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "centralk.h"

static struct ck_item item;

static void *reader(void *block)
{
    assert(ck_entry(block, 0) == &item);
    ck_deregister(block);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    struct ck_block *block = malloc(sizeof *block);
    if (block == NULL)
        return 1;
    atomic_init(&block->data[0], &item);
    atomic_init(&block->active_threads, 2);
    pthread_create(&a, NULL, reader, block);
    pthread_create(&b, NULL, reader, block);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
