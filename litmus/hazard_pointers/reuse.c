/* A reader reads one of two objects. A writer replaces the first by the second, fills the first again
   when nobody uses it, and puts it back: what the reader announces may be the object of another time. */

#include <assert.h>
#include <pthread.h>

#include "hazard.h"

static struct hazards hazards;
static struct object first = {1}, second = {2};
static struct object *_Atomic shared = &first;

static void *reader(void *unused)
{
    struct object *found = hazard_protect(&hazards, 0, &shared);
    assert(found->value >= 1);
    hazard_clear(&hazards, 0);
    return unused;
}

static void *writer(void *unused)
{
    struct object *old = atomic_exchange_explicit(&shared, &second, memory_order_release);
    if (hazard_scan(&hazards, old)) {
        old->value = 3;
        atomic_store_explicit(&shared, old, memory_order_release);
    }
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, writer, NULL);
    pthread_create(&threads[1], NULL, reader, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
