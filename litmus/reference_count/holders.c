/* Each of HOLDERS threads has a reference, uses the object and drops it; with ADDS, it adds one first,
   which it drops, too. */

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#ifndef HOLDERS
#define HOLDERS 2
#endif
#ifndef ADDS
#define ADDS 0
#endif

#include "count.h"

struct object {
    atomic_int count;
    int part[HOLDERS];
};

static struct object *object;
static const int number[] = {0, 1, 2, 3};

static void drop(void)
{
    if (count_drop(&object->count)) {
        for (int i = 0; i < HOLDERS; i++)
            assert(object->part[i] == 1);
        free(object);
    }
}

static void *holder(void *own)
{
    for (int i = 0; i < ADDS; i++) {
        count_add(&object->count);
        drop();
    }
    object->part[*(const int *)own] = 1;
    drop();
    return NULL;
}

int main(void)
{
    pthread_t threads[HOLDERS];
    object = calloc(1, sizeof *object);
    if (!object)
        return 0;
    atomic_init(&object->count, HOLDERS);
    for (int i = 0; i < HOLDERS; i++)
        pthread_create(&threads[i], NULL, holder, (void *)&number[i]);
    for (int i = 0; i < HOLDERS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
